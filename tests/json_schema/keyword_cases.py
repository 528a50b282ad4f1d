"""Keywords of JSON Schema, each with a schema and values that tell whether an engine honours it.

Values are written with their members in the order in which the schema lists them, and nearly all schemas say the type,
so that what is compared is the keyword at hand. One row says nothing of types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class KeywordCase:
    """A schema, and values that are valid and that are not; `name` is the row of the table."""

    name: str
    schema: Any
    valid: Sequence[Any]
    invalid: Sequence[Any] = field(default=())


def _text(name: str, keywords: dict[str, Any], valid: Sequence[str], invalid: Sequence[Any]) -> KeywordCase:
    return KeywordCase(name, {"type": "string", **keywords}, valid, invalid)


def _format(name: str, valid: Sequence[str], invalid: Sequence[str]) -> KeywordCase:
    return _text(f"format: {name}", {"format": name}, valid, invalid)


def _array(name: str, keywords: dict[str, Any], valid: Sequence[Any], invalid: Sequence[Any]) -> KeywordCase:
    return KeywordCase(name, {"type": "array", **keywords}, valid, invalid)


def _object(name: str, keywords: dict[str, Any], valid: Sequence[Any], invalid: Sequence[Any]) -> KeywordCase:
    return KeywordCase(name, {"type": "object", **keywords}, valid, invalid)


_INTEGER: Final = {"type": "integer"}
_STRING: Final = {"type": "string"}
_TREE: Final = {"properties": {"n": _INTEGER, "next": {"$ref": "#"}}, "required": ["n"], "additionalProperties": False}


def _nested(depth: int) -> dict[str, Any]:
    """A value of `_TREE` this deep."""
    return {"n": depth, "next": _nested(depth - 1)} if depth else {"n": 0}


_ANY_KIND: Final = [None, True, 0, "a", [1], {"a": 1}]

GENERAL: Final = [
    KeywordCase("type", _INTEGER, [0, -12, 10**20], [0.5, "1", None, True, [], {}]),
    KeywordCase("type: several", {"type": ["string", "null"]}, ["a", None], [1, False, [], {}]),
    KeywordCase("type: integer, as 1.0", _INTEGER, [1.0, 2], [1.5]),
    KeywordCase("no type", {"minLength": 2, "minimum": 3}, ["ab", 3, None, [], {}], ["a", 2]),
    KeywordCase("true", True, _ANY_KIND),
    KeywordCase(
        "enum", {"enum": ["a", 1, None, [1], {"a": 1}]}, ["a", 1, None, [1], {"a": 1}], ["b", 2, [2], {"a": 2}]
    ),
    KeywordCase("const", {"const": {"a": [1]}}, [{"a": [1]}], [{"a": [2]}, {}, 1]),
]
STRINGS: Final = [
    _text(
        "minLength, maxLength",
        {"minLength": 2, "maxLength": 3},
        ["ab", "é\U0001f600", "abc"],
        ["a", "abcd", "\U0001f600"],
    ),
    _text("pattern", {"pattern": "^[a-z]+[0-9]?$"}, ["a", "abc1"], ["", "A", "a12"]),
    _text("pattern: not anchored", {"pattern": "b+c"}, ["bc", "abbcd"], ["b", "c", ""]),
    _text("pattern: look-ahead", {"pattern": "^(?!ab)[a-c]{2}$"}, ["aa", "bc"], ["ab", "a"]),
    _text("pattern and maxLength", {"pattern": "^a*b*$", "maxLength": 3}, ["ab", "aab"], ["aabb", "ba"]),
    _format(
        "date-time", ["2024-02-29T12:00:00Z", "1990-12-31T23:59:59.5+01:00"], ["2024-02-29", "2023-02-29T12:00:00Z"]
    ),
    _format("date", ["2024-02-29", "2023-12-31"], ["2023-02-29", "2024-13-01", "24-01-01"]),
    _format("time", ["12:00:00Z", "23:59:59.25-08:00"], ["24:00:00Z", "12:00:00", "12:00Z"]),
    _format("duration", ["P1Y2M3DT4H", "PT36H", "P4W"], ["P", "PT", "1D", "P1Y2W"]),
    _format("email", ["a.b@example.org"], ["a", "@example.org", "a..b@example.org"]),
    _format("idn-email", ["실례@실례.테스트", "a@example.org"], ["a", "@b"]),
    _format("hostname", ["example.org", "a-1.b"], ["-a.b", "a_b", "a" * 64]),
    _format("idn-hostname", ["실례.테스트", "example.org"], ["-a.b", "〮실례.테스트"]),
    _format("ipv4", ["192.168.0.1", "255.255.255.255"], ["256.0.0.1", "1.2.3", "01.2.3.4"]),
    _format("ipv6", ["::1", "12:34::5:6", "::ffff:1.2.3.4"], ["12345::", "1::2::3", "1.2.3.4"]),
    _format("uri", ["https://example.org/a?b#c", "urn:a:b"], ["//example.org", "a b", "http://a/\\"]),
    _format("uri-reference", ["/a/b?c", "#d", "https://example.org"], ["\\\\a", "#a\\b"]),
    _format("iri", ["http://ƒøø.ßår/?∂éœ=πîx", "urn:a"], ["/abc", "http://a b"]),
    _format("iri-reference", ["/âππ", "#ƒ"], ["\\\\a", "#a\\b"]),
    _format("uri-template", ["http://a/{b}/{c:3}", "a"], ["http://a/{b", "{"]),
    _format(
        "uuid",
        ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
        ["2eb8aa08-aa98-11ea-b4aa", "2eb8aa08aa9811eab4aa73b441d16380"],
    ),
    _format("json-pointer", ["/a/0", "", "/a~1b"], ["a", "/~", "/~2"]),
    _format("relative-json-pointer", ["1/a", "0#"], ["/a", "01/a", "-1"]),
    _format("regex", ["^a+[b-c]$", "(a|b)"], ["(", "[a", "a{2,1}"]),
    _text("format: unknown", {"format": "color-of-the-sky"}, ["blue", ""], [1]),
]
NUMBERS: Final = [
    KeywordCase(
        "minimum, maximum: integers", {**_INTEGER, "minimum": -3, "maximum": 120}, [-3, 0, 120], [-4, 121, 1000]
    ),
    KeywordCase(
        "minimum, maximum: decimals", {"type": "number", "minimum": 0.5, "maximum": 1}, [0.5, 0.75, 1], [0.4, 1.1, -1]
    ),
    KeywordCase(
        "exclusiveMinimum, exclusiveMaximum",
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.5},
        [0.1, 1.49, 1],
        [0, 1.5, 2, -0.1],
    ),
    KeywordCase("multipleOf: integers", {**_INTEGER, "multipleOf": 7}, [0, 7, -14, 7 * 10**12], [1, 8, 7 * 10**12 + 1]),
    KeywordCase("multipleOf: decimals", {"type": "number", "multipleOf": 0.25}, [0, 0.25, 1.5, -3], [0.1, 1.3]),
    KeywordCase("multipleOf and minimum", {**_INTEGER, "multipleOf": 5, "minimum": 12}, [15, 100], [10, 16]),
]
ARRAYS: Final = [
    _array("items", {"items": _INTEGER}, [[], [1], [1, 2]], [["a"], [1, "a"]]),
    _array("prefixItems", {"prefixItems": [_INTEGER, _STRING]}, [[], [1], [1, "a"], [1, "a", None]], [["a"], [1, 2]]),
    _array("prefixItems, items", {"prefixItems": [_INTEGER], "items": False}, [[], [1]], [["a"], [1, 2]]),
    _array(
        "items, additionalItems (draft 7)",
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [_INTEGER], "additionalItems": _STRING},
        [[], [1], [1, "a"]],
        [["a"], [1, 2]],
    ),
    _array("minItems, maxItems", {"items": _INTEGER, "minItems": 1, "maxItems": 2}, [[1], [1, 5]], [[], [1, 2, 3]]),
    _array("contains", {"items": _INTEGER, "contains": {"const": 1}}, [[1], [2, 1, 3]], [[], [2]]),
    _array(
        "minContains, maxContains",
        {"items": _INTEGER, "contains": {"const": 1}, "minContains": 2, "maxContains": 3},
        [[1, 1], [1, 2, 1, 1]],
        [[1], [1, 2], [1, 1, 1, 1]],
    ),
    _array(
        "uniqueItems: few values", {"items": {"enum": ["a", "b"]}, "uniqueItems": True}, [[], ["b", "a"]], [["a", "a"]]
    ),
    _array("uniqueItems: any items", {"items": _INTEGER, "uniqueItems": True}, [[], [2, 1]], [[1, 1], [1, 2, 1]]),
    _array("unevaluatedItems", {"allOf": [{"prefixItems": [True]}], "unevaluatedItems": False}, [[], [1]], [[1, 2]]),
]
OBJECTS: Final = [
    _object(
        "properties",
        {"properties": {"a": _INTEGER, "b": _STRING}},
        [{}, {"a": 1}, {"a": 1, "b": "x", "c": None}],
        [{"a": "x"}, {"b": 1}],
    ),
    _object(
        "required",
        {"properties": {"a": _INTEGER, "b": _INTEGER}, "required": ["b"]},
        [{"b": 1}, {"a": 1, "b": 2}],
        [{}, {"a": 1}],
    ),
    _object(
        "required: not in properties", {"required": ["z"], "additionalProperties": _INTEGER}, [{"z": 1}], [{}, {"a": 1}]
    ),
    _object(
        "additionalProperties: false",
        {"properties": {"a": _INTEGER}, "additionalProperties": False},
        [{}, {"a": 1}],
        [{"b": 1}],
    ),
    _object(
        "additionalProperties: schema",
        {"properties": {"a": _STRING}, "additionalProperties": _INTEGER},
        [{"a": "x", "b": 1}],
        [{"b": "x"}],
    ),
    _object(
        "patternProperties",
        {"patternProperties": {"^n": _INTEGER}, "additionalProperties": False},
        [{}, {"n1": 1, "n2": 2}],
        [{"n1": "x"}, {"a": 1}],
    ),
    _object(
        "patternProperties: overlapping",
        {"patternProperties": {"^a": {"minimum": 2}, "b$": {"maximum": 5}}, "additionalProperties": _INTEGER},
        [{"ab": 3}, {"a": 9}, {"b": 0}],
        [{"ab": 9}, {"ab": 0}],
    ),
    _object(
        "patternProperties beside properties",
        {"properties": {"ab": _INTEGER}, "patternProperties": {"^a": {"minimum": 2}}},
        [{"ab": 2}],
        [{"ab": 1}, {"ab": 2.5}],
    ),
    _object(
        "propertyNames",
        {"propertyNames": {"pattern": "^[ab]+$"}, "additionalProperties": _INTEGER},
        [{}, {"ab": 1}],
        [{"c": 1}],
    ),
    _object(
        "minProperties", {"minProperties": 2, "additionalProperties": _INTEGER}, [{"a": 1, "b": 2}], [{}, {"a": 1}]
    ),
    _object(
        "maxProperties", {"maxProperties": 1, "additionalProperties": _INTEGER}, [{}, {"a": 1}], [{"a": 1, "b": 2}]
    ),
    _object(
        "dependentRequired",
        {"properties": {"a": _INTEGER, "b": _INTEGER}, "dependentRequired": {"a": ["b"]}},
        [{}, {"b": 1}, {"a": 1, "b": 2}],
        [{"a": 1}],
    ),
    _object(
        "dependentSchemas",
        {
            "properties": {"a": _INTEGER, "b": _INTEGER},
            "dependentSchemas": {"a": {"properties": {"b": {"minimum": 5}}}},
        },
        [{"b": 1}, {"a": 1, "b": 6}],
        [{"a": 1, "b": 2}],
    ),
    _object(
        "dependencies (draft 7)",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": _INTEGER, "b": _INTEGER},
            "dependencies": {"a": ["b"]},
        },
        [{}, {"a": 1, "b": 2}],
        [{"a": 1}],
    ),
    _object(
        "unevaluatedProperties",
        {"allOf": [{"properties": {"a": _INTEGER}}], "properties": {"b": _INTEGER}, "unevaluatedProperties": False},
        [{}, {"b": 1}],
        [{"c": 1}],
    ),
]
COMBINATIONS: Final = [
    KeywordCase("allOf", {"allOf": [{**_INTEGER, "minimum": 3}, {"maximum": 5}]}, [3, 5], [2, 6, "a"]),
    KeywordCase(
        "allOf: objects",
        {
            "allOf": [
                {"type": "object", "properties": {"a": _INTEGER}, "required": ["a"]},
                {"properties": {"b": _STRING}},
            ]
        },
        [{"a": 1}, {"a": 1, "b": "x"}],
        [{}, {"a": 1, "b": 2}],
    ),
    KeywordCase("anyOf", {"anyOf": [_INTEGER, {"type": "string", "maxLength": 1}]}, [1, "a"], [None, "ab"]),
    KeywordCase("oneOf: apart", {"oneOf": [_INTEGER, _STRING]}, [1, "a"], [None]),
    KeywordCase("oneOf: overlapping", {"type": "integer", "oneOf": [{"minimum": 3}, {"maximum": 5}]}, [2, 6], [3, 5]),
    KeywordCase("not", {"type": "integer", "not": {"const": 1}}, [0, 2, 11], [1]),
    KeywordCase(
        "not: objects",
        {"type": "object", "not": {"required": ["a"]}, "additionalProperties": _INTEGER},
        [{}, {"b": 1}],
        [{"a": 1}],
    ),
    KeywordCase(
        "if, then, else",
        {"type": "integer", "if": {"minimum": 10}, "then": {"multipleOf": 10}, "else": {"maximum": 3}},
        [3, 20],
        [4, 11],
    ),
    KeywordCase(
        "if, then: objects",
        {
            "type": "object",
            "properties": {"a": {"enum": [1, 2]}, "b": _INTEGER},
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "then": {"required": ["b"]},
        },
        [{}, {"a": 2}, {"a": 1, "b": 0}],
        [{"a": 1}],
    ),
]
REFERENCES: Final = [
    KeywordCase(
        "$ref, $defs", {"$defs": {"x": _INTEGER}, "type": "array", "items": {"$ref": "#/$defs/x"}}, [[], [1]], [["a"]]
    ),
    KeywordCase(
        "$ref: recursive",
        {"type": "object", **_TREE},
        [{"n": 1}, _nested(9)],
        [{}, {"n": 1, "next": {}}],
    ),
    KeywordCase(
        "$ref beside keywords",
        {"$defs": {"x": {"minimum": 2}}, "type": "integer", "$ref": "#/$defs/x", "maximum": 4},
        [2, 4],
        [1, 5],
    ),
    KeywordCase("$anchor", {"$defs": {"x": {"$anchor": "here", **_INTEGER}}, "$ref": "#here"}, [1], ["a"]),
    KeywordCase(
        "$id", {"$id": "http://a/b.json", "$defs": {"x": {"$id": "c.json", **_INTEGER}}, "$ref": "c.json"}, [1], ["a"]
    ),
    KeywordCase(
        "$dynamicRef",
        {
            "$id": "http://a/strings",
            "$ref": "list",
            "$defs": {
                "of": {"$dynamicAnchor": "item", **_STRING},
                "list": {
                    "$id": "list",
                    "type": "array",
                    "items": {"$dynamicRef": "#item"},
                    "$defs": {"any": {"$dynamicAnchor": "item"}},
                },
            },
        },
        [[], ["a"]],
        [[1]],
    ),
]
GROUPS: Final = {
    "Any value": GENERAL,
    "Strings": STRINGS,
    "Numbers": NUMBERS,
    "Arrays": ARRAYS,
    "Objects": OBJECTS,
    "Combinations": COMBINATIONS,
    "References": REFERENCES,
}
CASES: Final = [case for group in GROUPS.values() for case in group]
