"""What is too large is refused by the name of the keyword, and any order of properties is taken."""

from __future__ import annotations

import importlib
import itertools
import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from automata import LimitExceeded, Limits, SchemaError, UnsatisfiableSchema, UnsupportedSchema
from constraints import json_schema


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"properties": {"a": {"type": "number", "multipleOf": 0.123456789}}}, "/properties/a/multipleOf"),
        ({"items": {"not": {"multipleOf": 0.987654321}}}, "/items/not/multipleOf"),
        ({"type": "array", "minItems": 250_000, "maxItems": 300_000}, "/maxItems"),
        ({"allOf": [{"minProperties": 100_000}, {"minProperties": 2_000}]}, "/allOf/0/minProperties"),
        ({"contains": {"type": "null"}, "minContains": 70_000}, "/contains"),
    ],
)
@pytest.mark.parametrize("order", ["schema", "any-if-cheap"])
def test_the_keyword_that_is_too_large_is_named(schema: dict[str, Any], pointer: str, order: Any) -> None:
    with pytest.raises(UnsupportedSchema) as refused:
        json_schema(schema, property_order=order)
    assert refused.value.pointer == pointer
    assert refused.value.keyword == pointer.rpartition("/")[2]


@pytest.mark.parametrize("large", [2**31 - 1, 2**31, 2**53 - 1])
def test_bounds_of_any_size_hold_where_no_item_follows(large: int) -> None:
    one = json_schema({"type": "array", "prefixItems": [{"type": "null"}], "items": False, "maxItems": large})
    assert [one.allows(text) for text in ("[]", "[null]", "[null, null]")] == [True, True, False]
    with pytest.raises(UnsatisfiableSchema):
        json_schema({"type": "array", "prefixItems": [{}], "items": False, "minItems": large})


@pytest.mark.parametrize("items", [{"minLength": 65_536}, {"pattern": "^.{20000}$"}])
def test_items_of_very_many_values_are_not_counted_exactly(items: dict[str, Any]) -> None:
    limits = Limits(seconds=10, memory=1 << 28)
    made = json_schema({"type": "array", "items": {"type": "string", **items}, "uniqueItems": True}, limits=limits)
    assert made.allows("[]")


def one_of_tagged(tags: Iterable[Any]) -> dict[str, Any]:
    """Objects with a tag: one variant for each list of its values, and a number of its own for each."""
    variants = [
        {"properties": {"kind": {"enum": tag}, "x": {"const": number}}, "required": ["x", "kind"]}
        for number, tag in enumerate(tags)
    ]
    return {"type": "object", "oneOf": variants}


INTEGER = {"type": "integer"}


def test_many_variants_with_a_tag_are_not_compared_in_pairs() -> None:
    took = []
    for count in (200, 1000):
        kinds = [
            {"properties": {"kind": {"const": f"k{number}"}, "x": INTEGER, "y": INTEGER}} for number in range(count)
        ]
        variants = [{**kind, "required": ["x", "kind", "y"]} for kind in kinds]
        begun = time.process_time()
        made = json_schema({"type": "object", "oneOf": variants})
        took.append(time.process_time() - begun)
        assert made.allows('{"kind": "k7", "x": 7, "y": 8}')
        assert not made.allows(f'{{"kind": "k{count}", "x": 7, "y": 8}}')
    assert took[1] < 15 * took[0] + 0.5


@pytest.mark.parametrize(
    "tags",
    [
        [["p", "q"], ["q", "r"], ["s"]],
        [["p", 1], ["q", 2], [True, "r"]],
        [["p", 1], ["q", 1.0], [None]],
        [["p"], ["q"], [None, True], [True, False]],
        [["p"], [["p"]], [{"p": 1}], [["p"]]],
    ],
    ids=json.dumps,
)
def test_tags_that_two_variants_share_hold_for_neither(tags: list[list[Any]]) -> None:
    for schema in (one_of_tagged(tags), {"oneOf": [{"enum": tag} for tag in tags]}):
        made, validator = json_schema(schema), Draft202012Validator(schema)
        for tag, number in itertools.product(itertools.chain(*tags), range(len(tags))):
            for value in (tag, {"kind": tag, "x": number}):
                assert made.allows(json.dumps(value)) == validator.is_valid(value), value


