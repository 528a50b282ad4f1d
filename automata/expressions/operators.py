"""The operators that expressions and automata share: `+ | & - ~`, `repeat`, `star`, `plus` and `optional`.

    Operations      the functions behind the operators of one class
    Operators       the operators, as a base class

An operator returns a new object of its class, so its function is defined in a module that imports the class. That
module registers the functions with the class: `automata.expressions.constructors` for expressions, and
`automata.algebra.operations` for automata.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from automata.errors import wrong_type
from automata.fst_type import is_fst

Operand = TypeVar("Operand")
Result = TypeVar("Result")


class Operations(NamedTuple):
    """The functions behind the operators of a class.

    Attributes:
        operands: the types that an operator accepts as the other operand; other types may define the operator
            themselves.
    """

    operands: tuple[type, ...]
    concatenation: Callable[[Any, Any], Any]
    alternation: Callable[[Any, Any], Any]
    intersection: Callable[[Any, Any], Any]
    difference: Callable[[Any, Any], Any]
    complement: Callable[[Any], Any]
    repetition: Callable[[Any, int, int | None], Any]


class Operators(Generic[Operand, Result]):
    """The base class of languages that have operators; `Operand` is what an operator accepts, `Result` its result."""

    __slots__ = ()
    operations: ClassVar[Operations]

    def __add__(self, other: Operand) -> Result:
        return self._combined(self.operations.concatenation, self, other)

    def __radd__(self, other: Operand) -> Result:
        return self._combined(self.operations.concatenation, other, self)

    def __or__(self, other: Operand) -> Result:
        return self._combined(self.operations.alternation, self, other)

    def __ror__(self, other: Operand) -> Result:
        return self._combined(self.operations.alternation, other, self)

    def __and__(self, other: Operand) -> Result:
        return self._combined(self.operations.intersection, self, other)

    def __rand__(self, other: Operand) -> Result:
        return self._combined(self.operations.intersection, other, self)

    def __sub__(self, other: Operand) -> Result:
        return self._combined(self.operations.difference, self, other)

    def __rsub__(self, other: Operand) -> Result:
        return self._combined(self.operations.difference, other, self)

    def _combined(self, operation: Callable[[Any, Any], Any], left: object, right: object) -> Result:
        known = self.operations.operands
        accepted = isinstance(left, known) and isinstance(right, known)
        for operand in () if accepted else (left, right):
            if is_fst(operand):  # pynini's own error would be unclear
                raise wrong_type("an operand of the same kind, text or bytes", operand)
        return operation(left, right) if accepted else NotImplemented

    def __invert__(self) -> Result:
        complement: Result = self.operations.complement(self)
        return complement

    def repeat(self, low: int, high: int | None) -> Result:
        """Repeat between `low` and `high` times; None for `high` means no upper bound.

        Raises:
            ValueError: a bound is negative, or the upper bound is below the lower one.
        """
        repeated: Result = self.operations.repetition(self, low, high)
        return repeated

    def star(self) -> Result:
        """Repeat zero or more times."""
        return self.repeat(0, None)

    def plus(self) -> Result:
        """Repeat one or more times."""
        return self.repeat(1, None)

    def optional(self) -> Result:
        """Allow the empty text too."""
        return self.repeat(0, 1)
