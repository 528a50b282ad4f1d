"""Keywords about objects: all of them say something about the members of which a name is so.

    properties              the name is this one
    patternProperties       a pattern matches the name
    additionalProperties    neither
    propertyNames           the name is not so: no such member
    required, dependent...  not "every member of this name is impossible": there is one

A boolean `required`, which only draft 3 had, is read as draft 3 has it: the member must be there. Later drafts give it
no meaning, so that no value is let through that some reader would refuse.
"""

from __future__ import annotations

from typing import Any, Final

from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    Formula,
    Kind,
    Members,
    Pattern,
    Size,
    StringIn,
    conjunction,
    disjunction,
    has_name,
    negation,
)
from constraints.json_schema.reading.counts import bounds
from constraints.json_schema.reading.pointers import step
from constraints.json_schema.reading.site import Reading, Site
from constraints.json_schema.reading.values import OF_KIND, named

_NO_OBJECT: Final = negation(OF_KIND[Kind.OBJECT])

min_properties, max_properties = bounds(Size, "minProperties", "maxProperties")


def properties(reading: Reading, site: Site, value: Any) -> Formula:
    members = []
    for name, schema in _table(site, "properties", value).items():
        member = Members(named(name), reading.below(site, schema, "properties", name))
        members.append(reading.put(member, f"{site.place}/properties{step(name)}"))
    needed = [name for name, schema in value.items() if isinstance(schema, dict) and schema.get("required") is True]
    return conjunction([*members, _required(site, needed)] if needed else members)


def pattern_properties(reading: Reading, site: Site, value: Any) -> Formula:
    members = []
    for source, schema in _table(site, "patternProperties", value).items():
        names, place = Pattern(source), f"{site.place}/patternProperties{step(source)}"
        reading.put(names, place)
        members.append(reading.put(Members(names, reading.below(site, schema, "patternProperties", source)), place))
    return conjunction(members)


def additional_properties(reading: Reading, site: Site, value: Any) -> Formula:
    listed = disjunction(listed_names(site))
    return Members(negation(listed), reading.below(site, value, "additionalProperties"))


def listed_names(site: Site) -> list[Formula]:
    """The names that `properties` and `patternProperties` here are about."""
    names = site.schema.get("properties")
    patterns = site.schema.get("patternProperties")
    listed: list[Formula] = [StringIn(frozenset(names))] if isinstance(names, dict) and names else []
    return listed + [Pattern(source) for source in patterns] if isinstance(patterns, dict) else listed


def property_names(reading: Reading, site: Site, value: Any) -> Formula:
    return Members(negation(reading.below(site, value, "propertyNames")), FALSE)


def required(reading: Reading, site: Site, value: Any) -> Formula:
    """`required` with names; a boolean is draft 3's, and `properties` above has read it."""
    return TRUE if isinstance(value, bool) else _required(site, _names(site, value, "required"))


def _required(site: Site, names: list[str]) -> Formula:
    needed = has_name(*names)
    return needed if site.schema.get("type") == "object" or needed == TRUE else disjunction((_NO_OBJECT, needed))


def dependent_required(reading: Reading, site: Site, value: Any) -> Formula:
    parts = []
    for name, names in _table(site, "dependentRequired", value).items():
        parts.append(_when_present(name, has_name(*_names(site, names, "dependentRequired", name))))
    return conjunction(parts)


def dependent_schemas(reading: Reading, site: Site, value: Any) -> Formula:
    parts = []
    for name, schema in _table(site, "dependentSchemas", value).items():
        parts.append(_when_present(name, reading.below(site, schema, "dependentSchemas", name)))
    return conjunction(parts)


def dependencies(reading: Reading, site: Site, value: Any) -> Formula:
    parts = []
    for name, needed in _table(site, "dependencies", value).items():
        if isinstance(needed, (list, str)):
            names = _names(site, [needed] if isinstance(needed, str) else needed, "dependencies", name)
            parts.append(_when_present(name, has_name(*names)))
        else:
            parts.append(_when_present(name, reading.below(site, needed, "dependencies", name)))
    return conjunction(parts)


def _table(site: Site, keyword: str, value: Any) -> dict[str, Any]:
    """The value of a keyword that must be an object.

    Raises:
        SchemaError: it is none.
    """
    if not isinstance(value, dict):
        raise site.wrong(keyword, "an object", value)
    return value


def _names(site: Site, value: Any, keyword: str, *path: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise site.wrong(keyword, "an array of strings", value, *path)
    return value


def _when_present(name: str, then: Formula) -> Formula:
    return disjunction((Members(named(name), FALSE), then))
