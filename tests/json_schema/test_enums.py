"""Enums of many arrays and objects: the texts of their values, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraints import json_schema
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.formulas.connectives import conjunction, disjunction
from constraints.json_schema.formulas.finite import Value, constant_of, equal_to
from constraints.json_schema.formulas.statements import Kind
from constraints.json_schema.reading.keywords.values import value_in

MAKERS: dict[str, Callable[[int], Any]] = {
    "arrays": lambda number: [number, number % 3],
    "arrays that begin alike": lambda number: [number // 40, number],
    "arrays of several lengths": lambda number: [number] * (number % 3),
    "all scalars": lambda number: [[number, str(number), None, number % 8 == 3][number % 4], number],
    "nested arrays": lambda number: [number, [[number % 5], number]],
    "objects": lambda number: {"a": number, "b": [number]},
    "arrays that begin with arrays": lambda number: [[number], number % 3],
    "arrays that begin with objects": lambda number: [{"a": number, "b": [number % 5]}, {"c": number}],
    "objects that begin with arrays": lambda number: {"p": [number], "k": number},
    "arrays that begin with anything": lambda number: [[[number], {"a": number}, number, str(number)][number % 4], 7],
    "objects of several names": lambda number: {"id": str(number), "abc"[number % 3]: number % 2},
}
COUNT = 300


@pytest.mark.parametrize(("order", "count"), [("schema", COUNT), ("any-if-cheap", COUNT), ("any", 200)])
@pytest.mark.parametrize("name", MAKERS)
def test_many_arrays_and_objects(name: str, order: PropertyOrder, count: int) -> None:
    make, draw = MAKERS[name], Random(name)
    texts = {json.dumps(make(number)) for number in range(count)}
    constraint = json_schema({"enum": [json.loads(text) for text in texts]}, property_order=order)
    assert all(map(constraint.allows, texts))
    if order == "any":
        turned = (json.dumps(dict(reversed(make(number).items()))) for number in range(count) if name[:7] == "objects")
        assert all(map(constraint.allows, turned))
    for number in range(count):
        # Parts of two values, and values beyond the last one.
        parts, others = make(number), make(draw.randrange(2 * count))
        mixed = {**others, **parts} if isinstance(parts, dict) else [*parts[:1], *others[1:]]
        text = json.dumps(mixed)
        assert constraint.allows(text) == (text in texts), text


def value_of(value: Any) -> Value:
    """A JSON value as `finite` writes it."""
    match value:
        case None:
            return Kind.NULL, None
        case bool():
            return Kind.BOOLEAN, value
        case int() | float():
            return Kind.NUMBER, Fraction(str(value))
        case str():
            return Kind.STRING, value
        case list():
            return Kind.ARRAY, tuple(map(value_of, value))
    return Kind.OBJECT, tuple(sorted((name, value_of(member)) for name, member in value.items()))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_the_formula_of_a_constant_says_which(value: Any, other: Any) -> None:
    expected, formula = value_of(value), value_in([value])
    assert constant_of(formula) == constant_of(equal_to(expected)) == expected
    if isinstance(value, dict):
        assert constant_of(value_in([dict(reversed(value.items()))])) == expected
    if value_of(other) != expected:
        # Of none of these, this value is the only one.
        assert constant_of(disjunction([formula, value_in([other])])) is None
        assert constant_of(conjunction([formula, value_in([other])])) is None
