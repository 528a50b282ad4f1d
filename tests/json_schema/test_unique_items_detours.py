"""Arrays that must continue after an item that may have occurred before: how many more tokens that takes, at most."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import numpy as np
import pytest
from budget_checks import farthest, written
from unique_items_cases import after, check_texts_within_budgets, compiled, unique

import tokenfst
from automata import ByteAutomaton, LimitExceeded, UnsupportedSchema
from automata import expressions as ex
from automata.expressions import EPSILON, Expr
from automata.queries import enumerate as texts_of
from constraints import Whitespace, json_schema
from constraints.json_schema.building.builder import SchemaGrammarBuilder
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.reading import read_schema
from tokenfst import Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES
from tokenfst.vocabulary.text_start import TextStart


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


CARD = {
    "type": "object",
    "properties": {"suit": {"enum": ["s", "h", "d", "c"]}, "rank": {"type": "integer", "minimum": 1, "maximum": 13}},
    "required": ["suit", "rank"],
    "additionalProperties": False,
}
FEW: Any = {"type": "integer", "minimum": 0, "maximum": 12}
PAIR: Any = {"type": "object", "propertyNames": {"pattern": "^[a-c]$"}, "additionalProperties": {"enum": ["a", "bb"]}}
FLAG: Any = {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False}
NEEDY: list[Any] = [
    unique({"type": "string"}, minItems=4),
    unique({"type": "integer"}, minItems=13),
    unique({"type": "integer", "minimum": 0, "maximum": 70}, minItems=25),
    unique(CARD, minItems=5),
    unique({"type": "array", "items": {"type": "boolean"}, "maxItems": 6}, minItems=10),
    unique({"type": "object", "properties": {"a": {"type": "string"}}}, minItems=3),
    unique({"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}}, minItems=2),
    unique({"type": ["null", "boolean", "string"]}, minItems=5),
    unique({"type": "string"}, contains={"const": "needed"}, minItems=3),
    unique({"enum": [*(f"é{number}" for number in range(70)), "\ud800"]}, minItems=3),
    unique({}, contains={"type": "integer"}, minContains=3),
    unique({"type": "string"}, contains={"type": "string", "pattern": "^[ab]{0,2}$"}, minContains=6),
    unique({"type": "array", "anyOf": [{"const": [1, 1]}, unique(FEW)]}, minItems=3),
    unique({"anyOf": [unique(FEW, minItems=2), {"type": "array", "items": FEW, "maxItems": 2}]}, minItems=4),
    unique({}, prefixItems=[{"type": "integer"}, {"type": ["integer", "string"]}, {"type": "number"}], minItems=3),
    unique(unique({"type": "integer"}, minItems=2), minItems=2),
    unique(unique(FEW), minItems=2),
    unique(unique(FEW, prefixItems=[{"type": ["null", "boolean"]}, {"const": 7}], minItems=2), minItems=5),
    unique(unique({"type": "array", "maxItems": 0}, prefixItems=[FLAG], minItems=2), minItems=3),
    unique(closed(a=PAIR | {"minProperties": 2, "maxProperties": 2}), minItems=2),
    unique(FLAG, minItems=3),
    unique({"type": "array", "items": FLAG, "maxItems": 1}, minItems=4),
    unique({"enum": ["a", {}]}, minItems=2),
    unique({}, prefixItems=[{"type": "string"}, {"enum": [{"é": 1.0}, "aé"]}], contains={"multipleOf": 1.5}),
    {"type": "object", "properties": {"tags": unique({"type": "string", "minLength": 2}, minItems=3), "n": {}}},
    {"anyOf": [unique({"type": "string"}, minItems=3), {"type": "array", "items": {"type": "integer"}}]},
]


@pytest.mark.parametrize("schema", NEEDY, ids=json.dumps)
def test_texts_end_within_their_budget(schema: Any) -> None:
    check_texts_within_budgets(schema, (0, 3, 20))


@pytest.mark.parametrize("schema", NEEDY, ids=json.dumps)
def test_large_budgets_allow_all_that_is_allowed_without(schema: Any) -> None:
    automaton, dice = compiled(schema), random.Random(3)
    for _ in range(6):
        state = automaton.start
        for _ in range(25):
            mask = automaton.mask(state)
            assert np.array_equal(automaton.mask(state, 10_000), mask)
            state = automaton.advance(state, dice.choice(np.flatnonzero(mask).tolist()))
            if state == automaton.end_state:
                break


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer"},
        {"type": "integer", "minimum": -3, "maximum": 12},
        {"type": ["null", "boolean"]},
        {"type": "string", "pattern": "^[ab]*$"},
        {"enum": ["a", "bc", "\n", '"', 1, 10, 100, True, None]},
        {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
        {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"const": 1}}, "additionalProperties": False},
        {"type": "array", "items": {"type": "array", "items": {"const": 1}, "maxItems": 1}, "maxItems": 2},
        {"type": "object", "properties": {"a": {"enum": [1, 2, 3]}, "b": {"type": "boolean"}}, "required": ["a", "b"]}
        | {"additionalProperties": False},
        {"type": "object", "propertyNames": {"pattern": "^[a-c]$"}, "additionalProperties": {"enum": [1, 23]}}
        | {"minProperties": 1, "maxProperties": 2},
        {"enum": ["a", {}]},
        {"enum": ["bc", 1.5, {"a": 1}, {"a": [2]}]},
        {"anyOf": [{"const": "abcdefgh"}, {"type": "array", "items": {"type": "boolean"}, "maxItems": 1}]},
    ],
    ids=json.dumps,
)
def test_there_are_as_many_values_up_to_a_length(schema: Any) -> None:
    constraint = json_schema(schema, whitespace="compact")
    document = read_schema(schema)
    builder = SchemaGrammarBuilder(Restriction(document.definitions), Layout(document, "compact", "schema", "all"))
    by_length: dict[int, set[str]] = {}
    shortest_first = itertools.islice(texts_of(_regular(constraint.to_automaton())), 20_000)
    for text in itertools.takewhile(lambda text: len(text) <= 14, shortest_first):
        by_length.setdefault(len(text), set()).add(json.dumps(_value(json.loads(text)), sort_keys=True))
    for number in range(1, 9):
        longest = builder.lengths.longest(document.root, number)
        if longest <= 14:
            found = set[str]().union(*(values for length, values in by_length.items() if length <= longest))
            assert len(found) >= number, (number, longest)


def _regular(automaton: Any) -> ByteAutomaton:
    assert isinstance(automaton, ByteAutomaton)
    return automaton


def _value(value: Any) -> Any:
    """A value in which equal numbers are written alike."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return value


