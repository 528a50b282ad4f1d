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
from functools import lru_cache

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.transition.determinize import Transitions
from automata.errors import LimitExceeded
from automata.transition.grouping import grouped
from automata.transition.intervals import over_intervals
from automata.jit import kernel, plain_kernel
from automata.limits import DEFAULT_LIMITS, Flag, under_way
from automata.transition.minimize import minimize
from automata.arrays import BoolArray, IntArray
from automata.distance import bottom_up
from automata.transition.sparse import HIGH, LOW, REACHED, by_state
from automata.transition.tabulate import SPARSE, Tables, from_either, no_tables, tabulate

# The most that a state may be followed by, where there is no bound.
ENDLESS = (1 << 31) - 1


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
        """What may follow a text that all of these begin with."""
        start, entered = self.start, 0
        for byte in text:
            start = self.automaton.step(start, bytes([byte]))
            entered += int(self.counted[start])
        high = None if self.high is None else self.high - entered
        low = max(self.low - entered, 0)
        return CountedPaths(self.automaton, self.counted, self.least, self.most, low, high, start)

    def expanded(self) -> ByteAutomaton:
        """The minimal automaton; kept for those used last.

        Raises:
            LimitExceeded: a bound takes too many states.
        """
        return _expanded(self)


def counted_paths(automaton: ByteAutomaton, counted: BoolArray, low: int, high: int | None) -> CountedPaths | None:
    """The texts of an automaton that enter so many counted states; None where there are none, or where numbers between
    the least and the most are missing."""
    offsets, arcs = by_state(automaton)
    exact, least, most = _numbers(automaton.final, offsets, arcs, counted)
    start = automaton.start
    has_ends = bool((counted & (offsets[1:] == offsets[:-1])).any())
    is_empty = (high is not None and least[start] > high) or (most[start] != ENDLESS and most[start] < low)
    # Where one bound says nothing, the other one asks for the least or the most, whatever is between them.
    is_exact = exact or high is None or low <= least[start] or most[start] <= high
    if not is_exact or has_ends or is_empty:
        return None
    return CountedPaths(automaton, counted, least, most, low, high, start)


@kernel
def _numbers(
    final: BoolArray, offsets: IntArray, arcs: IntArray, counted: BoolArray
) -> tuple[bool, IntArray, IntArray]:
    """Whether each number between the least and the most of each state is that of some text, and these `[Q]`."""
    num_states = len(final)
    source = np.empty(len(arcs), np.int32)
    for state in range(num_states):
        source[offsets[state] : offsets[state + 1]] = state
    entered, entering = grouped(num_states, arcs[:, REACHED])
    least = _least(final, source, counted, entered, entering)
    most = _most(offsets, arcs, source, counted)
    # Without a way around that counts nothing, what a state leads to says which numbers there are.
    inside = np.flatnonzero(~counted[arcs[:, REACHED]])
    exact = len(bottom_up(num_states, source[inside], arcs[inside, REACHED])) == num_states
    # Numbers from and up to, of what a state leads to, in order.
    runs = np.empty((257, 2), np.int64)
    for state in range(num_states):
        count = 0
        if final[state]:
            runs[0, 0] = runs[0, 1] = 0
            count = 1
        for arc in range(offsets[state], offsets[state + 1]):
            target = arcs[arc, REACHED]
            first = np.int64(least[target]) + counted[target]
            last = ENDLESS if most[target] == ENDLESS else np.int64(most[target]) + counted[target]
            place = count
            while place and runs[place - 1, 0] > first:
                runs[place] = runs[place - 1]
                place -= 1
            runs[place, 0], runs[place, 1] = first, last
            count += 1
        last = runs[0, 1]
        for run in range(1, count):
            exact = exact and runs[run, 0] <= last + 1
            last = max(last, runs[run, 1])
    return exact, least, most


