"""The construction of pushdown automata, called with anything: it is refused, stopped, or gives tables that fit.

What it gives for grammars is compared with other recognizers in `tests/test_pushdown.py`.
"""

from __future__ import annotations

import threading
import time
from random import Random
from typing import Any

import numpy as np
import pytest
from arrays import attempt, budget, corrupted, ints
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from automata import _native
from automata.errors import Cancelled, LimitExceeded

MANY = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# What arrays at random begin may have no end but that of the time.
SECONDS = 0.2
BYTES = np.arange(256)


def some_network(rng: Random) -> dict[str, Any]:
    """Rules of a few states, with columns, calls and ends of words between them; most read before they call."""
    sizes = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    start: list[int] = np.cumsum([0, *sizes]).tolist()
    num_classes, num_labels = rng.randint(1, 3), rng.randint(0, 1)
    next_, by_label, rule_of, calls, words = [], [], [], [], []
    for rule, size in enumerate(sizes):

        def own(rule: int = rule, size: int = size) -> int:
            return start[rule] + rng.randrange(size)

        for state in range(size):
            rule_of.append(rule)
            next_.append([own() if rng.random() < 0.4 else -1 for _ in range(num_classes)])
            by_label.append([own() if rng.random() < 0.3 else -1 for _ in range(num_labels)])
            chances = 0.05 if state == 0 else 0.4
            calls.append([(rng.randrange(len(sizes)), own()) for _ in range(2) if rng.random() < chances])
            words.append([(rng.randrange(3), own()) for _ in range(2) if rng.random() < chances / 2])
    # Perhaps the first and the later bytes of characters are classes of their own.
    role = np.select([BYTES < 0x80, BYTES < 0xC0, BYTES < 0xE0], [2, 1, 0], 2) if rng.random() < 0.5 else BYTES * 0
    return {
        "byte_class": np.minimum(role, num_classes - 1).astype(np.uint8),
        "next": ints(next_, -1, num_classes),
        "by_label": ints(by_label, len(rule_of), num_labels),
        "final": np.array([rng.random() < 0.4 for _ in rule_of]),
        "rule_of": ints(rule_of),
        "rule_start": ints(start[:-1]),
        "start_rule": rng.randrange(len(sizes)),
        "call_offsets": ints(np.cumsum([0, *map(len, calls)])),
        "calls": ints([call for some in calls for call in some], -1, 2),
        "word_offsets": ints(np.cumsum([0, *map(len, words)])),
        "words": ints([word for some in words for word in some], -1, 2),
        "in_words": np.array([rng.random() < 0.7 for _ in sizes], np.bool_),
        "lexer": ints([rng.randrange(2) for _ in sizes]),
        "num_lazy": rng.choice([0, 0, 1]),
        "side_by_side": rng.random() < 0.4,
        "max_configurations": rng.randint(1, 3),
        "max_states": 1000,
        "max_ways": 10_000,
    }


@given(st.integers(0, 1 << 20), st.data())
@MANY
def test_networks(seed: int, data: st.DataObject) -> None:
    rng = Random(seed)
    arguments = data.draw(corrupted(some_network(rng)))
    found = attempt(_native.construct, **arguments, budget=budget(16, SECONDS))
    if found is None:
        return
    num_states = len(found.came_from)
    steps = _native.with_shared(found.steps, found.shared, num_states, budget())
    check_tables(found, steps)
    tables = automaton(found, steps, arguments)
    for text in (b"", b"a", b"ab" * 6, bytes(rng.choices(b"abc", k=12))):
        read = attempt(tables.read, text=text, budget=budget())
        assert read is None or not read[0] or read[1] == -1
    moves = _native.moves_of(steps, budget())
    assert moves.tolist() == [list(move) for move in sorted(set(map(tuple, steps[:, [0, 2, 3, 4]].tolist())))]
    shared = {"steps": found.steps, "shared": found.shared, "num_states": num_states}
    attempt(_native.with_shared, **data.draw(corrupted(shared)), budget=budget())
    attempt(_native.moves_of, **data.draw(corrupted({"steps": found.steps})), budget=budget())


def check_tables(found: _native.PushdownConstruction, steps: np.ndarray) -> None:
    num_states, num_symbols, num_kinds = len(found.came_from), len(found.symbol_kind), len(found.below_offsets) - 1
    assert len(found.headroom) == len(found.state_kind) == len(found.element_offsets) - 1 == num_states
    assert len(found.symbol_headroom) == num_symbols
    assert max([-1, *found.state_kind, *found.symbol_kind]) < num_kinds
    assert max([-1, *found.last[1:]]) < num_symbols
    expected = set(map(tuple, found.steps.tolist()))
    for state, other in found.shared.tolist():
        expected |= {(state, *step[1:]) for step in map(tuple, found.steps[found.steps[:, 0] == other].tolist())}
    assert steps.tolist() == [list(step) for step in sorted(expected)]


