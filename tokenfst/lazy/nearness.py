"""Nearness: how far the end is from the configurations of a lazy automaton, found as it is asked for.

Where distances come from depends on what is stepped through; what a stack means for them is a context and a cost in all
three (`tokenfst.lazy.near_walk`). The end token is counted, whether the vocabulary has one or not.

    ByBytes     an automaton over bytes: the bytes to an end, by a search from the ends; no stack
    ByStack     a pushdown automaton: the same with its stack, by `tokenfst.pushdown.distance` over single bytes
    ByExits     a network: how far the exits of a rule are (`tokenfst.lazy.network_distance`), and what is behind them
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from automata.distance import distances
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.stacks import SYMBOL
from tokenfst.lazy.near_walk import UNSEEN, Near, distance, note_cells
from tokenfst.lazy.network_distance import counted_bytes, distances_to_exits, lifted
from tokenfst.lazy.program import Machine
from tokenfst.transition.loops import Ints
from tokenfst.pushdown.compile import from_pushdown
from tokenfst.transition.pushdown_distance import FAR, Contexts, Vectors, Ways
from tokenfst.vocabulary import Vocabulary

# How many pairs of context and symbol a walk may meet at a time before they are told.
_MOST_WANTED = 64


class Source(Protocol):
    """Where distances come from.

    Attributes:
        far, units: as of `tokenfst.lazy.near_walk.Near`.
        num_exits: E.
    """

    far: Ints
    units: Ints
    num_exits: int

    def near(self, context: int, size: int) -> Ints:
        """What is known of `near` for a context, `[size]`."""
        ...

    def vector(self, context: int) -> Ints:
        """What lies behind the exits of the rule at hand, `[E]`."""
        ...

    def onto(self, machine: Machine, context: int, symbol: int) -> tuple[int, int]:
        """The context with one symbol more, and its cost; new contexts are numbered on."""
        ...


class ByBytes:
    """Distances of an automaton over bytes."""

    num_exits = 0

    def __init__(self, machine: Machine) -> None:
        self.far: Ints = np.zeros((0, 0), np.int32)
        self.units: Ints = np.zeros(0, np.int32)
        source, column = np.nonzero(machine.table >= 0)
        ends = machine.ends == 0
        self._near = distances(source.astype(np.int32), machine.table[source, column], ends) + np.int32(1)

    def near(self, context: int, size: int) -> Ints:
        """See `Source`."""
        return self._near

    def vector(self, context: int) -> Ints:
        """See `Source`."""
        return self.units

    def onto(self, machine: Machine, context: int, symbol: int) -> tuple[int, int]:
        """See `Source`; nothing is pushed."""
        raise AssertionError(f"an automaton without a stack has pushed {symbol}")


class ByStack:
    """Distances of a pushdown automaton."""

    num_exits = 0

    def __init__(self, automaton: PushdownAutomaton) -> None:
        self.far: Ints = np.zeros((0, 0), np.int32)
        self.units: Ints = np.zeros(0, np.int32)
        single = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], [256])
        self._contexts = Contexts(Ways(from_pushdown(automaton, single, work=Work()).tables))

    def near(self, context: int, size: int) -> Ints:
        """See `Source`."""
        return self._contexts.vectors[context][:size]

    def vector(self, context: int) -> Ints:
        """See `Source`."""
        return self.units

    def onto(self, machine: Machine, context: int, symbol: int) -> tuple[int, int]:
        """See `Source`."""
        return self._contexts.onto(context, symbol)


class ByExits:
    """Distances of a network of rules."""

    def __init__(self, machine: Machine, vocabulary: Vocabulary) -> None:
        self.far = distances_to_exits(machine, vocabulary.whole_trie)
        self.units = counted_bytes(machine)
        self.num_exits = self.far.shape[1]
        # The whole text ends by the first exit, and then with the end token.
        first: Ints = np.full(self.num_exits, FAR, np.int32)
        first[0] = 1
        self._vectors = Vectors(first)

    def near(self, context: int, size: int) -> Ints:
        """See `Source`."""
        return np.full(size, UNSEEN, np.int32)

    def vector(self, context: int) -> Ints:
        """See `Source`."""
        return self._vectors.known[context]

    def onto(self, machine: Machine, context: int, symbol: int) -> tuple[int, int]:
        """See `Source`."""
        return self._vectors.number(lifted(machine, symbol, self.far, self._vectors.known[context]))


class Nearness:
    """What is known of distances, in arrays that grow; whoever uses it holds the lock of the automaton.

    Attributes:
        arrays: what kernels take.
        noted: `[N, 2]`, context and cost by cell.
        wanted: where walks note what they need.
    """

    def __init__(self, source: Source, machine: Machine, num_symbols: int) -> None:
        self._source = source
        self._known = 0
        self._cells_noted = 1
        size, num_exits = len(machine.table), source.num_exits
        near, onto, cost, vectors = (_unseen(0, width) for width in (size, num_symbols, num_symbols, num_exits))
        self.arrays = Near(near, onto, cost, source.far, source.units, vectors)
        self.noted: Ints = np.zeros((1, 2), np.int32)
        self.wanted: Ints = np.zeros((_MOST_WANTED, 2), np.int32)
        self._add(0)

    def of(self, machine: Machine, cells: Ints, state: int, top: int) -> int:
        """How far the end is from a configuration, the end token counted."""
        self.follow(machine, cells)
        context, cost = self.noted[top].tolist()
        return int(distance(machine, self.arrays, context, cost, state))

    def follow(self, machine: Machine, cells: Ints) -> None:
        """Takes note of all states and cells that are there for good."""
        if len(machine.table) > self.arrays.near.shape[1]:
            # Only where states are sets do they become more, and then symbols are the same sets.
            more = len(machine.table) - self.arrays.near.shape[1]
            near, onto, cost = (np.concatenate([array, _unseen(len(array), more)], axis=1) for array in self.arrays[:3])
            self.arrays = self.arrays._replace(near=near, onto=onto, cost=cost)
        if len(cells) > len(self.noted):
            self.noted = np.concatenate([self.noted, np.zeros((len(cells) - len(self.noted), 2), np.int32)])
        count = cells.item(0, SYMBOL)
        while self._cells_noted < count:
            number = note_cells(cells, self.arrays, self.noted, self._cells_noted, self.wanted)
            if number == 0:
                self._cells_noted = count
            self.tell(machine, number)

    def tell(self, machine: Machine, number: int) -> None:
        """Finds so many pairs that are wanted."""
        for context, symbol in set(map(tuple, self.wanted[:number].tolist())):
            above, cost = self._source.onto(machine, context, symbol)
            if above >= self._known:
                self._add(above)
            self.arrays.onto[context, symbol], self.arrays.cost[context, symbol] = above, cost

    def _add(self, context: int) -> None:
        """Adds a context, which is the next."""
        if context >= len(self.arrays.near):
            near, onto, cost, _, _, vectors = self.arrays
            rows = max(4, context)
            near, onto, cost, vectors = (
                np.concatenate([array, _unseen(rows, array.shape[1])]) for array in (near, onto, cost, vectors)
            )
            self.arrays = self.arrays._replace(near=near, onto=onto, cost=cost, vectors=vectors)
        self.arrays.near[context] = self._source.near(context, self.arrays.near.shape[1])
        self.arrays.vectors[context] = self._source.vector(context)
        self._known = context + 1


def _unseen(rows: int, columns: int) -> Ints:
    return np.full((rows, columns), UNSEEN, np.int32)
