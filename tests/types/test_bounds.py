"""Bounds and steps of numbers, in JSON and in constructor calls: those that Pydantic enforces."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, TypeAlias

import annotated_types as at
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaError

from automata import compile_expr, equivalent, parse
from automata.errors import TextNotAllowed, UnsupportedSchema
from constraints.types import dataclass, typed

Number: TypeAlias = int | float | Decimal

SPECIAL: list[Number] = [0, 12, 2**53 + 1, -(2**53) - 1, 2**64, 0.1, -2.675, 2.0, -0.0, 1e-7, 1e16, 5e-324]
SPECIAL += [Decimal("0.1"), Decimal("-2.675"), Decimal("0.1000000000000000001"), Decimal("1E+3")]
BOUNDS = st.sampled_from(SPECIAL) | st.floats(-3, 3) | st.integers(-300, 300).map(lambda cents: Decimal(cents) / 100)


def near(bound: Number, kind: type[Number]) -> Iterator[Number]:
    """Yield numbers next to each reading that a bound could have."""
    if kind is int:
        yield from (int(bound) + offset for offset in range(-2, 3))
    elif kind is float:
        nearest = float(bound)
        yield from (nearest, nearest - 1, nearest + 1, *(math.nextafter(nearest, end) for end in (-math.inf, math.inf)))
    else:
        for center in (Decimal(bound), Decimal(repr(float(bound)))):
            yield from (center + Decimal(offset) for offset in ("0", "1e-19", "-1e-19", "1", "-1"))


def check_against_pydantic(annotation: Any, values: Iterator[Number]) -> None:
    """Check that JSON, keys and constructor calls allow the values that Pydantic takes, and no others."""
    adapter = TypeAdapter[Number](annotation)
    plain, keyed, called = typed(annotation), typed(dict[annotation, int]), dataclass(annotation)
    for value in values:
        try:
            expected = adapter.validate_python(value) == value
        except ValidationError:
            expected = False
        is_decimal = isinstance(value, Decimal)
        text = f"{value:f}" if is_decimal else repr(value)
        assert plain.allows(f'"{text}"' if is_decimal else text) == expected, value
        assert keyed.allows(f'{{"{text}": 1}}') == expected, value
        call = f"Decimal('{text}')" if is_decimal else text
        assert called.allows(call) == expected, value
        if expected:
            assert called.parse(call) == value
        else:
            with pytest.raises(TextNotAllowed):
                called.parse(call)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from([int, float, Decimal]), st.sampled_from([at.Gt, at.Ge, at.Lt, at.Le]), BOUNDS)
@example(Decimal, at.Ge, 0.1)
@example(float, at.Gt, Decimal("0.1"))
@example(float, at.Lt, 2**53 + 1)
def test_bounds_of_another_type_are_read_as_by_pydantic(kind: type[Number], order: Any, bound: Number) -> None:
    annotation: Any = Annotated[kind, order(bound)]
    try:
        TypeAdapter(annotation)
    except SchemaError:  # a fraction does not bound an int
        assert kind is int
        with pytest.raises(UnsupportedSchema, match="must be coercible"):
            typed(annotation)
    else:
        check_against_pydantic(annotation, near(bound, kind))


@pytest.mark.parametrize("step", [2.0, 7, 13, 97, Decimal("0.7"), 0.1], ids=str)
def test_steps_with_many_remainders(step: Any) -> None:
    tenths = (Decimal(number) / 10 for number in (*range(-150, 150), 9_700, 13_000_000))
    check_against_pydantic(Annotated[Decimal, at.MultipleOf(step)], tenths)
    if step == int(step):
        check_against_pydantic(Annotated[int, at.MultipleOf(step)], iter((*range(-30, 30), 97, 970, 1_300_000)))


@pytest.mark.parametrize("kind", [int, Decimal])
def test_a_step_with_too_many_remainders_is_refused_at_its_field(kind: type[Number]) -> None:
    record = dataclasses.make_dataclass("Record", [("x", Annotated[kind, at.MultipleOf(1_000_003)])])
    for constrain in (typed, dataclass):
        with pytest.raises(UnsupportedSchema, match=r"multiples of 1000003 .* 30,000") as caught:
            constrain(record)
        assert "/x" in caught.value.pointer


@pytest.mark.parametrize("kind", [int, float, Decimal])
@pytest.mark.parametrize("limit", [at.Ge(-2.0), at.Lt(10**20), at.MultipleOf(5), at.Interval(ge=3, lt=400)], ids=str)
def test_numbers_are_regular_expressions(kind: type[Number], limit: Any) -> None:
    whole: Any = Annotated[kind, limit, at.Interval(ge=-(10**9))]
    expr = dataclass(whole).to_expr()
    assert equivalent(compile_expr(parse(str(expr))), compile_expr(expr))
