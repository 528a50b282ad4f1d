"""CountedPaths: the texts of an automaton that enter some of its states so many times.

A string with a pattern and a length is read by the automaton of the pattern, and each character enters one of the
states between two characters. The intersection with the length has a copy of that automaton for each number of
characters: millions of states. So it is kept as what it is, an automaton, the states that are counted, and two bounds.
Automata that are made on demand have the copies that a text comes to, and in these the states that lead on:

    least, most     how many counted states are entered at least and at most from a state on, to the end

From a state where c have been entered the text leads on if some number between its least and its most is between
`low - c` and `high - c`. This is exact where one of the bounds says nothing, or where every number between least and
most is the number of some text; so nothing else is taken (`counted_paths`). An even number of characters that are three
to seven is written out as an intersection of automata.
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
from automata.limits import Work, current_work

# The most that a state may be followed by, where there is no bound.
ENDLESS: Final = (1 << 31) - 1


@dataclass(frozen=True, eq=False, slots=True)
class CountedPaths:
    """The texts of an automaton on whose way between `low` and `high` counted states are entered; some there are.

    Attributes:
        automaton: without labels. No way around is without a counted state, and texts go on behind each of these.
        counted: `[Q]`, which states are counted when they are entered.
        least, most: `[Q]`, see the module.
        low, high: the bounds; None for no bound.
        start: where texts begin.
    """

    automaton: ByteAutomaton
    counted: BoolArray
    least: IntArray
    most: IntArray
    low: int
    high: int | None
    start: int

    @property
    def num_states(self) -> int:
        """How many states it takes to write it out, or some more."""
        return (max(self.low, self.high or 0) + 2) * self.automaton.num_states

    def behind(self, text: bytes) -> CountedPaths:
        """Return what may follow a text that all of these begin with."""
        start, entered = self.start, 0
        for byte in text:
            start = self.automaton.step(start, bytes([byte]))
            entered += int(self.counted[start])
        high = None if self.high is None else self.high - entered
        low = max(self.low - entered, 0)
        return CountedPaths(self.automaton, self.counted, self.least, self.most, low, high, start)

    @property
    def numbers(self) -> IntArray:
        """`[Q, 3]`, for each state whether it is counted, and the least and the most."""
        return np.stack([self.counted, self.least, self.most], axis=1).astype(np.int32)

    def expanded(self, work: Work | None = None) -> ByteAutomaton:
        """Return the minimal automaton; kept for those used last.

        Raises:
            LimitExceeded: a bound takes too many states, or the time is up.
            Cancelled: the compilation was cancelled.
        """
        return _expanded.get_or_make(self, lambda: _written_out(self, current_work(work)))


def counted_paths(
    automaton: ByteAutomaton, counted: BoolArray, low: int, high: int | None, work: Work | None = None
) -> CountedPaths | None:
    """Return the texts of an automaton that enter so many counted states; None where there are none, or where numbers
    between the least and the most are missing."""
    tables = automaton.tables
    exact, least, most = _native.path_numbers(tables, np.ascontiguousarray(counted), current_work(work).budget)
    start = automaton.start
    has_ends = bool((counted & is_last(automaton)).any())
    is_empty = (high is not None and least[start] > high) or (most[start] != ENDLESS and most[start] < low)
    # Where one bound says nothing, the other one asks for the least or the most, whatever is between them.
    is_exact = exact or high is None or low <= least[start] or most[start] <= high
    if not is_exact or has_ends or is_empty:
        return None
    return CountedPaths(automaton, counted, least, most, low, high, start)


def is_last(automaton: ByteAutomaton) -> BoolArray:
    """Return `[Q]`, which states no byte leads on from."""
    leads = np.zeros(automaton.num_states, np.bool_)
    leads[automaton.range_arcs().source] = True
    return ~leads


_expanded: Final = BoundedCache[CountedPaths, ByteAutomaton](64)


def _written_out(paths: CountedPaths, work: Work) -> ByteAutomaton:
    bound, num_arcs = paths.low if paths.high is None else paths.high, len(paths.automaton.range_arcs().source)
    limit = work.limits.arcs // max(num_arcs, 1)
    if bound > limit:
        raise LimitExceeded(
            f"counting to {numeral(bound)} takes too many states; at most {limit:,} are written out", limit="arcs"
        )
    high = -1 if paths.high is None else paths.high
    tables = _native.expanded_paths(
        paths.automaton.tables, paths.numbers, paths.start, paths.low, high, SPARSE, work.budget
    )
    return ByteAutomaton(tables)
