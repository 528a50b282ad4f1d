"""Scanning: finds the resources and the names in a document, once, when the first name is looked up.

Only values at which a keyword expects a schema are schemas: an `$id` in a `const` or below an unknown keyword names
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from automata.errors import SchemaError
from constraints.json_schema.reading.dialects import dialect_of_uri
from constraints.json_schema.reading.resources.pointers import step
from constraints.json_schema.reading.site import Resource, Target, wrong_name

SCHEMA_MAPS: Final = frozenset(
    ["properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies"]
)
SCHEMA_LISTS: Final = frozenset(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
SCHEMAS: Final = frozenset(
    [
        *("additionalProperties", "unevaluatedProperties", "propertyNames", "not", "if", "then", "else"),
        *("items", "additionalItems", "unevaluatedItems", "contains", "contentSchema"),
    ]
)


def subschemas(schema: dict[str, Any], place: str) -> Iterator[tuple[Any, str]]:
    """Yield the schemas directly below one, each with its place.

    Raises:
        SchemaError: the name of one is not a string.
    """
    for keyword, value in schema.items():
        if isinstance(value, dict):
            if keyword in SCHEMA_MAPS:
                if reason := wrong_name(value):
                    raise SchemaError(reason, pointer=f"{place}/{keyword}", keyword=keyword)
                for name, inner in value.items():
                    yield inner, f"{place}/{keyword}{step(name)}"
            elif keyword in SCHEMAS:
                yield value, f"{place}/{keyword}"
        elif isinstance(value, list) and keyword in SCHEMA_LISTS:
            for index, inner in enumerate(value):
                yield inner, f"{place}/{keyword}/{index}"


def own_uri(schema: dict[str, Any], resource: Resource) -> str | None:
    """Return a schema's own URI, its `$id`, or `id` in draft 4; None without one, and where `$ref` hides it.

    A schema inside another may be of another draft, which its `$schema` names.
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
    """Enter the names that a schema gives itself into its resource; the first schema of a name keeps it."""
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
