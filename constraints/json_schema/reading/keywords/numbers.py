"""Keywords about numbers: `minimum`, `maximum`, the exclusive forms of each draft, `multipleOf`.

Draft 4's `exclusiveMinimum: true` says that the `minimum` beside it is exclusive; later drafts give a bound of its own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from constraints.json_schema.formulas.connectives import TRUE, Formula
from constraints.json_schema.formulas.statements import Maximum, Minimum, MultipleOf
from constraints.json_schema.reading.keywords.values import number_of
from constraints.json_schema.reading.site import Site


def minimum(site: Site, value: Any) -> Formula:
    return Minimum(_number(site, "minimum", value), site.schema.get("exclusiveMinimum") is True)


def maximum(site: Site, value: Any) -> Formula:
    return Maximum(_number(site, "maximum", value), site.schema.get("exclusiveMaximum") is True)


def exclusive_minimum(site: Site, value: Any) -> Formula:
    if isinstance(value, bool):
        return _flag(site, "exclusiveMinimum", "minimum", value)
    return Minimum(_number(site, "exclusiveMinimum", value), True)


def exclusive_maximum(site: Site, value: Any) -> Formula:
    if isinstance(value, bool):
        return _flag(site, "exclusiveMaximum", "maximum", value)
    return Maximum(_number(site, "exclusiveMaximum", value), True)


def _flag(site: Site, keyword: str, bound: str, value: bool) -> Formula:
    """Return what draft 4's form says by itself, which is nothing; note it if there is no bound that it is about."""
    if value and bound not in site.schema:
        site.reading.note(site, keyword, f"true is about the {bound!r} beside it, and there is none")
    return TRUE


def multiple_of(site: Site, value: Any) -> Formula:
    step = _number(site, "multipleOf", value)
    if step <= 0:
        raise site.wrong("multipleOf", "greater than 0", value)
    return MultipleOf(step)


def _number(site: Site, keyword: str, value: Any) -> Fraction:
    number = number_of(site, keyword, value)
    if number is None:
        raise site.wrong(keyword, "a number", value)
    return number
