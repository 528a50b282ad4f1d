"""Objects with many names in any order: what is read is what is valid, whatever the order."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import tokenfst
from automata.errors import UnsatisfiableSchema
from constraints import json_schema
from constraints.json_schema.containers import flagged
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

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


def num_compared(seed: int, order: Any) -> int:
    """Check one random schema; return the number of texts of valid values that are compared."""
    rng = Random(seed)
    schema = random_schema(rng)
    validator, names = Draft202012Validator(schema), list(schema["properties"])
    try:
        constraint = json_schema(schema, property_order=order)
    except UnsatisfiableSchema:
        assert not any(validator.is_valid(dict.fromkeys(names, value)) for value in (1, 2))
        return 0
    found = 0
    for _ in range(150):
        some = list({*schema["required"], *rng.sample(names, rng.randint(0, len(names)))})
        values = {name: rng.choice([1, 1, 1, 2, 3]) for name in some}
        rng.shuffle(some)
        is_valid = validator.is_valid(values)
        assert constraint.allows(text(some, values).decode()) == is_valid, (schema, some, values)
        found += is_valid
    return found


@pytest.mark.parametrize("first", range(0, 60, 12))
@pytest.mark.parametrize("order", ["any", "any-if-cheap"])
def test_every_order_of_a_valid_value_is_read(first: int, order: Any) -> None:
    assert sum(num_compared(seed, order) for seed in range(first, first + 12)) > 100


@pytest.mark.parametrize("order", ["any", "any-if-cheap"])
def test_a_hundred_names_come_in_any_order(order: Any) -> None:
    names = [f"name{number:02}" for number in range(100)]
    schema = {"properties": dict.fromkeys(names, True), "required": names[:60], "additionalProperties": False}
    constraint, rng = json_schema({"type": "object", **schema}, property_order=order), Random(1)
    for _ in range(20):
        some = [*names[:60], *rng.sample(names[60:], 20)]
        rng.shuffle(some)
        assert constraint.allows(text(some, dict.fromkeys(some, 1)).decode())
        some.remove("name07")
        assert not constraint.allows(text(some, dict.fromkeys(some, 1)).decode())
        twice = [*some, "name07", "name07"]
        assert not constraint.allows(text(twice, dict.fromkeys(twice, 1)).decode())


@pytest.mark.parametrize("order", ["any", "any-if-cheap"])
def test_texts_end_as_soon_as_they_may(order: Any) -> None:
    """With a token for each byte, the bound of the lazy automaton is the length of the shortest text."""
    rng = Random(3)
    names = [f"{letter}{number}" for letter in "abc" for number in range(6)]
    for _ in range(20):
        required = rng.sample(names, rng.randint(0, 5))
        schema = {"type": "object", "properties": {name: {"enum": [1, 22]} for name in names}, "required": required}
        constraint = json_schema(schema, property_order=order, whitespace="compact")
        automaton = tokenfst.compile(constraint, ALL_BYTES)
        assert isinstance(automaton, LazyTokenAutomaton)
        shortest = len(json.dumps(dict.fromkeys(required, 1), separators=(",", ":")))
        assert automaton.core.min_tokens(automaton.start) == shortest + 1
        state, left = automaton.start, shortest + rng.choice([0, 9, 30]) + 1
        while state != automaton.end_state:
            words = np.zeros(len(ALL_BYTES.all_words), np.int32)
            automaton.core.fill_within(state, words, left)
            bits = np.unpackbits(words.view(np.uint8), count=len(ALL_BYTES), bitorder="little")
            state, left = automaton.advance(state, rng.choice(np.flatnonzero(bits).tolist())), left - 1
        assert left >= 0


@pytest.mark.parametrize(
    ("num_names", "num_variants"),
    [(8, 3), (8, 4), (8, 5), (9, 5), (10, 5), (10, 6), (10, 7), (12, 6), (12, 8), (20, 20)],
)
def test_what_takes_too_much_is_given_up_early(
    num_names: int, num_variants: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first hubs tell that there will be too many where there would be, and nowhere else."""
    rng, names = Random(num_names), [f"p{number}" for number in range(num_names)]

    def variant() -> dict[str, Any]:
        said = {name: {"type": rng.choice(["integer", "string"])} for name in rng.sample(names, 5)}
        return {"required": rng.sample(names, 3), "properties": said}

    schema = {
        "type": "object",
        "properties": {name: {"type": ["integer", "string"]} for name in names},
        "required": names[:6],
        "anyOf": [variant() for _ in range(num_variants)],
    }
    found: list[tuple[bool, int]] = []
    made = flagged._Hubs.made

    def recorded(hubs: flagged._Hubs) -> flagged.FlaggedObject:
        before, is_made = hubs.expansion.work, False
        try:
            result, is_made = made(hubs), True
            return result
        finally:
            found.append((is_made, hubs.expansion.work - before))

    monkeypatch.setattr(flagged._Hubs, "made", recorded)
    json_schema(schema, property_order="any-if-cheap")
    monkeypatch.setattr(flagged, "_FIRST_STOP_FACTOR", 1 << 40)
    json_schema(schema, property_order="any-if-cheap")
    (is_made, work), (could_be_made, whole_work) = found
    assert is_made == could_be_made
    assert work == whole_work if is_made else work < whole_work / 2
