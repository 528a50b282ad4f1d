"""Compilable: whatever knows how to become an automaton over bytes, such as a JSON Schema that has been read.

Constraints that are more than a pattern or a grammar are objects of their own, defined above this package; this is all
that a compilation asks of them.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from automata.byte_automaton import ByteAutomaton
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton


@runtime_checkable
class Compilable(Protocol):
    """A constraint that makes its own automaton."""

    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts that are allowed: over bytes alone, or with a stack.

        Args:
            work: the limits, and how the compilation is stopped.

        Raises:
            EmptyLanguage: no text is allowed.
            LimitExceeded: a limit was passed.
            Cancelled: another thread cancelled the compilation.
        """
        ...
