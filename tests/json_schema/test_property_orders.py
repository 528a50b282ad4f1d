"""Members in any order: all orders of valid values, or where that is not cheap at least that of the schema."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from objects_with_variants import Variants, attempts_of, texts

import tokenfst
from automata.errors import UnsatisfiableSchema
from constraints import json_schema
from constraints.json_schema.containers import allowance, flagged
from tokenfst.vocabulary.all_bytes import ALL_BYTES

SIDE_BY_SIDE = importlib.import_module("constraints.json_schema.building.side_by_side")
BUILDER = importlib.import_module("constraints.json_schema.building.builder")
OBJECTS = importlib.import_module("constraints.json_schema.containers.objects")


def compared(seed: int, order: Any, is_complete: bool) -> tuple[int, int]:
    """Compare random schemas with what is valid; return how many texts are read in an order that is not the schema's,
    and how many of valid values are not read."""
    schemas, num_schemas, more, fewer = Variants(seed), 0, 0, 0
    while num_schemas < 40:
        schema = schemas.schema()
        is_inside = schemas.random.random() < 0.3
        if is_inside:
            schema = {"type": "array", "items": schema, "contains": schemas.schema()}
        try:
            listed = json_schema(schema).to_automaton()
        except UnsatisfiableSchema:
            continue
        found = json_schema(schema, property_order=order).to_automaton()
        valid = Draft202012Validator(schema).is_valid
        for _ in range(12):
            value = schemas.object()
            for alone in texts(value, schemas.random):
                text = b"[" + alone + b"]" if is_inside else alone
                is_listed, is_read = listed.accepts(text), found.accepts(text)
                is_valid = valid([value] if is_inside else value)
                assert is_read == is_valid if is_complete else is_valid or not is_read, (schema, text)
                assert is_read or not is_listed, (schema, text)
                more += is_read and not is_listed
                fewer += is_valid and not is_read
        num_schemas += 1
    return more, fewer


@pytest.mark.parametrize("order", ["any", "any-if-cheap"])
@pytest.mark.parametrize("flags", [True, False])
def test_all_orders_of_valid_values_are_taken(order: Any, flags: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SIDE_BY_SIDE, "MAX_VARIANT_RULES", 0)
    if not flags:
        monkeypatch.setattr(flagged, "MAX_NAMES", -1)
        monkeypatch.setattr(OBJECTS, "flagged_plain", lambda *_: None)
        monkeypatch.setattr(OBJECTS, "FEW_REMEMBERED", 1_000)
    assert compared(1 + flags, order, True)[0] > 0


@pytest.mark.parametrize("most", [0, 60])
def test_where_not_all_are_cheap_that_of_the_schema_is_taken(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flagged, "MAX_NAMES", -1)
    monkeypatch.setattr(OBJECTS, "flagged_plain", lambda *_: None)
    monkeypatch.setattr(OBJECTS, "FEW_REMEMBERED", 1_000)
    monkeypatch.setattr(SIDE_BY_SIDE, "MAX_VARIANT_RULES", 0)
    monkeypatch.setattr(allowance, "MAX_WAYS", most)
    more, fewer = compared(most, "any-if-cheap", False)
    assert (more > 0) == (most > 0)
    assert fewer > 0


def test_objects_whose_members_have_no_values_are_left_out() -> None:
    """Variants that only the automata of their strings tell to be empty, and what needs them, directly or not."""
    none = {"type": "string", "pattern": "^a", "maxLength": 0}
    empty = {"properties": {"x": none}, "required": ["x"], "type": "object"}
    variants = [
        {"properties": {"kind": {"const": "of none"}, "of": empty}, "required": ["kind", "of"]},
        {"properties": {"kind": {"const": "many"}, "of": {"type": "array", "items": empty}}, "required": ["of"]},
        {"properties": {"kind": {"const": "itself"}, "of": {"$ref": "#"}}, "required": ["kind", "of"]},
    ]
    constraint = json_schema({"type": "object", "oneOf": variants}, property_order="any")
    expected = {
        '{"of": [], "kind": "many"}': True,
        '{"of": {"of": []}, "kind": "itself"}': True,
        '{"of": {"of": [{}]}, "kind": "itself"}': False,
        '{"kind": "of none", "of": {}}': False,
    }
    assert {text: constraint.allows(text) for text in expected} == expected
    automaton = tokenfst.compile(constraint, ALL_BYTES)
    state = automaton.start
    for byte in b'{"kind": "':
        state = automaton.advance(state, byte)
    assert sorted(bytes([byte]) for byte in np.flatnonzero(automaton.mask(state)).tolist()) == [b"i", b"m"]
    with pytest.raises(UnsatisfiableSchema):
        json_schema({"type": "object", "oneOf": variants[::2]}, property_order="any")


def test_whichever_of_two_members_with_a_name_is_kept_it_is_valid() -> None:
    schemas, num_schemas, accepted = Variants(5), 0, 0
    while num_schemas < 100:
        schema = schemas.schema()
        if "minProperties" in str(schema):
            continue  # members are counted as they are written
        try:
            near = json_schema(schema, property_order="any-if-cheap").to_automaton()
        except UnsatisfiableSchema:
            continue
        valid = Draft202012Validator(schema).is_valid
        for _ in range(20):
            members = list(schemas.object().items()) + list(schemas.object().items())[:1]
            schemas.random.shuffle(members)
            text = "{" + ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in members) + "}"
            if near.accepts(text.encode()):
                assert valid(dict(members)), (schema, text)
                assert valid(dict(reversed(members))), (schema, text)
                accepted += len(dict(members)) < len(members)
        num_schemas += 1
    assert accepted


def test_of_members_that_are_counted_each_listed_one_comes_once() -> None:
    schema = {"type": "object", "properties": dict.fromkeys("abc", True), "minProperties": 2}
    found = json_schema(schema, property_order="any-if-cheap").to_automaton()
    assert found.accepts(b'{"c": 1, "a": 2}')
    assert not found.accepts(b'{"a": 1, "a": 2}')


def accepts_in_any_order(schema: Any, value: dict[str, Any]) -> bool:
    found = json_schema(schema, property_order="any-if-cheap").to_automaton()
    return all(found.accepts(json.dumps(dict(order)).encode()) for order in permutations(value.items()))


def dependent(tags: Sequence[str], then: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return a schema whose `allOf` stands before its `properties`, as if sorted: a tag says what others have to be."""
    branches = [
        {
            "if": {"properties": {"tag": {"const": tag}}},
            "then": {"properties": {name: {"const": tag} for name in then.get(tag, [f"of {tag}"])}},
        }
        for tag in tags
    ]
    return {"type": "object", "allOf": branches, "properties": {"tag": {"enum": list(tags)}}, "required": ["tag"]}


