"""Counts: the keywords that bound a length, a size or a number of items.

A count may be written as 3.0, which is an integer in JSON Schema. A negative lower bound has no effect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.reading.keywords.values import number_of
from constraints.json_schema.reading.site import Site, shown

_Read: TypeAlias = Callable[[Site, Any], Formula]


def count(site: Site, keyword: str, value: Any) -> int:
    """Return the value of a keyword that is a count; 0 for a negative value.

    Raises:
        SchemaError: it is not an integer.
    """
    return max(0, _integer(site, keyword, value))


def most(site: Site, keyword: str, value: Any) -> int:
    """Return the value of a keyword that is an upper bound.

    Raises:
        SchemaError: it is not an integer, or it is negative.
    """
    number = _integer(site, keyword, value)
    if number < 0:
        raise site.error(keyword, f"the value must not be negative, which {shown(value)} is")
    return number


def _integer(site: Site, keyword: str, value: Any) -> int:
    if value.__class__ is int:
        return int(value)
    number = number_of(site, keyword, value)
    if number is None or number.denominator != 1:
        raise site.wrong(keyword, "an integer", value)
    return int(number)


def bounds(statement: Callable[[int, int | None], Formula], low_keyword: str, high_keyword: str) -> tuple[_Read, _Read]:
    """Return the handlers of two keywords that are the lower and the upper bound of the same count."""

    def low(site: Site, value: Any) -> Formula:
        return statement(count(site, low_keyword, value), None)

    def high(site: Site, value: Any) -> Formula:
        return statement(0, most(site, high_keyword, value))

    return low, high