def test_a_one_of_with_too_many_overlaps_has_a_place() -> None:
    ranges = [{"minimum": number, "maximum": number + 400} for number in range(400)]
    with pytest.raises(UnsupportedSchema, match="too many of its 400 schemas may hold for the same value") as refused:
        json_schema({"properties": {"x": {"type": "integer", "oneOf": ranges}}})
    assert (refused.value.pointer, refused.value.keyword) == ("/properties/x/oneOf", "oneOf")


@pytest.mark.parametrize("keyword", ["anyOf", "if"])
@pytest.mark.parametrize("order", ["schema", "any-if-cheap"])
def test_evaluated_members_of_nested_schemas_are_found_once(keyword: str, order: Any) -> None:
    schema: dict[str, Any] = {"properties": {"a": {}}}
    for _ in range(20):
        others = {"anyOf": [schema, {"properties": {"b": {}}}]} if keyword == "anyOf" else {"if": schema}
        schema = {"unevaluatedProperties": False, **others}
    made = json_schema(schema, property_order=order, limits=Limits(seconds=20))
    assert [made.allows(text) for text in ('{"a": 1}', '{"c": 1}', "{}")] == [True, False, True]


def test_variants_that_are_too_many_together_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("constraints.json_schema.containers.shannon"), "MAX_BRANCHES", 1_000)
    variants = [{"properties": {f"p{n}": {"type": "null"}, "kind": {"const": n}}} for n in range(140)]
    schema = {"properties": {"x": {"type": "object", "anyOf": variants, "required": ["kind"]}}}
    with pytest.raises(UnsupportedSchema, match="more than 1,000 cases") as refused:
        json_schema(schema)
    assert (refused.value.pointer, refused.value.keyword) == ("/properties/x/anyOf", "anyOf")


def tagged(tags: Iterable[Any]) -> dict[str, Any]:
    """An array of objects of 40 kinds and more, each told apart by its tag."""
    kinds = [
        {"properties": {"tag": tag, "value": {"const": number}}, "required": ["tag", "value"]}
        for number, tag in enumerate(tags)
    ]
    return {"items": {"type": "object", "oneOf": kinds}}


@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_variants_that_patterns_tell_apart_are_no_more_cases_than_there_are_variants(order: Any) -> None:
    schema = tagged({"type": "string", "pattern": f"^(list:)?of{number}(:[a-z]+)?$"} for number in range(40))
    made = json_schema(schema, property_order=order)
    assert made.allows('[{"tag": "list:of7:x", "value": 7}, {"tag": "of39", "value": 39}]')
    assert not made.allows('[{"tag": "of7", "value": 8}]')


def test_members_with_tagged_values_are_no_more_cases_than_there_are_tags() -> None:
    """One member's value is of another kind in each variant, and the kinds have tags."""
    kinds = [{"properties": {"kind": {"const": n}, "at": {"const": n}}, "required": ["kind"]} for n in range(40)]
    schema = {
        "anyOf": [{"properties": {"of": {"type": "object", **kind}, f"n{n}": {}}} for n, kind in enumerate(kinds)]
    }
    made = json_schema({"type": "object", "required": ["of"], **schema})
    assert made.allows('{"of": {"kind": 7, "at": 7}}')
    assert not made.allows('{"of": {"kind": 7, "at": 8}}')


