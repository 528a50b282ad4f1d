"""Alternatives that depend on the value of one member: each value of it is a variant."""

from __future__ import annotations

import importlib
import json
from itertools import permutations
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from objects_with_variants import split_objects

from automata.errors import UnsatisfiableSchema
from constraints import json_schema
from constraints.json_schema.containers.variants import by_tag, variants
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.reading import read_schema

VARIANTS = importlib.import_module("constraints.json_schema.containers.variants")
TAGS = ("u", "v", "w", "x", "other")


def tagged(random: Random) -> dict[str, Any]:
    """Return a random schema in which a tag decides what other members have to be."""
    values: list[Any] = [{"const": 1}, {"enum": [1, 2]}, {"type": "string"}, {"not": {"const": 2}}, True]

    def part() -> dict[str, Any]:
        names = random.sample("abc", random.randint(1, 2))
        found: dict[str, Any] = {"properties": {name: random.choice(values) for name in names}}
        return found | ({"required": random.sample("abc", 1)} if random.random() < 0.3 else {})

    conditions = []
    for tag in random.sample(TAGS[:4], random.randint(3, 4)):
        tags = [tag, "more"] if tag == "u" and random.random() < 0.3 else [tag]
        asked: dict[str, Any] = {"properties": {"tag": {"enum": tags}}}
        if random.random() < 0.5:
            asked |= {"required": ["tag"], "type": "object"}
        one = {"if": asked, "then": part()}
        conditions.append(one | ({"else": part()} if random.random() < 0.1 else {}))
    schema: dict[str, Any] = {"type": "object", "allOf": conditions}
    if random.random() < 0.5:
        schema["required"] = ["tag"]
    if random.random() < 0.5:
        schema["properties"] = {"tag": {"enum": [*TAGS[:4], "more", 7]}, "c": random.choice(values)}
    if random.random() < 0.2:
        schema["oneOf"] = [part(), part()]
    if random.random() < 0.2:
        schema["additionalProperties"] = random.choice(values)
    return schema


def valued(random: Random) -> dict[str, Any]:
    found = {name: random.choice([1, 1, 2, "s"]) for name in random.sample("abcd", random.randint(0, 3))}
    return found | ({"tag": random.choice([*TAGS, "more", 1, 7])} if random.random() < 0.8 else {})


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_texts_are_those_of_valid_values_in_any_order(seed: int, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    divided: list[list[Formula]] = []

    def noted(formula: Formula) -> list[Formula]:
        divided.append(by_tag(formula))
        return divided[-1]

    monkeypatch.setattr(VARIANTS, "_MANY", 1)
    monkeypatch.setattr(VARIANTS, "by_tag", noted)
    if not whole:
        split_objects(monkeypatch)
    random, num_valid = Random(seed), 0
    for _ in range(12):
        schema = tagged(random)
        try:
            constraint = json_schema(schema, property_order="any-if-cheap")
        except UnsatisfiableSchema:
            continue
        is_valid = Draft202012Validator(schema).is_valid
        for _ in range(15):
            value = valued(random)
            expected = is_valid(value)
            num_valid += expected
            for order in random.sample(list(permutations(value.items())), min(4, max(len(value), 1))):
                assert constraint.allows(json.dumps(dict(order))) == expected, (schema, value)
    assert num_valid > 20
    assert whole or any(divided)


@pytest.mark.parametrize(("count", "is_divided"), [(2, False), (3, True), (126, True), (127, False)])
def test_as_many_values_as_variants_may_be_are_told_apart(count: int, is_divided: bool) -> None:
    conditions = [
        {"if": {"properties": {"tag": {"const": f"t{number}"}}}, "then": {"properties": {"of": {"const": number}}}}
        for number in range(count)
    ]
    found = by_tag(read_schema({"allOf": conditions}).root)
    assert len(found) == (count + 2 if is_divided else 0)


def test_a_dozen_conditions_on_a_tag_are_as_many_variants() -> None:
    conditions = [
        {
            "if": {"properties": {"tag": {"const": tag}}, "required": ["tag"]},
            "then": {"properties": {"of": {"properties": {f"{tag}{n}": {"type": "integer"} for n in range(9)}}}},
        }
        for tag in "abcdefghijkl"
    ]
    schema = {"type": "object", "allOf": conditions, "properties": {"tag": {"type": "string"}}, "required": ["tag"]}
    constraint = json_schema(schema, property_order="any-if-cheap")
    assert constraint.layout.order == "any-if-cheap"
    assert len(variants(constraint.layout.document.root)) == len(conditions) + 1
    for text, is_valid in {
        '{"of": {"a0": "", "f3": 1}, "z": 0, "tag": "f"}': True,
        '{"of": {"a0": "", "f3": ""}, "z": 0, "tag": "f"}': False,
        '{"tag": "f", "of": {"a0": "", "f3": 1}}': True,
        '{"tag": "f", "of": {"a0": "", "f3": ""}}': False,
        '{"of": {"a0": "", "f3": ""}, "tag": "none of these"}': True,
    }.items():
        assert constraint.allows(text) == is_valid, text
