"""Schemas that are nested hundreds of levels deep are read, and their instances are told apart by masks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import tokenfst
from automata.errors import LimitExceeded, UnsatisfiableSchema, UnsupportedSchema
from constraints import json_schema, json_schema_to_regex
from constraints.json_schema import JsonSchema
from tokenfst import Vocabulary

INTEGER: Any = {"type": "integer"}
BYTES = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos_ids=[256])


def nested(depth: int, around: Callable[[Any], Any], schema: Any) -> Any:
    for _ in range(depth):
        schema = around(schema)
    return schema


def array(schema: Any) -> Any:
    return {"type": "array", "items": schema}


def record(schema: Any) -> Any:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}


def allowed(schema: Any, text: str) -> bool:
    """Whether the masks allow a text, byte by byte, and its end."""
    automaton = tokenfst.compile(json_schema(schema), BYTES)
    state = automaton.start
    for token in [*text.encode(), 256]:
        if not automaton.mask(state)[token]:
            return False
        reached = automaton.advance(state, token) if token < 256 else state
        assert reached is not None
        state = reached
    return automaton.is_final(state)


def chain(depth: int, around: Callable[[Any], Any], schema: Any) -> Any:
    """Definitions, each of which refers to the next."""
    links = {f"d{number}": around({"$ref": f"#/$defs/d{number + 1}"}) for number in range(depth)}
    return {"$ref": "#/$defs/d0", "$defs": {**links, f"d{depth}": schema}}


@pytest.mark.parametrize("depth", [300, 1000])
@pytest.mark.parametrize(
    ("around", "opening", "closing"),
    [
        (array, "[", "]"),
        (lambda inner: {"type": "array", "prefixItems": [inner], "items": False, "minItems": 1}, "[", "]"),
        (record, '{"a":', "}"),
        (lambda inner: {"type": "object", "patternProperties": {"^a": inner}}, '{"ab":', "}"),
        (lambda inner: {"type": "object", "additionalProperties": inner}, '{"x":', "}"),
    ],
)
def test_values_within_values(depth: int, around: Callable[[Any], Any], opening: str, closing: str) -> None:
    schema = nested(depth, around, INTEGER)
    assert allowed(schema, opening * depth + "12" + closing * depth)
    assert not allowed(schema, opening * depth + '"12"' + closing * depth)
    assert not allowed(schema, opening * (depth - 1) + "12" + closing * (depth - 1))


@pytest.mark.parametrize("depth", [300, 1000])
@pytest.mark.parametrize(
    ("around", "valid", "invalid"),
    [
        (lambda inner: {"allOf": [inner]}, ["7", "11"], ["null", '"x"']),
        (lambda inner: {"allOf": [inner, {"maximum": 10}]}, ["7"], ["11", "null"]),
        (lambda inner: {"anyOf": [inner, {"type": "string"}]}, ["7", '"x"'], ["null"]),
        (lambda inner: {"anyOf": [{"allOf": [inner, {"maximum": 10}]}, {"type": "null"}]}, ["7", "null"], ["11"]),
        (lambda inner: {"oneOf": [inner, {"type": "string"}]}, ["7"], ["null"]),
        (lambda inner: {"not": inner}, ["7", "11"], ["null", '"x"']),
        (lambda inner: {"not": {"anyOf": [inner, {"type": "null"}]}}, ["7"], ["null", '"x"']),
        (lambda inner: {"if": {"type": "string"}, "then": {"maxLength": 1}, "else": inner}, ["7", '"x"'], ['"xy"']),
    ],
)
def test_schemas_of_one_value(depth: int, around: Callable[[Any], Any], valid: list[str], invalid: list[str]) -> None:
    schema = nested(depth, around, INTEGER)
    for text in valid:
        assert allowed(schema, text), text
    for text in invalid:
        assert not allowed(schema, text), text


@pytest.mark.parametrize("depth", [300, 1000])
def test_references(depth: int) -> None:
    assert allowed(chain(depth, lambda inner: inner, INTEGER), "7")
    assert not allowed(chain(depth, lambda inner: inner, INTEGER), "null")
    large = chain(depth, lambda inner: {"allOf": [inner, {"title": "x"}]}, {"allOf": [INTEGER, {"minimum": 3}]})
    assert allowed(large, "7")
    assert not allowed(large, "2")
    values = chain(depth, record, INTEGER)
    assert allowed(values, '{"a":' * depth + "1" + "}" * depth)
    assert not allowed(values, '{"a":' * depth + "null" + "}" * depth)


def test_overlapping_alternatives_are_looked_at_once() -> None:
    # Each schema stands in two places of the formula of the one around it.
    schema = nested(300, lambda inner: {"oneOf": [inner, {"type": "integer", "minimum": 10}]}, INTEGER)
    assert allowed(schema, "7")
    assert not allowed(schema, "null")


@pytest.mark.parametrize("depth", [300, 1000])
def test_constants(depth: int) -> None:
    lists, records = nested(depth, lambda inner: [inner], 1), nested(depth, lambda inner: {"a": inner}, 1)
    assert allowed({"const": lists}, "[" * depth + "1" + "]" * depth)
    assert not allowed({"const": lists}, "[" * depth + "2" + "]" * depth)
    assert allowed({"const": records}, '{"a":' * depth + "1" + "}" * depth)
    assert not allowed({"const": records}, '{"b":')


def test_unevaluated_properties_of_deep_schemas() -> None:
    inner = {"properties": {"a": INTEGER}}
    schema = nested(300, lambda inner: {"allOf": [inner], "unevaluatedProperties": False}, inner)
    assert allowed(schema, '{"a":1}')
    assert not allowed(schema, '{"b":1}')


def test_errors_of_deep_schemas_name_what_is_wrong() -> None:
    impossible = nested(300, record, {"type": "integer", "minimum": 5, "maximum": 4})
    with pytest.raises(UnsatisfiableSchema, match="required property 'a' allows no value"):
        json_schema(impossible)
    with pytest.raises(UnsupportedSchema) as refused:
        json_schema(nested(300, array, {"type": "integer", "multipleOf": 99991}))
    assert refused.value.pointer == "/items" * 300 + "/multipleOf"
    with pytest.raises(UnsupportedSchema, match="needs memory of all items"):
        json_schema(nested(300, array, {"not": {"uniqueItems": True}}))


def test_deep_items_are_remembered() -> None:
    def constraint(depth: int) -> tuple[JsonSchema, str]:
        only = {"const": nested(depth, lambda inner: [inner], 1)}
        return json_schema({"items": only, "uniqueItems": True, "type": "array"}), "[" * depth + "1" + "]" * depth

    unique, item = constraint(200)
    assert unique.allows(f"[{item}]")
    assert not unique.allows(f"[{item}, {item}]")
    # That no second item can differ takes a look at each position in one: a limit ends what is too deep for that.
    deeper, item = constraint(300)
    assert deeper.allows(f"[{item}]")
    with pytest.raises(LimitExceeded, match="more than 20,000 positions"):
        deeper.allows(f"[{item}, {item}]")


def test_the_regular_expression_of_a_deep_schema() -> None:
    pair = nested(
        300, lambda inner: {"prefixItems": [inner], "items": False, "minItems": 1} | {"type": "array"}, INTEGER
    )
    expression = str(json_schema_to_regex(pair, whitespace="compact"))
    assert re.fullmatch(expression, "[" * 300 + "12" + "]" * 300)
    assert not re.fullmatch(expression, "[" * 300 + "12" + "]" * 299)
