"""Values: a JSON value, or one of several, as a formula (`const` and `enum`), and numbers as exact fractions.

A number is the decimal fraction that its shortest spelling says: 0.1 is a tenth, as it is in the schema's text. Numbers
that are equal are one, 1 and 1.0; a boolean is never a number. Strings stand together in one `StringIn` and numbers
in one `NumberIn`, since that is a regular language at once; arrays and objects say what their parts are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from constraints.json_schema.formula import (
    FALSE,
    BooleanIs,
    Formula,
    ItemAt,
    Kind,
    Length,
    Members,
    Not,
    NumberIn,
    OfKind,
    StringIn,
    conjunction,
    disjunction,
    has_name,
)

OF_KIND = {kind: OfKind(kind) for kind in Kind}


def fraction(value: object) -> Fraction | None:
    """The number that a JSON number is, exactly; None for anything else, and for what is not finite."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    return None


@lru_cache(maxsize=4096)
def named(name: str) -> StringIn:
    """The string is this one."""
    return StringIn(frozenset((name,)))


def value_in(values: Iterable[Any]) -> Formula:
    """The value is one of these.

    Raises:
        ValueError: one of them is no JSON value.
    """
    texts: dict[str, None] = {}
    numbers: set[Fraction] = set()
    booleans: set[bool] = set()
    others: list[Formula] = []
    for value in values:
        number = fraction(value)
        if isinstance(value, str):
            texts[value] = None
        elif isinstance(value, bool):
            booleans.add(value)
        elif number is not None:
            numbers.add(number)
        else:
            others.append(_compound(value))
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


def _compound(value: Any) -> Formula:
    if value is None:
        return OF_KIND[Kind.NULL]
    if isinstance(value, (list, tuple)):
        items = [ItemAt(index, value_in([item])) for index, item in enumerate(value)]
        return conjunction([OF_KIND[Kind.ARRAY], Length(len(items), len(items)), *items])
    if isinstance(value, dict):
        members = [Members(named(name), value_in([member])) for name, member in value.items()]
        others = Members(Not(StringIn(frozenset(value))), FALSE)
        return conjunction([OF_KIND[Kind.OBJECT], *members, has_name(*value), others])
    raise ValueError(f"{value!r} is no JSON value")