def test_variants_that_overlap_in_all_ways_are_refused_for_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("constraints.json_schema.containers.shannon"), "MAX_WORK", 20_000)
    parts = [{"properties": {"x": {"multipleOf": n}, f"y{n}": {"const": n}}} for n in range(2, 30)]
    with pytest.raises(UnsupportedSchema, match="too much work") as refused:
        json_schema({"properties": {"x": {"type": "object", "oneOf": parts}}})
    assert (refused.value.pointer, refused.value.keyword) == ("/properties/x/oneOf", "oneOf")


def test_variants_of_an_object_are_named_for_a_member_that_many_of_them_describe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.import_module("constraints.json_schema.containers.shannon"), "MAX_WORK", 5_000)
    options = {f"o{n}": {"properties": {f"x{20 * n + at}": {"minimum": n} for at in range(60)}} for n in range(4)}
    kinds = [{"properties": {"with": {"$ref": f"#/$defs/o{n}"}, "kind": {"const": n}}} for n in range(4)]
    with pytest.raises(UnsupportedSchema, match="too much work") as refused:
        json_schema({"$defs": options, "items": {"type": "object", "anyOf": kinds}})
    assert (refused.value.pointer, refused.value.keyword) == ("/items/anyOf", "anyOf")


NAMES = [f"p{number}" for number in range(25)]
FAR_APART = {
    "properties": dict.fromkeys(NAMES, True),
    "dependentRequired": {name: [NAMES[(place + 7) % 25]] for place, name in enumerate(NAMES)},
}


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (FAR_APART, "/properties"),
        ({"type": "array", "items": FAR_APART}, "/items/properties"),
        ({"allOf": [{"contains": {"minimum": n, "maximum": n + 3}, "minContains": 2} for n in range(8)]}, "/allOf"),
        ({"patternProperties": {f"{a}.{{3}}[{a}z]": {"minimum": 1} for a in "abcdefgh"}}, "/patternProperties"),
    ],
)
def test_without_variants_the_part_of_the_schema_is_named(schema: dict[str, Any], pointer: str) -> None:
    with pytest.raises(UnsupportedSchema, match="takes") as refused:
        json_schema({"properties": {"in": schema}})
    assert (refused.value.pointer, refused.value.keyword) == (f"/properties/in{pointer}", None)


def test_the_count_that_cannot_be_written_out_is_named() -> None:
    schema = json_schema({"items": {"type": "string", "minLength": 10_000_000, "maxLength": 20_000_000}})
    with pytest.raises(LimitExceeded, match="at /items/maxLength, keyword 'maxLength'"):
        schema.to_automaton()


def test_states_of_members_in_any_order_have_a_limit_where_all_are_made() -> None:
    names = [f"name{number}" for number in range(20)]
    constraint = json_schema({"required": names, "properties": dict.fromkeys(names, True)}, property_order="any")
    assert constraint.allows(json.dumps(dict.fromkeys(names[::-1], 1)))
    with pytest.raises(LimitExceeded, match=r"the rules with all sets of flags has more than 300,000 states"):
        constraint.to_automaton()


def accepted(schema: Any, order: Any, names: tuple[str, ...]) -> bool:
    return json_schema(schema, property_order=order).allows(json.dumps(dict.fromkeys(names, 1)))


def test_any_order_is_taken() -> None:
    small = {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["c"], "additionalProperties": False}
    for names in itertools.permutations("abc"):
        assert accepted(small, "any-if-cheap", names)
        assert accepted(small, "schema", names) == (names == ("a", "b", "c"))
    assert not accepted(small, "any-if-cheap", ("b", "a"))


def doubled(times: int, wrap: Callable[[Any, Any], Any], value: Any) -> Any:
    """One value in very many places."""
    for _ in range(times):
        value = wrap(value, value)
    return value


