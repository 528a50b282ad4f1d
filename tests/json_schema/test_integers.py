"""`integers="digits"`: integers are written without fraction and exponent, and every other value as before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from constraints import json_schema, tool_calls

TEXTS = ["1", "-3", "0", "1.0", "1e3", "12E+2", "1.5", "2", "2.0", "10", "1e-2", '"1"', "true", "null", "7.50"]
SCHEMAS: list[dict[str, Any]] = [
    {"type": "integer"},
    {"type": ["integer", "string"]},
    {"type": "integer", "multipleOf": 2},
    {"type": "integer", "minimum": 1, "maximum": 1000},
    {"enum": [1, 2, "1"]},
    {"enum": [1, 1.5]},
    {"const": 2},
    {"type": "number"},
    {"type": "number", "minimum": 1},
    {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
    {"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 0.5}]},
    {"not": {"type": "integer"}},
    {"allOf": [{"type": "integer"}, {"not": {"const": 1}}]},
    {"if": {"type": "integer"}, "then": {"minimum": 2}},
    {},
]


@pytest.mark.parametrize("max_digits", [None, 4])
@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_only_spellings_of_integers_are_fewer(schema: dict[str, Any], max_digits: int | None) -> None:
    every = json_schema(schema, max_digits=max_digits)
    digits = json_schema(schema, max_digits=max_digits, integers="digits")
    valid = Draft202012Validator(schema).is_valid
    for text in TEXTS:
        value = json.loads(text)
        assert every.allows(text) <= valid(value)  # some exponents are left out
        is_whole = isinstance(value, float) and value.is_integer()
        assert digits.allows(text) <= every.allows(text), text
        assert digits.allows(text) == every.allows(text) or is_whole, text
        assert not is_whole or digits.allows(str(int(value))) == valid(value), text
    if "integer" in schema.get("type", ()):
        assert not digits.allows("2.0")
        assert isinstance(digits.parse("2"), int)


def test_integers_within_and_between_others() -> None:
    schema = {"properties": {"n": {"type": "integer"}, "x": {"type": "number"}}, "items": {"$ref": "#/properties/n"}}
    made = json_schema(schema, integers="digits")
    texts = ['{"n": 1, "x": 1.0}', '{"n": 1.0}', "[1, 2]", "[1, 2e1]", '{"x": 1e2}', '{"other": 1.0}']
    assert [made.allows(text) for text in texts] == [True, False, True, False, True, True]
    with pytest.raises(ValueError, match="the same `integers`, and not with 'any' and 'digits'"):
        json_schema({}) | made
    wrong: Any = "plain"
    with pytest.raises(ValueError, match="integers is 'any' or 'digits', not 'plain'"):
        json_schema({}, integers=wrong)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("hermes", '<tool_call>\n{{"name": "f", "arguments": {{"n": {}}}}}\n</tool_call>'),
        ("qwen-coder", "<tool_call>\n<function=f>\n<parameter=n>\n{}\n</parameter>\n</function>\n</tool_call>"),
    ],
)
def test_the_arguments_of_calls(format: Any, text: str) -> None:  # noqa: A002
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    calls = tool_calls([("f", {**schema, "additionalProperties": False})], format=format)
    assert [calls.allows(text.format(number)) for number in ("128", "-1", "128.0", "1e2")] == [True, True, False, False]
    (call,) = calls.parse(text.format(128))
    assert isinstance(call.arguments["n"], int)