def test_required_white_space_counts() -> None:
    wide = Whitespace(after_comma=ex.literal(" " * 9), after_colon=ex.literal(" " * 7))
    automaton = compiled(unique(CARD, minItems=6), ALL_BYTES, whitespace=wide)
    dice = random.Random(1)
    for _ in range(4):
        budget = automaton.min_tokens(automaton.start)
        tokens = written(automaton, budget, farthest, dice)
        assert len(tokens) < budget


BLANK, SPACES = ex.literal(" "), ex.repeat(" ", 0, 2)


@pytest.mark.parametrize("items", [{"type": "string", "maxLength": 0}, {"enum": [{}, "a"]}, closed(a={"const": []})])
@pytest.mark.parametrize(
    ("before_comma", "closing", "is_refused"),
    [
        (BLANK, EPSILON, True),
        (SPACES, EPSILON, True),
        (SPACES, ex.literal("\n"), True),
        (BLANK | "\n ", SPACES, True),
        (EPSILON, BLANK, False),
        (BLANK, SPACES, False),
        (SPACES, ex.repeat(ex.char_set(" \n"), 0, 3), False),
    ],
)
def test_blanks_never_lead_where_only_a_repetition_can_follow(
    items: Any, before_comma: Expr, closing: Expr, is_refused: bool
) -> None:
    blanks = Whitespace(before_comma=before_comma, closing=closing)
    if is_refused:
        with pytest.raises(UnsupportedSchema, match=r"blanks before commas that may .* \(at /uniqueItems"):
            json_schema(unique(items), whitespace=blanks)
        return
    automaton = compiled(unique(items), ALL_BYTES, whitespace=blanks)
    waiting = [automaton.start]
    for _ in range(14):
        allowed = [(state, np.flatnonzero(automaton.mask(state)).tolist()) for state in dict.fromkeys(waiting)]
        assert all(tokens for _, tokens in allowed)
        waiting = [automaton.advance(state, token) for state, tokens in allowed for token in tokens]
        waiting = [state for state in waiting if state != automaton.end_state]


