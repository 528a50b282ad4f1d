"""Arrays whose items must differ, where no grammar says so: states, budgets, and what is refused."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from unique_items_cases import (
    STRINGS,
    VOCABULARY,
    WORDS,
    after,
    check_texts_within_budgets,
    compiled,
    unique,
    without_unique_items,
)

import tokenfst
from automata import (
    FstError,
    LimitExceeded,
    TokenNotAllowed,
    UnsupportedSchema,
    VocabularyError,
)
from automata.errors import AutomatonFileError
from constraints import grammar, json_schema, json_schema_to_regex, sequence, token
from decoding.arena.from_automata import machine_of, tables_for_arena
from decoding.compiling.content import content_of
from serving.matcher import Matcher
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.unique_items import automaton as unique_items
from tokenfst.unique_items.automaton import UniqueItemsTokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES


def test_budgets_without_an_end_token() -> None:
    bare = compiled(
        unique({"type": "integer"}, minItems=2), Vocabulary([bytes([byte]) for byte in range(256)], eos_ids=[])
    )
    assert bare.min_tokens(bare.start) <= len(b"[0,1]") + 1
    assert bare.mask(bare.start, len(b"[0,1]") + 1).any()


def test_a_way_is_found_where_no_token_brings_the_end_nearer() -> None:
    """When all short arrays have been used, the tokens that end the next one soonest would repeat one of them."""
    automaton = compiled(unique({"type": "array", "items": {"type": "boolean"}, "maxItems": 4}, minItems=16), ALL_BYTES)
    arrays = [list(items) for length in range(4) for items in itertools.product([True, False], repeat=length)]
    text = json.dumps([*arrays, [True] * 4], separators=(",", ":"))
    assert automaton.accepts(text.encode())
    least = automaton.min_tokens(automaton.start)
    assert least < 2 * len(text)
    assert automaton.mask(automaton.start, least).any()


@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_a_required_item_may_have_members_in_any_order(order: Any) -> None:
    either = {"anyOf": [{"const": {"b": 1, "a": 2}}, {"const": {"b": 1, "c": 2}}]}
    schema = {"type": "array", "contains": either, "uniqueItems": True}
    automaton = compiled(schema, ALL_BYTES, whitespace="compact", property_order=order)
    shortest = len(b'[{"b":1,"a":2}]') + 1
    assert automaton.min_tokens(automaton.start) == shortest
    assert not automaton.mask(automaton.start, shortest - 1).any()
    assert automaton.mask(automaton.start, shortest).any()


@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_the_least_budget_always_allows_a_token(order: Any) -> None:
    """Also in a rule with flags within itself, from which different arcs lead to its exits."""
    schema = {"properties": {"é": {"items": unique({})}}, "minProperties": 2, "type": "object"}
    automaton, dice = compiled(schema, ALL_BYTES, property_order=order), random.Random(1)
    for _ in range(5):
        state = automaton.start
        while state != automaton.end_state:
            least = automaton.min_tokens(state)
            mask = automaton.mask(state, least)
            assert automaton.fits(state, least)
            assert mask.any()
            state = automaton.advance(state, dice.choice(np.flatnonzero(mask).tolist()))
            assert automaton.min_tokens(state) < least


@pytest.mark.parametrize("order", ["any", "any-if-cheap"])
def test_names_of_objects_within_themselves_may_be_finished(order: Any) -> None:
    """Rules that call themselves before they end are found to end all the same."""
    schema = {"properties": {"b": {"$ref": "#"}, "\U0001f600": {"uniqueItems": True}}, "required": ["b"]}
    automaton = compiled(schema, ALL_BYTES, whitespace="compact", property_order=order)
    state = after(automaton, b'{"a')
    shortest = len(b'":1,"b":1}') + 1
    assert automaton.min_tokens(state) == shortest
    assert [bool(automaton.mask(state, budget).any()) for budget in (shortest - 1, shortest, 100)] == [
        False,
        True,
        True,
    ]
    assert automaton.mask(state, 100).sum() == automaton.mask(state).sum()


def test_lengths_that_were_forgotten_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept for budgets holds on to the items of its texts, so it is bounded by their number."""
    schema = unique({"type": "integer", "minimum": 0, "maximum": 99}, minItems=30)
    text = json.dumps(list(range(9, 40))).encode()[:-1]
    keeping, forgetting = compiled(schema, ALL_BYTES), compiled(schema, ALL_BYTES)
    expected = [keeping.min_tokens(after(keeping, text[:end])) for end in range(len(text))]
    monkeypatch.setattr("tokenfst.unique_items.ways.MAX_REMEMBERED", 40)
    kept = list[int]()
    for end in range(len(text)):
        state = after(forgetting, text[:end])
        assert forgetting.min_tokens(state) == expected[end]
        kept.append(forgetting.ways._num_remembered)
    assert sum(later < before for before, later in itertools.pairwise(kept)) > 5
    assert after(keeping, b"[1, 2, 3").position.size > after(keeping, b"[1, 2").position.size


