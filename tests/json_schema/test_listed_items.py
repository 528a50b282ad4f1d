"""Which values of items count as listed, so that `uniqueItems` takes no memory; docs/json-schema.md says which.

Either way, the oracle for the language is jsonschema, over all arrays of a few values.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from unique_items_cases import unique
from validity import read, validator

from constraints import json_schema

ITEMS: list[Any] = [None, True, 0, 1, 5, 12, 0.5, "", "a", "b", "ab", [], [1], [1, True], [[1]], {}, {"a": 1}, {"a": 2}]
ARRAYS = [list(items) for size in range(3) for items in itertools.product(ITEMS, repeat=size)]
PAIR = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"]}

LISTED: list[Any] = [
    unique({"enum": [None, True, 1, 0.5, "a", [1, True], [[1]]]}),
    unique({"type": ["null", "boolean"]}),
    unique({"type": "integer", "minimum": 0, "exclusiveMaximum": 12}),
    unique({"type": "integer", "minimum": 0, "maximum": 64, "multipleOf": 6}),
    unique({"enum": ["a", "b", 5], "pattern": "^a", "maximum": 4}),
    unique({"allOf": [{"enum": [[1], [1, True], 1]}, {"minItems": 2}]}),
    unique({"anyOf": [{"enum": [0, "a"]}, {"type": "null"}]}),
    unique({"oneOf": [{"enum": [0, "a"]}, {"enum": [0, "b"]}]}),
    unique({"type": "array", "items": {"enum": [1, True]}, "maxItems": 2}),
    unique({**PAIR, "maxProperties": 1}),
    unique({"$ref": "#/$defs/a"}, **{"$defs": {"a": {"const": "a"}}}),
    unique({"type": "integer", "minimum": 1, "maximum": 12}),
    unique({"type": "integer", "minimum": 1, "maximum": 64}, maxItems=2),
    unique({"enum": [[1], [2], [3], [4], [5], [6], [7]]}),
    {"type": "array", "allOf": [{"items": {"enum": [0, "a"]}}, {"uniqueItems": True}]},
]
NOT_LISTED: list[Any] = [
    unique({"enum": ["a", {"a": 1}]}),
    unique({"const": {}}),
    unique({"type": "string", "pattern": "^[ab]?$"}),
    unique({"type": "string", "maxLength": 0}),
    unique({"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.5}),
    unique({"type": "integer", "minimum": 0, "maximum": 65, "multipleOf": 6}),
    unique({"anyOf": [{"enum": [0, "a"]}, {"type": "string", "pattern": "^a?$"}]}),
    unique({"type": "array", "items": {"enum": [1, True]}}),
    unique({**PAIR, "additionalProperties": False}),
    unique({"type": "integer", "minimum": 0, "maximum": 12}),
    unique({"type": "integer", "minimum": 0, "maximum": 64}, maxItems=2),
    unique({"enum": [[1], [2], [3], [4], [5], [6], [7], [8]]}),
    {"type": "array", "uniqueItems": True, "anyOf": [{"items": {"enum": [0, "a"]}}, {"items": {"enum": [0, "b"]}}]},
]
# Arrays in which no two items can be equal.
APART: list[Any] = [
    {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False, "uniqueItems": True},
    unique({}, maxItems=1),
]


@pytest.mark.parametrize("schema", [*LISTED, *APART], ids=json.dumps)
def test_listed_values_take_no_memory(schema: Any) -> None:
    assert json_schema(schema).unique_arrays() is None
    check_language(schema)


@pytest.mark.parametrize("schema", NOT_LISTED, ids=json.dumps)
def test_other_values_take_a_memory(schema: Any) -> None:
    assert json_schema(schema).unique_arrays() is not None
    check_language(schema)


def check_language(schema: Any) -> None:
    constraint, checker = json_schema(schema), validator(schema, "draft2020-12")
    for array in ARRAYS:
        text = json.dumps(array)
        assert constraint.allows(text) == checker.is_valid(read(text.encode())), text
