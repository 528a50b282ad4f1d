"""Values: one of several JSON values as a formula (`const` and `enum`), and numbers as exact fractions.

A number is the decimal fraction of its shortest spelling: 0.1 is a tenth, as in the schema's text. Equal numbers, such
as 1 and 1.0, are one; a boolean is never a number. Strings are joined in one `StringIn` and numbers in one `NumberIn`;
arrays and objects are described part by part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

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
from constraints.recursion import Task, run

OF_KIND = {kind: OfKind(kind) for kind in Kind}


def fraction(value: object) -> Fraction | None:
    """Return a JSON number exactly; None for anything else, and for what is not finite."""
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
    """Return the formula of one string."""
    return StringIn(frozenset((name,)))


def value_in(values: Iterable[Any]) -> Formula:
    """Return the formula of some values, nested to any depth.

    Raises:
        ValueError: one of them is not a JSON value.
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
        parts = [OF_KIND[Kind.ARRAY], ItemCount(len(value), len(value))]
        for index, item in enumerate(value):
            parts.append(ItemAt(index, (yield _value_in([item]))))
        return conjunction(parts)
    if isinstance(value, dict):
        parts = [OF_KIND[Kind.OBJECT]]
        for name, member in value.items():
            parts.append(Members(named(name), (yield _value_in([member]))))
        return conjunction([*parts, has_name(*value), Members(negation(StringIn(frozenset(value))), FALSE)])
    raise ValueError(f"{value!r} is not a JSON value")
