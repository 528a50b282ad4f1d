"""Arrays that must have several different items, beside the number of all values that an item can have."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unique_items_cases import WORDS, unique
from validity import validator

import tokenfst
from automata import UnsatisfiableSchema, UnsupportedSchema
from constraints import json_schema
from tokenfst import TokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

COUNTS = ["minProperties", "maxProperties"]
LEAVES = [True, False, 1]
NAMES = ["p", "q", "a", "b", "c"]


@cache
def values() -> list[Any]:
    """All values that an item can have."""
    arrays = [list(items) for length in range(3) for items in itertools.product(LEAVES, repeat=length)]
    nested = [list(items) for length in range(3) for items in itertools.product(arrays, repeat=length)]
    members = itertools.product([*LEAVES, None], repeat=len(NAMES))
    objects = [{name: value for name, value in zip(NAMES, own, strict=True) if value is not None} for own in members]
    return [*LEAVES, *arrays, *(array for array in nested if array), *objects]


leaves = st.sampled_from([{"type": "boolean"}, {"const": 1}, {"enum": [1, True]}, {"enum": LEAVES}])
bounds = st.tuples(st.integers(0, 2), st.integers(0, 2)).map(sorted)


def arrays_of(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda items, first, length: (
            {
                "type": "array",
                "items": items,
                "minItems": length[0],
                "maxItems": length[1],
            }
            | ({"prefixItems": first} if first else {})
        ),
        items,
        st.lists(items, max_size=1),
        bounds,
    )


arrays = arrays_of(leaves) | arrays_of(arrays_of(leaves))
objects = st.builds(
    lambda listed, pattern, others, required, counts: {
        "type": "object",
        "properties": listed,
        "patternProperties": {pattern: others},
        "additionalProperties": False,
        "required": required,
        **counts,
    },
    st.dictionaries(st.sampled_from(["p", "q"]), leaves),
    st.sampled_from(["^[a-c]$", "^[ab]$", "^a$"]),
    leaves,
    st.lists(st.sampled_from(["p", "q", "a"]), max_size=2, unique=True),
    st.just({}) | st.builds(lambda *own: dict(zip(COUNTS, own, strict=True)), st.integers(0, 3), st.integers(1, 5)),
)


def compiled(items: Any, count: int) -> TokenAutomaton | None:
    """Return the automaton of arrays with at least `count` different items; None if the schema is refused."""
    try:
        constraint = json_schema(unique(items, minItems=count), whitespace="compact")
    except (UnsatisfiableSchema, UnsupportedSchema):
        return None
    return tokenfst.compile(constraint, ALL_BYTES)


def check_no_dead_end(automaton: TokenAutomaton, dice: random.Random) -> None:
    """Follow random bytes, and check that each state but the end allows a token."""
    state = automaton.start
    for _ in range(400):
        allowed = np.flatnonzero(automaton.mask(state)).tolist()
        assert allowed
        state = automaton.advance(state, dice.choice(allowed))
        if state == automaton.end_state:
            return


def needs_listed_names(items: Any) -> bool:
    """Whether an object has too few members if it leaves out optional ones that are listed: it can be left without an
    end, and is refused."""
    if items["type"] != "object":
        return False
    (pattern,) = items["patternProperties"]
    unlisted = {name for name in NAMES if re.match(pattern, name)} - {*items["properties"], *items["required"]}
    return bool(items.get("minProperties", 0) > len(unlisted) + len(items["required"]))


@pytest.mark.parametrize("kind", ["array", "object"])
def test_arrays_are_refused_that_need_more_items_than_there_are_values(kind: str) -> None:
    accepted = set[str]()

    @settings(max_examples=30, deadline=None)
    @given(arrays if kind == "array" else objects, st.integers(0, 100))
    def check(items: Any, seed: int) -> None:
        checker = validator(items, "draft2020-12")
        count = len({json.dumps(value) for value in values() if checker.is_valid(value)})
        assert compiled(items, count + 1) is None
        # Longer arrays have more states than are visited.
        for number in {min(count, 900), count // 2, count // 8} - {0}:
            automaton = compiled(items, number)
            assert automaton is not None or needs_listed_names(items)
            if automaton is not None:
                accepted.add(json.dumps(items))
                check_no_dead_end(automaton, random.Random(seed))

    check()
    assert len(accepted) > 10


BOOLEAN = {"type": "boolean"}
CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("items", "count"),
    [
        ({"type": "integer", "minimum": 0, "maximum": 99}, 100),
        ({"type": "integer", "minimum": -60, "maximum": 60}, 121),
        ({"type": "number", "multipleOf": 0.5, "minimum": -40, "maximum": 40}, 161),
        ({"type": "number", "multipleOf": 0.25, "exclusiveMinimum": -1, "exclusiveMaximum": 100.25}, 404),
        ({"type": "string", "pattern": "^[ab]{0,6}$"}, 127),
        ({"type": "string", "pattern": "^[a\u00e9\U0001f600]{4}$"}, 81),
        ({"anyOf": [{"type": "string", "pattern": "^[0-9]{2}$"}, {"type": ["boolean", "null"]}]}, 103),
        ({"properties": {"a": BOOLEAN, "b": BOOLEAN}, **CLOSED}, 9),
        ({"properties": {"a": BOOLEAN, "b": {"enum": [1, 2, 3]}}, "required": ["b"], **CLOSED}, 9),
        ({"properties": {"a": BOOLEAN, "b": False}, "patternProperties": {"^[c-e]$": {"const": 1}}, **CLOSED}, 24),
        ({"properties": dict.fromkeys("abc", BOOLEAN), "minProperties": 2, "maxProperties": 2, **CLOSED}, 12),
        ({"patternProperties": {"^[a-z]$": {"const": 1}}, "minProperties": 25, **CLOSED}, 27),
        ({"properties": {"a": {"properties": {"b": BOOLEAN, "c": BOOLEAN}, **CLOSED}}, **CLOSED}, 10),
    ],
)
def test_every_value_is_counted_once(items: Any, count: int) -> None:
    assert compiled(items, count) is not None
    assert compiled(items, count + 1) is None


@pytest.mark.parametrize(
    ("items", "contained", "count"),
    [
        *(
            (WORDS, {"type": "string", "maxLength": length}, 2 ** (length + 1) - 1)  # words of up to so many letters
            for length in range(3)
        ),
        ({"type": "string"}, WORDS, 7),
        ({"enum": [1, "a", [1], {"a": 1}, None]}, {"type": ["number", "null"]}, 2),
        ({}, {"enum": [1, "a", {"a": 1}]}, 3),
        ({"type": ["integer", "null"]}, {"type": "integer", "minimum": -2, "maximum": 2}, 5),
    ],
)
def test_items_that_must_be_contained_are_counted_beside_any_others(items: Any, contained: Any, count: int) -> None:
    for number in (1, count - 1, count, count + 1):
        schema = unique(items, contains=contained, minContains=number)
        try:
            automaton = tokenfst.compile(json_schema(schema, whitespace="compact"), ALL_BYTES)
        except (UnsupportedSchema, UnsatisfiableSchema):
            assert number > count
        else:
            assert number <= count
            check_no_dead_end(automaton, random.Random(number))


def test_numbers_of_a_bounded_number_of_digits_are_counted() -> None:
    # One digit before the point, and one after it: the tenths from -9.9 to 9.9.
    for count in (1, 50, 199):
        assert json_schema(unique({"type": "number"}, minItems=count), max_digits=1).unique_arrays() is not None
    with pytest.raises(UnsupportedSchema, match="more items than"):
        json_schema(unique({"type": "number"}, minItems=200), max_digits=1)


def test_objects_may_have_many_members() -> None:
    names = [f"n{number}" for number in range(60)]
    required = {"properties": dict.fromkeys(names, BOOLEAN), "required": names, **CLOSED}
    pattern = {"patternProperties": {"^[a-z]{2}$": {"const": 1}}, "minProperties": 120, **CLOSED}
    optional = {"properties": dict.fromkeys(map(str, range(2_000)), BOOLEAN), **CLOSED}
    for items in (required, pattern, optional):
        automaton = compiled(items, 500)
        assert automaton is not None
        check_no_dead_end(automaton, random.Random(1))


def number_of_values(leaves: int, low: int, high: int) -> int:
    """Count the values that are leaves, or arrays of different values, up to some thousands; found bottom up."""
    found = before = 0
    while not before or before < found < 3_000:
        before = found
        found = leaves + sum(math.perm(before, length) for length in range(low, min(high, before) + 1))
        if found == before:
            break
    return found


@pytest.mark.parametrize("is_wrapped", [False, True])
@pytest.mark.parametrize("leaves", range(4))
def test_arrays_within_arrays_are_refused_that_cannot_have_enough_different_values(
    leaves: int, is_wrapped: bool
) -> None:
    for low, more in itertools.product(range(5), (0, 1, None)):
        high = {} if more is None else {"maxItems": low + more}
        within = {"type": "array", "items": {"$ref": "#"}, "uniqueItems": True, "minItems": low, **high}
        array = {"type": "object", "properties": {"a": within}, "required": ["a"]} | CLOSED if is_wrapped else within
        schema = {"anyOf": [{"enum": LEAVES[:leaves]}, array]} if leaves else array
        is_possible = number_of_values(leaves, low, low + (9 if more is None else more)) >= max(low, 1)
        try:
            automaton = tokenfst.compile(json_schema(schema), ALL_BYTES)
        except (UnsupportedSchema, UnsatisfiableSchema):
            assert not is_possible, schema
        else:
            assert is_possible, schema
            check_no_dead_end(automaton, random.Random(low))
