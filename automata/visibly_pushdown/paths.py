"""CountedPaths: the texts of an automaton whose path enters a number of counted states that is between two bounds.

A string with a pattern and a length is read by the automaton of the pattern, in which each character enters one of the
states between characters. Its intersection with the length has a copy of that automaton for each number of characters:
millions of states. CountedPaths keeps the automaton, the counted states and the bounds instead. Lazy automata make the
copies that a text reaches, and in these the states that lead to an end:

    least, most     the least and the greatest number of counted states that a path from a state to an end enters

From a state where c counted states have been entered, some text leads to an end if a number between `least` and `most`
lies between `low - c` and `high - c`. This is exact if one of the bounds does not matter, or if every number between
least and most is the number of some path; `counted_paths` accepts only these cases. (Others, such as an even number of
characters between three and seven, are left to the intersection of automata.)
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

# Stands for the greatest number of counted states if there is none.
ENDLESS: Final = (1 << 31) - 1


@dataclass(frozen=True, eq=False, slots=True)
class CountedPaths:
    """The texts of an automaton whose path enters between `low` and `high` counted states; not empty.

    Attributes:
        automaton: an automaton without labels. Every cycle has a counted state, and every counted state has an arc.
        counted: `[Q]`, which states are counted when they are entered.
        least, most: `[Q]`, see the module; `ENDLESS` if there is no greatest number.
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
    def nbytes(self) -> int:
        """The memory of the automaton and the arrays."""
        return self.automaton.nbytes + self.counted.nbytes + self.least.nbytes + self.most.nbytes

    @property
    def num_states(self) -> int:
        """An upper bound of the number of states of `expanded`."""
        return (max(self.low, self.high or 0) + 2) * self.automaton.num_states

    def after(self, text: bytes) -> CountedPaths:
        """Return what follows a prefix that all of these texts have in common."""
        start, entered = self.start, 0
        for byte in text:
            start = self.automaton.step(start, bytes([byte]))
            entered += int(self.counted[start])
        high = None if self.high is None else self.high - entered
        low = max(self.low - entered, 0)
        return CountedPaths(self.automaton, self.counted, self.least, self.most, low, high, start)

    @property
    def numbers(self) -> IntArray:
        """`[Q, 3]`, for each state whether it is counted, `least` and `most`."""
        return np.stack([self.counted, self.least, self.most], axis=1).astype(np.int32)

    def expanded(self, work: Work | None = None) -> ByteAutomaton:
        """Return the minimal automaton, from a bounded cache.

        Raises:
            LimitExceeded: a bound takes too many states, or the time is up.
            Cancelled: the compilation was cancelled.
        """
        return _expanded.get_or_make(self, lambda: _written_out(self, current_work(work)))


def counted_paths(
    automaton: ByteAutomaton, counted: BoolArray, low: int, high: int | None, work: Work | None = None
) -> CountedPaths | None:
    """Return the texts of an automaton that enter between `low` and `high` counted states; None if there are none, if
    they cannot be kept exactly (see the module), or if a counted state has no arc."""
    tables = automaton.tables
    exact, least, most = _native.path_numbers(tables, np.ascontiguousarray(counted), current_work(work).budget)
    start = automaton.start
    has_ends = bool((counted & is_last(automaton)).any())
    is_empty = (high is not None and least[start] > high) or (most[start] != ENDLESS and most[start] < low)
    # If one bound does not matter, the other is compared only with the least or only with the greatest number.
    is_exact = exact or high is None or low <= least[start] or most[start] <= high
    if not is_exact or has_ends or is_empty:
        return None
    return CountedPaths(automaton, counted, least, most, low, high, start)


def is_last(automaton: ByteAutomaton) -> BoolArray:
    """Return `[Q]`, the states without arcs."""
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
