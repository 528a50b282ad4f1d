"""JSON Schemas and white space as other packages read them.

    json_of         the value of a JSON text
    schema_of       a schema, given as text, as a Pydantic model or as a dict
    closed          a schema whose objects have only the listed properties, as in XGrammar and Outlines
    at_most_items   a schema whose arrays without a bound get one, as in lm-format-enforcer
    separated       white space with one way to write commas and colons

The results are JSON Schemas with the meaning that this project gives to JSON Schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from automata.expressions import literal
from constraints import Whitespace

_BLANK: Final = " \t\n\r"
# Keywords with schemas for the same value as the schema that contains them.
_IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "then", "else")
# Keywords with schemas for parts of the value, or with schemas that are referred to from elsewhere.
_PARTS: Final = (
    "items", "prefixItems", "additionalItems", "additionalProperties", "properties", "patternProperties",
    "unevaluatedItems", "unevaluatedProperties", "$defs", "definitions",
)  # fmt: skip
# Those of these keywords whose values have schemas by name.
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions")


def json_of(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: the text is not JSON, or is nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON text is nested too deep to be read") from None


def schema_of(schema: Any) -> Any:
    """Return a JSON Schema, which may be given as text or as a Pydantic model.

    Raises:
        ValueError: a text is not JSON, or is nested too deeply to be read.
    """
    if isinstance(schema, str):
        return json_of(schema)
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    return schema


def closed(schema: Any, *, is_joined: bool = False) -> Any:
    """Return a schema in which objects that list properties have no others, and arrays that list items have no others.

    An object that itself says which other properties it may have is left unchanged, and so are conditions (`if`, `not`,
    `contains`). A definition is closed by itself, whatever refers to it.

    Args:
        schema: the schema.
        is_joined: whether the schema is combined with others for the same value, which are closed together.
    """
    if not isinstance(schema, Mapping):
        return schema
    listed = "properties" in schema or "patternProperties" in schema
    joins = "allOf" in schema or (listed and any(name in schema for name in _IN_PLACE))
    found = {
        name: _each(name, value, partial(closed, is_joined=name in _IN_PLACE and (joins or is_joined)))
        for name, value in schema.items()
    }
    if "prefixItems" in schema and "items" not in schema and "unevaluatedItems" not in schema:
        found["items"] = False
    if isinstance(schema.get("items"), list) and "additionalItems" not in schema:
        found["additionalItems"] = False
    if not is_joined and not {"additionalProperties", "unevaluatedProperties"} & schema.keys():
        if joins:
            found["unevaluatedProperties"] = False
        elif listed:
            found["additionalProperties"] = False
    return found


def at_most_items(schema: Any, number: int) -> Any:
    """Return a schema in which arrays have at most a number of items, unless the schema has a bound."""
    if not isinstance(schema, Mapping):
        return schema
    found = {name: _each(name, value, partial(at_most_items, number=number)) for name, value in schema.items()}
    kinds, least = schema.get("type"), schema.get("minItems")
    if kinds == "array" or (isinstance(kinds, list) and "array" in kinds):
        # A bound that is not a number is refused when the schema is read.
        found.setdefault("maxItems", max(number, least) if isinstance(least, int | float) else number)
    return found


def _each(name: str, value: Any, change: Callable[[Any], Any]) -> Any:
    """Return the value of a keyword, with the schemas in it changed."""
    if name not in _IN_PLACE and name not in _PARTS:
        return value
    if isinstance(value, list):
        return [change(one) for one in value]
    if name in _NAMED and isinstance(value, Mapping):
        return {key: change(one) for key, one in value.items()}
    return change(value)


def separated(comma: str, colon: str) -> Whitespace:
    """Return the white space with which commas and colons are written as given, such as `", "` and `": "`.

    Raises:
        ValueError: a separator is not the comma or colon with white space around it.
    """
    before_comma, after_comma = _around(comma, ",")
    before_colon, after_colon = _around(colon, ":")
    return Whitespace(
        before_comma=literal(before_comma),
        after_comma=literal(after_comma),
        before_colon=literal(before_colon),
        after_colon=literal(after_colon),
    )


def _around(separator: str, mark: str) -> tuple[str, str]:
    if separator.strip(_BLANK) != mark:
        raise ValueError(f"a separator is {mark!r} with white space around it, and {separator!r} is not")
    before, _, after = separator.partition(mark)
    return before, after
