"""Keywords about objects: each says something about the members whose name satisfies a formula.

    properties              the name is this one
    patternProperties       a pattern matches the name
    additionalProperties    neither
    propertyNames           the name does not satisfy the schema: there is no such member
    required, dependent...  not "every member of this name is impossible": there is one

A boolean `required`, which only draft 3 had, is read as in draft 3: the member must be there. Later drafts give it no
meaning; reading it keeps out values that some validator would refuse.
"""

from __future__ import annotations

from typing import Any, Final

from constraints.json_schema.formulas.connectives import FALSE, TRUE, Formula, conjunction, disjunction, negation
from constraints.json_schema.formulas.statements import Kind, MemberCount, Members, Pattern, StringIn, has_name
from constraints.json_schema.reading.keywords.counts import bounds
from constraints.json_schema.reading.keywords.tables import table
from constraints.json_schema.reading.keywords.values import OF_KIND, named
from constraints.json_schema.reading.site import Site
from constraints.recursion import Task

_NO_OBJECT: Final = negation(OF_KIND[Kind.OBJECT])

min_properties, max_properties = bounds(MemberCount, "minProperties", "maxProperties")


def properties(site: Site, value: Any) -> Task[Formula]:
    members = []
    for name, schema in table(site, "properties", value).items():
        member = Members(named(name), (yield site.below(schema, "properties", name)))
        members.append(site.put(member, "properties", name))
    needed = [name for name, schema in value.items() if isinstance(schema, dict) and schema.get("required") is True]
    return conjunction([*members, _required(site, needed)] if needed else members)


def pattern_properties(site: Site, value: Any) -> Task[Formula]:
    members = []
    for source, schema in table(site, "patternProperties", value).items():
        names = site.put(Pattern(source), "patternProperties", source)
        member = Members(names, (yield site.below(schema, "patternProperties", source)))
        members.append(site.put(member, "patternProperties", source))
    return conjunction(members)


def additional_properties(site: Site, value: Any) -> Task[Formula]:
    listed = disjunction(listed_names(site))
    return Members(negation(listed), (yield site.below(value, "additionalProperties")))


def listed_names(site: Site) -> list[Formula]:
    """Return the formulas of the names to which `properties` and `patternProperties` of a schema apply, if its dialect
    has these keywords."""
    handlers, schema = site.resource.dialect.handlers, site.schema
    names, patterns = (schema.get(each) if each in handlers else None for each in ("properties", "patternProperties"))
    listed: list[Formula] = [StringIn(frozenset(names))] if isinstance(names, dict) and names else []
    return listed + [Pattern(source) for source in patterns] if isinstance(patterns, dict) else listed


def property_names(site: Site, value: Any) -> Task[Formula]:
    return Members(negation((yield site.below(value, "propertyNames"))), FALSE)


def required(site: Site, value: Any) -> Formula:
    """Read `required` with names; a boolean is draft 3's, which `properties` has read."""
    return TRUE if isinstance(value, bool) else _required(site, _names(site, value, "required"))


def _required(site: Site, names: list[str]) -> Formula:
    needed = has_name(*names)
    return needed if site.schema.get("type") == "object" or needed == TRUE else disjunction((_NO_OBJECT, needed))


def dependent_required(site: Site, value: Any) -> Formula:
    parts = []
    for name, names in table(site, "dependentRequired", value).items():
        parts.append(_when_present(name, has_name(*_names(site, names, "dependentRequired", name))))
    return conjunction(parts)


def dependent_schemas(site: Site, value: Any) -> Task[Formula]:
    parts = []
    for name, schema in table(site, "dependentSchemas", value).items():
        parts.append(_when_present(name, (yield site.below(schema, "dependentSchemas", name))))
    return conjunction(parts)


def dependencies(site: Site, value: Any) -> Task[Formula]:
    parts = []
    for name, needed in table(site, "dependencies", value).items():
        if isinstance(needed, (list, str)):
            names = _names(site, [needed] if isinstance(needed, str) else needed, "dependencies", name)
            parts.append(_when_present(name, has_name(*names)))
        else:
            parts.append(_when_present(name, (yield site.below(needed, "dependencies", name))))
    return conjunction(parts)


def _names(site: Site, value: Any, keyword: str, *path: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise site.wrong(keyword, "an array of strings", value, *path)
    return value


def _when_present(name: str, then: Formula) -> Formula:
    return disjunction((Members(named(name), FALSE), then))