@kernel
def _least(final: BoolArray, source: IntArray, counted: BoolArray, entered: IntArray, entering: IntArray) -> IntArray:
    """How many counted states are entered at least from each state to an end."""
    num_states = len(final)
    least = np.full(num_states, ENDLESS, np.int32)
    # States of one number, and of the next: each may be found once for either.
    now, later, size, more = np.empty(2 * num_states, np.int32), np.empty(2 * num_states, np.int32), 0, 0
    for state in range(num_states):
        if final[state]:
            least[state] = 0
            now[size] = state
            size += 1
    number = 0
    while size:
        while size:
            size -= 1
            state = now[size]
            if least[state] != number:
                continue
            for place in range(entered[state], entered[state + 1]):
                before = source[entering[place]]
                if least[before] > number + counted[state]:
                    least[before] = number + counted[state]
                    if counted[state]:
                        later[more] = before
                        more += 1
                    else:
                        now[size] = before
                        size += 1
        now, later, size, more = later, now, more, 0
        number += 1
    return least


@kernel
def _most(offsets: IntArray, arcs: IntArray, source: IntArray, counted: BoolArray) -> IntArray:
    """How many counted states are entered at most from each state to an end."""
    most = np.full(len(offsets) - 1, ENDLESS, np.int32)
    for state in bottom_up(len(most), source, arcs[:, REACHED]):
        most[state] = 0
        for arc in range(offsets[state], offsets[state + 1]):
            target = arcs[arc, REACHED]
            most[state] = max(most[state], most[target] + counted[target])
    return most


@lru_cache(maxsize=64)
def _expanded(paths: CountedPaths) -> ByteAutomaton:
    offsets, arcs = by_state(paths.automaton)
    bound = paths.low if paths.high is None else paths.high
    limit = DEFAULT_LIMITS.arcs // max(len(arcs), 1)
    if bound > limit:
        raise LimitExceeded(f"counting to {bound:,} takes too many states; at most {limit:,} are written out")
    high = -1 if paths.high is None else paths.high
    with under_way(None) as work:
        tables = _written(
            paths.start, paths.automaton.final, offsets, arcs, paths.counted, paths.least, paths.most, paths.low, high,
            work.limits.table_bytes, work.stop,
        )  # fmt: skip
        work.check()
    return from_either(tables, ())


@plain_kernel
def leads_on(count: int, low: int, high: int, least: int, most: int) -> bool:
    """Whether texts go on from a state where so many counted states have been entered; `high` -1 for no bound."""
    return (high < 0 or count + least <= high) and count + most >= low


@kernel
def _written(
    start: int, final: BoolArray, offsets: IntArray, arcs: IntArray, counted: BoolArray, least: IntArray,
    most: IntArray, low: int, high: int, max_bytes: int, stop: Flag,
) -> Tables:  # fmt: skip
    """The tables of the minimal automaton."""
    num_states, bound = len(final), high if high >= 0 else low
    number = np.full(num_states * (bound + 1), -1, np.int32)
    pairs, ends = np.empty(len(number), np.int32), np.zeros(len(number), np.bool_)
    ranges, size = np.empty((1024, 4), np.int32), 0
    number[start], pairs[0], found, at = 0, start, 1, 0
    while at < found and stop[0] == 0:
        state, count = pairs[at] % num_states, pairs[at] // num_states
        ends[at] = final[state] and count >= low
        needed = size + offsets[state + 1] - offsets[state]
        if needed > len(ranges):
            longer = np.empty((2 * needed, 4), np.int32)
            longer[:size] = ranges[:size]
            ranges = longer
        for arc in range(offsets[state], offsets[state + 1]):
            target = arcs[arc, REACHED]
            after = min(count + counted[target], bound) if high < 0 else count + counted[target]
            if leads_on(after, low, high, least[target], most[target]):
                pair = after * num_states + target
                if number[pair] < 0:
                    number[pair], pairs[found] = found, pair
                    found += 1
                ranges[size, 0], ranges[size, 1] = at, arcs[arc, LOW]
                ranges[size, 2], ranges[size, 3] = arcs[arc, HIGH], number[pair]
                size += 1
        at += 1
    interval, written, over = over_intervals(ranges[:size], 0, max_bytes)
    if not written or stop[0]:
        return no_tables()
    begin, minimal = minimize(Transitions(ends[:found].copy(), over[0], over[1], over[2]), stop)
    return tabulate(begin, minimal, interval, 0, SPARSE)