def test_what_an_if_tests_comes_before_what_depends_on_it() -> None:
    constraint = json_schema(dependent(["a", "b", "c"], {}))
    assert constraint.allows('{"tag": "b", "of b": "b"}')
    assert constraint.allows('{"tag": "b", "of a": 1, "of b": "b", "of c": 2, "more": 3}')
    for text in ('{"of b": "b", "tag": "b"}', '{"tag": "b", "of b": "a"}', '{"tag": "b", "of c": 2, "of a": 1}'):
        assert not constraint.allows(text)


def test_what_an_if_tests_comes_before_its_else_too() -> None:
    branches = {"if": {"properties": {"tag": {"const": "a"}}}, "then": {"properties": {"x": {"const": 1}}}}
    schema = {**branches, "else": {"properties": {"z": {"const": 2}}}, "properties": {"tag": {"enum": ["a", "b"]}}}
    for text in ('{"tag": "a", "x": 1, "z": 7}', '{"tag": "b", "x": 7, "z": 2}'):
        found = [
            order
            for order in permutations(json.loads(text).items())
            if json_schema(schema).allows(json.dumps(dict(order)))
        ]
        assert [order[0][0] for order in found] == ["tag"]


def test_parts_of_a_conjunction_that_share_names_have_one_order() -> None:
    constraint = json_schema(dependent(["a", "b", "c"], {"a": ["y"], "b": ["x", "y"], "c": ["y", "z"]}))
    for tag, values in {"a": (0, "a", 0), "b": ("b", "b", 0), "c": (0, "c", "c")}.items():
        assert constraint.allows(json.dumps({"tag": tag, **dict(zip("xyz", values, strict=True))}))
        assert not constraint.allows(json.dumps({"tag": tag, **dict(zip("yxz", values, strict=True))}))
        assert not constraint.allows(json.dumps({"tag": tag, **dict(zip("xzy", values, strict=True))}))