def test_a_search_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unique_items, "MAX_POSITIONS", 2)
    automaton = compiled(unique({"type": "string", "pattern": "^(aab?)?$"}), ALL_BYTES, whitespace="compact")
    state = after(automaton, b'["aab",""')
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
    again = after(automaton, b'["a", "b"')
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
        unique({}, contains={"type": "integer"}, minContains=3),
        unique({"type": ["null", "number"]}, contains={"multipleOf": 2}, minContains=7, maxContains=8),
        unique({}, contains={"type": ["integer", "string"]}, minContains=2, prefixItems=[{"type": "null"}]),
    ],
    ids=json.dumps,
)
def test_texts_end_within_their_budget(schema: Any) -> None:
    check_texts_within_budgets(schema, (0, 1, 7))


@pytest.mark.parametrize(
    ("items", "count", "text"),
    [
        ({"type": "integer"}, 3, "[0, 1, 2]"),
        ({"type": "integer"}, 12, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"),
        ({"multipleOf": 2}, 7, "[0, 2, 4, 6, 8, 10, 12]"),
        ({"multipleOf": 25}, 5, "[0, 25, 50, 75, 100]"),
        ({"type": ["integer", "boolean"]}, 4, "[0, 1, true, false]"),
    ],
)
def test_required_items_are_not_made_into_others_to_be_different(items: Any, count: int, text: str) -> None:
    """Whatever begins like an item that was there may become another number, but not one that counts."""
    automaton = compiled(unique({}, contains=items, minContains=count), ALL_BYTES)
    assert automaton.accepts(text.encode())
    assert automaton.min_tokens(automaton.start) <= len(text) + 1
    assert automaton.mask(automaton.start, len(text) + 1).any()


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
        ({"not": {"uniqueItems": True, "minItems": 1}}, "/not/uniqueItems", "must be equal"),
        ({"oneOf": [STRINGS, {"type": "array", "maxItems": 2}]}, "/oneOf/0/uniqueItems", "must be equal"),
        (
            {"type": "array", "anyOf": [unique(WORDS), *({"contains": {"const": number}} for number in range(128))]},
            "/anyOf/0/uniqueItems",
            "in some of the arrays",
        ),
        (unique({"type": "integer", "minimum": 0, "maximum": 99}, minItems=101), "/uniqueItems", "more items than"),
        (
            unique({"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "minProperties": 3}),
            "/uniqueItems",
            "more members than",
        ),
        (unique(WORDS, minItems=6, prefixItems=[WORDS, {"enum": ["a"]}]), "/uniqueItems", "more items than"),
    ],
)
def test_what_no_memory_can_tell_is_refused_by_name(schema: Any, place: str, reason: str) -> None:
    with pytest.raises(UnsupportedSchema, match=reason) as error:
        json_schema(schema)
    assert (error.value.pointer, error.value.keyword) == (place, "uniqueItems")
    assert json_schema(schema, unsupported="relax").dropped[0].pointer == place


def test_what_needs_a_grammar_or_tables_says_so() -> None:
    constraint, automaton = json_schema(STRINGS), compiled(STRINGS)
    for use in (
        constraint.to_visibly_pushdown,
        constraint.to_automaton,
        lambda: json_schema_to_regex(STRINGS),
        lambda: tokenfst.compile(constraint, VOCABULARY, tokenization="canonical"),
    ):
        with pytest.raises(UnsupportedSchema, match="needs memory of all items") as error:
            use()
        assert error.value.pointer == "/uniqueItems"
    for build in (
        sequence("x", constraint).to_automaton,
        lambda: tokenfst.compile(sequence(token("<x>"), constraint), VOCABULARY),
        lambda: sequence(grammar('start: "x"', syntax="lark"), constraint).to_automaton(),
    ):
        with pytest.raises(UnsupportedSchema, match="needs memory of all items"):
            build()
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
    state = after(automaton, b'["a","a')
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
    state = after(automaton, b"[1e" + b"1" * 1001)
    with pytest.raises(LimitExceeded, match="more than 1,000 digits"):
        automaton.advance(state, b","[0])


def test_rules_that_are_not_lazy_are_refused() -> None:
    constraint = json_schema(unique({"type": "integer"}))
    rules, arrays = tokenfst.compile(json_schema({}), ALL_BYTES), constraint.unique_arrays()
    marked = tokenfst.compile("ab", Vocabulary([b"ab", b""], eos_ids=[1]))
    assert arrays
    assert isinstance(rules, NativeTokenAutomaton)
    assert isinstance(marked, NativeTokenAutomaton)
    assert not isinstance(marked, LazyTokenAutomaton)
    with pytest.raises(LimitExceeded, match="too many copies"):
        UniqueItemsTokenAutomaton(rules, marked, arrays)
