"""Bindings of weighted automata take any arguments: they do what they say, or refuse."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from arrays import attempt, budget, corrupted, ints
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import _native as automata_native
from automata.errors import LimitExceeded
from tokenfst import _native

SEEDS = st.integers(0, 1 << 30)
MANY = settings(max_examples=75, deadline=None)
LARGEST = 100_000 << 30


def units(rng: Random, count: int) -> Any:
    choices = (0, 0, 1 << 30, -(1 << 29), 3, LARGEST, -LARGEST)
    return np.array([rng.choice(choices) for _ in range(count)], np.int64)


def some_nfa(rng: Random) -> dict[str, Any]:
    num_states, num_labels = rng.randint(2, 6), rng.randint(0, 2)
    arcs = []
    for _ in range(rng.randint(0, 12)):
        low = rng.choice([97, 98, 200, *range(256, 256 + num_labels)])
        high = low if low >= 256 else rng.randint(low, 255)
        arcs.append((rng.randrange(num_states), low, high, rng.randrange(num_states)))
    epsilon = [(rng.randrange(num_states), rng.randrange(num_states)) for _ in range(rng.randint(0, 3))]
    return {
        "num_states": num_states,
        "arcs": ints(arcs, -1, 4),
        "arc_cost": units(rng, len(arcs)),
        "epsilon": ints(epsilon, -1, 2),
        "epsilon_cost": units(rng, len(epsilon)),
        "num_labels": num_labels,
        "is_log": rng.random() < 0.5,
        "max_states": 50,
    }


def some_tables(rng: Random) -> Any:
    return attempt(automata_native.weighted, **some_nfa(rng), budget=budget())


@given(SEEDS, st.data())
@MANY
def test_weighted_automata(seed: int, data: st.DataObject) -> None:
    arguments = some_nfa(Random(seed))
    made = attempt(automata_native.weighted, **data.draw(corrupted(arguments)), budget=budget())
    if made is None:
        return
    for text in (b"", b"a", b"ab", b"\xff"):
        made.weight(text)
        if made.num_states:
            state, _ = made.walk(0, text)
            assert -1 <= state < made.num_states
    arrays = {
        "initial": made.initial,
        "offsets": made.offsets.copy(),
        "arcs": made.arcs.copy(),
        "cost": made.cost.copy(),
        "final": made.final.copy(),
        "num_labels": made.num_labels,
    }
    again = attempt(automata_native.WeightedTables.of, **data.draw(corrupted(arrays)))
    if again is not None and again.num_states:
        again.weight(b"ab")
        attempt(again.walk, state=data.draw(st.integers(-2, 5)), text=b"a")
        attempt(again.find, state=0, symbol=data.draw(st.integers(-2, 300)))


@given(SEEDS, st.data())
@MANY
def test_products(seed: int, data: st.DataObject) -> None:
    rng = Random(seed)
    left, right = some_tables(rng), some_tables(rng)
    if left is None or right is None:
        return
    arguments = {
        "left_labels": ints(range(left.num_labels)),
        "right_labels": ints([-1] * left.num_labels),
        "difference": rng.random() < 0.5,
        "is_log": False,
        "max_states": 100,
    }
    sides = {"left": left, "right": right}
    attempt(automata_native.weighted_product, **sides, **data.draw(corrupted(arguments)), budget=budget())


@given(SEEDS, st.data())
@MANY
def test_costs_of_tokens(seed: int, data: st.DataObject) -> None:
    rng = Random(seed)
    made = some_tables(rng)
    if made is None or not made.num_states:
        return
    tokens = [bytes(rng.choices(b"ab\xc8\xff", k=rng.randint(0, 3))) for _ in range(10)] + [b""]
    vocabulary = _native.VocabularyTries(tokens, np.array([10], np.int32))
    costs = _native.TokenCosts(vocabulary, made)
    states = {"states": ints([rng.randrange(made.num_states) for _ in range(3)])}
    found = attempt(costs.of_states, **data.draw(corrupted(states)), budget=budget())
    if found is not None:
        place, token, cost = found
        assert len(place) == len(token) == len(cost)
        assert ((token >= 0) & (token < len(tokens))).all()
        assert (cost != 0).all()


def test_weighted_automata_stop_at_limits() -> None:
    size = 3000
    arcs = ints([(0, 97, 97, 2), *((at, 97 + at % 2, 97 + at % 2, at + 1) for at in range(2, size)), (size, 99, 99, 1)])
    arguments: dict[str, Any] = {"num_states": size + 1, "arcs": arcs, "arc_cost": np.zeros(len(arcs), np.int64)}
    arguments |= {"epsilon": ints([], 0, 2), "epsilon_cost": np.zeros(0, np.int64), "num_labels": 0, "is_log": False}
    with pytest.raises(LimitExceeded):
        automata_native.weighted(**arguments, max_states=100, budget=budget())
    with pytest.raises(LimitExceeded):
        automata_native.weighted(**arguments, max_states=1 << 20, budget=budget(0))
    assert automata_native.weighted(**arguments, max_states=1 << 20, budget=budget()).num_states == size + 1
