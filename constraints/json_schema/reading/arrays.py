"""Keywords about arrays: `prefixItems`, `items`, `additionalItems`, `contains`, `minItems`, `maxItems`, `uniqueItems`.

Up to 2019-09 `items` with an array of schemas is what `prefixItems` is now, and `additionalItems` then is about the
rest. `minContains` and `maxContains` say nothing without `contains`.
"""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formula import (
    TRUE,
    Contains,
    Formula,
    ItemAt,
    ItemsFrom,
    Length,
    UniqueItems,
    conjunction,
)
from constraints.json_schema.reading.counts import bounds, count
from constraints.json_schema.reading.site import Reading, Site

min_items, max_items = bounds(Length, "minItems", "maxItems")


def prefix_items(reading: Reading, site: Site, value: Any) -> Formula:
    return _prefix(reading, site, value, "prefixItems")


def items_after_prefix(reading: Reading, site: Site, value: Any) -> Formula:
    """`items` of 2020-12: all items behind those of `prefixItems`."""
    prefix = site.schema.get("prefixItems")
    start = len(prefix) if isinstance(prefix, list) else 0
    return ItemsFrom(start, reading.below(site, value, "items"))


def items(reading: Reading, site: Site, value: Any) -> Formula:
    """`items` up to 2019-09: one schema for all items, or an array of schemas for the first ones."""
    if isinstance(value, list):
        return _prefix(reading, site, value, "items")
    return ItemsFrom(0, reading.below(site, value, "items"))


def items_of_any_draft(reading: Reading, site: Site, value: Any) -> Formula:
    return (items if isinstance(value, list) else items_after_prefix)(reading, site, value)


def additional_items(reading: Reading, site: Site, value: Any) -> Formula:
    first = site.schema.get("items")
    if not isinstance(first, list):
        return TRUE
    return ItemsFrom(len(first), reading.below(site, value, "additionalItems"))


def contains(reading: Reading, site: Site, value: Any) -> Formula:
    return Contains(reading.below(site, value, "contains"), 1, None)


def contains_counted(reading: Reading, site: Site, value: Any) -> Formula:
    """`contains` from 2019-09 on, with `minContains` and `maxContains`."""
    low, high = site.schema.get("minContains", 1), site.schema.get("maxContains")
    item = reading.below(site, value, "contains")
    most = None if high is None else count(site, "maxContains", high)
    return Contains(item, count(site, "minContains", low), most)


def unique_items(reading: Reading, site: Site, value: Any) -> Formula:
    if not isinstance(value, bool):
        raise site.wrong("uniqueItems", "a boolean", value)
    return UniqueItems(site.place + "/uniqueItems") if value else TRUE


def _prefix(reading: Reading, site: Site, value: Any, keyword: str) -> Formula:
    if not isinstance(value, list):
        raise site.wrong(keyword, "an array of schemas", value)
    return conjunction(
        [
            reading.put(
                ItemAt(index, reading.below(site, item, keyword, str(index))), f"{site.place}/{keyword}/{index}"
            )
            for index, item in enumerate(value)
        ]
    )
