"""Which orders of members are taken where not all are cheap: always that of the schema, and never an invalid value."""

from __future__ import annotations

import importlib
import json
from itertools import permutations
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from automata.errors import UnsatisfiableSchema
from constraints import json_schema
from constraints.json_schema.containers import cheap

OBJECTS = importlib.import_module("constraints.json_schema.containers.objects")
NAMES = ("kind", "a", "b", "c", "d")


class Variants:
    """Random objects with variants: tagged unions, conditions, names that others ask for."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def schema(self) -> dict[str, Any]:
        found = self.part()
        keyword = self.random.choice(["oneOf", "anyOf", "allOf", "if"])
        if keyword == "if":
            found |= {word: self.part() for word in ("if", "then", "else")}
        else:
            found[keyword] = [self.part() for _ in range(self.random.choice([2, 3]))]
        return {"type": "object", **found}

    def part(self) -> dict[str, Any]:
        random = self.random
        names = sorted(random.sample(NAMES, random.choice([1, 2, 3])), key=NAMES.index)
        found: dict[str, Any] = {"properties": {name: self.value() for name in names}}
        if random.random() < 0.7:
            found["required"] = random.sample(NAMES, random.choice([1, 2, 3]))
        if random.random() < 0.2:
            found["dependentRequired"] = {random.choice(NAMES): [random.choice(NAMES)]}
        if random.random() < 0.2:
            found["not"] = {"properties": {random.choice(NAMES): self.value()}}
        if random.random() < 0.1:
            found["minProperties"] = random.choice([1, 2, 3])
        if random.random() < 0.1:
            found["additionalProperties"] = self.value()
        return found

    def value(self) -> Any:
        return self.random.choice([True, {"const": 1}, {"enum": [1, 2]}, {"type": "string"}, {"not": {"const": 2}}])

    def object(self) -> dict[str, Any]:
        names = self.random.sample([*NAMES, "x"], self.random.choice([1, 2, 3, 3, 4, 5]))
        return {name: self.random.choice([1, 1, 2, "s"]) for name in names}


def texts(value: dict[str, Any], random: Random) -> list[bytes]:
    orders = list(permutations(value.items()))
    return [json.dumps(dict(order)).encode() for order in random.sample(orders, min(len(orders), 24))]


@pytest.mark.parametrize("most", [0, 60, 100, 200, 100_000])
def test_orders_are_those_of_valid_values_and_include_that_of_the_schema(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With less and less that counts as cheap, down to nothing."""
    monkeypatch.setattr(cheap, "FEW", 0)
    monkeypatch.setattr(cheap, "WORTH_OF_ANY", 1)
    for name in ("MOVES", "VARIANT_MOVES"):
        monkeypatch.setattr(OBJECTS, name, most)
    schemas, compared, more, fewer = Variants(most), 0, 0, 0
    while compared < 40:
        schema = schemas.schema()
        is_inside = schemas.random.random() < 0.3
        if is_inside:
            schema = {"type": "array", "items": schema, "contains": schemas.schema()}
        try:
            listed = json_schema(schema).to_automaton()
        except UnsatisfiableSchema:
            continue
        near = json_schema(schema, property_order="any-if-cheap").to_automaton()
        valid = Draft202012Validator(schema).is_valid
        for _ in range(12):
            value = schemas.object()
            for alone in texts(value, schemas.random):
                text = b"[" + alone + b"]" if is_inside else alone
                in_order, is_near = listed.accepts(text), near.accepts(text)
                is_valid = valid([value] if is_inside else value)
                assert is_valid or not is_near, (schema, text)
                assert is_near or not in_order, (schema, text)
                more += is_near and not in_order
                fewer += is_valid and not is_near
        compared += 1
    assert (more > 0) == (most > 0)
    assert (fewer > 0) == (most < 100_000)


@pytest.mark.parametrize("most", [60, 150, 100_000])
def test_whichever_of_two_members_with_a_name_is_kept_it_is_valid(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cheap, "FEW", 0)
    monkeypatch.setattr(cheap, "WORTH_OF_ANY", 1)
    for name in ("MOVES", "VARIANT_MOVES"):
        monkeypatch.setattr(OBJECTS, name, most)
    schemas, compared, accepted = Variants(most), 0, 0
    while compared < 60:
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
        compared += 1
    assert accepted


def test_of_members_that_are_counted_each_listed_one_comes_once() -> None:
    schema = {"type": "object", "properties": dict.fromkeys("abc", True), "minProperties": 2}
    found = json_schema(schema, property_order="any-if-cheap").to_automaton()
    assert found.accepts(b'{"c": 1, "a": 2}')
    assert not found.accepts(b'{"a": 1, "a": 2}')


def accepts_in_any_order(schema: Any, value: dict[str, Any]) -> bool:
    found = json_schema(schema, property_order="any-if-cheap").to_automaton()
    return all(found.accepts(json.dumps(dict(order)).encode()) for order in permutations(value.items()))


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


def test_names_that_are_not_remembered_come_anywhere_between_those_that_are() -> None:
    required = [f"r{number}" for number in range(12)]
    schema = {"type": "object", "properties": dict.fromkeys([*required, "x", "y"], True), "required": required}
    found = json_schema({**schema, "additionalProperties": False}, property_order="any-if-cheap")
    for place in range(13):
        names = [*required[:place], "y", *required[place:], "x"]
        assert found.allows(json.dumps(dict.fromkeys(names, 1)))
    assert not found.allows(json.dumps(dict.fromkeys(required[::-1], 1)))
    assert not found.allows(json.dumps(dict.fromkeys(required[1:], 1)))


def test_a_schema_spends_no_more_on_orders_than_it_may() -> None:
    names = [f"n{number}" for number in range(9)]
    wide = {"properties": dict.fromkeys(names, True), "required": names[:6], "type": "object"}
    schema = {"properties": {f"o{number}": {**wide, "title": str(number)} for number in range(50)}}
    schema["properties"] |= {
        f"p{number}": {**wide, "properties": {**wide["properties"], f"m{number}": {}}} for number in range(100)
    }
    every = json_schema(schema, property_order="any-if-cheap").to_visibly_pushdown()
    listed = json_schema(schema).to_visibly_pushdown()
    states = [sum(len(rule.arcs) for rule in found.rules) for found in (every, listed)]
    # All others are read in a second order too, which has a way to go on with each of their names.
    second = 101 * (len(names) + 2)
    assert states[0] - states[1] < 3 * (cheap.ALL_MOVES + second)


@pytest.mark.parametrize("size", range(1, 8))
def test_sets_near_to_an_order_are_counted(size: int) -> None:
    def num_ahead(come: int) -> int:
        waiting = [place for place in range(size) if not come >> place & 1]
        return sum(come >> place & 1 for place in range(min(waiting, default=size), size))

    for most in range(4):
        assert cheap.num_sets(size, most) == sum(num_ahead(come) <= most for come in range(1 << size))
    assert cheap.num_sets(size, None) == 1 << size
