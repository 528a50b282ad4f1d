"""Types that cannot be held exactly, or have no values, are refused by name."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import re
from decimal import Decimal
from ipaddress import IPv4Network
from re import Pattern
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import pytest
from pydantic import (
    Base64Str,
    ByteSize,
    Field,
    FilePath,
    HttpUrl,
    ImportString,
    IPvAnyAddress,
    PastDate,
    create_model,
)
from python_types import Color

from automata.errors import UnsatisfiableSchema, UnsupportedSchema
from constraints.types import typed

MISSING: Any = "Missing"

REFUSED: list[tuple[Any, str]] = [
    (Annotated[set[int], Field(min_length=2)], "equal items count once"),
    (Annotated[dict[str, int], Field(min_length=2)], "equal items count once"),
    (Annotated[datetime.time, Field(ge=datetime.time(12))], "bounds of times"),
    (PastDate, "by the clock"),
    (set[list[int]], "hashable"),
    (set, "hashable"),
    (Literal[Color.RED], "read as something else"),
    (Annotated[int, Field(ge=0.5)], "coercible"),
    (complex, "complex"),
    (HttpUrl, r"'url': Annotated\[str, constraints\.url\(\)\.expr\] takes URLs as text"),
    (type, "no automaton|JSON|schema"),
    (dict[tuple[int, int], int], "keys are strings, numbers, booleans"),
    (create_model("Undefined", a=(MISSING, ...)), "name 'Missing' is not defined"),
    (Annotated[int, Field(discriminator="kind")], "not a valid discriminated union variant"),
    (Annotated[bytes, Field(min_length=1)], "bytes"),
    (Annotated[str, Field(pattern="(?i)a")], "flags"),
    (ImportString, "import_string"),
    (Base64Str, "decode_str"),
    (FilePath, "validate_file"),
    (ByteSize, "ByteSize"),
    (ZoneInfo, "iana"),
    (IPvAnyAddress, "IPvAnyAddress"),
    (IPv4Network, "network"),
    (Pattern[str], "pattern_str"),
    (Annotated[int | float, Field(ge=3)], "greater_than_or_equal"),
    (Annotated[int | str, Field(min_length=2)], "min_length"),
    (Annotated[Annotated[int, Field(ge=10)] | Annotated[int, Field(le=-10)], Field(multiple_of=5)], "multiple_of"),
    (Annotated[Literal[1, 2], Field(ge=2)], "greater_than_or_equal"),
    (Annotated[float, Field(ge=float("nan"))], "the bound nan"),
    (Annotated[Decimal, Field(ge=Decimal("NaN"))], "the bound NaN"),
    (Annotated[Decimal, Field(le=Decimal("Infinity"))], "the bound Infinity"),
]


@pytest.mark.parametrize(("annotation", "message"), REFUSED, ids=str)
def test_what_cannot_be_held_is_refused(annotation: Any, message: str) -> None:
    with pytest.raises(UnsupportedSchema, match=message):
        typed(annotation)


def test_parameters_without_a_name_are_refused() -> None:
    def add(*numbers: int) -> None: ...
    def tag(**tags: str) -> None: ...
    def first(number: int, /) -> None: ...

    for function, kind in (
        (add, "variadic positional (at /numbers)"),
        (tag, "variadic keyword (at /tags)"),
        (first, "positional-only (at /number)"),
    ):
        with pytest.raises(UnsupportedSchema, match=rf"given by name, .* is {re.escape(kind)}"):
            typed(function)


class Clock:
    def wait(self, minutes: int) -> None: ...


def test_a_method_needs_its_object() -> None:
    assert typed(Clock().wait).parse('{"minutes": 5}') == {"minutes": 5}
    with pytest.raises(UnsupportedSchema, match=r"a method needs its object: pass it bound, .* \(at /self\)"):
        typed(Clock.wait)


def test_errors_name_the_field() -> None:
    cls = dataclasses.make_dataclass(
        "Holder", [("good", int), ("inner", dataclasses.make_dataclass("In", [("bad", complex)]))]
    )
    with pytest.raises(UnsupportedSchema) as caught:
        typed(cls)
    assert caught.value.pointer == "/inner/bad"
    with pytest.raises(UnsupportedSchema) as caught:
        typed(dataclasses.make_dataclass("Holder", [("good", int), ("list", list[ByteSize])]))
    assert caught.value.pointer == "/list"


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[int, Field(gt=3, lt=4)],
        Annotated[datetime.date, Field(lt=datetime.date.min)],
        Annotated[datetime.date, Field(gt=datetime.date.max)],
        Annotated[datetime.date, Field(ge=datetime.date(2024, 1, 2), le=datetime.date(2024, 1, 1))],
        enum.Enum("Nothing", []),
    ],
)
def test_types_without_values_are_refused_by_name(annotation: Any) -> None:
    with pytest.raises(UnsatisfiableSchema):
        typed(annotation)


def test_decimals_without_values_are_refused_by_name() -> None:
    with pytest.raises(UnsatisfiableSchema):
        typed(Annotated[Decimal, Field(gt=0, le=-4)])
