"""Objects whose variants have rules of their own, which are called side by side."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from objects_with_variants import Variants, attempts_of, split_objects, texts
from value_orders import orders

import tokenfst
from automata.errors import LimitExceeded, UnsatisfiableSchema, UnsupportedSchema
from constraints import JsonSchema, json_schema, sequence
from constraints.json_schema.containers import allowance
from constraints.json_schema.containers.variants import MAX_VARIANTS, variants
from constraints.json_schema.formulas.connectives import (
    Formula,
    Not,
    conjunction,
    disjunction,
    negation,
    truth,
)
from constraints.json_schema.formulas.statements import MemberCount
from tokenfst import Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES

TOKENS = [b'{"', b'": ', b', "', b'"a', b"1}", b"kind", b' 1, "', b'"b": 2', b"}]"]
VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), *TOKENS, b""], eos_ids=[256 + len(TOKENS)])


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> None:
    split_objects(monkeypatch)


def schemas(seed: int, count: int) -> list[tuple[dict[str, Any], JsonSchema]]:
    """Return random schemas that have a value, objects and arrays of objects."""
    random, found = Variants(seed), list[tuple[dict[str, Any], JsonSchema]]()
    while len(found) < count:
        schema = random.schema()
        if random.random.random() < 0.3:
            schema = {"type": "array", "items": schema, "contains": random.schema()}
        elif random.random.random() < 0.3:
            inside = [{"properties": {"a": part}} for part in (schema, random.schema())]
            schema = {"type": "object", "anyOf": inside}
        try:
            found.append((schema, json_schema(schema, property_order="any-if-cheap")))
        except UnsatisfiableSchema:
            continue
    return found


@pytest.mark.usefixtures("splits")
@pytest.mark.parametrize("seed", range(4))
def test_texts_are_those_of_valid_values(seed: int) -> None:
    rng, objects, num_split = Random(seed), Variants(seed), 0
    for schema, constraint in schemas(seed, 30):
        num_split += constraint.unique_arrays() is None and constraint.to_visibly_pushdown().has_nondeterministic_calls
        automaton = tokenfst.compile(constraint, ALL_BYTES)
        valid = Draft202012Validator(schema).is_valid
        for _ in range(12):
            value: Any = objects.object()
            if schema["type"] == "array":
                value = [value, objects.object()][: rng.randint(1, 2)]
            elif "properties" in schema.get("anyOf", [{}])[0] and rng.random() < 0.7:
                value["a"] = objects.object()
            written = texts(value, rng) if isinstance(value, dict) else [json.dumps(value).encode()]
            for text in written:
                assert automaton.accepts(text) == valid(value), (schema, text)
    assert num_split > 15


@pytest.mark.usefixtures("splits")
@pytest.mark.parametrize("seed", range(4))
def test_what_masks_allow_leads_to_valid_texts_within_budgets(seed: int) -> None:
    rng = Random(seed)
    for schema, constraint in schemas(seed, 20):
        automaton, valid = tokenfst.compile(constraint, VOCABULARY), Draft202012Validator(schema).is_valid
        for _ in range(6):
            state, text, steps = automaton.start, b"", rng.randint(0, 25)
            remaining = automaton.min_tokens(state) + 40
            while state != automaton.end_state:
                ends = steps <= 0
                mask = automaton.mask(state, automaton.min_tokens(state) if ends else remaining)
                assert not (mask & ~automaton.mask(state)).any()
                token = rng.choice(np.flatnonzero(mask).tolist())
                state, steps, remaining = automaton.advance(state, token), steps - 1, remaining - 1
                text += VOCABULARY.tokens[token]
            # A name that is not listed may be repeated, and counts as two members.
            assert comes_again(text) or valid(json.loads(text)), (schema, text)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_schema_is_exact_where_telling_apart_takes_too_much(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With little work allowed, a value has a text in some order of its members if it is valid, and none if not."""
    monkeypatch.setattr(importlib.import_module("constraints.json_schema.containers.shannon"), "MAX_WORK", 150)
    random, num_split = Variants(seed), 0
    for _ in range(40):
        schema = random.schema()
        try:
            constraint = json_schema(schema)
        except (UnsatisfiableSchema, UnsupportedSchema, LimitExceeded):
            continue
        num_split += constraint.to_visibly_pushdown().has_nondeterministic_calls
        automaton, valid = tokenfst.compile(constraint, ALL_BYTES), Draft202012Validator(schema).is_valid
        for _ in range(12):
            value = random.object()
            written = [automaton.accepts(json.dumps(each).encode()) for each in orders(value)]
            assert any(written) == valid(value), (schema, value)
    assert num_split > 10


@pytest.mark.parametrize(
    ("keyword", "count", "order"),
    [
        *product(("anyOf",), (13, 60), ("schema", "any", "any-if-cheap")),
        *product(("oneOf",), (12, 30), ("schema", "any-if-cheap")),
    ],
)
def test_variants_that_leave_members_open_are_taken_in_every_order(keyword: str, count: int, order: Any) -> None:
    parts: list[Any] = [
        {"properties": {"id": {"type": "integer"}, f"n{number}": {"type": "string"}}, "required": ["id", f"n{number}"]}
        for number in range(count)
    ]
    schema = {"type": "object", keyword: parts}
    automaton = tokenfst.compile(json_schema(schema, property_order=order), ALL_BYTES)
    valid = Draft202012Validator(schema).is_valid
    ids: list[dict[str, Any]] = [{}, {"id": 1}, {"id": "1"}]
    for first, one, other in product(ids, ("a", 1), ({}, {"n5": "b"}, {"n5": 2}, {"other": None})):
        value = {**first, "n3": one, **other}
        assert any(automaton.accepts(json.dumps(each).encode()) for each in orders(value)) == valid(value), value


