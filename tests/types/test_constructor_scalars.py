"""Constructor calls of strings, numbers, literals, collections and moments."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from typing import Annotated, Any, Literal

import annotated_types as at
import pytest
from constructor_cases import accepts, automaton_of
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import TextNotAllowed
from constraints.types import dataclass

STRINGS = [
    "",
    "a",
    "it's",
    '"',
    "'\"",
    "\\",
    "\n\t\r\x00\x7f",
    "é\u200b\u2028\U0001f600\U0010ffff",
    "\ud800",
    "\x85\xa0",
]


@pytest.mark.parametrize("value", STRINGS)
def test_strings(value: str) -> None:
    constraint = dataclass(str)
    assert constraint.parse(repr(value)) == value
    assert constraint.parse('"' + "".join(f"\\U{ord(each):08X}" for each in value) + '"') == value
    if value and value.isprintable() and not set(value) & set("\\\"'"):
        assert constraint.parse(f'"{value}"') == constraint.parse(f"'{value}'") == value


def test_strings_that_are_none() -> None:
    refused = [
        "'a",
        "'\n'",
        "'''a'''",
        "r'a'",
        "b'a'",
        "'\\q'",
        "'\\U00110000'",
        "'\\x4'",
        "'\x00'",
        "'\\N{BULLET}'",
        "'\\101'",
    ]
    assert not any(accepts(str, *refused))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="\\'\"nxuU0aé\n"))
def test_strings_against_python(inside: str) -> None:
    """Whatever is accepted between quotes, Python reads as one string on one line."""
    text = f"'{inside}'"
    if accepts(str, text)[0]:
        value = eval(text)
        assert isinstance(value, str)
        assert dataclass(str).parse(text) == value


PATTERNS = ["[a-c]{2}", "^x+$", r"^\d+-\w*$", "^(?:é|\\n)", "a.c", "^[^a]*$", "^(?!ab).*$"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    constraint = dataclass(Annotated[str, re.compile(pattern)])
    automaton = automaton_of(constraint)
    candidates = [
        "",
        "ab",
        "xx",
        "12-",
        "12-a",
        "é",
        "\n",
        "abc",
        "a'c",
        'a"c',
        "a\\c",
        "b",
        "x\n",
        "cab",
        "zzbcz",
        "\u200b",
    ]
    for value in candidates:
        expected = re.search(pattern, value) is not None
        if value.endswith("\n") and pattern.endswith("$"):
            continue  # Python's `$` matches before it as well
        for quote in "'\"":
            escaped = "".join(f"\\u{ord(each):04x}" for each in value)
            assert automaton.accepts(f"{quote}{escaped}{quote}".encode()) == expected, value
        assert automaton.accepts(repr(value).encode()) == expected, value


def test_lengths_count_code_points() -> None:
    assert accepts(Annotated[str, at.Len(2, 2)], "'é\\n'", "'\\ud83d\\ude00'", "'😀'", "'abc'") == [
        True,
        True,
        False,
        False,
    ]


def test_floats_are_bounded_after_rounding() -> None:
    below_one = Annotated[float, at.Lt(1)]
    assert accepts(below_one, "0.9999999999999999", "0.99999999999999999999", "1.0") == [True, False, False]
    assert accepts(Annotated[float, at.Ge(0.1)], "0.1", "0.09999999999999999") == [True, False]
    steps = Annotated[float, at.MultipleOf(0.1)]
    assert accepts(steps, "0.3", "0.35", "1e22") == [True, False, True]
    assert dataclass(steps).parse("0.3") == 0.3
    above = dataclass(Annotated[float, at.Gt(0)])
    assert [above.parse(text) for text in ("1e999", "inf")] == [math.inf] * 2
    assert accepts(Annotated[float, at.Gt(0)], "-inf", "nan", "inf") == [False, False, True]
    assert accepts(Annotated[float, at.Gt(0)], "5e-324", "1e-400", "0.0", "1e-05") == [True, False, False, True]


def test_numbers_in_other_spellings() -> None:
    assert accepts(int, "0", "-0", "01", "1_0", "+1", "1.0", "--1") == [True, True, False, False, False, False, False]
    assert (
        accepts(float, "1", "1.5", "1e5", "1.", ".5", "inf", "-inf", "nan", "1e400")
        == [True] * 3 + [False] * 2 + [True] * 4
    )
    assert dataclass(float).parse("3") == 3.0
    assert type(dataclass(float).parse("3")) is float


def test_decimals_far_out() -> None:
    positive = dataclass(Annotated[Decimal, at.Gt(0)])
    for text in ("Decimal('1E-99999999999')", "Decimal('1E+99999999999')"):
        assert positive.parse(text) == eval(text)
    with pytest.raises(TextNotAllowed):
        positive.parse("Decimal('-1E-99999999999')")
    assert dataclass(Annotated[int, at.Ge(0)]).parse("1" + "0" * 400) == 10**400


def test_unions_take_what_is_exact() -> None:
    constraint = dataclass(float | int)
    assert [type(constraint.parse(text)) for text in ("1", "1.0")] == [int, float]
    narrow = dataclass(Annotated[int, at.Ge(0)] | float)
    assert [type(narrow.parse(text)) for text in ("1", "-1")] == [int, float]
    assert dataclass(list[float] | list[int]).parse("[1]") == [1]
    assert type(dataclass(list[float] | list[int]).parse("[1]")[0]) is int


def test_literals_keep_their_types() -> None:
    constraint = dataclass(Literal[1, True, "it's", None, -5])
    for text, value in [
        ("1", 1),
        ("True", True),
        ('"it\'s"', "it's"),
        ("'it\\'s'", "it's"),
        ("None", None),
        ("-5", -5),
    ]:
        assert constraint.parse(text) is value or constraint.parse(text) == value
        assert type(constraint.parse(text)) is type(value)
    with pytest.raises(TextNotAllowed):
        constraint.parse("1.0")


def test_collections() -> None:
    assert accepts(tuple[int, ...], "()", "(1,)", "(1, 2)", "(1)", "(1,2,)") == [True, True, True, False, False]
    assert accepts(Annotated[tuple[int, ...], at.MinLen(1), at.MaxLen(2)], "()", "(1,)", "(1,2)", "(1,2,3)") == [
        False,
        True,
        True,
        False,
    ]
    assert accepts(set[int], "set()", "{1}", "{}", "{1, 2}") == [True, True, False, True]
    assert accepts(Annotated[set[int], at.MaxLen(1)], "set()", "{1}", "{1, 2}") == [True, True, False]
    assert accepts(dict[str, int], "{}", "{'a': 1}", "{'a':1,'b':2}", "{1: 1}") == [True, True, True, False]
    assert accepts(Annotated[list[int], at.MaxLen(0)], "[]", "[1]") == [True, False]
    assert accepts(tuple[()], "()", "(1,)") == [True, False]


DAYS = automaton_of(dataclass(datetime.date))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10000), st.integers(0, 13), st.integers(0, 32))
def test_dates_are_those_that_exist(year: int, month: int, day: int) -> None:
    try:
        datetime.date(year, month, day)
        exists = True
    except ValueError:
        exists = False
    for text in (f"datetime.date({year}, {month}, {day})", f"date({year},{month},{day})"):
        assert DAYS.accepts(text.encode()) == exists


def test_leap_years() -> None:
    for year in range(1, 10000):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        assert DAYS.accepts(f"date({year}, 2, 29)".encode()) == leap


def test_durations_and_zones_at_their_ends() -> None:
    for value in (
        datetime.timedelta.max,
        datetime.timedelta.min,
        datetime.timedelta.resolution,
        -datetime.timedelta.resolution,
    ):
        assert dataclass(datetime.timedelta).parse(repr(value)) == value
    day = datetime.timedelta(days=1, microseconds=-1)
    for offset in (day, -day, datetime.timedelta(microseconds=1)):
        value = datetime.time(1, tzinfo=datetime.timezone(offset, "it's"))
        assert repr(dataclass(datetime.time).parse(repr(value))) == repr(value)
    whole = "datetime.time(0, 0, tzinfo=datetime.timezone(datetime.timedelta(days=-1)))"
    assert accepts(datetime.time, whole) == [False]


@pytest.mark.parametrize("annotation", [set[Decimal], frozenset[Decimal], dict[Decimal, int]])
def test_signaling_nans_have_no_hash(annotation: Any) -> None:
    text = {"dict": "{Decimal('sNaN'): 1}", "set": "{Decimal('sNaN')}"}.get(
        annotation.__origin__.__name__, "frozenset({Decimal('sNaN')})"
    )
    with pytest.raises(TextNotAllowed, match="hash"):
        dataclass(annotation).parse(text)
