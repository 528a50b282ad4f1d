"""Keywords that combine schemas about the same value: `allOf`, `anyOf`, `oneOf`, `not`, `if`."""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formulas.connectives import TRUE, Formula, conjunction, disjunction, negation
from constraints.json_schema.formulas.outlines import MAX_OVERLAPS
from constraints.json_schema.reading.keywords.tables import listed
from constraints.json_schema.reading.site import Site
from constraints.recursion import Task


def all_of(site: Site, value: Any) -> Task[Formula]:
    return conjunction((yield from _parts(site, value, "allOf")))


def any_of(site: Site, value: Any) -> Task[Formula]:
    return disjunction((yield from _parts(site, value, "anyOf")))


def one_of(site: Site, value: Any) -> Task[Formula]:
    """Require one part, and none of the others that may hold as well; a part that is listed twice never holds."""
    parts = yield from _parts(site, value, "oneOf")
    if site.at("oneOf") in site.reading.any_of:
        return disjunction(parts)
    # Parts of tagged unions often leave it to the `type` beside them to say that the value is an object.
    read_type = site.resource.dialect.handlers.get("type")
    beside = read_type(site, site.schema["type"]) if read_type is not None and "type" in site.schema else TRUE
    assert isinstance(beside, Formula)
    compatible = site.reading.compatible([conjunction((beside, part)) for part in parts])
    if sum(map(len, compatible)) > 2 * MAX_OVERLAPS:
        raise site.unsupported("oneOf", f"too many of its {len(parts):,} schemas may hold for the same value")
    return disjunction(
        conjunction([part, *(negation(parts[j]) for j in others)]) if others else part
        for part, others in zip(parts, compatible, strict=True)
    )


def not_(site: Site, value: Any) -> Task[Formula]:
    return negation((yield site.below(value, "not")))


def if_(site: Site, value: Any) -> Task[Formula]:
    """Read `if` with the `then` and the `else` beside it; without both it says nothing."""
    then = (yield site.below(site.schema["then"], "then")) if "then" in site.schema else TRUE
    otherwise = (yield site.below(site.schema["else"], "else")) if "else" in site.schema else TRUE
    if then == TRUE == otherwise:
        return TRUE
    condition = yield site.below(value, "if")
    # The names that the condition lists come before those of its consequences.
    return conjunction((disjunction((condition, otherwise)), disjunction((negation(condition), then))))


def _parts(site: Site, value: Any, keyword: str) -> Task[list[Formula]]:
    parts = []
    for index, schema in enumerate(listed(site, keyword, value)):
        parts.append((yield site.below(schema, keyword, str(index))))
    return parts
