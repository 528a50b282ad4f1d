"""Arrays whose items must differ, where no grammar says so.

The oracles: `validity` over all texts of small languages; the grammars of finite sets (`containers.distinct`), with
which a memory has to agree in every mask; and `json` and fractions for strings and numbers.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pytest
from budget_checks import anything, farthest, written
from hypothesis import given, settings
from hypothesis import strategies as st
from validity import TooLarge, read, validator

import tokenfst
from automata import (
    FstError,
    LimitExceeded,
    TokenNotAllowed,
    UnsatisfiableSchema,
    UnsupportedSchema,
    VocabularyError,
    queries,
)
from automata.errors import AutomatonFileError
from constraints import json_schema, json_schema_to_regex, sequence
from constraints.json_schema.containers import distinct
from decoding.arena.from_automata import machine_of, tables_for_arena
from decoding.compiling.content import content_of
from serving.matcher import Matcher
from tokenfst import TextStart, TokenAutomaton, Vocabulary
from tokenfst.unique_items import automaton as unique_items
from tokenfst.unique_items.automaton import UniqueItemsTokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

TOKENS: Final = [
    *(b'",', b'","', b"],[", b"1,", b"0,", b"1,1", b"[1", b"[[", b"]]", b'{"a":', b'"a"', b'"a":1', b"},{", b"true,"),
    *(
        b"null",
        b".0",
        b"00",
        b"ab",
        b'a"',
        b"\\u00",
        b"u0061",
        b'["a"',
        b'"]',
        b"[],[",
        b'"a","a"',
        b"{},",
        b"{}",
        b"e0",
    ),
    *(b"1,10", b'",["', b'"b","a', b'""', b'"idx":'),
]
VOCABULARY: Final = Vocabulary([*(bytes([byte]) for byte in range(256)), *TOKENS, b""], eos_ids=[256 + len(TOKENS)])
WORDS: Final = {"type": "string", "pattern": "^[ab]{0,2}$"}
STRINGS: Final = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def unique(items: Any, **others: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": True, **others}


def compiled(schema: Any, vocabulary: Vocabulary = VOCABULARY, **options: Any) -> UniqueItemsTokenAutomaton:
    automaton = tokenfst.compile(json_schema(schema, **options), vocabulary)
    assert isinstance(automaton, UniqueItemsTokenAutomaton)
    return automaton


def without_unique_items(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_unique_items(part) for part in schema]
    if isinstance(schema, dict):
        return {name: without_unique_items(part) for name, part in schema.items() if name != "uniqueItems"}
    return schema


def valid_texts(schema: Any) -> list[bytes]:
    """All compact texts of the valid values, where these are finitely many."""
    language = json_schema(without_unique_items(schema), whitespace="compact").to_automaton()
    checker = validator(schema, "draft2020-12")
    return [text for text in queries.enumerate(language) if checker.is_valid(read(text))]


SMALL: Final[dict[str, Any]] = {
    "words": unique(WORDS, maxItems=3),
    "words that must come": unique(WORDS, minItems=2, maxItems=3),
    "arrays of words": unique(unique({"type": "string", "pattern": "^[ab]?$"}, maxItems=2), maxItems=2),
    "objects": unique(
        {"properties": {"a": WORDS, "b": {"type": "null"}}, "additionalProperties": False, "type": "object"}, maxItems=2
    ),
    "beside a word": {"anyOf": [WORDS, unique(WORDS, maxItems=2)]},
    "as a member": {
        "type": "object",
        "properties": {"x": unique(WORDS, maxItems=2), "y": {"type": "array", "items": {"enum": ["a"]}, "maxItems": 2}},
        "additionalProperties": False,
    },
    "behind a tuple": unique(WORDS, prefixItems=[WORDS, {"type": "boolean"}], maxItems=3),
    "one that must come": unique(WORDS, contains={"const": "a"}, maxItems=2),
    "two branches": {"anyOf": [unique(WORDS, maxItems=2), unique({"type": "null"}, maxItems=2)]},
}


@pytest.mark.parametrize("name", SMALL)
def test_masks_are_the_tokens_that_some_valid_text_goes_on_with(name: str) -> None:
    texts = set(valid_texts(SMALL[name]))
    beginnings = {text[:end] for text in texts for end in range(len(text) + 1)}
    automaton = compiled(SMALL[name], whitespace="compact")
    dice, seen, waiting = random.Random(name), {b""}, [(b"", automaton.start)]
    for _ in range(500):
        if not waiting:
            break
        place = dice.randrange(len(waiting))
        waiting[place], waiting[-1] = waiting[-1], waiting[place]
        text, state = waiting.pop()
        allowed = {text + VOCABULARY.tokens[token] for token in np.flatnonzero(automaton.mask(state)).tolist()}
        possible = {text + token for token in VOCABULARY.tokens if token} & beginnings
        assert allowed - {text} == possible, text
        assert automaton.is_final(state) == (text in texts) == (text in allowed)
        for token, letters in enumerate(VOCABULARY.tokens[:-1]):
            reached = automaton.step(state, token) if text + letters in possible or token >= 256 else None
            assert (reached is not None) == (text + letters in possible)
            if reached is not None and text + letters not in seen:
                seen.add(text + letters)
                waiting.append((text + letters, reached))


SCALARS: Final = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        -1,
        10,
        12,
        100,
        120,
        0.5,
        1.5,
        0.05,
        -0.0,
        "",
        "a",
        "ab",
        "b",
        "é",
        "😀",
        "\n",
        '"',
        "\\",
    ]
)
VALUES: Final = st.recursive(
    SCALARS,
    lambda values: st.lists(values, max_size=2) | st.dictionaries(st.sampled_from("abc"), values, max_size=2),
    max_leaves=3,
)
OPTIONS: Final = st.fixed_dictionaries(
    {
        "spellings": st.sampled_from(["plain", "all"]),
        "whitespace": st.sampled_from(["compact", "default", "flexible"]),
        "property_order": st.sampled_from(["schema", "any"]),
    }
)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(VALUES, min_size=1, max_size=6), OPTIONS, st.randoms(use_true_random=False))
def test_a_memory_allows_what_the_grammar_of_a_finite_set_allows(
    data: Any, values: list[Any], options: dict[str, Any], dice: random.Random
) -> None:
    schema = unique({"enum": values}, minItems=data.draw(st.integers(0, 2)), maxItems=data.draw(st.integers(2, 4)))
    if data.draw(st.booleans()):
        schema = unique(schema, maxItems=2) if data.draw(st.booleans()) else {"properties": {"x": schema, "y": schema}}
    try:
        grammar = tokenfst.compile(json_schema(schema, **options), VOCABULARY)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(distinct, "MAX_SETS", 0)
            memory = tokenfst.compile(json_schema(schema, **options), VOCABULARY)
    except (UnsupportedSchema, UnsatisfiableSchema):
        return
    left, right = grammar.start, memory.start
    for _ in range(60):
        allowed = grammar.mask(left)
        assert np.array_equal(allowed, memory.mask(right))
        assert grammar.is_final(left) == memory.is_final(right)
        tokens = np.flatnonzero(allowed).tolist()
        long = [token for token in tokens if token >= 256]
        token = dice.choice(long if long and dice.random() < 0.5 else tokens)
        left, right = grammar.advance(left, token), memory.advance(right, token)
        if left == grammar.end_state:
            assert right == memory.end_state
            break


def goes_on(automaton: TokenAutomaton, text: bytes) -> bool:
    state = automaton.start
    for byte in text:
        state = automaton.step(state, byte)
        if state is None:
            return False
    return True


@pytest.mark.parametrize(
    ("items", "first", "dead", "alive"),
    [
        (
            {"type": "integer"},
            b"[1, ",
            [b"1,", b"1]", b"1.0,", b"0.1e1]"],
            [b"1", b"1.0", b"-1]", b"11]"],
        ),
        ({"type": "integer"}, b"[0, ", [b"0", b"-0"], [b"-", b"10]"]),
        ({"type": "number"}, b"[0, ", [b"0]", b"-0.00,", b"0e5]", b"0.0E"], [b"0.00", b"-0.01]"]),
        (
            {"type": "integer", "minimum": 0, "maximum": 9},
            b"[1,2,3,4,5,6,7,8,9",
            [b",0,", b",1"],
            [b",0", b",0]", b"]"],
        ),
        (
            {"type": "integer", "minimum": 0, "maximum": 20},
            b"[" + b",".join(b"%d" % n for n in range(21)),
            [b","],
            [b"]"],
        ),
        (
            {"type": "number", "multipleOf": 0.5, "minimum": 0, "maximum": 1},
            b"[0.00, 1",
            [b", 0]", b", 1.00", b", 0.0", b", 0.5, "],
            [b", 0", b", 0.5", b", 0.50]", b", 0.5]"],
        ),
        ({"type": "integer"}, b"[0, 10, -20, ", [b"0.0", b"10.0]", b"-2e1]"], [b"1", b"100]", b"-2e10]"]),
        ({"type": "string", "maxLength": 1}, b'["a", ', [b'"a', b'"\\u0061'], [b'"', b'""]', b'"\\u006', b'"b"]']),
        ({"type": "string"}, '["😀", '.encode(), ['"😀"'.encode(), b'"\\ud83d\\ude00"'], [b'"\\ud83d', '"😀'.encode()]),
        ({"type": "array"}, b"[[1, {}], ", [b"[1, {}]", b"[1.0, {}]"], [b"[1, {}", b"[1, {}, 0]", b"[{}, 1]"]),
        ({"type": "object"}, b'[{"a": 1, "b": 2}, ', [b'{"b": 2, "a": 1.0}'], [b'{"b": 2, "a": 1', b'{"b": 2}']),
        ({"type": "object"}, b"[", [b'{"a": 1, "a"'], [b'{"a": 1, "a', b'{"a": {"a": 1}}']),
        ({"type": "boolean"}, b"[true, ", [b"t"], [b"false]"]),
        ({}, b'[0, false, "", [], {}, ', [b"0]", b"f", b'""', b"[]", b"{}"], [b"null]", b"[0]", b"1"]),
    ],
)
def test_values_are_equal_as_json_schema_has_it(
    items: Any, first: bytes, dead: list[bytes], alive: list[bytes]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(distinct, "MAX_SETS", 0)
        automaton = compiled(unique(items), ALL_BYTES, spellings="all")
    assert [text for text in dead if goes_on(automaton, first + text)] == []
    assert [text for text in alive if not goes_on(automaton, first + text)] == []


@pytest.mark.parametrize("at_text_start", [False, True])
def test_masks_are_the_steps_that_can_be_made(at_text_start: bool) -> None:
    tokens = [b" [1,", b"[1,1", b" [1,1", b' ["a","a"', b' ["a","b"', b'","', b' "a"', b'"a","a"]', b' ["a', b",1"]
    vocabulary = Vocabulary(
        [*(bytes([byte]) for byte in range(256)), *tokens, b""],
        eos_ids=[256 + len(tokens)],
        text_start=TextStart(prefix=b" "),
    )
    dice = random.Random(1)
    for schema in ({"uniqueItems": True}, unique({"type": "string"}, minItems=2), unique({"type": "object"})):
        automaton = tokenfst.compile(json_schema(schema), vocabulary, at_text_start=at_text_start)
        for _ in range(6):
            state, written_tokens = automaton.start, list[int]()
            while state != automaton.end_state and len(written_tokens) < 20:
                mask, least = automaton.mask(state), automaton.min_tokens(state)
                assert mask.tolist() == [automaton.step(state, token) is not None for token in range(len(vocabulary))]
                within = automaton.mask(state, least)
                assert within.any()
                assert not (within & ~mask).any()
                allowed = np.flatnonzero(mask).tolist()
                likely = [
                    token for token in allowed if token >= 256 or vocabulary.tokens[token] in (b'"', b",", b"]", b"a")
                ]
                written_tokens.append(dice.choice(likely or allowed))
                state = automaton.advance(state, written_tokens[-1])
            if state == automaton.end_state:
                assert validator(schema, "draft2020-12").is_valid(read(automaton.text(written_tokens)))


# Tokens that end a string, and begin what follows or end that, too.
CLOSING: Final = (
    *('","', '", "', '",', 'a","', 'b", "a', '","a', '","ab"', 'a","a', '","","', 'b","b","'),
    *('", "\\', '\\",', '\\","a', '"},{"', '"},{"a', 'a"}, {', '"},', '"},{"a":"', '"}, {"b": "a', '"},{},'),
    *('"],["', '"],["a', '"],', '"],[],', 'é","é', '","é', 'a",1', '",1,', '":"', '": "a', '","b":"'),
)


@pytest.mark.parametrize(
    "items",
    [
        {"type": "string"},
        {"type": "string", "maxLength": 2},
        {"type": "string", "pattern": "^[ab]*$", "maxLength": 2},
        {"type": "string", "pattern": "^(a|b.*)$"},
        {"anyOf": [{"enum": ["", "a", "b", "ab", 1]}, {"type": "array"}]},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False},
        {
            "type": "object",
            "properties": {"a": {"enum": ["a", "b"]}, "ab": {"type": "integer"}},
            "additionalProperties": False,
        },
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        {"type": "array", "items": {"enum": ["a", "b"]}},
        {},
    ],
    ids=str,
)
def test_tokens_that_end_a_string_are_told_as_they_are_read(items: Any) -> None:
    tokens = [token.encode() for token in CLOSING]
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), *tokens, b""], eos_ids=[256 + len(tokens)])
    automaton = compiled(unique(items), vocabulary)
    dice, met = random.Random(str(items)), 0
    for _ in range(12):
        state = automaton.start
        for _ in range(14):
            mask = automaton.mask(state)
            assert mask.tolist() == [automaton.step(state, token) is not None for token in range(len(vocabulary))]
            allowed = np.flatnonzero(mask).tolist()
            likely = [token for token in allowed if token >= 256 or vocabulary.tokens[token] in b'"[{ab:,']
            met += any(256 <= token < 256 + len(tokens) for token in allowed)
            state = automaton.advance(state, dice.choice(likely or allowed))
            if state == automaton.end_state:
                break
    assert met > 20


def test_texts_may_be_nested_deeply_and_have_many_items() -> None:
    nested = {"$ref": "#/$defs/a", "$defs": {"a": unique({"$ref": "#/$defs/a"})}}
    automaton, depth = compiled(nested, ALL_BYTES), 5_000

    def after(state: Any, text: bytes) -> Any:
        for byte in text:
            state = automaton.advance(state, byte)
        return state

    first = after(automaton.start, b"[" * (depth + 1) + b"]" * depth + b",")
    again = after(first, b"[" * depth + b"]" * (depth - 1))
    assert automaton.step(again, b"]"[0]) is None
    assert automaton.step(again, b","[0]) is not None
    assert again == after(first, b"[" * depth + b"]" * (depth - 1)) != first
    many = compiled(STRINGS, ALL_BYTES)
    assert goes_on(many, b"[" + b",".join(b'"%d"' % number for number in range(3_000)))
    assert not goes_on(many, b"[" + b",".join(b'"%d"' % (number % 1_999) for number in range(2_000)))


def test_budgets_without_an_end_token() -> None:
    bare = compiled(
        unique({"type": "integer"}, minItems=2), Vocabulary([bytes([byte]) for byte in range(256)], eos_ids=[])
    )
    assert bare.min_tokens(bare.start) <= len(b"[0,1]") + 1
    assert bare.mask(bare.start, len(b"[0,1]") + 1).any()


def test_a_search_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unique_items, "MAX_POSITIONS", 2)
    automaton = compiled(unique({"type": "string", "pattern": "^(aab?)?$"}), ALL_BYTES, whitespace="compact")
    state = automaton.start
    for byte in b'["aab",""':
        state = automaton.advance(state, byte)
    with pytest.raises(LimitExceeded, match="more than 2 positions"):
        automaton.advance(state, b","[0])


def test_states_are_values() -> None:
    automaton = compiled(STRINGS)
    matcher = Matcher(automaton)
    assert matcher.accept(list(b'["a", "b"'))
    before = matcher.state
    assert not matcher.accept(list(b', "a"]'))
    assert matcher.validate(list(b', "a"]')) == len(b', "a')
    assert matcher.accept(list(b', "c"'))
    matcher.rollback(len(b', "c"'))
    assert matcher.state == before
    assert hash(matcher.state) == hash(before)
    same = automaton.start
    for byte in b'["\\u0061", "b"':
        same = automaton.step(same, byte)
        if same is None:
            break
    again = automaton.start
    for byte in b'["a", "b"':
        again = automaton.advance(again, byte)
    assert again == before
    assert np.array_equal(automaton.mask(again), automaton.mask(before))
    assert copy.deepcopy(before) == before != automaton.start


@pytest.mark.parametrize(
    "schema",
    [
        STRINGS,
        unique({"type": "integer"}, minItems=1),
        unique({"type": "object", "properties": {"id": {"type": "integer"}, "idx": {}}, "required": ["id", "idx"]}),
        unique(unique({"type": "string", "maxLength": 1})),
        {"uniqueItems": True},
        unique({"type": "string"}, minItems=3),
        unique({"type": "object", "minProperties": 2}, minItems=2),
        unique({"type": "string"}, contains={"const": "a"}),
    ],
    ids=json.dumps,
)
def test_texts_end_within_their_budget(schema: Any) -> None:
    automaton, dice = compiled(schema), random.Random(3)
    checker = validator(schema, "draft2020-12")
    for writer in (farthest, anything):
        for more in (0, 1, 7):
            budget = automaton.min_tokens(automaton.start) + more
            tokens = written(automaton, budget, writer, dice)
            assert len(tokens) < budget
            assert automaton.accepts(tokens)
            try:
                value = read(VOCABULARY.text(tokens))
            except TooLarge:
                continue
            assert checker.is_valid(value)


def walks(automaton: TokenAutomaton, number: int) -> Iterator[Any]:
    dice = random.Random(5)
    for _ in range(number):
        state = automaton.start
        for _ in range(14):
            yield state
            tokens = np.flatnonzero(automaton.mask(state)).tolist()
            state = automaton.advance(state, dice.choice(tokens))
            if state == automaton.end_state:
                break


def test_budgets_are_the_numbers_behind_tokens() -> None:
    automaton = compiled(unique({"type": "string", "pattern": "^[ab]*$"}))
    for state in walks(automaton, 6):
        allowed = np.flatnonzero(automaton.mask(state)).tolist()
        behind = {token: automaton.min_tokens(automaton.advance(state, token)) for token in allowed}
        least = automaton.min_tokens(state)
        assert min(behind.values()) < least
        for budget in {0, least - 1, least, least + 1, max(behind.values()) + 1}:
            expected = [token for token, number in behind.items() if number < budget <= max(budget, least)]
            assert np.flatnonzero(automaton.mask(state, budget)).tolist() == (expected if least <= budget else [])


@pytest.mark.parametrize(
    ("schema", "place", "reason"),
    [
        ({"not": {"uniqueItems": True, "minItems": 1}}, "/not/uniqueItems", "in some of the arrays"),
        ({"anyOf": [STRINGS, {"type": "array", "maxItems": 2}]}, "/anyOf/0/uniqueItems", "in some of the arrays"),
        (unique({"type": "integer", "minimum": 0, "maximum": 99}, minItems=101), "/uniqueItems", "more items than"),
        (
            unique({"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "minProperties": 3}),
            "/uniqueItems",
            "more members than",
        ),
        (unique(WORDS, minItems=6, prefixItems=[WORDS, {"enum": ["a", "b"]}]), "/uniqueItems", "more items than"),
    ],
)
def test_what_no_memory_can_tell_is_refused_by_name(schema: Any, place: str, reason: str) -> None:
    with pytest.raises(UnsupportedSchema, match=reason) as error:
        json_schema(schema)
    assert (error.value.pointer, error.value.keyword) == (place, "uniqueItems")
    assert [note.pointer for note in json_schema(schema, unsupported="relax").dropped] == [place]


def test_what_needs_a_grammar_or_tables_says_so() -> None:
    constraint, automaton = json_schema(STRINGS), compiled(STRINGS)
    for use in (
        constraint.to_visibly_pushdown,
        constraint.to_automaton,
        lambda: sequence("x", constraint),
        lambda: json_schema_to_regex(STRINGS),
        lambda: tokenfst.compile(constraint, VOCABULARY, tokenization="canonical"),
    ):
        with pytest.raises(UnsupportedSchema, match="needs memory of all items") as error:
            use()
        assert error.value.pointer == "/uniqueItems"
    with pytest.raises(ValueError, match="follow it on the host"):
        machine_of(automaton, 8)
    assert tables_for_arena(automaton, 1.0) is None
    with pytest.raises(AutomatonFileError):
        automaton.arrays()
    with pytest.raises(FstError):
        automaton.fst()
    with pytest.raises(LimitExceeded):
        automaton.draw()
    with pytest.raises(VocabularyError, match="every single byte"):
        tokenfst.compile(constraint, Vocabulary([b'["', b"a", b'"]', b""], eos_ids=3))
    state = automaton.start
    for byte in b'["a","a':
        state = automaton.advance(state, byte)
    with pytest.raises(TokenNotAllowed, match="is not allowed after"):
        automaton.advance(state, b'"'[0])


def test_the_constraint_reads_its_texts() -> None:
    constraint = json_schema(STRINGS)
    assert constraint.parse('["a", "b"]') == ["a", "b"]
    assert not constraint.allows('["a", "\\u0061"]')
    both = constraint | json_schema({"type": "null"})
    assert [both.allows(text) for text in ('["a"]', '["a","a"]', "null")] == [True, False, True]
    assert isinstance(tokenfst.compile(both, VOCABULARY), UniqueItemsTokenAutomaton)


def test_equal_schemas_have_equal_keys() -> None:
    plain = content_of(json_schema(without_unique_items(STRINGS)))
    assert content_of(json_schema(STRINGS)) == content_of(json_schema(dict(STRINGS))) != plain


def test_exponents_have_a_bound() -> None:
    automaton = compiled(unique({"type": "number"}), ALL_BYTES)
    state = automaton.start
    for byte in b"[1e" + b"1" * 1001:
        state = automaton.advance(state, byte)
    with pytest.raises(LimitExceeded, match="more than 1,000 digits"):
        automaton.advance(state, b","[0])
