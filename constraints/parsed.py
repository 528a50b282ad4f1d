"""Parsed: a constraint whose texts are values of Python, and the way back from text to value.

What a model wrote under a constraint is text; who asked for an integer or a dataclass wants that. A `Parsed[T]` is both
ends: `to_automaton` is what the model may write, and `parse` reads what it wrote. It evaluates no code, and reads
exactly the texts of the constraint, so that text from elsewhere is checked on the way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from automata.byte_automaton import ByteAutomaton
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton

T_co = TypeVar("T_co", covariant=True)


class Parsed(ABC, Generic[T_co]):
    """A constraint that reads its own texts; immutable. `tokenfst.compile` takes it."""

    __slots__ = ()

    @abstractmethod
    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        """The automaton of its texts.

        Raises:
            LimitExceeded: a limit was passed.
            Cancelled: another thread cancelled the compilation.
        """

    @abstractmethod
    def parse(self, text: str) -> T_co:
        """The value that a text stands for.

        Raises:
            TextNotAllowed: the constraint does not allow the text.
        """
