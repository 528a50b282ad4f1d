"""Value: an expression whose texts stand for Python values, with a function that reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from automata.byte_automaton import ByteAutomaton
from automata.compile.blame import excerpt
from automata.compile.compiler import compile_expr
from automata.drawing import shown
from automata.errors import TextNotAllowed
from automata.expressions import Expr
from automata.limits import Work
from constraints.composing.parsed import Parsed
from constraints.composing.part import Part, part_of

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Value(Parsed[T_co]):
    """A constraint whose texts stand for values; immutable, and equal to others with the same attributes.

    Attributes:
        expr: the texts, for use within larger expressions and grammars.
        read: returns the value of a text of `expr`.
    """

    expr: Expr
    read: Callable[[str], T_co]

    def __repr__(self) -> str:
        return f"<Value of {excerpt(self.expr)}>"

    def __get_pydantic_json_schema__(
        self, core_schema: object, handler: Callable[[object], dict[str, object]]
    ) -> dict[str, object]:
        """Return the JSON Schema of `Annotated[str, value]`, as for its expression."""
        return self.expr.__get_pydantic_json_schema__(core_schema, handler)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the texts."""
        return shown("value", "parse() reads it") + self.expr._repr_html_()

    def to_part(self) -> Part:
        """Return the texts, for use within composed constraints."""
        return part_of(self.expr)

    def walked(self) -> Expr:
        """Return the texts, whose parts explanations name."""
        return self.expr

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton:
        """Return the automaton of the texts; see `Parsed`."""
        return compile_expr(self.expr, work)

    def parse(self, text: str) -> T_co:
        """Return the value that a text stands for.

        Raises:
            TextNotAllowed: the text is not in `expr`, or Python cannot represent its value.
        """
        if not self.allows(text):
            raise TextNotAllowed("the constraint does not allow the text", text)
        try:
            return self.read(text)
        except ValueError as error:  # an integer of more digits than Python reads
            raise TextNotAllowed(f"Python cannot read it: {error}", text) from error
