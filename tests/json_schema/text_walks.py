"""Random texts of an automaton over bytes, with a stack or without.

A walk goes class by class of bytes rather than byte by byte, so that brackets come up as often as letters, and turns
for the nearest end once it is long enough. Every configuration leads on to an end, so that there is one to be found.
"""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Final, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.step_table import Configuration

Walked: TypeAlias = ByteAutomaton | PushdownAutomaton
MAX_SEARCHED: Final = 20_000


class Walker:
    """The ways through an automaton, which is deterministic."""

    def __init__(self, automaton: Walked) -> None:
        self.start: Configuration = (automaton.start, ())
        self._end = automaton.num_classes
        self._bytes: list[list[int]] = [[] for _ in range(self._end)]
        for byte, column in enumerate(automaton.byte_class.tolist()):
            self._bytes[column].append(byte)
        if isinstance(automaton, PushdownAutomaton):
            self._steps = automaton.steps_by_state()
        else:
            ends: list[list[int]] = [[self._end] if final else [] for final in automaton.final.tolist()]
            self._steps = [
                [
                    *((column, (), (), target) for column, target in enumerate(row) if target >= 0),
                    *((column, (), (), state) for column in ends[state]),
                ]
                for state, row in enumerate(automaton.next.tolist())
            ]

    def options(self, configuration: Configuration) -> list[tuple[int, Configuration]]:
        """The columns that can be read, and where they lead."""
        state, stack = configuration
        found = []
        for column, pops, pushes, target in self._steps[state]:
            kept = len(stack) - len(pops)
            if stack[kept:] == pops:
                found.append((column, (target, stack[:kept] + pushes)))
        return found

    def random(self, generator: Random, length: int) -> bytes | None:
        """A text, which turns for the end after `length` bytes; None where that is too far to be found."""
        text, at = bytearray(), self.start
        while len(text) < length:
            column, at = generator.choice(self.options(at))
            if column == self._end:
                return bytes(text)
            text.append(generator.choice(self._bytes[column]))
        rest = self._shortest(at)
        return None if rest is None else bytes(text) + bytes(generator.choice(self._bytes[column]) for column in rest)

    def _shortest(self, configuration: Configuration) -> list[int] | None:
        """The columns of a shortest way to an end."""
        arrivals: dict[Configuration, tuple[Configuration, int] | None] = {configuration: None}
        queue = deque([configuration])
        while queue and len(arrivals) < MAX_SEARCHED:
            here = queue.popleft()
            for column, there in self.options(here):
                if column == self._end:
                    return self._way(arrivals, here)
                if there not in arrivals:
                    arrivals[there] = here, column
                    queue.append(there)
        return None

    @staticmethod
    def _way(arrivals: dict[Configuration, tuple[Configuration, int] | None], here: Configuration) -> list[int]:
        way = []
        while (before := arrivals[here]) is not None:
            here, column = before
            way.append(column)
        return way[::-1]