def automaton(
    found: _native.PushdownConstruction, steps: np.ndarray, arguments: dict[str, Any]
) -> _native.PushdownTables:
    """What is constructed, to read texts: the first classes are "a", "b" and all that is left."""
    num_states, num_classes = len(found.came_from), arguments["next"].shape[1]
    num_labels = arguments["by_label"].shape[1]
    num_columns = num_classes + 1 + num_labels
    byte_class = np.full(256, num_classes - 1, np.uint8)
    byte_class[97:99] = np.minimum([0, 1], num_classes - 1)
    counts = np.bincount(steps[:, 0] * num_columns + steps[:, 1], minlength=num_states * num_columns)
    return _native.PushdownTables(
        num_states=num_states,
        start=found.start,
        byte_class=byte_class,
        num_classes=num_classes,
        num_labels=num_labels,
        num_symbols=len(found.symbol_kind),
        step_offsets=ints([0, *np.cumsum(counts)]),
        pops=steps[:, 2].copy(),
        pushes=steps[:, 3].copy(),
        targets=steps[:, 4].copy(),
        parent=found.parent,
        symbol=found.last,
        max_configurations=2,
        budget=budget(),
    )


def calls_in_a_row(count: int, *, side_by_side: bool = False) -> dict[str, Any]:
    """A rule that calls another one many times, which is a letter, or nested in brackets."""
    next_ = np.full((count + 5, 3), -1, np.int32)
    own = count + 1  # the states of the other rule: x, or "(", the rule, ")"
    next_[own] = own + 3, own + 1, -1
    next_[own + 2] = -1, -1, own + 3
    num_states = len(next_)
    sources = [*range(count), own + 1]
    offsets = np.searchsorted(sources, np.arange(num_states + 1))
    return {
        "byte_class": np.zeros(256, np.uint8),
        "next": next_,
        "by_label": np.zeros((num_states, 0), np.int32),
        "final": np.isin(np.arange(num_states), [count, own + 3]),
        "rule_of": (np.arange(num_states) >= own).astype(np.int32),
        "rule_start": ints([0, own]),
        "start_rule": 0,
        "call_offsets": ints(offsets),
        "calls": ints([*((1, state + 1) for state in range(count)), (1, own + 2)]),
        "word_offsets": np.zeros(num_states + 1, np.int32),
        "words": np.zeros((0, 2), np.int32),
        "in_words": np.ones(2, np.bool_),
        "lexer": np.zeros(2, np.int32),
        "num_lazy": 0,
        "side_by_side": side_by_side,
        "max_configurations": 2,
        "max_states": 1 << 20,
        "max_ways": 1 << 20,
    }


@pytest.mark.parametrize("side_by_side", [False, True])
def test_calls_in_a_row(side_by_side: bool) -> None:
    arguments = calls_in_a_row(4, side_by_side=side_by_side)
    found = _native.construct(**arguments, budget=budget())
    tables = automaton(found, _native.with_shared(found.steps, found.shared, len(found.came_from), budget()), arguments)
    # "a" is the letter, "b" opens a bracket, and anything else closes it.
    assert tables.read(b"aaaa", budget()) == (True, -1)
    assert tables.read(b"abbac)aa", budget()) == (True, -1)
    assert tables.read(b"aaa", budget()) == tables.read(b"aaaaa", budget()) == (False, -1)
    assert tables.read(b"aaaba", budget()) == (False, -1)


@pytest.mark.parametrize("side_by_side", [False, True])
@pytest.mark.parametrize(("limit", "message"), [("memory", "bytes"), ("states", "states"), ("seconds", "seconds")])
def test_limits_are_errors(limit: str, message: str, side_by_side: bool) -> None:
    arguments = calls_in_a_row(100_000, side_by_side=side_by_side)
    arguments["max_states"] = 2 if limit == "states" else 1 << 20
    with pytest.raises(LimitExceeded, match=message) as caught:
        _native.construct(
            **arguments, budget=budget(8 if limit == "memory" else 256, 0.01 if limit == "seconds" else 5.0)
        )
    assert caught.value.limit == limit


@pytest.mark.parametrize("side_by_side", [False, True])
def test_a_rule_called_a_hundred_thousand_times(side_by_side: bool) -> None:
    began = time.process_time()
    found = _native.construct(**calls_in_a_row(100_000, side_by_side=side_by_side), budget=budget(256, 5.0))
    assert time.process_time() - began < 5
    # What a bracket opens and what the letter does lead to each of the symbols below.
    assert len(found.steps) > 100_000


@pytest.mark.parametrize("side_by_side", [False, True])
def test_another_thread_cancels(side_by_side: bool) -> None:
    arguments = calls_in_a_row(300_000, side_by_side=side_by_side)
    stopped = budget(1024, 60.0)
    cancelled_at = []

    def cancel() -> None:
        cancelled_at.append(time.perf_counter())
        stopped.cancel()

    def construct_until_stopped() -> None:
        while True:
            _native.construct(**arguments, budget=stopped)

    threading.Timer(0.02, cancel).start()
    with pytest.raises(Cancelled):
        construct_until_stopped()
    assert time.perf_counter() - cancelled_at[0] < 0.1


def test_results_outlive_what_they_came_from() -> None:
    """Arrays keep alive what they show, and cannot be written to."""
    found = _native.construct(**calls_in_a_row(100), budget=budget())
    views = [found.steps, found.elements, found.below, found.headroom]
    before = [view.copy() for view in views]
    del found
    churn = [np.ones(1000, np.int32) for _ in range(100)]
    assert all(np.array_equal(view, copy) for view, copy in zip(views, before, strict=True))
    assert not any(view.flags.writeable for view in views)
    assert len(churn) == 100
