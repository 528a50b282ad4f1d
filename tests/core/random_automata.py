"""Byte automata and layouts at random, for tests of the bindings that take them."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from arrays import corrupted, ints
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from automata import _native

MANY = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 1 << 20)


def draw_from(data: st.DataObject, arguments: dict[str, Any]) -> dict[str, Any]:
    return data.draw(corrupted(arguments))


# Automata over bytes, for those that take one.


def some_tables(rng: Random, *, labels: int = 0) -> _native.ByteTables:
    size = rng.randint(1, 6)
    final = np.array([rng.random() < 0.4 for _ in range(size)])
    by_label = ints([rng.randint(-1, size - 1) for _ in range(size * labels)], size, labels)
    if rng.random() < 0.5:
        byte_class = np.zeros(256, np.uint8)
        byte_class[97:100] = [1, 2, 3]
        next_ = ints([rng.randint(-1, size - 1) for _ in range(4 * size)], size, 4)
        return _native.ByteTables.dense(rng.randrange(size), byte_class, next_, final, by_label)
    rows = [sorted(rng.sample(range(97, 103), rng.randint(0, 3))) for _ in range(size)]
    arcs = ints([(byte, byte, rng.randrange(size)) for row in rows for byte in row]).reshape(-1, 3)
    offsets = ints(np.cumsum([0, *map(len, rows)]))
    return _native.ByteTables.sparse(rng.randrange(size), offsets, arcs, final, by_label)


# Visibly pushdown grammars.


def some_layout(rng: Random) -> dict[str, Any]:
    """The arguments of a layout: rules of a few states, with anything between states of one rule."""
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    starts = [2 + sum(sizes[:rule]) for rule in range(len(sizes))]
    exits = [1, *(rng.randint(1, 2) for _ in sizes[1:])]
    first_exit = np.cumsum([0, *exits])
    num_labels, num_pieces = rng.choice([0, 0, 1]), rng.randint(0, 2)

    def state(rule: int) -> int:
        return starts[rule] + rng.randrange(sizes[rule])

    def edges(count: int) -> list[tuple[int, int]]:
        return [(state(rule), state(rule)) for rule in (rng.randrange(len(sizes)) for _ in range(count))]

    texts = [bytes(rng.choice(b"ab()") for _ in range(rng.choice([0, 1, 1, 2, 3]))) for _ in range(rng.randint(0, 8))]
    pieces = [some_piece(rng, num_labels) for _ in range(num_pieces)]
    calls, targets = [], list[int]()
    for _ in range(rng.randint(0, 3) if len(sizes) > 1 else 0):
        rule, callee = rng.randrange(len(sizes)), rng.randrange(1, len(sizes))
        calls.append((state(rule), callee, len(targets)))
        targets += [rng.choice([-1, state(rule), state(rule)]) for _ in range(exits[callee])]
    ends = [(state(rule), first_exit[rule] + way) for rule in range(len(sizes)) for way in range(exits[rule])]
    counters, numbers = [], list[tuple[int, int, int]]()
    for _ in range(rng.choice([0, 0, 1]) if pieces else 0):
        number, ((begin, end),) = rng.randrange(num_pieces), edges(1)
        num_states = pieces[number][0]
        counters.append((begin, end, number, rng.randrange(num_states), 1, rng.choice([-1, 4]), len(numbers)))
        numbers += [(rng.randint(0, 1), rng.randint(0, 3), rng.randint(0, 9)) for _ in range(num_states)]
    copies = [(rng.randrange(num_pieces), *edge) for edge in edges(rng.randint(0, 3))] if pieces else []
    prepared = [(rng.randrange(1, len(sizes)), rng.randrange(num_pieces))] if pieces and len(sizes) > 1 else []
    return {
        "num_states": 2 + sum(sizes),
        "num_labels": num_labels,
        "starts": ints(starts),
        "first_exit": ints(first_exit),
        "text": np.frombuffer(b"".join(texts), np.uint8).copy(),
        "text_offsets": ints(np.cumsum([0, *map(len, texts)])),
        "chains": ints(edges(len(texts)), -1, 2),
        "fragments": [some_fragment(*piece) for piece in pieces],
        "copies": ints(copies, -1, 3),
        "epsilon": ints(edges(rng.randint(0, 3)), -1, 2),
        "calls": ints(calls, -1, 3),
        "targets": ints(targets),
        "ends": ints(ends, -1, 2),
        "prepared": ints(rng.sample(prepared, rng.randint(0, len(prepared))), -1, 2),
        "counters": ints(counters, -1, 7),
        "numbers": ints(numbers, -1, 3),
    }


def some_fragment(size: int, arcs: Any, edges: Any) -> _native.Fragment:
    return _native.Fragment(size, ints(arcs, -1, 4), ints(edges, -1, 2), _native.Budget(1 << 30, 60.0))


def some_piece(rng: Random, num_labels: int) -> tuple[int, list[tuple[int, int, int, int]], list[tuple[int, int]]]:
    """How many states a piece has, its arcs and its epsilon arcs; nothing leads into state 0 or out of state 1."""
    size = rng.randint(2, 5)
    states = [state for state in range(size) if state != 1]
    arcs = []
    for _ in range(rng.randint(0, 4)):
        low = rng.randint(97, 100)
        low, high = (256, 256) if num_labels and rng.random() < 0.2 else (low, rng.randint(low, 101))
        arcs.append((rng.choice(states), low, high, rng.randrange(1, size)))
    return size, arcs, [(rng.choice(states), rng.randrange(1, size)) for _ in range(rng.randint(0, 2))]
