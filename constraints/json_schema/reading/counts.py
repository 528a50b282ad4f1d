"""Counts: the keywords that bound a length, a size or a number of items.

A count may be written as 3.0, which is an integer in JSON Schema. A negative lower bound is none at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constraints.json_schema.formula import Formula
from constraints.json_schema.reading.site import Reading, Site
from constraints.json_schema.reading.values import fraction


def count(site: Site, keyword: str, value: Any) -> int:
    """The value of a keyword, as a number from 0.

    Raises:
        SchemaError: it is no integer.
    """
    number = value if value.__class__ is int else fraction(value)
    if number is None or number.denominator != 1:
        raise site.wrong(keyword, "an integer", value)
    return max(0, int(number))


def bounds(
    statement: Callable[[int, int | None], Formula], low_keyword: str, high_keyword: str
) -> tuple[Callable[[Reading, Site, Any], Formula], Callable[[Reading, Site, Any], Formula]]:
    """The readers of two keywords, the least and the most of the same."""

    def low(reading: Reading, site: Site, value: Any) -> Formula:
        return statement(count(site, low_keyword, value), None)

    def high(reading: Reading, site: Site, value: Any) -> Formula:
        if isinstance(value, (int, float)) and value < 0:
            raise site.error(high_keyword, f"the value must not be negative, which {value!r} is")
        return statement(0, count(site, high_keyword, value))

    return low, high
