"""Scanning: the schemas in a document that names lead to, found once, when the first name is asked for.

Only what stands where a keyword has a schema is one: an `$id` in a `const` or below an unknown keyword names nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from constraints.json_schema.reading.dialects import dialect_of_uri
from constraints.json_schema.reading.pointers import step
from constraints.json_schema.reading.site import Resource, Target
from constraints.json_schema.reading.words import words

SCHEMA_MAPS: Final = words("properties patternProperties definitions $defs dependentSchemas dependencies")
SCHEMA_LISTS: Final = words("allOf anyOf oneOf prefixItems items")
SCHEMAS: Final = words(
    "additionalProperties additionalItems items contains not if then else propertyNames unevaluatedProperties "
    "unevaluatedItems contentSchema"
)


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    """The schemas directly below one, each with the pointer that leads there."""
    for keyword, value in schema.items():
        if isinstance(value, dict):
            if keyword in SCHEMA_MAPS:
                for name, inner in value.items():
                    yield inner, f"/{keyword}{step(name)}"
            elif keyword in SCHEMAS:
                yield value, "/" + keyword
        elif isinstance(value, list) and keyword in SCHEMA_LISTS:
            for index, inner in enumerate(value):
                yield inner, f"/{keyword}/{index}"


def own_uri(schema: dict[str, Any], resource: Resource) -> str | None:
    """What a schema calls itself: its `$id`, or `id` in draft 4; None without one, and where `$ref` hides it.

    A schema inside another may be of a draft of its own, which its `$schema` says.
    """
    declared = schema.get("$schema")
    dialect = (dialect_of_uri(declared) if isinstance(declared, str) else None) or resource.dialect
    if dialect.reference_alone and "$ref" in schema:
        return None
    for keyword in (*dialect.id_keywords, *resource.dialect.id_keywords):
        uri = schema.get(keyword)
        if isinstance(uri, str):
            return uri
    return None


def add_anchors(schema: dict[str, Any], place: str, resource: Resource) -> None:
    """Enters the names that a schema gives itself into its resource; the first schema of a name counts."""
    uri = own_uri(schema, resource)
    fragment = uri.partition("#")[2] if uri else ""
    if fragment and not fragment.startswith("/"):
        resource.anchors.setdefault(fragment, Target(schema, place, resource))
    if resource.dialect.reference_alone:
        return
    for keyword in ("$anchor", "$dynamicAnchor"):
        name = schema.get(keyword)
        if isinstance(name, str):
            dynamic = name if keyword == "$dynamicAnchor" else None
            resource.anchors.setdefault(name, Target(schema, place, resource, dynamic))
    if schema is resource.schema and schema.get("$recursiveAnchor") is True:
        resource.anchors.setdefault("", Target(schema, place, resource, ""))
