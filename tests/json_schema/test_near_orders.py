"""Orders near to that of the schema, where not all orders are cheap: what is read is valid, and what is valid and in
order is read."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from automata.errors import UnsatisfiableSchema
from constraints import json_schema

NAMES = "abcdefghijkl"


def member(rng: Random) -> Any:
    return rng.choice([True, {"const": 1}, {"enum": [1, 2]}, {"type": "integer"}])


def part(rng: Random, names: str) -> dict[str, Any]:
    """A schema that says something of some names."""
    some = rng.sample(names, rng.randint(1, 4))
    found: dict[str, Any] = {"properties": {name: member(rng) for name in some}}
    if rng.random() < 0.6:
        found["required"] = rng.sample(some, rng.randint(1, len(some)))
    if rng.random() < 0.2:
        found["dependentRequired"] = {some[0]: [rng.choice(names)]}
    return found


def random_schema(rng: Random) -> dict[str, Any]:
    names = NAMES[: rng.randint(6, len(NAMES))]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: member(rng) for name in names},
        "required": rng.sample(names, rng.randint(3, len(names))),
    }
    if rng.random() < 0.5:
        schema["additionalProperties"] = False
    if rng.random() < 0.6:
        schema[rng.choice(["anyOf", "oneOf", "allOf"])] = [part(rng, names) for _ in range(rng.randint(2, 3))]
    if rng.random() < 0.3:
        schema |= {"if": part(rng, names), "then": part(rng, names)}
    return schema


def text(names: list[str], values: dict[str, int]) -> bytes:
    return ("{" + ", ".join(f'"{name}": {values[name]}' for name in names) + "}").encode()


def num_read(seed: int) -> int:
    """Check one random schema; return the number of texts that are read in another order than the schema's."""
    rng = Random(seed)
    schema = random_schema(rng)
    validator, names = Draft202012Validator(schema), list(schema["properties"])
    try:
        near, listed = json_schema(schema, property_order="any-if-cheap"), json_schema(schema)
    except UnsatisfiableSchema:
        assert not any(validator.is_valid(dict.fromkeys(names, value)) for value in (1, 2))
        return 0
    found = 0
    for _ in range(150):
        some = sorted({*schema["required"], *rng.sample(names, rng.randint(0, len(names)))}, key=names.index)
        values = {name: rng.choice([1, 1, 1, 2, 3]) for name in some}
        moved = list(some)
        for _ in range(rng.randint(0, 3)):
            moved.insert(rng.randrange(len(moved)), moved.pop(rng.randrange(len(moved))))
        is_valid = validator.is_valid(values)
        assert near.allows(text(some, values).decode()) == is_valid
        if near.allows(text(moved, values).decode()):
            assert is_valid, (schema, moved, values)
            found += not listed.allows(text(moved, values).decode())
    return found


@pytest.mark.parametrize("first", range(0, 60, 12))
def test_what_is_read_is_valid_and_what_is_in_order_is_read(first: int) -> None:
    assert sum(map(num_read, range(first, first + 12))) > 100


def test_one_name_may_come_ahead() -> None:
    names = [f"name{number:02}" for number in range(12)]
    schema = {"properties": dict.fromkeys(names, True), "required": names, "additionalProperties": False}
    automaton = json_schema({"type": "object", **schema}, property_order="any-if-cheap").to_automaton()
    for at in range(1, 12):
        moved = [names[at], *names[:at], *names[at + 1 :]]
        assert automaton.accepts(text(moved, dict.fromkeys(names, 1)))
    assert not automaton.accepts(text(names[::-1], dict.fromkeys(names, 1)))
    assert not automaton.accepts(text(names[1:], dict.fromkeys(names, 1)))
