"""JSON Schemas inside grammars in Lark's syntax."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from automata import (
    compile_grammar,
)
from constraints.grammars.lark_reader import read_lark

_TREE = {"oneOf": [{"items": {"$ref": "#/$defs/t"}, "type": "array", "minItems": 2}, {"type": ["null", "integer"]}]}


SCHEMAS = [
    {
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer", "maximum": 9}},
        "required": ["name"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"type": "integer", "oneOf": [{"minimum": 3}, {"maximum": 5}]}},
    {"not": {"type": "object", "required": ["a"]}},
    {"contains": {"type": "object"}},
    {"anyOf": [{"properties": {"a": {"items": {"type": "null"}}}}, {"properties": {"b": {"type": "string"}}}]},
    {"type": "object", "if": {"required": ["a"]}, "then": {"maxProperties": 1}, "else": {"minProperties": 2}},
    {"$ref": "#/$defs/t", "$defs": {"t": _TREE}},
    {"enum": [1, "ab", None, [1, {"b": 2}]]},
]


VALUES: list[Any] = [
    *(
        1,
        4,
        7,
        -2,
        2.5,
        "a",
        "ab",
        None,
        True,
        [],
        [1],
        [4],
        [7, 2],
        [1, {"b": 2}],
        [None, [None, 1]],
        [[3]],
        [[1, 2], 3],
    ),
    *(
        {},
        {"a": 1},
        {"name": "Ada"},
        {"name": "Ada", "age": 7},
        {"name": "A"},
        {"name": "Ada", "age": 36},
        {"a": 1, "b": 2},
    ),
    *(
        {"a": [None], "b": 2},
        {"a": [1], "b": "x"},
        {"a": [1], "b": 2},
        {"a": [0], "b": None},
        {"b": 1, "c": 2},
        [{}],
        ["a", {"a": []}],
    ),
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_json_schemas_inside_a_grammar(schema: dict[str, object]) -> None:
    automaton = compile_grammar(read_lark(f'start: "set(" %json {json.dumps(schema)} ")"'))
    validator = jsonschema.Draft202012Validator(schema)
    valid = [validator.is_valid(value) for value in VALUES]
    assert 1 < sum(valid) < len(VALUES) - 1
    options: Any
    for options in ({}, {"indent": 2}):
        texts = [f"set({json.dumps(value, **options)})".encode() for value in VALUES]
        assert [automaton.accepts(text) for text in texts] == valid


def test_equal_schemas_share_their_rules_and_others_have_their_own() -> None:
    number, string = '%json {"type": "integer"}', '%json {"type": "string"}'
    same = read_lark(f'start: {number} ";" {number} ";" {string}')
    assert len(same.rules) == 3
    automaton = compile_grammar(same)
    assert [automaton.accepts(text) for text in (b'1;-2;"x"', b'1;"x";2')] == [True, False]
