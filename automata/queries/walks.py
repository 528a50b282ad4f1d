"""Paths through a byte automaton, one byte at a time.

    Walks       the arcs of each state in byte order, and a shortest path from each state to an end

The arcs of a state are listed when they are first needed, because most walks visit few of the states.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.graph import distances

# Lowest byte, highest byte, and the state that each of them leads to.
Run = tuple[int, int, int]


class Walks:
    """The paths through an automaton without labels."""

    def __init__(self, automaton: ByteAutomaton) -> None:
        self.start = automaton.start
        self.final: list[bool] = automaton.final.tolist()
        self._runs: dict[int, list[Run]] = {}
        self._arcs = automaton.range_arcs()
        self._offsets = np.searchsorted(self._arcs.source, np.arange(automaton.num_states + 1))
        self._ends = automaton.final

    def runs(self, state: int) -> list[Run]:
        """Return the arcs of a state over runs of bytes, in byte order."""
        runs = self._runs.get(state)
        if runs is None:
            _, low, high, target = self._arcs
            of_state = slice(self._offsets[state], self._offsets[state + 1])
            columns = (low[of_state].tolist(), high[of_state].tolist(), target[of_state].tolist())
            runs = self._runs[state] = list(zip(*columns, strict=True))
        return runs

    def arcs(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield the byte and the target of every arc of a state, in byte order."""
        for low, high, target in self.runs(state):
            for byte in range(low, high + 1):
                yield byte, target

    @cached_property
    def distance(self) -> IntArray:
        """The least number of bytes from each state to an end, `[Q]`."""
        return distances(self._arcs.source, self._arcs.target, self._ends)

    def finish(self, state: int) -> bytes:
        """Return the first in byte order among the shortest texts from a state to an end."""
        text = bytearray()
        while not self.final[state]:
            nearer = self.distance[state] - 1
            byte, state = next((low, target) for low, _, target in self.runs(state) if self.distance[target] == nearer)
            text.append(byte)
        return bytes(text)

    def random(self, generator: random.Random, max_length: int) -> bytes:
        """Draw a random text: at each step, all next bytes, and the end if the text may end, are equally likely."""
        text, state = bytearray(), self.start
        while len(text) < max_length:
            arcs = list(self.arcs(state))
            choice = generator.randrange(len(arcs) + self.final[state])
            if choice == len(arcs):
                return bytes(text)
            byte, state = arcs[choice]
            text.append(byte)
        return bytes(text) + self.finish(state)

    def texts(self) -> Iterator[bytes]:
        """Yield every text, by length and then in byte order."""
        source, target = self._arcs.source, self._arcs.target
        # possible[n][state] is whether some text of just n bytes leads from the state to an end. An infinite
        # language has such a state for every n; a finite one has none from some n on.
        possible: list[bytes] = []
        here = self._ends
        while here.any():
            possible.append(here.tobytes())
            yield from self._of_length(len(possible) - 1, possible)
            before = np.zeros_like(here)
            before[source[here[target]]] = True
            here = before

    def _of_length(self, length: int, possible: list[bytes]) -> Iterator[bytes]:
        """Yield the texts of one length in byte order; take no step that leads to none of them."""
        if not possible[length][self.start]:
            return
        if length == 0:
            yield b""
            return
        text = bytearray(length)
        branches = [self.arcs(self.start)]
        while branches:
            depth = len(branches)
            for byte, target in branches[-1]:
                if possible[length - depth][target]:
                    text[depth - 1] = byte
                    if depth < length:
                        branches.append(self.arcs(target))
                        break
                    yield bytes(text)
            else:
                branches.pop()
