"""`max_digits` takes away the spellings with more digits in a row, and nothing else."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraints import JsonSchema, json_schema

MOST = 4
# Languages without a bound of their own.
UNBOUNDED: list[Any] = [
    {"type": "integer"},
    {"type": "number"},
    {"type": "number", "minimum": 3, "exclusiveMaximum": 12.5},
    {"type": "integer", "minimum": -7},
    {"type": "number", "multipleOf": 0.25},
    {"type": "integer", "multipleOf": 3},
    {"enum": [5, 12.5]},
    {"not": {"type": "integer"}},
]
BOUNDED: list[Any] = [
    {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 0, "maximum": 10**9},
    {"type": "string", "pattern": "^[0-9]{9}$"},
    {"type": "boolean"},
]
NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,6})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,6})?", fullmatch=True)


@cache
def constraints_of(schema: str) -> tuple[JsonSchema, JsonSchema]:
    read = json.loads(schema)
    return json_schema(read), json_schema(read, max_digits=MOST)


def is_short(text: str) -> bool:
    number, _, exponent = text.lower().partition("e")
    return all(len(digits) <= MOST for digits in re.findall("[0-9]+", number)) and len(exponent.strip("+-")) <= 2


@given(st.sampled_from(UNBOUNDED), NUMBERS)
def test_only_long_numbers_are_taken_away(schema: Any, text: str) -> None:
    free, bounded = constraints_of(json.dumps(schema))
    assert bounded.allows(text) == (free.allows(text) and is_short(text))


@pytest.mark.parametrize("schema", UNBOUNDED, ids=str)
def test_there_are_numbers_that_are_short_enough(schema: Any) -> None:
    _, bounded = constraints_of(json.dumps(schema))
    assert any(bounded.allows(text) for text in ("6", "5", "0.5"))


@pytest.mark.parametrize("schema", BOUNDED, ids=str)
@given(st.integers(-10, 10**10))
def test_what_has_a_bound_keeps_it(schema: Any, number: int) -> None:
    free, bounded = constraints_of(json.dumps(schema))
    for text in (str(number), f'"{number}"', "true"):
        assert bounded.allows(text) == free.allows(text)


@pytest.mark.parametrize("number", [123456789, 10**30, 0.123456789, -1e-9, 1e300, 1.23456789e300, 1.23456789e-300])
def test_numbers_that_the_schema_names_fit(number: float) -> None:
    for schema in ({"enum": [1, number]}, {"minimum": number, "type": "number"}, {"const": number}):
        assert json_schema(schema, max_digits=MOST).allows(json.dumps(number))


# Schemas, each with the digits that its longest number has before or after the point, counted by hand.
NAMING: list[tuple[dict[str, Any], int]] = [
    ({"type": "number"}, 0),
    ({"type": "number", "minimum": 0.1}, 1),
    ({"type": "number", "maximum": -0.125}, 3),
    ({"type": "number", "exclusiveMinimum": 1e-7}, 7),
    ({"type": "number", "minimum": 0.0001, "maximum": 99.5}, 4),
    ({"type": "number", "minimum": 123456, "exclusiveMaximum": 10**9}, 10),
    ({"type": "number", "minimum": -1000.25}, 4),
    ({"type": "number", "multipleOf": 0.01}, 2),
    ({"type": "number", "multipleOf": 2000}, 4),
    ({"type": "integer", "minimum": 100}, 3),
    ({"type": "number", "not": {"enum": [0.5, 11]}}, 2),
    ({"enum": [1, 11.125, -5e-5]}, 5),
]
SIDE = range(1, 12)
WHOLES = ["0", *(digit * n for digit in "125" for n in SIDE), *("1" + "0" * n for n in SIDE)]
FRACTIONS = ["", *("." + digit * n for digit in "015" for n in SIDE), *(f".{'0' * n}1" for n in SIDE)]
DECIMALS = [f"{sign}{whole}{fraction}" for sign, whole, fraction in product(("", "-"), WHOLES, FRACTIONS)]


def satisfies(schema: dict[str, Any], number: Decimal) -> bool:
    """Return whether a number satisfies a schema, computed in decimal."""

    def has(keyword: str) -> Decimal:
        return Decimal(str(schema[keyword]))

    return (
        ("enum" not in schema or number in [Decimal(str(value)) for value in schema["enum"]])
        and ("minimum" not in schema or number >= has("minimum"))
        and ("maximum" not in schema or number <= has("maximum"))
        and ("exclusiveMinimum" not in schema or number > has("exclusiveMinimum"))
        and ("exclusiveMaximum" not in schema or number < has("exclusiveMaximum"))
        and ("multipleOf" not in schema or number % has("multipleOf") == 0)
        and (schema.get("type") != "integer" or number % 1 == 0)
        and ("not" not in schema or not satisfies(schema["not"], number))
    )


@pytest.mark.parametrize(("schema", "named"), NAMING, ids=str)
@pytest.mark.parametrize("most", [1, 2, 7])
def test_no_side_of_the_point_has_more_digits_than_the_maximum(schema: Any, named: int, most: int) -> None:
    bounded = json_schema(schema, max_digits=most).to_automaton()
    for text in DECIMALS:
        is_short = max(map(len, text.lstrip("-").split("."))) <= max(most, named)
        assert bounded.accepts(text.encode()) == (is_short and satisfies(schema, Decimal(text))), text


def test_what_is_written_is_a_float() -> None:
    bounded = json_schema({"type": "integer"}, max_digits=20)
    assert bounded.allows("1" * 20 + "e99")
    assert not bounded.allows("1e999")
    assert json_schema({"type": "integer", "maximum": 10**400}, max_digits=20).allows("1e400")


def test_members_are_bounded_at_any_depth() -> None:
    bounded = json_schema({"type": "object"}, max_digits=MOST)
    assert bounded.allows('{"a": [{"b": 1234}, "123456"]}')
    assert not bounded.allows('{"a": [{"b": 12345}]}')


def test_numbers_that_are_all_longer_are_left_whole() -> None:
    schema = {"type": "integer", "exclusiveMinimum": 99_999}
    longer = json_schema(schema, max_digits=1, integers="digits")
    assert longer.allows("1" * 6)
    assert longer.allows("1" * 60)


def test_mistakes_are_errors() -> None:
    wrong: Any
    for wrong in (0, "3", 1.5):
        with pytest.raises(ValueError, match=f"max_digits is at least 1, or None, not {wrong!r}"):
            json_schema({}, max_digits=wrong)
    with pytest.raises(ValueError, match="the same `max_digits`, and not with 3 and None"):
        json_schema({"type": "integer"}, max_digits=3) | json_schema({"type": "null"})
