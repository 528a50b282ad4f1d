"""Constructor calls of strings, numbers, literals, collections and moments."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional

import annotated_types as at
import pydantic
import pytest
from constructor_cases import accepts, automaton_of
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import TextNotAllowed
from automata.errors import UnsatisfiableSchema, UnsupportedSchema
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


@settings(max_examples=60, deadline=None)
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


# In the syntax of Pydantic's engine, Rust's.
PYDANTIC_PATTERNS = [
    r"\bfoo\b",
    r"^\w$",
    r"^\W+$",
    r"^\p{Lu}$",
    r"^\d{2}$",
    r"\s",
    "^a.c$",
    "a$",
    "^[^a]*$",
    "[x-z]{2,}",
    r"\Aé|É\z",
    "",
]
SUBJECTS = [
    "",
    "a",
    "A",
    "é",
    "É",
    "éfoo",
    "foo",
    "a foo!",
    "٣٣",
    "12",
    "_",
    "-",
    "a\n",
    "a\nc",
    "aéc",
    "\u2003",
    "xyz",
]
SUBJECTS += ["\u0345", "\u200d", "²", "\u203f", "it's", "\U0001f600", "zé", "\x85", "\x1c"]


@pytest.mark.parametrize("pattern", PYDANTIC_PATTERNS)
def test_patterns_of_pydantic_against_pydantic(pattern: str) -> None:
    annotation = Annotated[str, pydantic.Field(pattern=pattern)]
    constraint, adapter = dataclass(annotation), pydantic.TypeAdapter[str](annotation)
    for value in SUBJECTS:
        assert constraint.allows(repr(value)) == reads(adapter.validate_python, value), value
        assert reads(constraint.parse, repr(value)) == constraint.allows(repr(value)), value


COMPILED = [
    re.compile(r"^\w$"),
    re.compile(r"^\w$", re.ASCII),
    re.compile(r"\bfoo\b"),
    re.compile(r"\bfoo\b", re.A),
    re.compile("^É$", re.I),
    re.compile("a$"),
    re.compile("^c", re.M),
    re.compile("a.c", re.S),
    re.compile("a . c  # spaced", re.X),
    re.compile(r"^\s$"),
]


@pytest.mark.parametrize("pattern", COMPILED, ids=repr)
@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: pydantic.Field(pattern=it)], ids=["alone", "in Field"])
def test_compiled_patterns_keep_their_flags(pattern: re.Pattern[str], wrap: Callable[[Any], Any]) -> None:
    constraint = dataclass(Annotated[str, wrap(pattern)])
    for value in SUBJECTS:
        assert constraint.allows(repr(value)) == (pattern.search(value) is not None), value
        assert reads(constraint.parse, repr(value)) == constraint.allows(repr(value)), value


def reads(read: Callable[[str], object], text: str) -> bool:
    """Whether a text is read, and not refused by name."""
    try:
        read(text)
    except (TextNotAllowed, pydantic.ValidationError):
        return False
    return True


@pytest.mark.parametrize(
    "pattern",
    ["^[[:alpha:]]$", "[a-c&&b]", "[a-c--b]", "[a~~b]", "(?i)a", "[", "(", r"\p{Nonsense}", re.compile(b"a"), 3],
)
def test_patterns_that_are_not_read(pattern: Any) -> None:
    class Holds:
        pass

    holder = Holds()
    holder.__dict__["pattern"] = pattern
    with pytest.raises(UnsupportedSchema, match="keyword 'pattern'"):
        dataclass(Annotated[str, holder])


def test_ascii_only() -> None:
    ascii_only = type("AsciiOnly", (), {"ascii_only": True})()  # as StringConstraints has it since Pydantic 2.13
    assert accepts(Annotated[str, ascii_only], "'a\\x7f'", "'é'", "'\\x80'") == [True, False, False]


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


@pytest.mark.parametrize("bounds", [(), (at.Ge(0),), (at.Le(8),), (at.Interval(ge=0, le=8),)])
def test_steps_exclude_no_infinities(bounds: tuple[Any, ...]) -> None:
    annotation = Annotated[(float, at.MultipleOf(2), *bounds)]
    adapter, constraint = pydantic.TypeAdapter[float](annotation), dataclass(annotation)
    for text in ("inf", "-inf", "nan", "-nan", "9e417", "-9e417", "4", "5"):
        expected = reads(lambda written: adapter.validate_python(float(written)), text)
        assert constraint.allows(text) == reads(constraint.parse, text) == expected, text
        assert not expected or constraint.allows(repr(constraint.parse(text))), text


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


def test_bounded_decimals_are_decimals() -> None:
    """With bounds, those texts of the unbounded ones are left whose value is within them; but for some with exponents
    (`constraints.json_schema.numbers`)."""
    numbers = [
        "0",
        "-0",
        "9",
        "9.50",
        "100",
        "101",
        "0.001",
        "-1",
        "Infinity",
        "-Infinity",
        "NaN",
        "sNaN",
        "1e5",
        "1E5",
    ]
    exponents = ["E+0", "E-2", "E-007", "E+99", "E-00000000000000007", "E-00700721219121722727127227", "e-2"]
    numbers += [number + exponent for number in ("0", "9", "1.5", "-3") for exponent in exponents]
    numbers += ["1E-99999999999999999", "1E+99999999999999999", "1E+100000000000000000"]
    unbounded = automaton_of(dataclass(Decimal))
    bounds: list[tuple[Any, Callable[[Decimal], bool]]] = [
        (at.Gt(0), lambda value: value > 0),
        (at.Le(100), lambda value: value <= 100),
        (at.Interval(ge=Decimal("0.001"), lt=100), lambda value: Decimal("0.001") <= value < 100),
        (pydantic.Field(allow_inf_nan=False), lambda value: True),
    ]
    for bound, holds in bounds:
        constraint = dataclass(Annotated[Decimal, bound])
        for number in numbers:
            text = f"Decimal('{number}')"
            expected = unbounded.accepts(text.encode()) and Decimal(number).is_finite() and holds(Decimal(number))
            allowed = constraint.allows(text)
            assert allowed == expected or (expected and "E" in number), (bound, number)
            assert reads(constraint.parse, text) == allowed, (bound, number)
            assert not allowed or constraint.parse(text) == eval(text)


def test_finite_numbers() -> None:
    finite = Annotated[float, pydantic.Field(allow_inf_nan=False)]
    adapter = pydantic.TypeAdapter[float](finite)
    for text in ("1.5", "-1e308", "1e309", "-1e400", "inf", "-inf", "nan", repr(math.nextafter(math.inf, 0))):
        assert dataclass(finite).allows(text) == reads(adapter.validate_python, text), text
        assert reads(dataclass(finite).parse, text) == dataclass(finite).allows(text), text
    with pytest.raises(UnsupportedSchema, match="may not be finite"):
        dataclass(Annotated[int, pydantic.Field(allow_inf_nan=False)])


IMPOSSIBLE: list[Any] = [
    Annotated[kind, bounds]
    for kind in (str, list[int], tuple[int, ...], set[int], frozenset[int], dict[str, int])
    for bounds in (pydantic.Field(max_length=-1), at.Len(1, 0), pydantic.Field(min_length=3, max_length=1))
]
IMPOSSIBLE += [Annotated[kind, pydantic.Field(ge=5, le=3)] for kind in (int, float, Decimal)]
IMPOSSIBLE += [tuple[int, Annotated[str, at.MaxLen(-1)]]]


@pytest.mark.parametrize("annotation", IMPOSSIBLE, ids=str)
def test_impossible_bounds(annotation: Any) -> None:
    with pytest.raises(UnsatisfiableSchema, match="no value"):
        dataclass(annotation)
    assert dataclass(Optional[annotation]).parse("None") is None  # noqa: UP045


def test_what_is_above_all_floats() -> None:
    annotation = Annotated[float, at.Gt(1.7976931348623157e308)]
    assert accepts(annotation, "inf", "1e999", "1.0", "nan") == [True, False, False, False]


@pytest.mark.parametrize("length", [1.5, "a", [1]])
def test_lengths_that_are_no_numbers(length: Any) -> None:
    with pytest.raises(UnsupportedSchema, match="not a whole number"):
        dataclass(Annotated[str, at.MinLen(length)])


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


@settings(max_examples=100, deadline=None)
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
        moment = datetime.time(1, tzinfo=datetime.timezone(offset, "it's"))
        assert repr(dataclass(datetime.time).parse(repr(moment))) == repr(moment)
    whole = "datetime.time(0, 0, tzinfo=datetime.timezone(datetime.timedelta(days=-1)))"
    assert accepts(datetime.time, whole) == [False]


@pytest.mark.parametrize("annotation", [Decimal, set[Decimal], frozenset[Decimal], dict[Decimal, int]])
def test_signaling_nans_are_not_written(annotation: Any) -> None:
    """They have no hash, so a set could not hold them."""
    texts = {"set": "{_}", "frozenset": "frozenset({_})", "dict": "{_: 1}", "Decimal": "_"}
    text = texts[getattr(annotation, "__origin__", annotation).__name__]
    assert dataclass(annotation).allows(text.replace("_", "Decimal('NaN')"))
    with pytest.raises(TextNotAllowed, match="can be compared"):
        dataclass(annotation).parse(text.replace("_", "Decimal('sNaN')"))
