"""Part: a constraint as it stands in another one.

What is composed is an expression; what an expression cannot say (a network of nested rules, a grammar, an automaton) is
called in it by a name that stands for it. So there is one way to put parts together, that of expressions, whatever they
are made of.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from automata import expressions as ex
from automata.assertions import holds_assertion
from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.expressions import Call, Expr
from automata.pattern import parse
from automata.pushdown.grammar import Grammar
from automata.visibly_pushdown import VisiblyPushdownGrammar
from constraints.grammars.replacing import replaced
from constraints.values import Value
from tokenfst.lazy import SupportsLazy

# What can be a part: a pattern, an expression, an automaton, a grammar, or a constraint that is one of these.
Composable: TypeAlias = str | Expr | ByteAutomaton | Grammar | Compilable
Called: TypeAlias = ByteAutomaton | VisiblyPushdownGrammar | Grammar


class Part(NamedTuple):
    """An expression, whose call of `str(i)` stands for `called[i]`."""

    expr: Expr
    called: tuple[Called, ...] = ()


@runtime_checkable
class _WithGrammar(Protocol):
    """What is a grammar, or can be one."""

    def to_grammar(self) -> Grammar:
        """The grammar."""
        ...


@runtime_checkable
class _WithPart(Protocol):
    """What was composed before."""

    def to_part(self) -> Part:
        """Its expression and what that calls."""
        ...


def part_of(constraint: Composable) -> Part:
    """The part that a constraint is.

    Raises:
        PatternError: a pattern that cannot be honoured.
        TypeError: it is made in a way that cannot be looked into, such as an automaton with a stack.
    """
    if isinstance(constraint, str):
        constraint = parse(constraint)
    if isinstance(constraint, Value):
        constraint = constraint.expr
    if isinstance(constraint, Expr):
        # What it looks at is its own text, and nothing around it.
        return Part(ex.whole(constraint) if holds_assertion(constraint) else constraint)
    if isinstance(constraint, _WithPart):
        return constraint.to_part()
    if isinstance(constraint, SupportsLazy):
        return Part(ex.call("0"), (constraint.to_network(),))
    if isinstance(constraint, _WithGrammar):
        constraint = constraint.to_grammar()
    if isinstance(constraint, ByteAutomaton | Grammar):
        return Part(ex.call("0"), (constraint,))
    raise TypeError(f"{constraint!r} cannot be a part of another constraint")


def concatenated(parts: list[Part]) -> Part:
    """One part after the other."""
    exprs, called = _together(parts)
    return Part(ex.concat(*exprs), called)


def either(parts: list[Part]) -> Part:
    """Any one of some parts."""
    exprs, called = _together(parts)
    return Part(ex.alternation(*exprs), called)


def repeated(part: Part, low: int, high: int | None) -> Part:
    """A part so many times."""
    return Part(ex.repeat(part.expr, low, high), part.called)


def _together(parts: list[Part]) -> tuple[list[Expr], tuple[Called, ...]]:
    """The expressions of some parts, and all that they call, each once."""
    known: dict[int, int] = {}
    called: list[Called] = []
    for other in (other for part in parts for other in part.called):
        if id(other) not in known:
            known[id(other)] = len(called)
            called.append(other)

    def renumbered(part: Part) -> Expr:
        def call_of(node: Expr) -> Expr | None:
            return ex.call(str(known[id(part.called[int(node.name)])])) if isinstance(node, Call) else None

        return replaced(part.expr, call_of) if part.called else part.expr

    return [renumbered(part) for part in parts], tuple(called)
