"""Rules whose exits are not all wanted where they are called.

A text must not go into a rule on a way that leads only to exits after which the caller cannot go on. Which exits those
are depends on the place of the call, so a rule is taken apart: a copy for each set of exits that is wanted somewhere,
with the states that lead to one of them. Nearly always each rule is called for all of its exits, and nothing is done.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from automata.transition.determinize import Transitions
from automata.distance import distances
from automata.errors import LimitExceeded
from automata.limits import Work
from automata.transition.minimize import minimize
from automata.nested.assembly import Symbols
from automata.arrays import IntArray

# A rule and the exits that are wanted of it.
Wanted = tuple[int, frozenset[int]]

# What stands for a symbol until all copies are known: its kind, and the number of a copy, or of a copy's exit.
_KIND = 1 << 40
_START, _CALL, _EXIT = _KIND, 2 * _KIND, 3 * _KIND


def by_exits(start: int, automaton: Transitions, meaning: Symbols, work: Work) -> tuple[int, Transitions, Symbols]:
    """The automaton with a rule for each set of exits wanted: its start, transitions and symbols.

    Raises:
        LimitExceeded: there are more states than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    copies = _Copies(start, automaton, meaning)
    for wanted in copies.wanted:
        copies.add(wanted)
        work.check()
        if copies.num_states > work.limits.states:
            raise LimitExceeded(f"the rules have more than {work.limits.states:,} states (limit `states`)")
    found, symbols = copies.automaton()
    begin, found = minimize(found, work.stop)
    work.check()
    return begin, found, symbols


class _Copies:
    """The copies as they are found; all arcs but those of the first state are edges, so that a call leads on where one
    of its exits does."""

    def __init__(self, start: int, automaton: Transitions, meaning: Symbols) -> None:
        self.meaning = meaning
        first = meaning.num_blocks + meaning.num_labels
        self.first_start, self.first_call = first, first + meaning.num_rules
        self.first_exit = self.first_call + meaning.num_rules
        begins = automaton.source == start
        self.rule_start = np.full(meaning.num_rules, -1, np.int32)
        self.rule_start[automaton.symbol[begins] - first] = automaton.target[begins]
        self.arcs = np.stack([automaton.source, automaton.symbol, automaton.target])[:, ~begins]
        self.final = automaton.final
        self.ends = self.final[self.arcs[2]]
        exits = np.diff(meaning.first_exit)
        self.num_ways = int(exits.max())
        # Of each exit, its number in its rule.
        self.way_of = np.arange(meaning.first_exit[-1]) - np.repeat(meaning.first_exit[:-1], exits)
        # The list grows while it is gone through; copies are numbered in its order.
        self.wanted: list[Wanted] = [(0, frozenset([0]))]
        self.number: dict[Wanted, int] = {self.wanted[0]: 0}
        self.num_states = 2
        self.found: list[npt.NDArray[np.int64]] = []

    def add(self, wanted: Wanted) -> None:
        """Adds a copy, and the copies that it calls to those wanted."""
        rule, exits = wanted
        source, symbol, target = self.arcs
        own = self.meaning.first_exit[rule], self.meaning.first_exit[rule + 1]
        way = symbol - self.first_exit
        unwanted = ~np.isin(way, [own[0] + each for each in exits]) & (way >= own[0]) & (way < own[1])
        source, symbol, target = self.arcs[:, ~(self.ends & unwanted)]
        alive = distances(source, target, self.final) >= 0
        source, symbol, target = np.stack([source, symbol, target])[:, alive[source] & alive[target]]
        begins = np.zeros(len(self.final), np.bool_)
        begins[self.rule_start[rule]] = True
        mine = (distances(target, source, begins) >= 0) & ~self.final
        kept = mine[source]
        source, symbol, target = source[kept], symbol[kept], target[kept]
        number = np.where(self.final, 1, self.num_states - 1 + np.cumsum(mine)).astype(np.int32)
        self.num_states += int(mine.sum())
        begin = self.number[wanted]
        self.found.append(np.array([[0], [_START + begin], [number[self.rule_start[rule]]]]))
        symbol = self.symbols(begin, source, symbol, target)
        self.found.append(np.stack([number[source], symbol, number[target]]))

    def symbols(self, copy: int, source: IntArray, symbol: IntArray, target: IntArray) -> npt.NDArray[np.int64]:
        """The symbols of a copy's arcs: those of bytes and labels as they are, others by copies."""
        found: npt.NDArray[np.int64] = symbol.astype(np.int64)
        way_of = self.way_of[np.maximum(symbol - self.first_exit, 0)]
        # Where a call leads to: the exits after which it goes on.
        ways: dict[int, list[int]] = {}
        returns = np.flatnonzero((symbol >= self.first_exit) & ~self.final[target])
        for state, way in zip(source[returns].tolist(), way_of[returns].tolist(), strict=True):
            ways.setdefault(state, []).append(way)
        callee: dict[int, int] = {}
        for call in np.flatnonzero((symbol >= self.first_call) & (symbol < self.first_exit)).tolist():
            wanted = int(symbol[call]) - self.first_call, frozenset(ways[int(target[call])])
            number = self.number.setdefault(wanted, len(self.wanted))
            if number == len(self.wanted):
                self.wanted.append(wanted)
            found[call] = _CALL + number
            callee[int(target[call])] = number
        for place in returns.tolist():
            found[place] = _EXIT + callee[int(source[place])] * self.num_ways + way_of[place]
        ends = self.final[target]
        found[ends] = _EXIT + copy * self.num_ways + way_of[ends]
        return found

    def automaton(self) -> tuple[Transitions, Symbols]:
        """The copies as one automaton, whose first state is 0, and its symbols; all have as many exits."""
        meaning, copies = self.meaning, len(self.wanted)
        first = meaning.num_blocks + meaning.num_labels
        source, symbol, target = np.concatenate(self.found, axis=1)
        kind, number = np.divmod(symbol, _KIND)
        symbol = number + np.array([0, first, first + copies, first + 2 * copies])[kind]
        final = np.zeros(self.num_states, np.bool_)
        final[1] = True
        arcs = (array.astype(np.int32) for array in (source, symbol, target))
        first_exit = np.arange(copies + 1, dtype=np.int32) * self.num_ways
        return Transitions(final, *arcs), Symbols(meaning.num_blocks, meaning.num_labels, copies, first_exit)
