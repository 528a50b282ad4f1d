"""Integers, decimals and dates within bounds: every one in small universes, and texts that are almost one."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokenfst
from automata import ByteAutomaton, TextNotAllowed, compile_expr, count, random_strings
from constraints.values import Value, date, decimal, integer

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")


def automaton(value: Value[object]) -> ByteAutomaton:
    return compile_expr(value.expr)


# Integers


def test_every_range_of_small_integers() -> None:
    texts = [str(number) for number in range(-130, 131)]
    others = ["-0", "00", "01", "-01", "+1", "1.0", "1e1", "", "-", " 1", "1 ", "١"]
    edges = [None, -120, -101, -100, -99, -12, -10, -9, -1, 0, 1, 7, 9, 10, 11, 57, 99, 100, 101, 119]
    for low, high in product(edges, edges):
        if low is not None and high is not None and low > high:
            with pytest.raises(ValueError, match="no integer"):
                integer(low, high)
            continue
        found = automaton(integer(low, high))
        for text in texts:
            within = (low is None or low <= int(text)) and (high is None or int(text) <= high)
            assert found.accepts(text.encode()) == within, (low, high, text)
        assert not any(found.accepts(text.encode()) for text in others)


@given(st.integers(), st.integers(0), st.data())
def test_large_integers(low: int, size: int, data: st.DataObject) -> None:
    value = integer(low, low + size)
    assert count(value.expr) == size + 1
    inside = data.draw(st.integers(low, low + size))
    assert value.parse(str(inside)) == inside
    for outside in (low - 1, low + size + 1, 10 * (abs(low) + size + 1)):
        with pytest.raises(TextNotAllowed):
            value.parse(str(outside))


def test_an_integer_of_more_digits_than_python_reads() -> None:
    assert integer().parse("1" + "0" * 4000) == 10**4000
    with pytest.raises(TextNotAllowed):
        integer().parse("1" * 5000)


def test_bounds_of_more_digits_than_the_stack_has_frames() -> None:
    low, high = 10**1500 + 20, 10**1500 + 77
    assert count(integer(low, high).expr) == 58
    assert integer(5, high).allows(str(high))
    assert not integer(5, high).allows(str(high + 1))
    half = "12" * 800
    close = decimal(Decimal(f"0.{half}"), Decimal(f"0.{half}5"))
    for digits, allowed in (("", True), ("00", True), ("3", True), ("5", True), ("51", False)):
        assert close.allows(f"0.{half}{digits}") == allowed
    assert not close.allows(f"0.{half[:-1]}1")
    apart = decimal(Decimal(f"0.{half}"), Decimal(f"0.7{half}"))
    for text, allowed in ((half, True), ("5", True), (half[:-1], False), (f"7{half}", True), (f"7{half}1", False)):
        assert apart.allows(f"0.{text}") == allowed


# Decimals


DECIMALS = ["-10", "-2.5", "-2.25", "-0.02", "0", "0.2", "0.25", "0.259", "1", "5.29", "9.99", "10.05", "12"]


def small_decimals() -> list[str]:
    wholes = ["", "0", "1", "2", "5", "9", "10", "12", "00", "01"]
    fractions = ["", ".", *(f".{''.join(digits)}" for size in (1, 2, 3) for digits in product("0259", repeat=size))]
    return [f"{sign}{whole}{fraction}" for sign in ("", "-") for whole in wholes for fraction in fractions]


@pytest.mark.parametrize("places", [None, 0, 1, 2])
def test_every_range_of_small_decimals(places: int | None) -> None:
    texts = small_decimals()
    bounds = [
        None,
        *map(
            Decimal, ["-10", "-2.5", "-2.25", "-0.02", "0", "0.2", "0.25", "0.259", "1", "5.29", "9.99", "10.05", "12"]
        ),
    ]
    for low, high in product(bounds, bounds):
        try:
            found = automaton(decimal(low, high, places=places))
        except ValueError:
            found = None
        accepted = 0
        for text in texts:
            expected = (
                NUMBER.fullmatch(text) is not None
                and re.fullmatch(r"-0(\.0+)?", text) is None
                and (low is None or low <= Decimal(text))
                and (high is None or Decimal(text) <= high)
                and (places is None or len(text.partition(".")[2]) <= places)
                and (places != 0 or "." not in text)
            )
            assert (found is not None and found.accepts(text.encode())) == expected, (low, high, text)
            accepted += expected
        assert found is not None or not accepted


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value="-1e20", max_value="1e20"), st.integers(0, 6))
def test_decimals_come_back(number: Decimal, places: int) -> None:
    text = f"{number:f}"
    if number:
        assert decimal(number, number).parse(text) == number
    rounded = number.quantize(Decimal(1).scaleb(-places)) if abs(number) < 10**15 else number
    if rounded:
        assert decimal(places=max(places, len(f"{rounded:f}".partition(".")[2]))).parse(f"{rounded:f}") == rounded


def test_bounds_of_decimals() -> None:
    wrong: Any = 0.1
    with pytest.raises(TypeError, match="float"):
        decimal(wrong)
    for low, high, places in ((2, 1, None), (Decimal("NaN"), None, None), (None, None, -1), (Decimal("0.5"), 0, 2)):
        with pytest.raises(ValueError, match=r"no decimal|finite|places"):
            decimal(low, high, places=places)
    with pytest.raises(ValueError, match="no decimal"):
        decimal(Decimal("0.5"), Decimal("0.9"), places=0)
    assert decimal(Decimal("1E+3"), 2000).parse("1000.00") == 1000
    digits = "1234567890" * 5  # more than Decimal's arithmetic keeps
    assert not automaton(decimal(Decimal(f"-{digits}"))).accepts(f"-{digits}.01".encode())


# Dates

EDGES = [
    datetime.date.fromisoformat(text)
    for text in [
        "0001-01-01",
        "1899-12-31",
        "1900-02-28",
        "2000-02-29",
        "2023-12-31",
        "2024-01-01",
        "2024-03-01",
        "9999-12-31",
    ]
]


@pytest.mark.parametrize("earliest", EDGES)
def test_as_many_dates_as_days(earliest: datetime.date) -> None:
    for latest in EDGES:
        if earliest > latest:
            with pytest.raises(ValueError, match="no date"):
                date(earliest, latest)
        else:
            assert count(date(earliest, latest).expr) == (latest - earliest).days + 1


def test_every_date_of_some_years() -> None:
    earliest, latest = datetime.date(1999, 3, 5), datetime.date(2101, 7, 30)
    within, always = automaton(date(earliest, latest)), automaton(date())
    for year, month, day in product((0, 1900, 1998, 1999, 2000, 2024, 2100, 2101, 2102), range(14), range(33)):
        text = f"{year:04}-{month:02}-{day:02}"
        try:
            found = datetime.date(year, month, day)
        except ValueError:
            assert not always.accepts(text.encode())
            continue
        assert always.accepts(text.encode())
        assert within.accepts(text.encode()) == (earliest <= found <= latest)


@given(st.dates(), st.dates(), st.dates())
def test_dates_come_back(one: datetime.date, two: datetime.date, three: datetime.date) -> None:
    earliest, middle, latest = sorted((one, two, three))
    assert date(earliest, latest).parse(middle.isoformat()) == middle
    assert date(earliest).parse(latest.isoformat()) == latest
    if earliest < middle:
        with pytest.raises(TextNotAllowed):
            date(middle, latest).parse(earliest.isoformat())


# All values


@pytest.mark.parametrize(
    "value", [integer(-5, 300), decimal(Decimal("-1.5"), Decimal("22.75"), places=2), date(EDGES[3], EDGES[5])]
)
def test_texts_become_values_and_come_back(value: Value[object]) -> None:
    for written in random_strings(value.expr, 50, seed=1):
        assert str(value.parse(written.decode())) == written.decode()
    for text in ("", "x", "1;import os", "2024-1-1", "٣", "\ud800"):
        with pytest.raises(TextNotAllowed) as caught:
            value.parse(text)
        assert caught.value.text == text


def test_values_are_constraints() -> None:
    tokens = tokenfst.Vocabulary([b"1", b"2", b"23", b"0", b""], [4])
    compiled = tokenfst.compile(integer(1, 23), tokens)
    assert compiled.accepts([1, 4])
    assert compiled.accepts([2, 4])
    assert not compiled.accepts([2, 1, 4])
    assert integer(1, 5) == integer(1, 5) != integer(1, 6)
    assert automaton(Value(integer(1, 5).expr + "-" + integer(1, 5).expr, str)).accepts(b"1-5")
