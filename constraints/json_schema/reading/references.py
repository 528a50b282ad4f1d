"""`$ref`, `$dynamicRef` and `$recursiveRef`: what the definition says that they lead to."""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formula import Formula
from constraints.json_schema.reading.site import Handler, Reading, Site


def reader_of(keyword: str) -> Handler:
    """The reader of one of the three keywords."""

    def read(reading: Reading, site: Site, value: Any) -> Formula:
        return reading.definition(reading.target(site, keyword), site.scope)

    return read