def test_few_scalars_and_objects_together_are_enough() -> None:
    for word in ("a", "abcdefgh"):
        automaton = compiled(unique({"anyOf": [{"const": word}, closed()]}, minItems=2), ALL_BYTES)
        # The longest value may come first.
        most = len(json.dumps([word, word], separators=(",", ":"))) + 1
        assert most - len(word) <= automaton.min_tokens(automaton.start) <= most


def test_the_shortest_number_of_tokens_where_nothing_can_repeat() -> None:
    automaton = compiled(unique({}, prefixItems=[{"type": "string"}, {"type": "integer"}], minItems=2), ALL_BYTES)
    assert automaton.min_tokens(automaton.start) == len(b'["",0]') + 1


@pytest.mark.parametrize(("count", "most"), [(1, 6), (2, 10), (3, 17)])
def test_items_of_items_that_differ_may_be_few(count: int, most: int) -> None:
    digits = {"type": "integer", "minimum": 0, "maximum": 9}
    automaton = compiled(unique(unique(digits), minItems=count), ALL_BYTES, whitespace="compact")
    assert automaton.min_tokens(automaton.start) <= most + 1


def test_budgets_at_the_start_of_a_text_that_decoders_change_are_refused() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b' "', b" [", b""]
    vocabulary = Vocabulary(tokens, [len(tokens) - 1], text_start=TextStart(exceptions={257: b"["}))
    several = tokenfst.compile(json_schema(unique({"type": "string"}, minItems=2)), vocabulary, at_text_start=True)
    with pytest.raises(LimitExceeded, match="no number of tokens is known"):
        several.min_tokens(several.start)
    one = tokenfst.compile(json_schema(unique({"type": "string"}, minItems=1)), vocabulary, at_text_start=True)
    assert one.mask(one.start, one.min_tokens(one.start)).any()


def test_a_bound_that_is_not_known_ends_no_text_that_can_do_without() -> None:
    """Where no bound is known, the array is not begun within a budget."""
    rare = {"type": "string", "pattern": "^(a{9}){0,600}$"}
    schema = {"type": "object", "properties": {"x": unique(rare, minItems=590)}, "additionalProperties": False}
    automaton = compiled(schema, ALL_BYTES, whitespace="compact")
    inside = after(automaton, b'{"x":[')
    assert automaton.mask(inside).any()
    assert not automaton.mask(inside, 1 << 27).any()
    assert automaton.mask(automaton.start, 3).any()


@pytest.mark.parametrize("depth", [3, 9, 12])
def test_values_are_counted_at_any_depth(depth: int) -> None:
    items: Any = {"type": "integer", "minimum": 0, "maximum": 69}
    for _ in range(depth):
        items = {"type": "array", "items": items, "minItems": 1, "maxItems": 1}
    compiled(unique(items, minItems=70), ALL_BYTES)
    with pytest.raises(UnsupportedSchema, match="more items than there may be different values"):
        json_schema(unique(items, minItems=71))
