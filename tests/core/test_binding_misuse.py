"""Arguments that used to be trusted: they are errors, or as harmless as any others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from automata import _native
from automata._native import Budget, ByteTables, CollectionsPaused
from automata.errors import LimitExceeded
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import MultipleOf, Reference
from tokenfst import _native as token_core

_MOST = (1 << 31) - 1


def budget(num_bytes: int = 1 << 32) -> Budget:
    return Budget(num_bytes, 60.0)


def ints(*values: int, width: int | None = None) -> Any:
    found = np.array(values, np.int32)
    return found if width is None else found.reshape(-1, width)


def everything() -> ByteTables:
    flags, loop, labels = np.ones(1, bool), np.zeros((1, 1), np.int32), np.zeros((1, 0), np.int32)
    return ByteTables.dense(0, np.zeros(256, np.uint8), loop, flags, labels)


def test_states_that_nothing_reaches_are_left_out() -> None:
    final = np.zeros(50_000, bool)
    final[0] = True
    tables = _native.from_ranges(0, final, ints(0, 97, 97, 0, width=4), 1 << 30, budget())
    assert (tables.num_states, tables.accepts(b"aa"), tables.accepts(b"b")) == (1, True, False)


def test_views_stay_as_they_are_without_unused_labels() -> None:
    by_label = np.full((1000, 2), -1, np.int32)
    by_label[:, 0] = 1
    nowhere = np.full((1000, 1), -1, np.int32)
    tables = ByteTables.dense(0, np.zeros(256, np.uint8), nowhere, np.ones(1000, bool), by_label)
    view = tables.by_label
    fewer, used = tables.without_unused_labels()
    assert (fewer.by_label.shape, used, tables.num_labels) == ((1000, 1), [0], 2)
    assert (view == by_label).all()


class Passing:
    """Languages that nothing else keeps alive."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, at: int) -> ByteTables:
        if at >= 3:
            raise IndexError
        return everything()

    def __iter__(self) -> Iterator[ByteTables]:
        return iter(self[at] for at in range(3))


def test_languages_live_as_long_as_they_are_read() -> None:
    languages: Any = Passing()
    assert _native.combinations(everything(), languages, 1000, budget()).tolist() == [[1, 1, 1]]


def test_a_writer_of_layouts_begins_again() -> None:
    writer, language = _native.LayoutWriter(), "a"
    for _ in range(2):
        writer.rule(1)
        first = writer.states(2)
        writer.arcs([(0, language, 1)], first, lambda _: [b"abc"], budget())
        writer.ends([(1, 0)], first)
        assert writer.layout(0, budget()).num_states == 4


def test_states_of_fragments_are_charged() -> None:
    for num_states in (_MOST, 1 << 20):
        with pytest.raises(LimitExceeded) as caught:
            _native.Fragment(num_states, ints(width=4), ints(width=2), budget(1 << 20))
        assert caught.value.limit == "memory"


def test_labels_of_fragments_are_those_of_their_layout() -> None:
    label = _native.Fragment(2, ints(0, 256, 256, 1, width=4), ints(width=2), budget())
    for num_labels in (0, 1):
        writer = _native.LayoutWriter()
        writer.rule(1)
        writer.arcs([(0, "a", 1)], writer.states(2), lambda _: [0], budget())
        writer.ends([(1, 0)], 2)
        writer.fragment(label)
        if num_labels:
            assert writer.layout(num_labels, budget()).num_written_arcs == 1
        else:
            with pytest.raises(ValueError, match="label"):
                writer.layout(num_labels, budget())


def test_registers_can_be_added() -> None:
    most = (1 << 30) - 1
    numbers = {"offsets": ints(0, 1), "arcs": ints(most, most, 0, 0, width=4), "final_from": ints(0)}
    for top in (most, most + 1):
        made = {"start": 0, "max_register": top, "num_classes": 1, "byte_class": np.zeros(256, np.uint8), **numbers}
        if top > most:
            with pytest.raises(ValueError, match="register"):
                _native.CountedTables(**made)
        else:
            assert _native.CountedTables(**made).step(0, most, 0) == (0, most)


def test_costs_labels_and_substrings_are_within_what_can_be_computed() -> None:
    no_arcs, no_costs = ints(width=3), np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="cost"):
        _native.WeightedTables.of(0, ints(0, 0), no_arcs, no_costs, np.array([-(1 << 63)]), 0)
    with pytest.raises(ValueError, match="labels"):
        _native.minimal(2, ints(width=4), ints(width=2), _MOST, 100, 100, budget())
    with pytest.raises(Exception, match="states"):
        _native.substrings(b"a" * (1 << 20), ints(0, 1 << 20, width=2), np.zeros(5000, np.int32), budget())


def test_flags_are_0_or_1() -> None:
    flags = np.array([0, 9], np.uint8).view(bool)
    with pytest.raises(TypeError):
        _native.from_ranges(0, flags, ints(0, 97, 97, 1, width=4), 1 << 30, budget())


def test_a_budget_counts_forwards() -> None:
    small = budget(1000)
    small.charge(5)
    with pytest.raises(Exception, match="memory"):
        small.charge((1 << 63) - 1)
    mistakes: list[Callable[[], object]] = [lambda: small.spend(-1), lambda: small.release(6)]
    for wrong in mistakes:
        with pytest.raises(ValueError, match=r"negative|given back"):
            wrong()
    assert small.used_bytes == 5


def test_optional_arrays_are_held_during_a_call() -> None:
    remaining = np.zeros(0, np.int64)
    for budgets in (remaining, None):
        token_core.fill_bitmasks([], [], np.zeros((0, 9), np.int32), budgets, 1)
    wrong: Any = [1]
    with pytest.raises(TypeError):
        token_core.fill_bitmasks([], [], np.zeros((0, 9), np.int32), wrong, 1)


def test_long_chains_of_references_take_linear_time() -> None:
    def seconds(size: int) -> float:
        chain: dict[Any, Any] = {at: Reference(at + 1) for at in range(size)}
        chain[size] = MultipleOf(Fraction(7))
        restrict = Restriction(chain).number
        with CollectionsPaused():
            began = time.process_time()
            assert restrict(Reference(0)) == chain[size]
            return time.process_time() - began

    assert min(seconds(64_000) for _ in range(5)) < 10 * min(seconds(16_000) for _ in range(5))
