"""Part: a constraint as a part of another one.

A composed constraint is one expression. What an expression cannot contain (a grammar of either kind, an automaton) is
called in it by a number. So parts of any kind are combined in the same way as expressions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.expressions import Call, Expr, whole
from automata.pattern import parse
from automata.pushdown.grammar import Grammar
from constraints.composing.rules import Rules, rules_of
from constraints.rewriting.replacing import replaced
from tokenfst.lazy import SupportsLazy
from tokenfst.misuse import not_a_constraint

if TYPE_CHECKING:
    from constraints.json_schema.reading.document import Note

# A pattern, an expression, an automaton, a grammar: their texts have no other values than themselves.
Unparsed: TypeAlias = str | Expr | ByteAutomaton | Grammar
# The constraints that can be parts; `part_of` says which `Compilable`s can.
Composable: TypeAlias = Unparsed | Compilable
Called: TypeAlias = ByteAutomaton | Rules | Grammar


class Part(NamedTuple):
    """An expression in which a call of `str(i)` stands for `called[i]`.

    Attributes:
        expr: the expression.
        called: what it calls.
        notes: the parts of schemas in it that constrain nothing.
    """

    expr: Expr
    called: tuple[Called, ...] = ()
    notes: tuple[Note, ...] = ()


@runtime_checkable
class _HasPart(Protocol):
    """A constraint that is an expression, or was composed."""

    def to_part(self) -> Part:
        """Return its expression and what that calls."""
        ...


def part_of(constraint: Composable) -> Part:
    """Return a constraint as a part.

    Raises:
        PatternError: the constraint is a pattern that cannot be honoured.
        TypeError: the argument is not a constraint, or cannot be a part, such as an automaton with a stack.
    """
    if isinstance(constraint, str):
        constraint = parse(constraint)
    if isinstance(constraint, Expr):
        return Part(whole(constraint))
    if isinstance(constraint, ByteAutomaton | Grammar):
        return Part(ex.call("0"), (constraint,))
    # A class has the same methods as its instances, but is not a constraint.
    if isinstance(constraint, type):
        raise not_a_constraint(constraint)
    if isinstance(constraint, _HasPart):
        return constraint.to_part()
    if isinstance(constraint, SupportsLazy):
        return Part(ex.call("0"), (rules_of(constraint),), getattr(constraint, "notes", ()))
    raise not_a_constraint(constraint)


def concatenated(parts: list[Part]) -> Part:
    """Return the concatenation of the parts. If several of them call one grammar with words, each calls a copy, because
    words of one part do not compete with those of the next."""
    exprs, called = _together(parts, in_a_row=True)
    return Part(ex.concat(*exprs), called, _notes(parts))


def either(parts: list[Part]) -> Part:
    """Return the union of the parts."""
    exprs, called = _together(parts, in_a_row=False)
    return Part(ex.alternation(*exprs), called, _notes(parts))


def repeated(part: Part, low: int, high: int | None) -> Part:
    """Return a part repeated between `low` and `high` times; None for `high` means no upper bound."""
    return part._replace(expr=ex.repeat(part.expr, low, high))


def _notes(parts: list[Part]) -> tuple[Note, ...]:
    return tuple(dict.fromkeys(note for part in parts for note in part.notes))


def _together(parts: list[Part], *, in_a_row: bool) -> tuple[list[Expr], tuple[Called, ...]]:
    """Return the expressions of some parts, and everything that they call, each once; with `in_a_row`, a grammar with
    words once for each part."""
    known: dict[tuple[int, int, int], int] = {}
    called: list[Called] = []
    exprs = []
    for place, part in enumerate(parts):
        numbers: list[int] = []
        met = Counter[int]()
        for other in part.called:
            has_words = isinstance(other, Grammar) and bool(other.lexical)
            key = (place if in_a_row and has_words else -1, id(other), met[id(other)])
            met[id(other)] += 1
            if key not in known:
                known[key] = len(called)
                called.append(other)
            numbers.append(known[key])
        exprs.append(_renumbered(part.expr, numbers) if part.called else part.expr)
    return exprs, tuple(called)


def _renumbered(expr: Expr, numbers: Sequence[int]) -> Expr:
    return replaced(expr, lambda node: ex.call(str(numbers[int(node.name)])) if isinstance(node, Call) else None)
