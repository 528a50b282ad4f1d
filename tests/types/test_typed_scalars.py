"""JSON texts of numbers, moments, durations and keys: those that Pydantic reads, and no others."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Annotated, Literal

import annotated_types as at
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AwareDatetime,
    Field,
    FiniteFloat,
    NaiveDatetime,
    TypeAdapter,
)
from python_types import Level
from typed_cases import accepts, automaton_of

from constraints.types import typed

INTEGERS = ["1", "-0", "1.0", "1e0", "10000000000000000000000", "01", '"1"', "true"]


def test_integers_are_plain() -> None:
    assert accepts(int, *INTEGERS) == [True, True, False, False, True, False, False, False]
    assert accepts(Literal[1, 2], "1", "1.0", "3") == [True, False, False]
    assert accepts(Level, "1", "2", "2.0", "3", '"LOW"') == [True, True, False, False, False]
    assert [type(typed(int | float).parse(text)) for text in ("1", "1.0")] == [int, float]


def test_floats_are_bounded_after_rounding() -> None:
    below_one = Annotated[float, at.Lt(1)]
    assert accepts(below_one, "0.9999999999999999", "0.99999999999999999999", "1") == [True, False, False]
    assert accepts(FiniteFloat, "1.7976931348623157e308", "1e400", "1e308", "1e-400") == [True, False, True, True]
    assert typed(float).parse("1e400") == math.inf


def test_decimals() -> None:
    assert typed(Decimal).parse('"1.10000000000000000000000000000000000001"') == Decimal(
        "1.10000000000000000000000000000000000001"
    )
    assert (
        accepts(Decimal, '"1"', '"-0.0"', '"1E+5"', '"NaN"', '" 1"', '"1_0"', "1", '".5"') == [True] * 3 + [False] * 5
    )
    money = Annotated[Decimal, Field(ge=0, lt=1000, decimal_places=2)]
    assert accepts(money, '"999.99"', '"1000"', '"0.001"', '"-1"', '"0"') == [True, False, False, False, True]
    small = Annotated[Decimal, Field(ge=0, lt=1)]
    assert accepts(small, '"1E-7"', '"2.5E-20"', '"0E-10"', '"1E+1"', '"-1E-7"') == [True, True, True, False, False]
    steps = Annotated[Decimal, Field(multiple_of=Decimal("0.25"))]
    assert accepts(steps, '"0.75"', '"0.7"', '"-1.50"') == [True, False, True]
    for digits in range(20, 35):
        assert accepts(steps, f'"1{digits * "0"}"') == [digits <= 27]


@pytest.mark.parametrize(
    ("digits", "places"), [(3, None), (3, 2), (2, 2), (2, 3), (1, 5), (None, 1), (3, 0), (1, None)]
)
def test_digits_of_decimals(digits: int | None, places: int | None) -> None:
    annotation = Annotated[Decimal, Field(max_digits=digits, decimal_places=places)]
    automaton, adapter = automaton_of(typed(annotation)), TypeAdapter(annotation)
    for number in [
        Decimal(mantissa).scaleb(-scale) for mantissa in (0, 1, 9, 10, 12, 99, 123, 999, 1234) for scale in range(5)
    ]:
        plain = f"{number:f}"
        try:
            adapter.validate_python(plain)
            valid = True
        except ValueError:
            valid = False
        assert automaton.accepts(f'"{plain}"'.encode()) == valid, plain


@pytest.mark.parametrize(("digits", "places"), [(1, 1), (2, 2), (2, 4), (3, 2), (3, None), (None, 2)])
def test_zeros_with_an_exponent(digits: int | None, places: int | None) -> None:
    annotation = Annotated[Decimal, Field(max_digits=digits, decimal_places=places)]
    automaton, adapter = automaton_of(typed(annotation)), TypeAdapter(annotation)
    for exponent in range(-14, 9):
        for zero in ("0", "-0", "0.0", "0.000"):
            text = f'"{zero}E{exponent:+}"'
            if automaton.accepts(text.encode()):
                assert adapter.validate_json(text) == 0
        written = adapter.dump_json(Decimal(f"0E{exponent}"))
        try:
            adapter.validate_json(written)
        except ValueError:
            continue
        assert automaton.accepts(written), written


def test_many_digits_of_decimals() -> None:
    accepted = accepts(
        Annotated[Decimal, Field(max_digits=1000)],
        *(
            f'"{"9" * before}{"." * (behind > 0)}{"1" * behind}"'
            for before, behind in [(1000, 0), (970, 30), (970, 31)]
        ),
        f'"{"9" * 970}.{"1" * 30}00"',
    )
    assert accepted == [True, True, False, True]


def test_bounds_beyond_floats() -> None:
    most = 10**309
    assert accepts(Annotated[int, Field(le=most)], str(most), str(most + 1)) == [True, False]


def test_moments() -> None:
    days = ["2024-02-29", "2023-02-29", "0000-01-01", "9999-12-31", "2024-2-9", "2024-13-01", "2024-04-31"]
    assert accepts(datetime.date, *[f'"{day}"' for day in days]) == [True, False, False, True, False, False, False]
    times = ["12:00", "12:00:00", "12:00:00.123456Z", "12:00:60", "24:00", "12:00:00.1234567", "12:00+05:30"]
    assert accepts(datetime.time, *[f'"{time}"' for time in times]) == [True, True, True, False, False, False, True]
    zoned = ['"2024-01-01T00:00:00"', '"2024-01-01T00:00:00Z"', '"2024-01-01T00:00:00+24:00"']
    assert accepts(datetime.datetime, *zoned) == [True, True, False]
    assert accepts(AwareDatetime, *zoned) == [False, True, False]
    assert accepts(NaiveDatetime, *zoned) == [True, False, False]


DAYS = automaton_of(typed(datetime.date))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32))
def test_dates_are_those_that_exist(year: int, month: int, day: int) -> None:
    try:
        datetime.date(year, month, day)
        exists = True
    except ValueError:
        exists = False
    assert DAYS.accepts(f'"{year:04}-{month:02}-{day:02}"'.encode()) == exists


def test_dates_within_bounds() -> None:
    day = datetime.timedelta(days=1)
    low, high = datetime.date(1999, 12, 30), datetime.date(2024, 2, 29)
    closed = automaton_of(typed(Annotated[datetime.date, Field(ge=low, le=high)]))
    half = automaton_of(typed(Annotated[datetime.date, Field(gt=low, lt=high)]))
    for each in [low - day, low, low + day, high - day, high, high + day, datetime.date(2010, 12, 31)]:
        written = f'"{each}"'.encode()
        assert (closed.accepts(written), half.accepts(written)) == (low <= each <= high, low < each < high), each


def test_durations_at_their_ends() -> None:
    constraint = typed(datetime.timedelta)
    year = datetime.timedelta(days=365)
    ends = [datetime.timedelta.max, datetime.timedelta.min, -datetime.timedelta.resolution, year, -year, year * 2739725]
    for value in ends:
        assert constraint.parse(constraint.adapter.dump_json(value).decode()) == value
    for written in ("P", "PT", "P1DT", "P2739726Y10D", "-P2739726Y9DT1S", "P1M", "PT24H", "PT0.0000001S"):
        assert accepts(datetime.timedelta, f'"{written}"') == [False], written


DURATIONS = automaton_of(typed(datetime.timedelta))


@settings(max_examples=75, deadline=None)
@given(st.from_regex(r"-?P(\d{1,8}Y)?(\d{1,3}D)?(T(\d{1,2}H)?(\d{1,2}M)?(\d{1,2}(\.\d{1,6})?S)?)?", fullmatch=True))
def test_durations_that_are_allowed_are_read(written: str) -> None:
    if DURATIONS.accepts(f'"{written}"'.encode()):
        TypeAdapter(datetime.timedelta).validate_json(f'"{written}"')


def test_keys_of_dicts() -> None:
    assert accepts(dict[int, int], '{"1": 1, "-2": 2}', '{"a": 1}', '{"1.0": 1}', '{"01": 1}') == [
        True,
        False,
        False,
        False,
    ]
    assert typed(dict[int, int]).parse('{"1": 1, "-2": 2}') == {1: 1, -2: 2}
    assert accepts(dict[Annotated[int, Field(ge=0, le=9)], int], '{"9": 1}', '{"10": 1}') == [True, False]
    assert typed(dict[bool, int]).parse('{"true": 1}') == {True: 1}
    assert accepts(dict[bool, int], '{"True": 1}', '{"1": 1}') == [False, False]
    assert typed(dict[float, int]).parse('{"1e+22": 1, "0.5": 2}') == {1e22: 1, 0.5: 2}
    assert typed(dict[datetime.date, int]).parse('{"2024-02-29": 1}') == {datetime.date(2024, 2, 29): 1}
    assert typed(dict[Literal["b", "a"], int]).parse('{"a": 1, "b": 2}') == {"a": 1, "b": 2}
    odd = dict[Literal["a b-c#", "x.y|z", "\\\n"], int]
    assert accepts(odd, '{"a b-c#": 1, "x.y|z": 2, "\\\\\\n": 3}', '{"xoy": 1}', '{"z": 1}') == [True, False, False]
    assert accepts(dict[Annotated[str, Field(pattern="^x")], int], '{"xy": 1}', '{"y": 1}') == [True, False]
    assert accepts(Annotated[dict[str, int], Field(min_length=1, max_length=2)], "{}", '{"a":1}', '{"a":1,"b":2}') == [
        False,
        True,
        True,
    ]
