"""Whether a value, or a text, is valid: what the `jsonschema` package says, made exact.

Numbers are exact: those in a text are read as integers and fractions, whatever their size, and so are those of the
schema. Patterns are what `schema_strategies.PATTERNS` says they are in Python, whose `$` and `.` mean something else;
others must mean the same in Python.
Formats count for nothing here.
"""

from __future__ import annotations

from typing import Any

from oracles import TooLarge, exact, read, validator_class
from schema_strategies import PATTERNS

__all__ = ["TooLarge", "exact", "read", "validator"]


def _in_python(schema: Any) -> Any:
    """The schema with its patterns as Python writes them, and never empty: to the package an empty one may be none."""
    if isinstance(schema, list):
        return [_in_python(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if not schema:
        return {"description": ""}
    found = {name: part if name in ("const", "enum") else _in_python(part) for name, part in schema.items()}
    if isinstance(pattern := found.get("pattern"), str):
        found["pattern"] = PATTERNS.get(pattern, pattern)
    if isinstance(members := found.get("patternProperties"), dict):
        found["patternProperties"] = {PATTERNS.get(name, name): part for name, part in members.items()}
    return found


def validator(schema: Any, draft: str) -> Any:
    """An object whose `is_valid(value)` says whether an exact value is valid."""
    kind = validator_class(draft)
    kind.check_schema(schema)
    return kind(exact(_in_python(schema)))
