"""Values: one of several JSON values as a formula (`const` and `enum`), and numbers as exact fractions.

A number is the decimal fraction of its shortest spelling: 0.1 is a tenth, as in the schema's text. Equal numbers, such
as 1 and 1.0, are one; a boolean is never a number. Strings are joined in one `StringIn` and numbers in one `NumberIn`;
arrays and objects are described part by part. A value that was made in Python may contain itself, or one part in many
places; so time and memory are charged for each array and object.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from automata.cache import kept
from automata.limits import charge, spend
from constraints.json_schema.formulas.connectives import FALSE, Formula, conjunction, disjunction, negation
from constraints.json_schema.formulas.statements import (
    BooleanIs,
    ItemAt,
    ItemCount,
    Kind,
    Members,
    NumberIn,
    OfKind,
    StringIn,
    has_name,
)
from constraints.json_schema.reading.site import Site, shown, wrong_name
from constraints.recursion import Task, run

OF_KIND = {kind: OfKind(kind) for kind in Kind}

# The most digits of a `Decimal`, written without an exponent.
_MAX_DIGITS: Final = 10_000
# The bytes of memory and the steps that an array or an object takes, and each of its parts as well.
_BYTES, _STEPS = 1000, 30


class TooManyDigits(ValueError):
    """A number has more digits than can be read."""

    def __init__(self) -> None:
        super().__init__(f"the number has more than {_MAX_DIGITS:,} digits")


def fraction(value: object) -> Fraction | None:
    """Return a JSON number exactly; None for anything else, and for numbers that are not finite.

    Raises:
        TooManyDigits: it is a `Decimal` with too many digits.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(float.__repr__(value)) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return _decimal_fraction(value)
    return None


def _decimal_fraction(value: Decimal) -> Fraction | None:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        return None
    if value and max(value.adjusted(), 0) + max(-exponent, 0) >= _MAX_DIGITS:
        raise TooManyDigits
    return Fraction(value)


def number_of(site: Site, keyword: str, value: object) -> Fraction | None:
    """Return a JSON number that is the value of a keyword; None for anything else.

    Raises:
        UnsupportedSchema: it has too many digits.
    """
    try:
        return fraction(value)
    except TooManyDigits as error:
        raise site.unsupported(keyword, str(error)) from None


@kept(4096)
def named(name: str) -> StringIn:
    """Return the formula that holds for one string."""
    return StringIn(frozenset((name,)))


def value_in(values: Iterable[Any]) -> Formula:
    """Return the formula that holds for each of some values, and for nothing else. They may be nested to any depth.

    Raises:
        ValueError: one of them is not a JSON value.
        TooManyDigits: a number has too many digits.
    """
    return run(_value_in(values))


def _value_in(values: Iterable[Any]) -> Task[Formula]:
    texts: dict[str, None] = {}
    numbers: set[Fraction] = set()
    booleans: set[bool] = set()
    others: list[Formula] = []
    for value in values:
        if isinstance(value, str):
            texts[value] = None
        elif isinstance(value, bool):
            booleans.add(value)
        elif (number := fraction(value)) is not None:
            numbers.add(number)
        else:
            others.append((yield _compound(value)))
    parts: list[Formula] = []
    if texts:
        parts.append(conjunction((OF_KIND[Kind.STRING], StringIn(frozenset(texts)))))
    if numbers:
        parts.append(conjunction((OF_KIND[Kind.NUMBER], NumberIn(frozenset(numbers)))))
    if len(booleans) == 2:
        parts.append(OF_KIND[Kind.BOOLEAN])
    elif booleans:
        parts.append(conjunction((OF_KIND[Kind.BOOLEAN], BooleanIs(booleans.pop()))))
    return disjunction([*parts, *others])


def _compound(value: Any) -> Task[Formula]:
    """Return the formula of null, an array or an object."""
    if value is None:
        return OF_KIND[Kind.NULL]
    parts: list[Formula]
    if isinstance(value, (list, tuple)):
        _account(len(value))
        parts = [OF_KIND[Kind.ARRAY], ItemCount(len(value), len(value))]
        for index, item in enumerate(value):
            parts.append(ItemAt(index, (yield _value_in([item]))))
        return conjunction(parts)
    if isinstance(value, dict):
        _account(len(value))
        if reason := wrong_name(value):
            raise ValueError(reason)
        parts = [OF_KIND[Kind.OBJECT]]
        for name, member in value.items():
            parts.append(Members(named(name), (yield _value_in([member]))))
        return conjunction([*parts, has_name(*value), Members(negation(StringIn(frozenset(value))), FALSE)])
    raise ValueError(f"{shown(value)} is not a JSON value")


def _account(num_parts: int) -> None:
    """Charge the current work for the formula of an array or an object."""
    charge(_BYTES * (1 + num_parts))
    spend(_STEPS * (1 + num_parts))
