"""What explanations say of JSON Schemas: the value, the schema that speaks of it, and the keywords that forbid.

A keyword is said to forbid something if the schema without it allows it. The oracle deletes keywords from the schema
itself, and the `jsonschema` package says whether values at a path satisfy the schema at a pointer.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_strategies import schemas
from test_generated_schemas import has_twice
from text_walks import Walker
from validity import TooLarge, exact, read, validator

import tokenfst
from automata import LimitExceeded, Limits
from automata.errors import EmptyLanguage, SchemaError, UnsatisfiableSchema
from automata.limits import Work
from constraints import json_schema, typed
from constraints.json_schema.explaining.position import position, written_path
from constraints.json_schema.reading.resources.pointers import steps
from tokenfst import Explanation
from tokenfst.explanation import SchemaPlace
from tokenfst.vocabulary.all_bytes import ALL_BYTES

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "age": {"type": "integer", "maximum": 130},
        "tags": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/tag"}, {"type": "null"}]}, "maxItems": 2},
        "a/b": {"enum": [1, 2]},
    },
    "required": ["age"],
    "additionalProperties": False,
    "$defs": {"tag": {"type": "string", "pattern": "^[a-c]+$"}},
}


def without(schema: Any, pointer: str) -> Any:
    """A schema without what a pointer leads to."""
    changed = copy.deepcopy(schema)
    at = changed
    *outer, last = steps(pointer)
    for name in outer:
        at = at[int(name)] if isinstance(at, list) else at[name]
    del at[last]
    return changed


def allows(schema: Any, text: bytes, refused: bytes, **options: Any) -> bool:
    """Whether a text may go on with a byte, or end."""
    try:
        automaton = tokenfst.compile(json_schema(schema, **options), ALL_BYTES)
    except (SchemaError, EmptyLanguage, LimitExceeded):
        return False
    state = automaton.start
    for byte in text + refused:
        state = automaton.step(state, byte)
        if state is None:
            return False
    return bool(refused) or automaton.is_final(state)


@dataclass(frozen=True)
class Case:
    text: str
    token: str | None
    places: list[tuple[str, str, str]]
    keywords: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    is_syntax: bool = False


AGE, TAGS = ("value", "$.age", "/properties/age"), ("$.tags", "/properties/tags")
CASES = [
    Case('{"age": 13', "5", [AGE, ("after", "$", "")], ("/properties/age/maximum",)),
    Case('{"age": 13', "x", [AGE, ("after", "$", "")], is_syntax=True),
    Case('{"age": ', '"', [AGE], ("/properties/age/type",)),
    Case('{"age":', "\t", [AGE, ("value", "$", "")], settings=("whitespace='default'",)),
    Case('{"name": "annab', "c", [("value", "$.name", "/properties/name")], ("/properties/name/maxLength",)),
    Case('{"name": "ann"', "}", [("after", "$", "")], ("/required",)),
    Case('{"age": 1', None, [AGE, ("after", "$", "")], is_syntax=True),
    Case('{"', "z", [("name", "$", "")], together=("/required", "/additionalProperties")),
    Case('{"age": 1, "', "z", [("name", "$", "")], ("/additionalProperties",)),
    Case('{"age": 1, "', "n", [("name", "$", "")], ("/additionalProperties",), (), ("property_order='schema'",)),
    Case('{"age": 1, "a/b": ', "3", [("value", '$["a/b"]', "/properties/a~1b")], ("/properties/a~1b/enum",)),
    Case('{"age":1,"tags":["ab', "d", [("value", "$.tags[0]", "/$defs/tag")], ("/$defs/tag/pattern",)),
    Case('{"age":1,"tags":[null,"a"', ",", [("after", *TAGS)], ("/properties/tags/maxItems",)),
    Case('{"age"', "x", [("colon", *AGE[1:])], is_syntax=True),
    Case("", "[", [("value", "$", "")], ("/type",)),
    Case('{"name": "a', "\n", [("value", "$.name", "/properties/name")], is_syntax=True),
    Case('{"age":1}', " ", []),
    Case("", " ", [("value", "$", "")]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.text}{case.token}")
def test_a_place_and_what_forbids(case: Case) -> None:
    automaton = tokenfst.compile(json_schema(SCHEMA), ALL_BYTES)
    found = automaton.explain(case.text, 256 if case.token is None else case.token)
    assert not found.allowed
    assert [(place.what, place.path, place.pointer) for place in places(found)] == case.places
    assert (found.keywords, found.together) == (case.keywords, case.together)
    assert (found.settings, found.is_syntax) == (case.settings, case.is_syntax)


def places(found: Explanation) -> list[SchemaPlace]:
    assert all(isinstance(place, SchemaPlace) for place in found.places)
    return [place for place in found.places if isinstance(place, SchemaPlace)]


def test_alternatives_that_the_text_has_left_are_not_followed() -> None:
    schema = {"anyOf": [{"properties": {"k": {"const": "a"}, "v": {"type": "integer"}}, "required": ["k"]},
                        {"properties": {"k": {"const": "b"}, "v": {"type": "boolean"}}, "required": ["k"]}],
              "type": "object"}  # fmt: skip
    automaton = tokenfst.compile(json_schema(schema), ALL_BYTES)
    found = automaton.explain('{"k": "b", "v": ', "1")
    assert [place.pointer for place in places(found)] == ["/anyOf/1/properties/v"]
    assert "/anyOf/1/properties/v/type" in found.keywords
    found = automaton.explain('{"k": ', "1")
    assert {place.pointer for place in places(found)} == {f"/anyOf/{number}/properties/k" for number in (0, 1)}


def test_types() -> None:
    automaton = tokenfst.compile(typed(dict[str, int | None]), ALL_BYTES)
    found = automaton.explain('{"a": ', '"')
    assert {place.path for place in places(found)} == {"$.a"}
    assert found.keywords
    # Integers of a type are written plainly.
    found = automaton.explain('{"a": 1', ".")
    assert not found.allowed
    assert found.keywords == ("/additionalProperties/anyOf/0/type", "/additionalProperties")


def test_recursion_references_and_drafts() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {
        "type": "object", "properties": {"next": {"$ref": "#/definitions/n"}, "v": {"type": "boolean"}},
        "additionalProperties": False}}, "$ref": "#/definitions/n"}  # fmt: skip
    found = tokenfst.explain(json_schema(schema), ALL_BYTES, '{"next": {"next": {"v": ', "1")
    assert [(place.path, place.pointer) for place in places(found)] == [
        ("$.next.next.v", "/definitions/n/properties/v")
    ]
    assert found.keywords == ("/definitions/n/properties/v/type",)
    remote = {"$ref": "https://example.com/t", "maxLength": 3}
    resolver = {"https://example.com/t": {"type": "string", "pattern": "^a*$"}}.__getitem__
    found = tokenfst.explain(json_schema(remote, resolver=resolver), ALL_BYTES, '"a', "b")
    assert found.keywords == ("https://example.com/t#/pattern",)


def test_a_pickled_schema_has_the_documents_of_its_resolver() -> None:
    asked = []

    def resolver(uri: str) -> object:  # a local function has no pickle
        asked.append(uri)
        return {"https://example.com/t": {"type": "string", "pattern": "^a*$"}}[uri]

    made = json_schema({"$ref": "https://example.com/t", "maxLength": 3}, resolver=resolver)
    for constraint in (made, pickle.loads(pickle.dumps(made))):
        assert [constraint.allows(text) for text in ('"aaa"', '"aaaa"', '"b"')] == [True, False, False]
        found = tokenfst.explain(constraint, ALL_BYTES, '"a', "b")
        assert found.keywords == ("https://example.com/t#/pattern",)
    assert asked == ["https://example.com/t"]


@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_schemas_are_pickled_whatever_the_order_of_members(order: Any) -> None:
    made = json_schema({"properties": {"a": {}, "b": {"type": "integer"}}, "required": ["a"]}, property_order=order)
    copy = pickle.loads(pickle.dumps(made))
    texts = '{"a": 1, "b": 2}', '{"b": 2, "a": 1}', '{"b": 2}', '{"a": 1, "a": 2}', '{"c": 1, "a": 1}'
    assert [copy.allows(text) for text in texts] == [made.allows(text) for text in texts]
    assert copy.allows(texts[0])


def test_what_was_left_out_stays_so() -> None:
    schema = {"type": "array", "items": {"type": "array", "uniqueItems": True, "minItems": 5, "items": {"enum": [1]}}}
    try:
        made = json_schema(schema, unsupported="relax")
    except UnsatisfiableSchema:
        made = json_schema({"type": "array", "format": "unknown", "maxItems": 1})
    found = tokenfst.explain(made, ALL_BYTES, "", "{")
    assert found.keywords == ("/type",)


NOTHING: list[tuple[Any, str, str]] = [
    ({"type": "object", "properties": {"a": False}}, '{"a"', "/properties"),
    ({"type": "object", "properties": {"a": {"const": 2, "type": "string"}}}, '{"a"', "/properties"),
    ({"type": "object", "patternProperties": {"^x": False}}, '{"x', "/patternProperties"),
    ({"type": "array", "items": False}, "[1", "/items"),
    ({"prefixItems": [True], "items": {"type": "integer", "minimum": 3, "maximum": 2}}, "[1,", "/items"),
]


@pytest.mark.parametrize(("schema", "text", "pointer"), NOTHING)
def test_members_and_items_without_values(schema: Any, text: str, pointer: str) -> None:
    found = tokenfst.explain(json_schema(schema), ALL_BYTES, text)
    assert found.keywords == (pointer,)
    assert allows(without(schema, pointer), text[:-1].encode(), text[-1:].encode())


@pytest.mark.parametrize("text", ["3 ", "3\n", "-1.5\t", "true ", '"a"\n', "{}\n", "[1] "])
def test_blanks_after_the_text_are_json(text: str) -> None:
    assert not tokenfst.explain(json_schema(True), ALL_BYTES, text).is_syntax
    assert tokenfst.explain(json_schema(True), ALL_BYTES, text.strip() + "x").is_syntax


def test_dynamic_references_lead_to_the_anchor_in_force() -> None:
    """And what is not in force is not looked at: its reference leads nowhere."""
    element = {"$dynamicAnchor": "el", "type": "string", "maxLength": 2}
    inner = {"$id": "list", "type": "array", "items": {"$dynamicRef": "#el"}}
    inner["$defs"] = {"d": {"$dynamicAnchor": "el", "$ref": "nowhere"}}
    schema = {"$id": "http://h/strings", "$ref": "list", "$defs": {"e": element, "l": inner}}
    for text, keyword in [('["abc', "maxLength"), ("[1", "type")]:
        found = tokenfst.explain(json_schema(schema), ALL_BYTES, text)
        assert places(found)[0].pointer == "/$defs/e"
        assert found.keywords == (f"/$defs/e/{keyword}",)


def test_recursive_references_lead_to_the_outermost_resource() -> None:
    tree = {"$id": "t", "$recursiveAnchor": True, "type": "object", "additionalProperties": {"$recursiveRef": "#"}}
    schema = {"$id": "http://h/e", "$recursiveAnchor": True, "$ref": "t", "maxProperties": 1, "$defs": {"t": tree}}
    found = tokenfst.explain(json_schema(schema, draft="draft2019-09"), ALL_BYTES, '{"a": {"b": {}, ')
    assert places(found)[0].pointer == ""
    assert "/maxProperties" in found.keywords


def test_alternatives_may_list_properties_in_another_order() -> None:
    either = [{"properties": {"v": {"type": "integer"}}}, {"required": ["k"], "properties": {"v": {"type": "null"}}}]
    schema = {"type": "object", "properties": {"k": True, "v": True}, "anyOf": either}
    found = tokenfst.explain(json_schema(schema), ALL_BYTES, '{"k": "i", "v": "')
    assert found.keywords == ("/anyOf/0/properties/v/type", "/anyOf/1/properties/v/type")


# Random schemas


@given(schemas(), st.integers(0, 2**32), st.sampled_from([b'"', b"}", b"]", b",", b"1", b"n", b"t", b"{", b"[", b""]))
@settings(max_examples=30, deadline=None)
def test_random_schemas(schema: Any, seed: int, refused: bytes) -> None:
    try:
        made = json_schema(schema)
        walker = Walker(made.to_automaton(Work(Limits(states=2_000))))
    except (SchemaError, LimitExceeded):
        return
    generator = Random(seed)
    whole = walker.random(generator, 20)
    if whole is None:
        return
    text = whole[: generator.randrange(len(whole) + 1)]
    automaton = tokenfst.compile(made, ALL_BYTES)
    found = automaton.explain(text, refused[0] if refused else 256)
    assert found.allowed == allows(schema, text, refused)
    covered = frozenset[int]().union(*(place.expected for place in places(found)))
    after = text if not found.allowed else text + refused
    if refused or not found.allowed:
        assert covered == found.expected
    if not found.allowed:
        check_forbidden(schema, text, refused, found)
    if found.completion is not None and (refused or not found.allowed):
        check_places(schema, after, found)


def check_forbidden(schema: Any, text: bytes, refused: bytes, found: Explanation) -> None:
    """Keywords that forbid do; without those that only together do, it is allowed, and with any of them it is not."""
    for pointer in found.keywords:
        assert allows(without(schema, pointer), text, refused), pointer
    changed = schema
    for pointer in found.together:
        assert not allows(without(schema, pointer), text, refused), pointer
        changed = without(changed, pointer)
    assert not found.together or allows(changed, text, refused)
    if found.settings == ("property_order='schema'",):
        assert allows(schema, text, refused, property_order="any")


def check_places(schema: Any, text: bytes, found: Explanation) -> None:
    """The completed text is valid; paths lead to the place in it; and the value at a path, or one around it, satisfies
    the schema at the pointer."""
    assert found.completion is not None
    if has_twice((text + found.completion).decode()):  # JSON leaves open what that means
        return
    try:
        value = read((text + found.completion).decode())
    except TooLarge:
        return
    assert validator(schema, "draft2020-12").is_valid(value)
    where = position(text)
    around, there = {"$": [value]}, value
    for length, step in enumerate(where.path, 1):
        if step not in there if isinstance(step, str) else step >= len(there):  # an item that does not exist
            break
        there = there[step]
        around[written_path(where.path[:length])] = [*around[written_path(where.path[: length - 1])], there]
    defined = {"$defs": schema["$defs"]} if isinstance(schema, dict) and "$defs" in schema else {}
    for place in places(found):
        inner = schema
        for name in steps(place.pointer):
            inner = inner[int(name)] if isinstance(inner, list) else inner[name]
        is_one_of_several = {"anyOf", "oneOf", "then", "else", "if", "not"} & set(steps(place.pointer))
        if not is_one_of_several and isinstance(inner, dict) and place.path in around:
            oracle = validator({**defined, **inner}, "draft2020-12")
            assert any(oracle.is_valid(each) for each in around[place.path])
        assert place.path in {written_path(where.path[:length]) for length in range(len(where.path) + 1)}


# Where a text stops


@given(st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
                    lambda inner: st.one_of(st.lists(inner, max_size=3),
                                            st.dictionaries(st.text('ab"\\é', max_size=2), inner, max_size=3)),
                    max_leaves=6), st.data())  # fmt: skip
def test_every_beginning_of_a_text_has_a_place(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans())).encode()
    seen = Counter[str]()
    for length in range(len(text) + 1):
        found = position(text[:length])
        seen[found.what] += 1
        there = value
        for step in found.path:
            if there == []:  # an item that does not exist
                break
            there = there[step]
        for begin in found.begins:
            assert text[begin : begin + 1] in b'[{"-0123456789tfn'
        if len(found.begins) > len(found.path) and found.what == "value":
            # What begins there is the value at the path.
            decoder = json.JSONDecoder()
            assert decoder.raw_decode(text[found.begins[-1] :].decode())[0] == there
        if found.what in ("name", "after") and length < len(text):
            assert isinstance(there, dict | list)
    assert seen["after"] or isinstance(value, int)
    assert read(text.decode()) == exact(value)