def comes_again(text: bytes) -> bool:
    found = []

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    json.loads(text, object_pairs_hook=read)
    return any(found)


def test_where_telling_variants_apart_takes_much_they_come_in_any_order() -> None:
    """Sixteen variants, of which any number may hold: what is required takes a state for each set of them."""
    names = [f"n{number}" for number in range(16)]
    parts: list[dict[str, Any]] = [
        {"properties": {name: {"type": "integer"}, other: {"minLength": number}}, "required": [name, other]}
        for number, (name, other) in enumerate(zip(names, names[1:] + names[:1], strict=True))
    ]
    constraint = json_schema({"type": "object", "anyOf": parts}, property_order="any-if-cheap")
    assert constraint.to_visibly_pushdown().has_nondeterministic_calls
    assert constraint.allows('{"n4": "abcd", "n3": 1}')
    assert constraint.allows('{"n4": 4, "n3": 1, "n5": "abcde"}')
    assert constraint.allows('{"n4": 4, "n3": 1}')
    assert not constraint.allows('{"n4": "ab", "n3": 1}')
    assert not constraint.allows('{"n5": "ab", "n4": 4}')
    with pytest.raises(LimitExceeded, match="side by side"):
        tokenfst.compile(constraint, ALL_BYTES).complete()


@pytest.mark.parametrize("seed", range(40))
def test_a_formula_holds_where_one_of_its_variants_does(seed: int) -> None:
    rng = Random(seed)
    made: list[Formula] = [MemberCount(number, number + 1) for number in range(5)]
    for _ in range(8):
        chosen = rng.sample(made, 2)
        made.append(rng.choice([conjunction, disjunction])(chosen) if rng.random() < 0.8 else negation(chosen[0]))
    formula, statements = made[-1], made[:5]
    found = variants(formula)
    assert len(found) <= MAX_VARIANTS
    for part in found:
        assert type(part) is not Not or part.part in statements
    for numbers in range(1 << len(statements)):
        true = {statement for place, statement in enumerate(statements) if numbers >> place & 1}
        assert truth(formula, true.__contains__) == any(truth(part, true.__contains__) for part in found)


def nested(seed: int, depth: int) -> dict[str, Any]:
    """Return a schema of objects with variants that have such objects in their members."""
    found = Variants(seed).schema()
    for number in range(depth):
        outer = Variants(seed + 1000 * number).schema()
        inside = [{"properties": {"a": found}}, outer, {"properties": {"a": {"required": ["b"]}, "b": found}}]
        found = {"type": "object", "anyOf": inside}
    return found


def shuffled(random: Random, objects: Variants, depth: int) -> dict[str, Any]:
    """Return an object whose members may be objects, in any order."""
    found: dict[str, Any] = objects.object()
    for name in ("a", "b"):
        if depth and name in found and random.random() < 0.7:
            found[name] = shuffled(random, objects, depth - 1)
    return dict(random.sample(list(found.items()), len(found)))


@pytest.mark.parametrize("is_enough", [True, False])
def test_objects_keep_any_order_in_a_second_attempt(is_enough: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With little work allowed, objects would lose it to the combinations of the variants around them; if they lose it
    in a second attempt as well, all objects with variants do."""
    attempts = attempts_of(monkeypatch)
    limits = {"EARLY_WORK": 60, "ALL_WORK": 1_500, "COMBINED_WORK": 200, "FEW_WORK": 100}
    if not is_enough:
        limits |= {"ALL_EARLY_WORK": 0, "FEW_WORK": 90}
    for name, most in limits.items():
        monkeypatch.setattr(allowance, name, most)
    random, objects, outcomes, num_valid = Random(0), Variants(0), Counter[bool](), 0
    for seed in range(150):
        schema = nested(seed, 2)
        attempts.clear()
        try:
            constraint = json_schema(schema, property_order="any-if-cheap")
        except UnsatisfiableSchema:
            continue
        is_second = any(attempt.had_too_many_combinations for attempt in attempts)
        outcomes[not attempts[-1].took_too_much] += is_second
        automaton, is_valid = tokenfst.compile(constraint, ALL_BYTES), Draft202012Validator(schema).is_valid
        for _ in range(40 if is_second else 0):
            value = shuffled(random, objects, 2)
            accepts = automaton.accepts(json.dumps(value).encode())
            assert accepts == is_valid(value) or (is_valid(value) and not is_enough), (schema, value)
            num_valid += is_valid(value)
    assert outcomes[is_enough] > 3
    assert num_valid > 50


@pytest.mark.usefixtures("splits")
def test_composed_constraints_follow_them_too() -> None:
    """Within a sequence, masks and `parse` read what the schema alone does."""
    rng, objects, num_split, num_allowed = Random(5), Variants(5), 0, 0
    for _, known in schemas(5, 20):
        if known.unique_arrays() is not None or not known.to_visibly_pushdown().has_nondeterministic_calls:
            continue
        num_split += 1
        composed = sequence("x*", known, ";")
        automaton = tokenfst.compile(composed, ALL_BYTES)
        for text in (each.decode() for _ in range(6) for each in texts(objects.object(), rng)):
            is_allowed = known.allows(text)
            assert automaton.accepts(f"xx{text};") == is_allowed, text
            if is_allowed:
                num_allowed += 1
                assert composed.parse(f"xx{text};") == ("xx", json.loads(text), ";")
    assert num_split > 10
    assert num_allowed > 10
