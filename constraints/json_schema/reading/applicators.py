"""Keywords that combine schemas about the same value: `allOf`, `anyOf`, `oneOf`, `not`, `if`."""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formula import TRUE, Formula, conjunction, disjunction, negation
from constraints.json_schema.reading.site import Reading, Site


def all_of(reading: Reading, site: Site, value: Any) -> Formula:
    return conjunction(_parts(reading, site, value, "allOf"))


def any_of(reading: Reading, site: Site, value: Any) -> Formula:
    return disjunction(_parts(reading, site, value, "anyOf"))


def one_of(reading: Reading, site: Site, value: Any) -> Formula:
    """One part, and none of those others that could hold as well; a part that stands there twice never holds."""
    parts = _parts(reading, site, value, "oneOf")
    compatible = reading.compatible(parts)
    return disjunction(
        conjunction([part, *(negation(parts[j]) for j in others)]) if others else part
        for part, others in zip(parts, compatible, strict=True)
    )


def not_(reading: Reading, site: Site, value: Any) -> Formula:
    return negation(reading.below(site, value, "not"))


def if_(reading: Reading, site: Site, value: Any) -> Formula:
    """`if` with the `then` and the `else` beside it; without both it says nothing."""
    branches = [reading.below(site, site.schema[k], k) if k in site.schema else TRUE for k in ("then", "else")]
    if branches == [TRUE, TRUE]:
        return TRUE
    condition = reading.below(site, value, "if")
    return conjunction((disjunction((negation(condition), branches[0])), disjunction((condition, branches[1]))))


def _parts(reading: Reading, site: Site, value: Any, keyword: str) -> list[Formula]:
    if not isinstance(value, list):
        raise site.wrong(keyword, "an array of schemas", value)
    return [reading.below(site, schema, keyword, str(index)) for index, schema in enumerate(value)]
