"""Expressions whose alternatives and repetitions have the order in which a backtracking engine tries them.

    Choice(parts)                    any one of the parts, the first one first
    Loop(inner, low, high, lazy)     between `low` and `high` times: as many as possible first, or as few (`lazy`)
    unordered(expr)                  the same language without an order

They may be combined with the nodes of `automata.expressions.nodes` in one expression, and have a meaning only for
`automata.preference.preferred`. Their language as a set of texts is that of `unordered`.

Rejected: an order in `Alternation` and `Repetition` themselves, whose normal form merges expressions that differ only
in order, and which nearly always describe a set.
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Alternation, Concatenation, Expr, Lookahead, Lookbehind, Repetition
from automata.expressions.nodes import OfParts

_set = object.__setattr__


class Choice(OfParts):
    """Any one of the parts; earlier ones are preferred."""

    __slots__ = ()


class Loop(Expr):
    """`inner` between `low` and `high` times; None for `high` means no upper bound. More times are preferred, or fewer
    if the loop is lazy."""

    __slots__ = ("high", "inner", "lazy", "low")
    __match_args__ = ("inner", "low", "high", "lazy")
    inner: Expr
    low: int
    high: int | None
    lazy: bool

    def __init__(self, inner: Expr, low: int, high: int | None, lazy: bool) -> None:
        _set(self, "inner", inner)
        _set(self, "low", low)
        _set(self, "high", high)
        _set(self, "lazy", lazy)
        _set(self, "size", inner.size * max(low if high is None else high, 1))

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


def unordered(expr: Expr) -> Expr:
    """Return the language of an expression as a set of texts, without recursion."""
    known: dict[int, Expr] = {}  # by identity, to avoid hashing
    stack = [expr]
    while stack:
        node = stack[-1]
        missing = [part for part in node.operands() if id(part) not in known]
        if missing:
            stack += missing
        else:
            known[id(stack.pop())] = _unordered(node, [known[id(part)] for part in node.operands()])
    return known[id(expr)]


def _unordered(node: Expr, parts: list[Expr]) -> Expr:
    match node:
        case Choice() | Alternation():
            return ex.alternation(*parts)
        case Loop(_, low, high, _) | Repetition(_, low, high):
            return ex.repeat(parts[0], low, high)
        case Concatenation():
            return ex.concat(*parts)
        case Lookahead():
            return ex.lookahead(parts[0], negated=node.negated)
        case Lookbehind():
            return ex.lookbehind(parts[0], negated=node.negated)
        case _:
            return node
