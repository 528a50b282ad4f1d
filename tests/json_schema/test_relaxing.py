"""A relaxed schema allows every value that satisfies the schema."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

from automata.errors import UnsatisfiableSchema, UnsupportedSchema
from constraints import json_schema

# No automaton holds a back-reference; `re`, which jsonschema uses, does.
TWICE = "^(a|b)\\1$"
VALUES: list[Any] = [
    *("", "a", "aa", "ab", "bbbbb", 1, True, None),
    *([], ["aa"], ["ab"], ["aa", "ab"], ["aa", "bb"], [1, "aa"]),
    *({}, {"x": "aa"}, {"x": "ab"}, {"x": 1}, {"x": "aa", "y": "ab"}, {"y": "bb"}),
    *({"aa": 1}, {"aa": "ab"}, {"ab": "aa", "bb": ""}),
]


DEFINITIONS: list[Any] = [
    {"pattern": TWICE},
    {"not": {"pattern": TWICE}},
    {"properties": {"x": {"pattern": TWICE}}},
    {"maxLength": 1},
]


def random_schema(rng: random.Random, depth: int) -> Any:
    if depth == 0:
        leaves: list[Any] = [True, {"pattern": TWICE}, {"type": "string"}, {"maxLength": 1}, {"minLength": 2}]
        return rng.choice([*leaves, {"type": "string", "pattern": TWICE}, {"$ref": "#/$defs/d"}])

    def inner() -> Any:
        return random_schema(rng, depth - 1)

    return rng.choice(
        [
            lambda: {"not": inner()},
            lambda: {"oneOf": [inner(), inner()]},
            lambda: {"anyOf": [inner(), inner()]},
            lambda: {"allOf": [inner(), inner()]},
            lambda: {"if": inner(), "then": inner(), "else": inner()},
            lambda: {"properties": {"x": inner(), "y": inner()}},
            lambda: {"properties": {"x": inner()}, "additionalProperties": inner()},
            lambda: {"patternProperties": {TWICE: inner()}},
            lambda: {"patternProperties": {TWICE: inner(), "^x": inner()}, "additionalProperties": inner()},
            lambda: {"items": inner()},
            lambda: {"contains": inner(), "maxContains": 1},
            lambda: {"properties": {"x": inner()}, "unevaluatedProperties": inner()},
            inner,
        ]
    )()


@pytest.mark.parametrize("seed", range(8))
def test_what_a_schema_allows_it_allows_relaxed(seed: int) -> None:
    rng, relaxed, refused = random.Random(seed), 0, 0
    for _ in range(120):
        schema = random_schema(rng, 3)
        if not isinstance(schema, dict):
            continue
        schema = {**schema, "$defs": {"d": rng.choice(DEFINITIONS)}}
        validator = jsonschema.Draft202012Validator(schema)
        valid = [value for value in VALUES if validator.is_valid(value)]
        try:
            made = json_schema(schema, unsupported="relax")
        except UnsatisfiableSchema:
            assert not valid, schema
            continue
        except UnsupportedSchema:
            refused += 1
            continue
        relaxed += bool(made.dropped)
        for value in valid:
            assert made.allows(json.dumps(value)), (schema, value)
    assert relaxed > 20
    assert refused < relaxed


def test_what_is_left_out_is_listed() -> None:
    def dropped(schema: Any) -> list[str]:
        return [note.pointer for note in json_schema(schema, unsupported="relax").dropped]

    twice = {"type": "string", "pattern": TWICE}
    assert dropped({"not": {"allOf": [twice]}}) == ["/not/allOf/0/pattern", "/not"]
    assert dropped({"oneOf": [twice, {"maxLength": 1}]}) == ["/oneOf/0/pattern", "/oneOf"]
    assert dropped({"contains": twice, "maxContains": 1}) == ["/contains/pattern", "/contains"]
    by_reference = {"not": {"$ref": "#/$defs/d"}, "items": {"$ref": "#/$defs/d"}, "$defs": {"d": twice}}
    assert dropped(by_reference) == ["/$defs/d/pattern", "/not"]
    names = {TWICE: {"type": "integer"}, "^a": twice}
    assert dropped({"patternProperties": names}) == [f"/patternProperties/{TWICE}", "/patternProperties/^a/pattern"]
    assert json_schema({"patternProperties": {TWICE: False, "^x": False}}, unsupported="relax").allows('{"aa": 1}')
    assert not json_schema({"patternProperties": {TWICE: False, "^x": False}}, unsupported="relax").allows('{"x": 1}')
    # Properties and schemas may have the names of keywords.
    assert dropped({"properties": {"not": twice}}) == ["/properties/not/pattern"]
    for name in ("not", "default", "if"):
        place = f"/components/schemas/{name}"
        schema = {"$ref": f"#{place}", "components": {"schemas": {name: twice}}}
        assert dropped(schema) == [f"{place}/pattern"]
        schema = {"$ref": f"#{place}", "components": {"schemas": {name: {"not": twice}}}}
        assert dropped(schema) == [f"{place}/not/pattern", f"{place}/not"]


def test_what_stands_in_other_documents_is_left_out_there() -> None:
    twice = {"type": "string", "pattern": TWICE}
    documents = {"http://x/a": {"not": twice}, "http://x/b": twice}
    for schema, around in (({"$ref": "http://x/a"}, "http://x/a#/not"), ({"not": {"$ref": "http://x/b"}}, "/not")):
        made = json_schema(schema, unsupported="relax", resolver=documents.__getitem__)
        assert [note.pointer for note in made.dropped][1:] == [around]
        assert made.allows('"ab"')


def test_what_unevaluated_properties_depend_on_is_not_left_out() -> None:
    names = [f"p{number}" for number in range(14)]
    branches = [{"properties": {name: {"type": "string"}, "z": {"minLength": at}}} for at, name in enumerate(names)]
    schema = {"type": "object", "anyOf": branches, "unevaluatedProperties": False}
    with pytest.raises(UnsupportedSchema, match="telling apart variants") as error:
        json_schema(schema, unsupported="relax")
    assert error.value.keyword == "anyOf"


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        (
            {"patternProperties": {TWICE: {"type": "integer"}}, "additionalProperties": False},
            f"/patternProperties/{TWICE}",
            "patternProperties",
        ),
        (
            {"if": {"pattern": TWICE}, "then": {"minLength": 3}, "unevaluatedProperties": False},
            "/if",
            "if",
        ),
    ],
)
def test_where_less_would_allow_less_the_error_is_raised(schema: Any, pointer: str, keyword: str) -> None:
    with pytest.raises(UnsupportedSchema) as error:
        json_schema(schema, unsupported="relax")
    assert (error.value.pointer, error.value.keyword) == (pointer, keyword)
