"""Random schemas of objects with variants, objects, and their texts in all orders."""

from __future__ import annotations

import importlib
import json
from itertools import permutations
from random import Random
from typing import Any

import pytest

from constraints.json_schema.building.builder import Earlier, SchemaGrammarBuilder
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.containers.variants import variants
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.formulas.restriction import Restriction

BUILDER = importlib.import_module("constraints.json_schema.building.builder")
SCHEMA_GRAMMAR = importlib.import_module("constraints.json_schema.building.schema_grammar")
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


def attempts_of(monkeypatch: pytest.MonkeyPatch) -> list[Earlier]:
    """Return a list to which each attempt to build a grammar adds what the attempts before it have shown."""
    attempts: list[Earlier] = []

    def builder(restriction: Restriction, layout: Layout, earlier: Earlier) -> SchemaGrammarBuilder:
        attempts.append(earlier)
        return SchemaGrammarBuilder(restriction, layout, earlier)

    monkeypatch.setattr(SCHEMA_GRAMMAR, "SchemaGrammarBuilder", builder)
    return attempts


def split_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split every object that has variants."""
    whole = BUILDER.object_in_any_order

    def splitting(vector: tuple[Formula, ...], *given: Any, **options: Any) -> Any:
        if sum(len(variants(formula)) for formula in vector) == 1:
            return whole(vector, *given, **options)
        most = given[-1]
        most()  # asked for wherever there are variants
        return None

    monkeypatch.setattr(BUILDER, "object_in_any_order", splitting)
