"""Conflicts: why no value satisfies a schema."""

from __future__ import annotations

from constraints.json_schema.document import Document


def conflict(document: Document) -> tuple[str, str]:
    """What is asked that cannot be, and where in the schema."""
    return "no value satisfies the schema", ""
