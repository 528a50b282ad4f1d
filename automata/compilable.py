"""Compilable: an object that becomes an automaton over bytes, such as a JSON Schema that has been read.

Constraints beyond patterns and grammars are defined above this package; this protocol is all that a compilation needs
of them.
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
        """Return the automaton of the allowed texts: over bytes alone, or with a stack.

        Args:
            work: the limits, and how the compilation is stopped.

        Raises:
            EmptyLanguage: no text is allowed.
            LimitExceeded: a limit was passed.
            Cancelled: another thread cancelled the compilation.
        """
        ...
