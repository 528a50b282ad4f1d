"""Questions about byte automata: are two languages equal, what is the shortest text, what are some texts.

Emptiness and membership are properties of `ByteAutomaton` itself. Every question takes an automaton or an
expression.

Rejected: OpenFst's `randgen` and `shortestpath` (their choice among equals is not specified, so neither a seed
nor "the first in byte order" would mean the same in the next version).
"""

from __future__ import annotations

import random

import numpy as np
import pywrapfst

from automata.byte_automaton import ByteAutomaton
from automata.compile import compile_expr
from automata.distance import distances
from automata.errors import EmptyLanguage
from automata.expr import Expr


def equivalent(left: ByteAutomaton | Expr, right: ByteAutomaton | Expr) -> bool:
    """Whether both are the same language."""
    a, b = _automaton(left), _automaton(right)
    labels = tuple(sorted({*a.labels, *b.labels}))
    return bool(pywrapfst.equivalent(a.fst(labels), b.fst(labels)))


def shortest(language: ByteAutomaton | Expr) -> bytes | None:
    """The first in byte order among the shortest texts; None where there is none at all."""
    automaton = _automaton(language)
    return None if automaton.is_empty else _Walks(automaton).finish(automaton.start)


def random_strings(language: ByteAutomaton | Expr, count: int, *, seed: int, max_length: int = 64) -> list[bytes]:
    """Random texts of the language: each step takes any next byte, or the end where there can be one, alike.

    Args:
        language: the language.
        count: how many texts; they may repeat.
        seed: the same seed gives the same texts.
        max_length: from this length on, a text takes the shortest way to an end.

    Raises:
        EmptyLanguage: there is no text.
    """
    automaton = _automaton(language)
    if automaton.is_empty:
        raise EmptyLanguage("there is no text to choose from")
    walks, generator = _Walks(automaton), random.Random(seed)
    return [walks.random(generator, max_length) for _ in range(count)]


def _automaton(language: ByteAutomaton | Expr) -> ByteAutomaton:
    return compile_expr(language) if isinstance(language, Expr) else language


class _Walks:
    """An automaton as lists, with every state's distance to an end."""

    def __init__(self, automaton: ByteAutomaton) -> None:
        self.start = automaton.start
        self.final: list[bool] = automaton.final.tolist()
        # Byte and target of every state's arcs, by byte.
        self.arcs: list[list[tuple[int, int]]] = [
            [(byte, target) for byte, target in enumerate(row) if target >= 0] for row in automaton.by_byte().tolist()
        ]
        # The least number of bytes from each state to an end.
        source, column = np.nonzero(automaton.next >= 0)
        target = automaton.next[source, column]
        self.distance: list[int] = distances(source.astype(np.int32), target, automaton.final).tolist()

    def finish(self, state: int) -> bytes:
        """The first in byte order among the shortest texts from a state to an end."""
        text = bytearray()
        while not self.final[state]:
            nearer = self.distance[state] - 1
            byte, state = next(arc for arc in self.arcs[state] if self.distance[arc[1]] == nearer)
            text.append(byte)
        return bytes(text)

    def random(self, generator: random.Random, max_length: int) -> bytes:
        """A random text from the start."""
        text, state = bytearray(), self.start
        while len(text) < max_length:
            arcs = self.arcs[state]
            choice = generator.randrange(len(arcs) + self.final[state])
            if choice == len(arcs):
                return bytes(text)
            byte, state = arcs[choice]
            text.append(byte)
        return bytes(text) + self.finish(state)
