"""Whether values satisfy a schema as it was read."""

from __future__ import annotations

from typing import Any

from evaluation import holds

from constraints.json_schema.formulas.statements import (
    StringIn,
)
from constraints.json_schema.reading import read_schema


def text(value: str) -> StringIn:
    return StringIn(frozenset([value]))


def valid(schema: Any, *values: Any, draft: Any = "auto", resolver: Any = None) -> list[bool]:
    document = read_schema(schema, draft=draft, resolver=resolver)
    return [holds(document, value) for value in values]
