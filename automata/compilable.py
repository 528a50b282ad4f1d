"""Compilable: an object that can be made into an automaton over bytes, such as a JSON Schema that has been read.

Constraints other than patterns and grammars are defined in higher-level packages. To be compiled, they only need to
implement this protocol.
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
        """Return the automaton of the allowed texts, a byte automaton or a pushdown automaton.

        Args:
            work: the limits of the compilation, and the means to stop it.

        Raises:
            EmptyLanguage: no text is allowed.
            LimitExceeded: a limit was exceeded.
            Cancelled: another thread cancelled the compilation.
        """
        ...