def test_a_tag_with_many_values_takes_states_in_proportion_to_them() -> None:
    tags = [f"t{number}" for number in range(40)]
    schema = dependent(tags, {tag: [f"of {tag}", "of all"] for tag in tags})
    rules = json_schema(schema).to_visibly_pushdown().rules
    assert max(len(rule.arcs) for rule in rules) < 20_000
    assert json_schema(schema).allows('{"tag": "t7", "of t6": 1, "of t7": "t7", "of t8": 1, "of all": "t7"}')


def test_objects_without_variants_keep_any_order_where_variants_take_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BUILDER, "CHEAP_WORK", 10)
    plain = {"properties": {name: {"type": "integer"} for name in "xyz"}}
    items = [{"items": {"properties": {"a": {"const": value}, "b": {}, "c": {}}}} for value in (1, 2)]
    variants = {"properties": {"told apart": {"type": "array", "oneOf": items}}}
    attempts = attempts_of(monkeypatch)
    constraint = json_schema({"properties": {"plain": plain, "variants": variants}}, property_order="any-if-cheap")
    assert [attempt.took_too_much for attempt in attempts] == [False, True]
    assert constraint.allows('{"variants": {"told apart": [{"a": 1, "b": 2}]}, "plain": {"z": 1, "x": 2, "y": 3}}')
    assert not constraint.allows('{"variants": {"told apart": [{"b": 2, "a": 1}]}}')
    either = constraint | json_schema({"properties": {"q": {}, "p": {}}}, property_order="any-if-cheap")
    assert either.allows('{"p": 1, "q": 2, "plain": 3}')


def test_tagged_variants_take_any_order() -> None:
    """What one of ten variants requires is forgotten once the tag says that it is another."""
    variants = [
        {"properties": {"kind": {"const": f"k{number}"}, f"of{number}": {}}, "required": ["kind", f"of{number}"]}
        for number in range(10)
    ]
    schema = {"type": "object", "oneOf": [{**each, "additionalProperties": False} for each in variants]}
    assert accepts_in_any_order(schema, {"kind": "k3", "of3": 1})
    assert not json_schema(schema, property_order="any-if-cheap").allows('{"of3": 1, "kind": "k4"}')


def test_a_variant_that_says_more_than_another_is_absorbed() -> None:
    """The results of a protocol: one has any members, and so all others are results of that kind."""
    meta = {"properties": {"meta": {"type": "object"}}}
    others = [
        {"properties": {**meta["properties"], f"n{number}": {"type": "string"}}, "required": [f"n{number}"]}
        for number in range(12)
    ]
    schema = {"type": "object", "anyOf": [meta, *others]}
    assert accepts_in_any_order(schema, {"n5": 1, "meta": {}, "n2": "x", "n7": None})
    assert not json_schema(schema, property_order="any-if-cheap").allows('{"n5": 1, "meta": 2}')


CARD = {"properties": {"kind": {"const": "card"}}}
NUMBER = {"properties": {"number": {"type": "string"}}, "required": ["number"]}


