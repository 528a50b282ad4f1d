"""Value: an expression whose texts are values of Python, with what reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import TextNotAllowed
from automata.expressions import Expr
from automata.limits import Work
from constraints.parsed import Parsed

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Value(Parsed[T_co]):
    """A constraint on texts that stand for values; immutable, and equal to others by what it is made of.

    Attributes:
        expr: the texts, for use within larger expressions and grammars.
        read: the value of a text of `expr`.
    """

    expr: Expr
    read: Callable[[str], T_co]

    def to_automaton(self, work: Work) -> ByteAutomaton:
        """The automaton of the texts; see `Parsed`."""
        return compile_expr(self.expr, work)

    def parse(self, text: str) -> T_co:
        """The value that a text stands for.

        Raises:
            TextNotAllowed: the text is not one of `expr`'s, or Python cannot hold its value.
        """
        try:
            if _compiled(self.expr).accepts(text.encode()):
                return self.read(text)
        except ValueError:  # half a character, or an integer of more digits than Python reads
            pass
        raise TextNotAllowed("the constraint does not allow the text", text)


@lru_cache(64)
def _compiled(expr: Expr) -> ByteAutomaton:
    return compile_expr(expr)
