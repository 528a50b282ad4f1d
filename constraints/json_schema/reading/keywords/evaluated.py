"""What a schema evaluates: the members and items to which its keywords, and those of the schemas in it, apply.

`unevaluatedProperties` and `unevaluatedItems` depend on this. Which schemas of an `anyOf` hold, and so which members
they evaluate, depends on the value. So the result is a list of pieces, each with the condition under which it counts:

    names     some names, those that match a pattern, or all (TRUE)
    items     a number of first items, all (ALL_ITEMS), or those that satisfy `contains` (from 2020-12 on)

A schema that does not hold contributes nothing, and neither does anything below `not`. So a piece counts if all schemas
between it and the schema with the `unevaluated...` keyword hold. Schemas that hold whenever that schema does, such as
those of `allOf`, need no condition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from constraints.json_schema.formulas.connectives import TRUE, Formula, conjunction, negation
from constraints.json_schema.formulas.statements import has_name
from constraints.json_schema.reading.keywords.objects import listed_names
from constraints.json_schema.reading.site import Site
from constraints.recursion import Task

ALL_ITEMS: Final = -1
Piece: TypeAlias = Formula | int
Evaluated: TypeAlias = list[tuple[Formula, Piece]]
_Own: TypeAlias = Callable[[Site], Task[list[Piece]]]


def evaluated_names(site: Site) -> Task[Evaluated]:
    """List the names that the keywords of a schema evaluate, leaving out its own `unevaluatedProperties`."""
    return _collected(site, _own_names, TRUE, "unevaluatedProperties")


def evaluated_items(site: Site) -> Task[Evaluated]:
    """List the items that the keywords of a schema evaluate, leaving out its own `unevaluatedItems`."""
    return _collected(site, _own_items, ALL_ITEMS, "unevaluatedItems")


def _collected(site: Site, own: _Own, everything: Piece, keyword: str) -> Task[Evaluated]:
    found: dict[tuple[Formula, Piece], None] = {}
    open_sites: set[tuple[str, object]] = set()

    def collect(inner: Site | None, condition: Formula) -> Task[None]:
        if inner is None or (inner.place, inner.scope) in open_sites:
            return
        open_sites.add((inner.place, inner.scope))
        if inner is not site and keyword in inner.schema and keyword in inner.resource.dialect.handlers:
            found[condition, everything] = None
        for piece in (yield from own(inner)):
            found[condition, piece] = None
        for further, part in (yield from _in_place(inner)):
            yield collect(part, conjunction((condition, further)))
        open_sites.discard((inner.place, inner.scope))

    yield collect(site, TRUE)
    return list(found)


def _own_names(site: Site) -> Task[list[Piece]]:
    yield from ()
    everything: list[Piece] = [TRUE] if "additionalProperties" in _known(site) else []
    return [*everything, *listed_names(site)]


def _own_items(site: Site) -> Task[list[Piece]]:
    known = _known(site)
    prefix, items = known.get("prefixItems"), known.get("items")
    found: list[Piece] = []
    if isinstance(items, list):
        found.append(ALL_ITEMS if "additionalItems" in known else len(items))
    elif items is not None:
        found.append(ALL_ITEMS)
    elif isinstance(prefix, list):
        found.append(len(prefix))
    if "contains" in known and site.resource.dialect.contains_evaluates:
        found.append((yield site.reading.condition(site, known["contains"], "contains")))
    return found


def _in_place(site: Site) -> Task[list[tuple[Formula, Site | None]]]:
    """List the schemas that a schema applies to the same value, each with the condition under which it counts."""
    reading = site.reading
    found: list[tuple[Formula, Site | None]] = []
    for keyword, value in _known(site).items():
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            found.append((TRUE, reading.target_site(reading.target(site, keyword), site.scope)))
        elif keyword in ("allOf", "anyOf", "oneOf"):
            for index, schema in enumerate(value):
                always = keyword == "allOf"
                holds = TRUE if always else (yield reading.condition(site, schema, keyword, str(index)))
                found.append((holds, reading.child(site, schema, keyword, str(index))))
        elif keyword == "if":
            found += yield from _branches(site, value)
        elif keyword in ("dependentSchemas", "dependencies"):
            for name, schema in value.items():
                if isinstance(schema, dict):
                    found.append((has_name(name), reading.child(site, schema, keyword, name)))
    return found


def _branches(site: Site, value: Any) -> Task[list[tuple[Formula, Site | None]]]:
    holds: Formula = yield site.reading.condition(site, value, "if")
    found = [(holds, site.reading.child(site, value, "if"))]
    for keyword, condition in (("then", holds), ("else", negation(holds))):
        if keyword in site.schema:
            found.append((condition, site.reading.child(site, site.schema[keyword], keyword)))
    return found


def _known(site: Site) -> dict[str, Any]:
    handlers = site.resource.dialect.handlers
    return {keyword: value for keyword, value in site.schema.items() if keyword in handlers}
