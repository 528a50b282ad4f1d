"""The base class of expressions: hashing, comparison and operators.

    Expr            the base class of the nodes (`automata.expressions.nodes`)
    ExprFunctions   the methods that higher-level modules define

Nodes are immutable, and copies of them are the same object. Hashing and comparing them does not recurse, so nesting may
be arbitrarily deep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from automata.acceptor_tables import Semiring
from automata.copying import Shared
from automata.errors import UnsupportedSchema
from automata.expressions.operators import Operators

if TYPE_CHECKING:
    from automata.drawing import Drawing

_set = object.__setattr__
# The approximate memory of a leaf in bytes.
_LEAF_BYTES: Final = 16


class Expr(Shared, Operators["Expr | str | bytes", "Expr"]):
    """A language of bytes. The operators are `+ | & - ~`, `repeat`, `star`, ...; operands may also be literal text.

    Attributes:
        size: the number of leaves, with repetitions written out; a measure of the work of compiling the expression.
    """

    __slots__ = ("_hash", "size")
    functions: ClassVar[ExprFunctions]
    _hash: int
    size: int

    # The names of a node's parts, in the order of its arguments; patterns of `match` use them too.
    __match_args__: tuple[str, ...] = ()

    def _key(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    @property
    def nbytes(self) -> int:
        """The approximate memory of the expression in bytes, from its `size`; a set of characters is one leaf."""
        return _LEAF_BYTES * self.size

    def operands(self) -> tuple[Expr, ...]:
        """Return the direct parts of this expression, in order."""
        return ()

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            pass
        try:
            value = hash((type(self), self._key()))
            _set(self, "_hash", value)
            return value
        except RecursionError:
            return _hashed(self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        # Most compared expressions differ in type, and comparing types takes less time than hashing.
        return type(self) is type(other) and hash(self) == hash(other) and _equal(self, other)

    def __reduce__(self) -> tuple[type[Expr], tuple[object, ...]]:
        return type(self), self._key()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._key()))})"

    def __str__(self) -> str:
        """Write the expression as a regular expression in the syntax of `automata.pattern`."""
        return self.functions.to_pattern(self)

    def weighted(self, cost: float, semiring: Semiring = "tropical") -> Expr:
        """Return the same texts, each at an additional cost; a negative cost makes them preferred.

        Args:
            cost: the amount subtracted from the score of every text, such as the negative logarithm of a probability.
            semiring: the cost of a text that several alternatives allow: "tropical" for the least of their costs,
                "log" for the negative logarithm of the sum of their probabilities.

        Raises:
            ValueError: the cost is not finite, or there is no such semiring.
        """
        return self.functions.weighted(self, cost, semiring)

    def __get_pydantic_json_schema__(
        self, core_schema: object, handler: Callable[[object], dict[str, object]]
    ) -> dict[str, object]:
        """Return the JSON Schema of `Annotated[str, expr, ...]`: what all expressions allow. Pydantic calls this.

        Raises:
            UnsupportedSchema: the annotated type is not str.
        """
        schema = handler(core_schema)
        if schema.get("type") != "string":
            raise UnsupportedSchema("an expression in Annotated is for str only", keyword="pattern")
        return {"type": "string", "allOf": [schema, {"pattern": self}]}  # the next expression looks for the type

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: str | bytes | None = None,
    ) -> Drawing:
        """Draw the minimal automaton of the expression, with its costs if it has weights; see `ByteAutomaton.draw`.

        Raises:
            LimitExceeded: the automaton is too large.
            TextNotAllowed, ValueError: as for `ByteAutomaton.draw`.
        """
        return self.functions.draw(self, title, around, radius, path)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the pattern, and a picture of the automaton if it compiles quickly."""
        return self.functions.to_html(self)


class ExprFunctions(NamedTuple):
    """The methods of expressions that higher-level modules define and register (`automata.algebra.operations`)."""

    to_pattern: Callable[[Expr], str]
    draw: Callable[[Expr, str | None, int | None, int, str | bytes | None], Drawing]
    to_html: Callable[[Expr], str]
    weighted: Callable[[Expr, float, Semiring], Expr]


def _hashed(expr: Expr) -> int:
    """Hash an expression after its parts, without recursion."""
    stack = [expr]
    while stack:
        node = stack[-1]
        missing = [part for part in node.operands() if part.operands() and not hasattr(part, "_hash")]
        if missing:
            stack += missing
        else:
            _set(stack.pop(), "_hash", hash((type(node), node._key())))
    return expr._hash


def _equal(left: Expr, right: Expr) -> bool:
    """Return whether two expressions are equal node by node, without recursion."""
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        mine, others = a.operands(), b.operands()
        if type(a) is not type(b) or len(mine) != len(others) or (not mine and a._key() != b._key()):
            return False
        if len(mine) == 1 and a._key()[1:] != b._key()[1:]:
            return False
        stack += zip(mine, others, strict=True)
    return True
