"""Steps: from groups of steps to the tables of a pushdown automaton.

Most steps come in groups: from one state, with the same symbols popped and pushed, through one state of the network and
over a set of columns. A group costs a few microseconds of Python; its steps are written out by numpy, all groups at
once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from automata.openfst import IntArray
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
        single: (state, column, pops, pushes, target).
    """

    sequences: Sequences = field(default_factory=Sequences)
    groups: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    single: list[tuple[int, int, int, int, int]] = field(default_factory=list)

    def table(self, go: IntArray, target_of: IntArray) -> IntArray:
        """`[5, E]`, all steps: state, column, pops, pushes, target; in this order, each once.

        Args:
            go: `[N, columns]`, the network's.
            target_of: `[N]`, the state that stands for a state of the network alone.
        """
        singles = np.array(self.single, np.int32).reshape(-1, 5).T
        parts = [singles]
        if self.groups:
            state, pops, pushes, place = np.array([group[:4] for group in self.groups], np.int32).T
            number, column = np.nonzero(unpacked([group[4] for group in self.groups], go.shape[1]))
            target = target_of[go[place[number], column]]
            parts.append(np.stack([state[number], column.astype(np.int32), pops[number], pushes[number], target]))
        steps = np.concatenate(parts, axis=1)
        steps = steps[:, np.lexsort((steps[4], steps[3], steps[2], steps[1], steps[0]))]
        same = (steps[:, 1:] == steps[:, :-1]).all(axis=0)
        return steps[:, np.append(True, ~same)[: steps.shape[1]]]