def test_values_with_themselves_in_them_take_no_more_than_the_limits() -> None:
    array: list[Any] = []
    array.append(array)
    table: dict[str, Any] = {}
    table["a"] = table
    shared = doubled(40, lambda one, other: [one, other], 1)
    for value in (array, table, shared):
        for schema in ({"const": value}, {"enum": [1, value]}):
            with pytest.raises(LimitExceeded, match="memory"):
                json_schema(schema, limits=Limits(memory=1 << 26))
            with pytest.raises(LimitExceeded, match="seconds"):
                json_schema(schema, limits=Limits(seconds=0.1))


def test_names_are_looked_for_once_in_schemas_that_lead_to_themselves() -> None:
    circle: dict[str, Any] = {}
    circle["not"] = circle
    identified: dict[str, Any] = {"$id": "http://example.org/a"}
    identified["items"] = identified
    shared = doubled(40, lambda one, other: {"allOf": [one, other]}, {})
    for schema in (circle, identified, shared):
        definitions = {"a": schema, "b": {"$anchor": "here", "type": "null"}}
        assert json_schema({"$ref": "#here", "$defs": definitions}).allows("null")
        with pytest.raises(SchemaError, match="leads to nothing"):
            json_schema({"$ref": "#nowhere", "$defs": definitions})


def test_resources_without_end_take_no_more_than_the_limits() -> None:
    deeper: dict[str, Any] = {"$id": "a/"}
    deeper["not"] = deeper
    schema = {"$id": "http://example.org/", "$ref": "#nowhere", "$defs": {"a": deeper}}
    for limits in (Limits(memory=1 << 20), Limits(seconds=0.1)):
        with pytest.raises(LimitExceeded):
            json_schema(schema, limits=limits)


@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_where_time_runs_out_is_named(order: Any) -> None:
    slow = {"type": "string", "pattern": r"^(?!.*://)(?=.{1,255}$)((.{1,63}\.){1,127}(?![0-9]*$)[a-z0-9-]+\.?)$"}
    schema = {"properties": {"short": {"pattern": "^a$"}, "name": slow}}
    with pytest.raises(LimitExceeded, match="at /properties/name/pattern, keyword 'pattern'") as passed:
        json_schema(schema, property_order=order, limits=Limits(seconds=0.3))
    assert passed.value.limit == "seconds"


def test_plain_arrays_may_be_longer_than_those_with_variants() -> None:
    """Ten thousand tokens, and as many by name, as lists of them ask for."""
    item = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    schema = {
        "properties": {
            "tokens": {"type": "array", "items": item, "minItems": 1, "maxItems": 10_000},
            "by_name": {"type": "object", "additionalProperties": item, "minProperties": 1, "maxProperties": 10_000},
        }
    }
    made = json_schema(schema, property_order="any-if-cheap").to_automaton()
    items = [{"id": number} for number in range(10_001)]
    assert made.accepts(json.dumps({"tokens": items[1:]}).encode())
    assert not made.accepts(json.dumps({"tokens": items}).encode())
    named = {str(number): {"id": number} for number in range(10_001)}
    assert not made.accepts(json.dumps({"by_name": named}).encode())


def test_long_arrays_are_counted_item_by_item() -> None:
    assert json_schema({"type": "array", "items": {"type": "integer"}, "maxItems": 65_535}).allows("[1, 2]")
    for least in (0, 2):
        unique = {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 2_000}
        assert json_schema({**unique, "minItems": least}).unique_arrays() is not None
    few = {"type": "integer", "minimum": 0, "maximum": 99}
    with pytest.raises(UnsupportedSchema, match="more items than there may be different values"):
        json_schema({"type": "array", "items": few, "uniqueItems": True, "minItems": 101, "maxItems": 2_000})


def test_too_many_orders_have_a_place() -> None:
    names = [f"q{number}" for number in range(15)]
    needs = {name: [names[(4 * number + 1) % 15]] for number, name in enumerate(names)}
    inner = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "dependentRequired": needs}
    with pytest.raises(LimitExceeded, match=r"too many orders .* \(at /properties/x/items\)"):
        json_schema({"properties": {"x": {"items": inner}}}, property_order="any")
