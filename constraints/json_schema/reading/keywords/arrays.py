"""Keywords about arrays: `prefixItems`, `items`, `additionalItems`, `contains`, `minItems`, `maxItems`, `uniqueItems`.

Up to 2019-09 an array of schemas in `items` is what `prefixItems` is now, and `additionalItems` is about the items
after those. `minContains` and `maxContains` say nothing without `contains`.
"""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formulas.connectives import TRUE, Formula, conjunction
from constraints.json_schema.formulas.statements import Contains, ItemAt, ItemCount, ItemsFrom, UniqueItems
from constraints.json_schema.reading.keywords.counts import bounds, count, most
from constraints.json_schema.reading.keywords.tables import listed
from constraints.json_schema.reading.site import Site
from constraints.recursion import Task

min_items, max_items = bounds(ItemCount, "minItems", "maxItems")


def prefix_items(site: Site, value: Any) -> Task[Formula]:
    return _prefix(site, value, "prefixItems")


def items_after_prefix(site: Site, value: Any) -> Task[Formula]:
    """Read `items` of 2020-12: all items after those of `prefixItems`."""
    prefix = site.schema.get("prefixItems")
    start = len(prefix) if isinstance(prefix, list) else 0
    return ItemsFrom(start, (yield site.below(value, "items")))


def items(site: Site, value: Any) -> Task[Formula]:
    """Read `items` up to 2019-09: one schema for all items, or an array of schemas for the first ones."""
    if isinstance(value, list):
        return (yield from _prefix(site, value, "items"))
    return ItemsFrom(0, (yield site.below(value, "items")))


def items_of_any_draft(site: Site, value: Any) -> Task[Formula]:
    return (items if isinstance(value, list) else items_after_prefix)(site, value)


def additional_items(site: Site, value: Any) -> Task[Formula]:
    first = site.schema.get("items")
    if not isinstance(first, list):
        return TRUE
    return ItemsFrom(len(first), (yield site.below(value, "additionalItems")))


def contains(site: Site, value: Any) -> Task[Formula]:
    return Contains((yield site.below(value, "contains")), 1, None)


def contains_counted(site: Site, value: Any) -> Task[Formula]:
    """Read `contains` from 2019-09 on, with `minContains` and `maxContains`."""
    schema = site.schema
    item = yield site.below(value, "contains")
    high = most(site, "maxContains", schema["maxContains"]) if "maxContains" in schema else None
    return Contains(item, count(site, "minContains", schema.get("minContains", 1)), high)


def unique_items(site: Site, value: Any) -> Formula:
    if not isinstance(value, bool):
        raise site.wrong("uniqueItems", "a boolean", value)
    return UniqueItems(site.at("uniqueItems")) if value else TRUE


def _prefix(site: Site, value: Any, keyword: str) -> Task[Formula]:
    parts = []
    for index, schema in enumerate(listed(site, keyword, value)):
        item = yield site.below(schema, keyword, str(index))
        parts.append(site.put(ItemAt(index, item), keyword, str(index)))
    return conjunction(parts)
