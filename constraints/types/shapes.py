"""Shapes: descriptions of Python types, from which the texts of their values are made.

    Shape
    ├── Nothing, Boolean                   None; True and False
    ├── Integer, Real, Exact               int, float, Decimal, each with bounds
    ├── Text                               str, with bounds on its length, and patterns
    ├── Moment                             date, time, datetime, timedelta
    ├── Identifier                         UUID
    ├── Constants                          values of Literal
    ├── Choice                             members of an Enum
    ├── Union                              any one of some shapes
    ├── Items                              list, set, frozenset, tuple[X, ...]
    ├── Row                                tuple[X, Y]
    ├── Mapping                            dict
    └── Record                             a dataclass or a NamedTuple; its fields are looked up on demand

A shape is immutable and compared by its parts. A record is identified by its class and the values of its type
variables, so that a recursive class is one finite shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from automata.expressions import Expr

# A regular expression, in the syntax of Pydantic's engine or compiled by `re` with its flags, that must match somewhere
# in a text; or an expression that describes the whole text.
Pattern: TypeAlias = str | re.Pattern[str] | Expr


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers allowed: `low <= x <= high`, with `<` for an exclusive bound, and multiples of `step`."""

    low: Fraction | None = None
    low_exclusive: bool = False
    high: Fraction | None = None
    high_exclusive: bool = False
    step: Fraction | None = None

    def hold(self, value: Fraction) -> bool:
        """Return whether a number is within the bounds."""
        if self.low is not None and (value < self.low or (self.low_exclusive and value == self.low)):
            return False
        if self.high is not None and (value > self.high or (self.high_exclusive and value == self.high)):
            return False
        return self.step is None or value % self.step == 0

    def __str__(self) -> str:
        """Return the bounds in words, for a message: "at least 1 and less than 10"."""
        low, high = "more than" if self.low_exclusive else "at least", "less than" if self.high_exclusive else "at most"
        limits = ((low, self.low), (high, self.high), ("a multiple of", self.step))
        return " and ".join(f"{words} {_shown(limit)}" for words, limit in limits if limit is not None)


def _shown(number: Fraction) -> str:
    """Return a number as Python writes a float, if it is exactly that float or what is written, or as a fraction."""
    try:
        nearest = float(number)
    except OverflowError:
        return str(number)
    is_written = number.denominator > 1 and number in (Fraction(nearest), Fraction(repr(nearest)))
    return repr(nearest) if is_written else str(number)


UNBOUNDED = Bounds()


@dataclass(frozen=True, slots=True)
class Size:
    """Bounds on the number of items, members or characters; None for `high` means no bound."""

    low: int = 0
    high: int | None = None

    def holds(self, number: int) -> bool:
        """Return whether a number of items is allowed."""
        return self.low <= number and (self.high is None or number <= self.high)

    def of(self, what: str) -> str:
        """Return the size in words, for a message: "1 to 3 items".

        Args:
            what: the name of the items, in the plural.
        """
        if self.high is None:
            return f"{self.low} or more {what}" if self.low else f"any number of {what}"
        return f"{self.low} to {self.high} {what}" if self.low < self.high else f"exactly {self.high} {what}"

    @property
    def is_empty(self) -> bool:
        """Whether no number of items is allowed."""
        return self.high is not None and self.high < self.low


ANY_SIZE = Size()


@dataclass(frozen=True, slots=True)
class Nothing:
    """The value None."""


@dataclass(frozen=True, slots=True)
class Boolean:
    """True or False."""


@dataclass(frozen=True, slots=True)
class Integer:
    """An int."""

    bounds: Bounds = UNBOUNDED


@dataclass(frozen=True, slots=True)
class Real:
    """A float. Bounds apply to the value, after rounding."""

    bounds: Bounds = UNBOUNDED


@dataclass(frozen=True, slots=True)
class Exact:
    """A Decimal; with bounds, a finite one."""

    bounds: Bounds = UNBOUNDED
    finite: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A str, with bounds on its length in code points, that every pattern allows (`Pattern`)."""

    size: Size = ANY_SIZE
    patterns: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """A class of the module `datetime`."""

    kind: Literal["date", "time", "datetime", "timedelta"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """A UUID."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Values of a Literal: int, bool, str, None. Each is paired with its type, because 1 and True are equal."""

    values: tuple[tuple[type, Any], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Some members of an Enum, by name, aliases included."""

    enum: type[Enum]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """Any one of some shapes. A text that fits several options is read as the first one that it matches exactly."""

    options: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list, set, frozenset, or tuple of any length."""

    kind: type
    item: Shape
    size: Size = ANY_SIZE


@dataclass(frozen=True, slots=True)
class Row:
    """A tuple of fixed length."""

    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict."""

    key: Shape
    value: Shape
    size: Size = ANY_SIZE


@dataclass(frozen=True, slots=True)
class Record:
    """A dataclass or a NamedTuple.

    Attributes:
        cls: the class.
        arguments: its type variables, each with the type that it stands for.
    """

    cls: type
    arguments: tuple[tuple[Any, Any], ...] = ()


Shape: TypeAlias = (
    Nothing
    | Boolean
    | Integer
    | Real
    | Exact
    | Text
    | Moment
    | Identifier
    | Constants
    | Choice
    | Union
    | Items
    | Row
    | Mapping
    | Record
)


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter of a record's constructor; `name` is the keyword that passes it."""

    name: str
    shape: Shape
    required: bool


def parts(shape: Shape) -> tuple[Shape, ...]:
    """Return the shapes within a shape, without the fields of a record."""
    match shape:
        case Union(options):
            return options
        case Items(_, item):
            return (item,)
        case Row(items):
            return items
        case Mapping(key, value):
            return key, value
    return ()
