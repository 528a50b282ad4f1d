"""`max_digits` takes away the spellings with more digits in a row, and nothing else."""

from __future__ import annotations

import json
import re
from functools import cache
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


@pytest.mark.parametrize("number", [123456789, 10**30, 0.123456789, -1e-9, 1e300])
def test_numbers_that_the_schema_names_fit(number: float) -> None:
    for schema in ({"enum": [1, number]}, {"minimum": number, "type": "number"}, {"const": number}):
        assert json_schema(schema, max_digits=MOST).allows(json.dumps(number))


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
    schema = {"type": "integer", "multipleOf": 7, "exclusiveMinimum": 9999, "not": {"maximum": 99990}}
    assert json_schema(schema, max_digits=1).allows("99995")


def test_mistakes_are_errors() -> None:
    wrong: Any
    for wrong in (0, "3", 1.5):
        with pytest.raises(ValueError, match=f"max_digits is at least 1, or None, not {wrong!r}"):
            json_schema({}, max_digits=wrong)
    with pytest.raises(ValueError, match="the same `max_digits`, and not with 3 and None"):
        json_schema({"type": "integer"}, max_digits=3) | json_schema({"type": "null"})
