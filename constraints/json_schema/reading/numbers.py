"""Keywords about numbers: `minimum`, `maximum`, the exclusive forms of each draft, `multipleOf`.

Draft 4's `exclusiveMinimum: true` says that the `minimum` beside it is exclusive; later ones give a bound of their own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from constraints.json_schema.formula import TRUE, Formula, Maximum, Minimum, MultipleOf
from constraints.json_schema.reading.site import Reading, Site
from constraints.json_schema.reading.values import fraction


def minimum(reading: Reading, site: Site, value: Any) -> Formula:
    return Minimum(_number(site, "minimum", value), site.schema.get("exclusiveMinimum") is True)


def maximum(reading: Reading, site: Site, value: Any) -> Formula:
    return Maximum(_number(site, "maximum", value), site.schema.get("exclusiveMaximum") is True)


def exclusive_minimum(reading: Reading, site: Site, value: Any) -> Formula:
    return TRUE if isinstance(value, bool) else Minimum(_number(site, "exclusiveMinimum", value), True)


def exclusive_maximum(reading: Reading, site: Site, value: Any) -> Formula:
    return TRUE if isinstance(value, bool) else Maximum(_number(site, "exclusiveMaximum", value), True)


def multiple_of(reading: Reading, site: Site, value: Any) -> Formula:
    step = _number(site, "multipleOf", value)
    if step <= 0:
        raise site.wrong("multipleOf", "greater than 0", value)
    return MultipleOf(step)


def _number(site: Site, keyword: str, value: Any) -> Fraction:
    number = fraction(value)
    if number is None:
        raise site.wrong(keyword, "a number", value)
    return number