@pytest.mark.parametrize(
    ("schema", "allowed", "refused"),
    [
        ({"required": ["kind"], "if": CARD, "then": NUMBER}, "kind number", "number kind"),
        ({"if": CARD, "then": NUMBER, "properties": {"name": {}}}, "kind number name", "name kind number"),
        ({"properties": {"name": {}}, "if": CARD, "then": NUMBER}, "name kind number", "kind name number"),
        ({"if": CARD, "then": NUMBER, "else": False}, "kind number", "number kind"),
        ({"if": CARD, "then": NUMBER, "else": {"properties": {"name": {}}}}, "kind number", "number kind"),
        ({"properties": {"number": {}}, "not": CARD}, "number kind", "kind number"),
        ({"required": ["kind"], **NUMBER}, "number kind", "kind number"),
    ],
)
def test_what_is_listed_under_if_or_not_comes_where_it_is_first_listed(
    schema: dict[str, Any], allowed: str, refused: str
) -> None:
    made = json_schema({"type": "object", **schema})
    for names, expected in ((allowed, True), (refused, False)):
        kind = "other" if "not" in schema else "card"
        assert made.allows(json.dumps({name: kind if name == "kind" else "1" for name in names.split()})) == expected


def conditions(rng: Random, *, with_if: bool) -> dict[str, Any]:
    """Keywords that require and constrain members of an object without listing others than `a` to `d`."""

    def some() -> list[str]:
        return sorted(rng.sample("abcd", rng.randint(1, 2)))

    def condition() -> dict[str, Any]:
        constrained = {"properties": {name: {"const": rng.randint(0, 1)} for name in some()}}
        return rng.choice([{"required": some()}, {"not": {"required": some()}}, constrained])

    found = {
        # Where all but one alternative exclude themselves, the one that is left lists its names for the object.
        "oneOf": [{"required": [name]} for name in rng.sample("abcd", 3)],
        "anyOf": [condition() for _ in range(rng.randint(2, 3))],
        "not": condition(),
        "dependentRequired": {rng.choice("abcd"): some()},
        "dependentSchemas": {rng.choice("abcd"): condition()},
    }
    kept = {keyword: found[keyword] for keyword in rng.sample(sorted(found), rng.randint(1, 3))}
    return {"if": condition(), "then": condition(), **kept} if with_if else kept


@pytest.mark.parametrize("is_first", [True, False])
def test_listed_properties_come_in_their_order_beside_other_keywords(is_first: bool) -> None:
    """An `if` decides the order where it stands before `properties`."""
    rng, num_taken = Random(int(is_first)), 0
    properties = {"properties": {name: {"enum": [0, 1]} for name in "abcd"}}
    values = [
        dict(zip(names, numbers, strict=True))
        for count in range(5)
        for names in combinations("abcd", count)
        for numbers in product([0, 1], repeat=count)
    ]
    for _ in range(150):
        others = conditions(rng, with_if=is_first and rng.random() < 0.5)
        parts = [properties, others] if is_first else [others, properties]
        schema = {"type": "object", "additionalProperties": False} | parts[0] | parts[1]
        valid = Draft202012Validator(schema).is_valid
        try:
            constraint = json_schema(schema)
        except UnsatisfiableSchema:
            assert not any(map(valid, values)), schema
            continue
        for value in values:
            assert constraint.allows(json.dumps(value)) == valid(value), (schema, value)
            num_taken += valid(value)
    assert num_taken > 1000


def test_lists_of_alternatives_stand_among_those_of_properties() -> None:
    """Parameters of OpenAPI: `required` is listed by a branch as well, before names that only branches list."""

    def branch(place: str, *names: str) -> dict[str, Any]:
        then: dict[str, Any] = {"properties": {name: {} for name in names}}
        return {"if": {"properties": {"in": {"const": place}}, "required": ["in"]}, "then": then}

    schema = {
        "properties": {"in": {}, "required": {}, "schema": {}},
        "dependentSchemas": {
            "schema": {
                "properties": {"examples": {}},
                "allOf": [branch("path", "required"), branch("query", "allowReserved"), branch("cookie", "style")],
            }
        },
        "unevaluatedProperties": False,
    }
    for value in (
        {"in": "query", "required": True, "schema": 1, "examples": 2, "allowReserved": True},
        {"in": "path", "required": True, "schema": 1},
        {"in": "cookie", "required": True, "schema": 1, "style": ""},
    ):
        assert Draft202012Validator(schema).is_valid(value)
        assert json_schema(schema).allows(json.dumps(value)), value
