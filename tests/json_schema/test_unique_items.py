"""Arrays whose items must differ, where no grammar says so: masks and values.

The oracles: `validity` over all texts of small languages; the grammars of finite sets (`containers.distinct`), with
which a memory has to agree in every mask; and `json` and fractions for strings and numbers.
"""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unique_items_cases import STRINGS, VOCABULARY, WORDS, after, can_continue, compiled, unique, without_unique_items
from validity import read, validator

import tokenfst
from automata import (
    ByteAutomaton,
    UnsatisfiableSchema,
    UnsupportedSchema,
    queries,
)
from constraints import json_schema
from constraints.json_schema.containers import distinct
from tokenfst import TextStart, Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES


def valid_texts(schema: Any) -> list[bytes]:
    """All compact texts of the valid values, where these are finitely many."""
    language = json_schema(without_unique_items(schema), whitespace="compact").to_automaton()
    assert isinstance(language, ByteAutomaton)
    checker = validator(schema, "draft2020-12")
    return [text for text in queries.enumerate(language) if checker.is_valid(read(text))]


SMALL: Final[dict[str, Any]] = {
    "words": unique(WORDS, maxItems=3),
    "words that are required": unique(WORDS, minItems=2, maxItems=3),
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
    "one that is required": unique(WORDS, contains={"const": "a"}, maxItems=2),
    "two short ones that are required": unique(
        WORDS, contains={"type": "string", "maxLength": 1}, minContains=2, maxItems=3
    ),
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


@settings(max_examples=40, deadline=None)
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
    assert [text for text in dead if can_continue(automaton, first + text)] == []
    assert [text for text in alive if not can_continue(automaton, first + text)] == []


@pytest.mark.parametrize("at_text_start", [False, True])
def test_masks_are_the_steps_that_can_be_made(at_text_start: bool) -> None:
    tokens = [b" [1,", b"[1,1", b" [1,1", b' ["a","a"', b' ["a","b"', b'","', b' "a"', b'"a","a"]', b' ["a', b",1"]
    vocabulary = Vocabulary(
        [*(bytes([byte]) for byte in range(256)), *tokens, b""],
        eos_ids=[256 + len(tokens)],
        text_start=TextStart(prefix=b" "),
    )
    dice = random.Random(1)
    several = () if at_text_start else (unique({"type": "string"}, minItems=2),)
    for schema in ({"uniqueItems": True}, *several, unique({"type": "object"})):
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

    first = after(automaton, b"[" * (depth + 1) + b"]" * depth + b",")
    again = after(automaton, b"[" * depth + b"]" * (depth - 1), first)
    assert automaton.step(again, b"]"[0]) is None
    assert automaton.step(again, b","[0]) is not None
    assert again == after(automaton, b"[" * depth + b"]" * (depth - 1), first) != first
    many = compiled(STRINGS, ALL_BYTES)
    assert can_continue(many, b"[" + b",".join(b'"%d"' % number for number in range(3_000)))
    assert not can_continue(many, b"[" + b",".join(b'"%d"' % (number % 1_999) for number in range(2_000)))


def test_arrays_of_items_without_values_are_few() -> None:
    # The only item is [].
    empty = {"type": "array", "items": {"type": "string", "pattern": "^a$", "minLength": 2}}
    with pytest.raises(UnsupportedSchema, match="more items than there may be different values for"):
        json_schema({"type": "array", "minItems": 3, "uniqueItems": True, "items": empty})
    assert json_schema({"type": "array", "minItems": 1, "uniqueItems": True, "items": empty})


@pytest.mark.parametrize(
    "definitions",
    [
        {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
        {
            "a": {"type": "array", "items": {"$ref": "#/$defs/b"}},
            "b": {"type": "array", "items": {"$ref": "#/$defs/a"}},
        },
    ],
    ids=["itself", "each other"],
)
def test_arrays_within_themselves_are_many(definitions: dict[str, Any]) -> None:
    schema = {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"$ref": "#/$defs/a"}, "$defs": definitions}
    assert json_schema(schema).unique_arrays() is not None
