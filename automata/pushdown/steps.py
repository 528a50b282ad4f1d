"""Steps: from groups of steps to the tables of a pushdown automaton.

Most steps come in groups: from one state, with the same symbols popped and pushed, through one state of the network and
over a set of columns. A group costs a few microseconds of Python; its steps are written out by numpy, all groups at
once, and so are those that a state shares with another.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from automata.arrays import IntArray
from automata.pushdown.places import Stack, unpacked


class Sequences:
    """Sequences of symbols, each once, in one trie; symbols are numbered as they come."""

    def __init__(self) -> None:
        self.number: dict[Stack, int] = {(): 0}
        self.parent = [0]
        self.last = [0]
        self.symbol: dict[int, int] = {}

    def of(self, stack: Stack) -> int:
        """The number of a sequence."""
        found = self.number.get(stack)
        if found is None:
            parent = self.of(stack[:-1])
            symbol = self.symbol.setdefault(stack[-1], len(self.symbol))
            found = self.number[stack] = len(self.parent)
            self.parent.append(parent)
            self.last.append(symbol)
        return found


@dataclass(slots=True)
class Steps:
    """Steps as they are found; states are numbered by who finds them.

    Attributes:
        sequences: the pops and pushes.
        groups: (state, pops, pushes, state of the network, columns): each of these columns leads to where it leads in
            the network.
        sets: (state, pops, pushes, target, columns).
        shared: (state, other state): all steps of the other are steps of the state as well.
    """

    sequences: Sequences = field(default_factory=Sequences)
    groups: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    sets: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    shared: list[tuple[int, int]] = field(default_factory=list)

    def table(self, go: IntArray, target_of: IntArray) -> IntArray:
        """`[5, E]`, the steps of each state alone: state, column, pops, pushes, target; in this order, each once.

        Args:
            go: `[N, columns]`, the network's.
            target_of: `[N]`, the state that stands for a state of the network alone.
        """
        many = self.groups + self.sets
        number, column = np.nonzero(unpacked([group[4] for group in many], go.shape[1]))
        state, pops, pushes, target = np.array([group[:4] for group in many], np.int32).reshape(-1, 4)[number].T
        in_network = number < len(self.groups)
        target[in_network] = target_of[go[target[in_network], column[in_network]]]
        return unique(np.stack([state, column.astype(np.int32), pops, pushes, target]))

    def joined(self, steps: IntArray) -> IntArray:
        """`[5, E]`, the table with the steps that states share with others."""
        if not self.shared:
            return steps
        state, other = np.array(self.shared, np.int32).T
        begin, end = np.searchsorted(steps[0], other), np.searchsorted(steps[0], other, side="right")
        counts = end - begin
        copies = steps[:, np.arange(counts.sum()) + np.repeat(end - np.cumsum(counts), counts)]
        copies[0] = np.repeat(state, counts)
        return unique(np.concatenate([steps, copies], axis=1))


def unique(table: IntArray) -> IntArray:
    """The columns of a table in order, each once."""
    table = table[:, np.lexsort(table[::-1])]
    same = (table[:, 1:] == table[:, :-1]).all(axis=0)
    return table[:, np.append(True, ~same)[: table.shape[1]]]
