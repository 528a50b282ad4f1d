"""`$ref`, `$dynamicRef` and `$recursiveRef`: the formula of the definition that they lead to."""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.reading.site import Handler, Site
from constraints.recursion import Task


def handler_of(keyword: str) -> Handler:
    """Return the handler of one of the three keywords."""

    def read(site: Site, value: Any) -> Task[Formula]:
        return site.reading.definition(site.reading.target(site, keyword), site.scope)

    return read
