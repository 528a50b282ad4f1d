"""JSON Schemas and whitespace as other packages read them.

    json_of         the value of a JSON text
    schema_of       a schema, given as text, as a Pydantic model or as a dict
    closed          a schema whose objects have only the listed properties, as in XGrammar and Outlines
    at_most_items   a schema whose arrays without a bound get one, as in lm-format-enforcer
    separated       whitespace with one way to write commas and colons

The results are JSON Schemas with the meaning that this project gives to JSON Schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

from automata.expressions import literal
from constraints import Whitespace

_BLANK: Final = " \t\n\r"
# Keywords with schemas for the same value as the schema that contains them.
_IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas", "dependencies")
# Keywords with schemas for parts of the value, or with schemas that are referred to from elsewhere.
_PARTS: Final = (
    "items", "prefixItems", "additionalItems", "additionalProperties", "properties", "patternProperties",
    "unevaluatedItems", "unevaluatedProperties", "$defs", "definitions",
)  # fmt: skip
# Those of these keywords whose values map names to schemas.
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")


def json_of(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: the text is not JSON, or is nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON text is nested too deeply to be read") from None


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
    """Return a schema in which arrays have at most a number of items, unless the schema has a bound.

    The bound is put beside all schemas for the same array, outside `oneOf` and references, so that each keeps its
    meaning. If one of them requires more items, the bound is that number. Up to draft 7, a reference hides all other
    keywords, so the bound is put into what it refers to.
    """
    return _bounded(schema, number, schema)


def _bounded(schema: Any, number: int, root: Any, *, is_joined: bool = False) -> Any:
    """Return a schema with bounds. A schema that is joined with others for the same value gets none of its own."""
    if not isinstance(schema, Mapping):
        return schema
    joined = _IN_PLACE if _ignores_all_beside_references(root) else (*_IN_PLACE, "$defs", "definitions")
    found = {
        name: _each(name, value, partial(_bounded, number=number, root=root, is_joined=name in joined))
        for name, value in schema.items()
    }
    together = [] if is_joined else list(_together(schema, root))
    if any(_says_array(one) for one in together) and not any("maxItems" in one for one in together):
        # A bound that is not a number is refused when the schema is read.
        least = [one.get(name) for one in together for name in ("minItems", "minContains")]
        found["maxItems"] = max([number, *(each for each in least if isinstance(each, int | float))])
    return found


def _together(schema: Any, root: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a schema, and the schemas for the same value: those within it, and those that its `$ref` points to."""
    waiting, seen = [schema], set[int]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping) and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [each for name in _IN_PLACE if name in one for each in _schemas(name, one[name])]
            if not _ignores_all_beside_references(root):
                waiting.append(_referred(one.get("$ref"), root))


def _ignores_all_beside_references(root: Any) -> bool:
    """Return whether a document's draft ignores the keywords beside `$ref`."""
    return bool(re.search(r"draft-0[3-7]/", str(root.get("$schema")))) if isinstance(root, Mapping) else False


def _schemas(name: str, value: Any) -> Iterable[Any]:
    """Return the schemas in the value of a keyword of `_IN_PLACE`: a list, a dict of them, or one."""
    if name in _NAMED:
        return value.values() if isinstance(value, Mapping) else []
    return value if isinstance(value, list) else [value]


def _referred(reference: Any, root: Any) -> Any:
    """Return what a pointer such as "#/$defs/item" refers to; None if it is not a pointer, or points to nothing."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found = root
    for part in reference[1:].split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _says_array(schema: Mapping[str, Any]) -> bool:
    """Return whether the type of a schema includes arrays."""
    kinds = schema.get("type")
    return kinds == "array" or (isinstance(kinds, list) and "array" in kinds)


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
    """Return the whitespace that writes commas and colons as given, such as `", "` and `": "`.

    Raises:
        ValueError: a separator is not the comma or colon with whitespace around it.
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
        raise ValueError(f"a separator is {mark!r} with whitespace around it, and {separator!r} is not")
    before, _, after = separator.partition(mark)
    return before, after
