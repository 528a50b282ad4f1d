"""Dialects: which keywords there are, by draft and vocabulary, and who reads each.

Without `$schema` (and for one that nobody knows) a schema is of draft 2020-12, with what older drafts wrote otherwise
and what means nothing else there: `dependencies`, an array of schemas in `items` and `additionalItems` beside it, a
boolean `exclusiveMinimum`, `id`, `$recursiveRef`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from constraints.json_schema.document import Draft
from constraints.json_schema.reading import any_kind, applicators, arrays, numbers, objects, texts, unevaluated
from constraints.json_schema.reading.references import reader_of
from constraints.json_schema.reading.site import Handler
from constraints.json_schema.reading.words import words


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """How a schema is read.

    Attributes:
        draft: the draft.
        handlers: who reads each keyword.
        id_keywords: what gives a schema its URI.
        reference_alone: whether `$ref` hides all that stands beside it (up to draft 7).
        contains_evaluates: whether items that `contains` holds for are evaluated (from 2020-12 on).
    """

    draft: Draft
    handlers: Mapping[str, Handler]
    id_keywords: tuple[str, ...] = ("$id",)
    reference_alone: bool = False
    contains_evaluates: bool = False


# Read after all others: what lists names or says what others leave over.
LATE: Final = words(
    "required dependentRequired dependentSchemas dependencies additionalProperties propertyNames minProperties "
    "maxProperties unevaluatedProperties unevaluatedItems"
)

_DRAFT_4: Final[dict[str, Handler]] = {
    "type": any_kind.type_of_draft4,
    "enum": any_kind.enum,
    "minimum": numbers.minimum,
    "maximum": numbers.maximum,
    "exclusiveMinimum": numbers.exclusive_minimum,
    "exclusiveMaximum": numbers.exclusive_maximum,
    "multipleOf": numbers.multiple_of,
    "minLength": texts.min_length,
    "maxLength": texts.max_length,
    "pattern": texts.pattern,
    "format": texts.format_of,
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
    "$ref": reader_of("$ref"),
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
    "unevaluatedProperties": unevaluated.unevaluated_properties,
    "unevaluatedItems": unevaluated.unevaluated_items,
    "$recursiveRef": reader_of("$recursiveRef"),
}
_DRAFT_2020_12: Final[dict[str, Handler]] = {
    **{k: handler for k, handler in _DRAFT_2019_09.items() if k not in ("additionalItems", "$recursiveRef")},
    "prefixItems": arrays.prefix_items,
    "items": arrays.items_after_prefix,
    "$dynamicRef": reader_of("$dynamicRef"),
}
_ANY_DRAFT: Final[dict[str, Handler]] = {
    **_DRAFT_2019_09,
    **_DRAFT_2020_12,
    "items": arrays.items_of_any_draft,
    "additionalItems": arrays.additional_items,
}

DIALECTS: Final[Mapping[Draft, Dialect]] = {
    "draft4": Dialect("draft4", _DRAFT_4, ("id",), reference_alone=True),
    "draft6": Dialect("draft6", _DRAFT_6, reference_alone=True),
    "draft7": Dialect("draft7", _DRAFT_7, reference_alone=True),
    "draft2019-09": Dialect("draft2019-09", _DRAFT_2019_09),
    "draft2020-12": Dialect("draft2020-12", _DRAFT_2020_12, contains_evaluates=True),
}
UNDECLARED: Final = Dialect("draft2020-12", _ANY_DRAFT, ("$id", "id"), contains_evaluates=True)

_BY_URI: Final[Mapping[str, Dialect]] = {
    "json-schema.org/draft-04/schema": DIALECTS["draft4"],
    "json-schema.org/draft-06/schema": DIALECTS["draft6"],
    "json-schema.org/draft-07/schema": DIALECTS["draft7"],
    "json-schema.org/draft/2019-09/schema": DIALECTS["draft2019-09"],
    "json-schema.org/draft/2020-12/schema": DIALECTS["draft2020-12"],
}


def dialect_of_uri(uri: str) -> Dialect | None:
    """The draft of a `$schema`, with or without an empty fragment, by either scheme; None for others."""
    return _BY_URI.get(uri.removesuffix("#").removeprefix("https://").removeprefix("http://"))
