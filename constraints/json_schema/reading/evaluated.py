"""What a schema evaluates: the members and items that its keywords, and those of the schemas in it, are about.

`unevaluatedProperties` and `unevaluatedItems` ask for it. Which schemas of `anyOf` hold, and so which members they
evaluate, depends on the value; so it is a list of pieces, each with the condition under which it counts:

    names     some names, those that match a pattern, or all (TRUE)
    items     so many first ones, all (ALL_ITEMS), or those that a schema of `contains` holds for (from 2020-12 on)

A schema that does not hold contributes nothing, nor does anything below `not`. So a piece counts if all schemas between
it and the schema that asks hold; those that hold whenever that schema does, as the ones of `allOf`, are no condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from constraints.json_schema.formula import TRUE, Formula, conjunction, has_name, negation
from constraints.json_schema.reading.objects import listed_names
from constraints.json_schema.reading.site import Reading, Site

ALL_ITEMS: Final = -1
Piece: TypeAlias = Formula | int
Evaluated: TypeAlias = list[tuple[Formula, Piece]]
_Own: TypeAlias = Callable[[Reading, Site], Iterator[Piece]]


def evaluated_names(reading: Reading, site: Site) -> Evaluated:
    """What the keywords of an object schema evaluate, but for its own `unevaluatedProperties`."""
    return _collected(reading, site, _own_names, "unevaluatedProperties")


def evaluated_items(reading: Reading, site: Site) -> Evaluated:
    """What the keywords of an array schema evaluate, but for its own `unevaluatedItems`."""
    return _collected(reading, site, _own_items, "unevaluatedItems")


def _collected(reading: Reading, site: Site, own: _Own, keyword: str) -> Evaluated:
    found: dict[tuple[Formula, Piece], None] = {}
    open_sites: set[tuple[str, object]] = set()

    def collect(inner: Site | None, condition: Formula) -> None:
        if inner is None or (inner.place, inner.scope) in open_sites:
            return
        open_sites.add((inner.place, inner.scope))
        if inner is not site and keyword in inner.schema and keyword in inner.resource.dialect.handlers:
            found[condition, TRUE if own is _own_names else ALL_ITEMS] = None
        for piece in own(reading, inner):
            found[condition, piece] = None
        for further, part in _in_place(reading, inner):
            collect(part, conjunction((condition, further)))
        open_sites.discard((inner.place, inner.scope))

    collect(site, TRUE)
    return list(found)


def _own_names(reading: Reading, site: Site) -> Iterator[Piece]:
    if "additionalProperties" in _known(site):
        yield TRUE
    yield from listed_names(site)


def _own_items(reading: Reading, site: Site) -> Iterator[Piece]:
    known = _known(site)
    prefix, items = known.get("prefixItems"), known.get("items")
    if isinstance(items, list):
        yield ALL_ITEMS if "additionalItems" in known else len(items)
    elif items is not None:
        yield ALL_ITEMS
    elif isinstance(prefix, list):
        yield len(prefix)
    if "contains" in known and site.resource.dialect.contains_evaluates:
        yield reading.condition(site, known["contains"], "contains")


def _in_place(reading: Reading, site: Site) -> Iterator[tuple[Formula, Site | None]]:
    """The schemas in a schema that are about the same value, each with what must hold for it to count."""
    for keyword, value in _known(site).items():
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            yield TRUE, reading.target_site(reading.target(site, keyword), site.scope)
        elif keyword in ("allOf", "anyOf", "oneOf"):
            for index, schema in enumerate(value):
                always = keyword == "allOf"
                holds = TRUE if always else reading.condition(site, schema, keyword, str(index))
                yield holds, reading.child(site, schema, keyword, str(index))
        elif keyword == "if":
            yield from _branches(reading, site, value)
        elif keyword in ("dependentSchemas", "dependencies"):
            for name, schema in value.items():
                if isinstance(schema, dict):
                    yield has_name(name), reading.child(site, schema, keyword, name)


def _branches(reading: Reading, site: Site, value: Any) -> Iterator[tuple[Formula, Site | None]]:
    holds = reading.condition(site, value, "if")
    yield holds, reading.child(site, value, "if")
    for keyword, condition in (("then", holds), ("else", negation(holds))):
        if keyword in site.schema:
            yield condition, reading.child(site, site.schema[keyword], keyword)


def _known(site: Site) -> dict[str, Any]:
    handlers = site.resource.dialect.handlers
    return {keyword: value for keyword, value in site.schema.items() if keyword in handlers}
