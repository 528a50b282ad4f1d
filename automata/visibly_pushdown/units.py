"""CountedUnits: a number of consecutive texts of one language, written out only if necessary.

A string of at most 65,535 characters takes thirteen states for each character if all spellings are read. So such a
language is stored as a unit and two bounds. Lazy automata count in steps (`native/tokenfst/lazy/nfa.h`); for all other
automata, the repetition is written out in flat arrays, without minimization, because the result is already minimal.

The registers of `automata.counted` and these units cannot replace each other. A register belongs to one deterministic
automaton over bytes: its values are guards in the functions of tokens, and two counts at once are refused. Units are
used inside rules, with any number of them in one text, and in the subset construction of a lazy automaton, where
several counts are active at once and each configuration has its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from automata import _native
from automata.arrays import BoolArray, IntArray
from automata.byte_automaton import SPARSE, ByteAutomaton
from automata.cache import BoundedCache
from automata.compile.blame import numeral
from automata.errors import LimitExceeded
from automata.graph import bottom_up
from automata.limits import Work, current_work
from automata.visibly_pushdown.paths import CountedPaths, counted_paths

# The memory of a copy of an arc and of temporary arrays, in bytes.
_COPY_BYTES = 40


@dataclass(frozen=True, slots=True)
class CountedUnits:
    """Between `low` and `high` texts of a language, one after the other, between an opening and a closing text.

    Attributes:
        unit: the language, finite, without labels and without the empty text. None of its texts is a prefix of another.
        low: the least number of units.
        high: the greatest number of units, None for no bound.
        opening: the bytes before the first unit.
        closing: the bytes after the last unit. They are not a prefix of any sequence of units.

    Raises:
        ValueError: the unit is not such a language, or a bound is negative or above the other.
    """

    unit: ByteAutomaton
    low: int
    high: int | None = None
    opening: bytes = b""
    closing: bytes = b""

    def __post_init__(self) -> None:
        source, target = self.unit.edges()
        final = np.flatnonzero(self.unit.final)
        is_finite = len(bottom_up(self.unit.num_states, source, target)) == self.unit.num_states
        if len(final) != 1 or final[0] in source or self.unit.start in final or not is_finite or self.unit.labels:
            raise ValueError("a unit's texts must be such that none begins another one, and finitely many")
        if not 0 <= self.low <= (self.low if self.high is None else self.high):
            raise ValueError(f"there are no counts from {self.low} to {self.high}")

    @property
    def nbytes(self) -> int:
        """The memory of the unit."""
        return self.unit.nbytes

    @property
    def num_states(self) -> int:
        """An upper bound of the number of states of `expanded`."""
        return (max(self.low, self.high or 0) + 2) * self.unit.num_states + len(self.opening) + len(self.closing)

    def expanded(self, work: Work | None = None) -> ByteAutomaton:
        """Return the automaton, from a bounded cache; it is minimal if units are the spellings of characters.

        Raises:
            LimitExceeded: a bound takes too many states, or too much memory.
            Cancelled: the compilation was cancelled.
        """
        return _expanded.get_or_make(self, lambda: _written_out(self, current_work(work)))

    def paths(self, work: Work | None = None) -> CountedPaths:
        """Return the same as counted paths, which count the state after each unit; from a bounded cache."""
        return _paths.get_or_make(self, lambda: _as_paths(self, current_work(work)))


_expanded: Final = BoundedCache[CountedUnits, ByteAutomaton](64)
_paths: Final = BoundedCache[CountedUnits, CountedPaths](256)


def _as_paths(counted: CountedUnits, work: Work) -> CountedPaths:
    unit = counted.unit
    arcs, num_states = _around(unit)
    before = _chain(counted.opening, num_states)
    if counted.opening:
        before[-1, 3] = 0
    closing = _chain(counted.closing, num_states + len(before) - 1)
    closing[:1, 0] = 0
    ranges = np.concatenate([arcs, before, closing])
    num_states += len(before) + len(closing)
    start = num_states - len(closing) - len(before) if counted.opening else 0
    final = np.arange(num_states) == (num_states - 1 if counted.closing else 0)
    automaton = _automaton(start, final, ranges, work)
    is_between = np.arange(num_states) == automaton.step(automaton.start, counted.opening)
    # The opening enters the first state between units.
    more = len(counted.opening) > 0
    high = None if counted.high is None else counted.high + more
    paths = counted_paths(automaton, is_between, counted.low + more, high, work)
    assert paths is not None, "any number of units can be read"
    return paths


def _automaton(start: int, final: BoolArray, ranges: IntArray, work: Work) -> ByteAutomaton:
    return ByteAutomaton(_native.from_ranges(start, final, ranges, SPARSE, work.budget))


def _around(unit: ByteAutomaton) -> tuple[IntArray, int]:
    """Return the arcs of a unit with its start and its end as state 0, and the number of states."""
    end = int(np.flatnonzero(unit.final)[0])
    number = np.full(unit.num_states, -1, np.int32)
    number[unit.start] = number[end] = 0
    number[number < 0] = range(1, unit.num_states - 1)
    arcs = np.stack(unit.range_arcs(), axis=1)
    arcs[:, [0, 3]] = number[arcs[:, [0, 3]]]
    return arcs, unit.num_states - 1


def _written_out(counted: CountedUnits, work: Work) -> ByteAutomaton:
    ranges, final = counted_arcs(*_around(counted.unit), counted.low, counted.high, work)
    num_states, start = len(final), 0
    if counted.opening:
        before = _chain(counted.opening, num_states)
        start, before[-1, 3] = num_states, 0
        ranges, num_states = np.concatenate([ranges, before]), num_states + len(before)
    final = np.append(final, np.zeros(num_states - len(final), np.bool_))
    if counted.closing:
        closing = _chain(counted.closing, num_states - 1)
        ends = np.flatnonzero(final).astype(np.int32)
        first = np.repeat(closing[:1], len(ends), axis=0)
        first[:, 0] = ends
        ranges, num_states = np.concatenate([ranges, first, closing[1:]]), num_states + len(closing)
        final = np.arange(num_states) == num_states - 1
    return _automaton(start, final, ranges, work)


def _chain(text: bytes, first: int) -> IntArray:
    """Return the arcs `[A, 4]` of a text, through states from `first` up."""
    states, letters = np.arange(first, first + len(text), dtype=np.int32), np.frombuffer(text, np.uint8)
    return np.stack([states, letters, letters, states + 1], axis=1).astype(np.int32)


def counted_arcs(
    arcs: IntArray, num_states: int, low: int, high: int | None, work: Work | None = None
) -> tuple[IntArray, BoolArray]:
    """Return the arcs `[A, 4]` and the final states `[Q]` of between `low` and `high` units, from state 0.

    Args:
        arcs: `[A, 4]`, source, lowest and highest byte, and target; units begin and end in state 0.
        num_states: the number of states of a unit.
        low, high: the bounds.
        work: the limits; without it, those of the current compilation.

    Raises:
        LimitExceeded: there are more arcs than an expression may have, or they take too much memory.
    """
    work = current_work(work)
    # Without an upper bound, the loop reads the last of the `low` units.
    num_copies = max(low - 1, 0) if high is None else high
    if num_copies * len(arcs) > work.limits.arcs:
        most = work.limits.arcs // len(arcs)
        raise LimitExceeded(
            f"counting to {numeral(max(low, high or 0))} takes too many states; at most {most:,} are written out",
            limit="arcs",
        )
    num_bytes = _COPY_BYTES * num_copies * len(arcs)
    work.budget.charge(num_bytes)
    try:
        return _counted_arcs(arcs, num_states, num_copies, low, high)
    finally:
        work.budget.release(num_bytes)


def _counted_arcs(
    arcs: IntArray, num_states: int, num_copies: int, low: int, high: int | None
) -> tuple[IntArray, BoolArray]:
    copies = np.tile(arcs, (num_copies, 1)) if num_copies else arcs[:0]
    copy = np.repeat(np.arange(num_copies, dtype=np.int32), len(arcs))
    copies[:, 0] += copy * num_states
    copies[:, 3] += np.where(copies[:, 3] == 0, copy + 1, copy) * num_states
    last = num_copies * num_states
    if high is not None:
        final = np.zeros(last + 1, np.bool_)
        final[low * num_states :: num_states] = True
        return copies, final
    loop = last + (low > 0)
    final = np.arange(loop + num_states) == loop
    around = arcs + np.array([loop, 0, 0, loop], np.int32)
    entering = around[arcs[:, 0] == 0] if low else around[:0]
    entering[:, 0] = last
    return np.concatenate([copies, entering, around]), final
