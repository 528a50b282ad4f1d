"""Dialects: the keywords of each draft, with their handlers.

A schema without `$schema`, or with an unknown one, is read as 2020-12 together with what older drafts wrote differently
and 2020-12 gives no other meaning: `dependencies`, an array of schemas in `items` and `additionalItems` beside it, a
boolean `exclusiveMinimum`, `id`, `$recursiveRef`.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from automata.cache import kept
from constraints.json_schema.reading.document import Draft
from constraints.json_schema.reading.keywords import (
    any_kind,
    applicators,
    arrays,
    numbers,
    objects,
    strings,
    unevaluated,
)
from constraints.json_schema.reading.keywords.references import handler_of
from constraints.json_schema.reading.keywords.tables import nested_first
from constraints.json_schema.reading.site import Handler, SchemaDialect

# Keywords that are read after all others: those that name or count members, and those about what other keywords leave.
LATE: Final = frozenset(
    [
        *("required", "dependentRequired", "dependentSchemas", "dependencies", "additionalProperties"),
        *("propertyNames", "minProperties", "maxProperties", "unevaluatedProperties", "unevaluatedItems"),
    ]
)

_DRAFT_4: Final[dict[str, Handler]] = {
    "type": any_kind.type_of_draft4,
    "enum": any_kind.enum,
    "minimum": numbers.minimum,
    "maximum": numbers.maximum,
    "exclusiveMinimum": numbers.exclusive_minimum,
    "exclusiveMaximum": numbers.exclusive_maximum,
    "multipleOf": numbers.multiple_of,
    "minLength": strings.min_length,
    "maxLength": strings.max_length,
    "pattern": strings.pattern,
    "format": strings.format_of,
    "items": arrays.items,
    "additionalItems": arrays.additional_items,
    "minItems": arrays.min_items,
    "maxItems": arrays.max_items,
    "uniqueItems": arrays.unique_items,
    "properties": objects.properties,
    "patternProperties": objects.pattern_properties,
    "additionalProperties": objects.additional_properties,
    "required": objects.required,
    "minProperties": objects.min_properties,
    "maxProperties": objects.max_properties,
    "dependencies": objects.dependencies,
    "allOf": applicators.all_of,
    "anyOf": applicators.any_of,
    "oneOf": applicators.one_of,
    "not": applicators.not_,
    "$ref": handler_of("$ref"),
}
_DRAFT_6: Final[dict[str, Handler]] = {
    **_DRAFT_4,
    "type": any_kind.type_of,
    "const": any_kind.const,
    "contains": arrays.contains,
    "propertyNames": objects.property_names,
}
_DRAFT_7: Final[dict[str, Handler]] = {**_DRAFT_6, "if": applicators.if_}
_DRAFT_2019_09: Final[dict[str, Handler]] = {
    **_DRAFT_7,
    "contains": arrays.contains_counted,
    "dependentRequired": objects.dependent_required,
    "dependentSchemas": objects.dependent_schemas,
    "unevaluatedProperties": nested_first(unevaluated.unevaluated_properties),
    "unevaluatedItems": nested_first(unevaluated.unevaluated_items),
    "$recursiveRef": handler_of("$recursiveRef"),
}
_DRAFT_2020_12: Final[dict[str, Handler]] = {
    **{k: handler for k, handler in _DRAFT_2019_09.items() if k not in ("additionalItems", "$recursiveRef")},
    "prefixItems": arrays.prefix_items,
    "items": arrays.items_after_prefix,
    "$dynamicRef": handler_of("$dynamicRef"),
}
_ANY_DRAFT: Final[dict[str, Handler]] = {
    **_DRAFT_2019_09,
    **_DRAFT_2020_12,
    "items": arrays.items_of_any_draft,
    "additionalItems": arrays.additional_items,
}

DIALECTS: Final[Mapping[Draft, SchemaDialect]] = {
    "draft4": SchemaDialect("draft4", _DRAFT_4, ("id",), reference_alone=True),
    "draft6": SchemaDialect("draft6", _DRAFT_6, reference_alone=True),
    "draft7": SchemaDialect("draft7", _DRAFT_7, reference_alone=True),
    "draft2019-09": SchemaDialect("draft2019-09", _DRAFT_2019_09),
    "draft2020-12": SchemaDialect("draft2020-12", _DRAFT_2020_12, contains_evaluates=True),
}
UNDECLARED: Final = SchemaDialect("draft2020-12", _ANY_DRAFT, ("$id", "id"), contains_evaluates=True)

_BY_NORMAL_NAME: Final = {keyword.lower(): keyword for keyword in _ANY_DRAFT}
# Members in which APIs pass a schema, beside its name.
_WRAPPING: Final = ("schema", "parameters", "json_schema", "function", "inputSchema", "input_schema")
# What `type` is in such wrappers.
_TYPES_OF_WRAPPERS: Final = ("function", "json_schema")
# The least similarity (`difflib`) of a misspelled keyword to the right one, and the keywords long enough to compare.
_ALIKE: Final = 0.75
_LONG: Final = tuple(name for name in _BY_NORMAL_NAME if len(name) > 3)
# A name that is longer resembles none of them.
_LONGEST_ALIKE: Final = int((2 / _ALIKE - 1) * max(map(len, _LONG)))
# Any of these shows that an object is meant as a schema.
_SCHEMA_SIGNS: Final = frozenset(["type", "properties", "$ref", "anyOf", "oneOf", "allOf", "enum", "items"])
# Keywords that constrain nothing by themselves, and need no note. Most schemas have many.
ANNOTATIONS: Final = frozenset(
    [
        *("title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly", "$comment"),
        *("$schema", "$id", "id", "$defs", "definitions", "$anchor", "$vocabulary", "then", "else"),
    ]
)

_BY_URI: Final[Mapping[str, SchemaDialect]] = {
    "json-schema.org/draft-04/schema": DIALECTS["draft4"],
    "json-schema.org/draft-06/schema": DIALECTS["draft6"],
    "json-schema.org/draft-07/schema": DIALECTS["draft7"],
    "json-schema.org/draft/2019-09/schema": DIALECTS["draft2019-09"],
    "json-schema.org/draft/2020-12/schema": DIALECTS["draft2020-12"],
}


def unknown_meaning(keyword: str, value: Any, draft: Draft) -> str | None:
    """Return a remark on a keyword that a draft does not have: which keyword was probably meant, or that the schema in
    it has no effect; None for any other keyword, which is taken for an annotation."""
    if keyword == "nullable" and value is True:
        return "'nullable' is a keyword of OpenAPI and not of JSON Schema; add 'null' to the types"
    if keyword in ("minContains", "maxContains"):  # read with `contains`
        return f"{draft} has no keyword {keyword!r}" if draft in ("draft4", "draft6", "draft7") else None
    if keyword in ("disallow", "divisibleBy"):
        return f"{draft} has no keyword {keyword!r}; it is one of draft 3"
    meant = _meant(keyword)
    if meant is not None:
        return f"{draft} has no keyword {keyword!r}" + (f"; {meant!r} is one" if meant != keyword else "")
    if isinstance(value, dict) and not _SCHEMA_SIGNS.isdisjoint(value):
        return f"{draft} has no keyword {keyword!r}, so the schema in it says nothing of any value"
    return None


@kept(4096)
def _meant(keyword: str) -> str | None:
    """Return the keyword of some draft that equals or resembles another one, in any case and without hyphens and
    underscores; None if there is none."""
    normal = keyword.lower().replace("_", "").replace("-", "")
    found = _BY_NORMAL_NAME.get(normal)
    if found is None and not normal.startswith(("x", "$")) and len(normal) <= _LONGEST_ALIKE:
        close = get_close_matches(normal, _LONG, 1, _ALIKE)
        found = _BY_NORMAL_NAME[close[0]] if close else None
    return found


def wrapper_of(schema: Any) -> str | None:
    """Return the name of the member that holds the schema if an object only wraps one, as tools and response formats of
    APIs do; None if the object may be a schema itself."""
    if not isinstance(schema, dict):
        return None
    known = [name for name in schema if name in _ANY_DRAFT]
    if known and not (known == ["type"] and schema["type"] in _TYPES_OF_WRAPPERS):
        return None
    return next((name for name in _WRAPPING if isinstance(schema.get(name), dict)), None)


def dialect_of_uri(uri: str) -> SchemaDialect | None:
    """Return the dialect of the draft that a `$schema` names, with "http" or "https" and with or without an empty
    fragment; None for any other URI."""
    return _BY_URI.get(uri.removesuffix("#").removeprefix("https://").removeprefix("http://"))
