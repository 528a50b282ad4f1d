"""Operations on compiled languages; the operators of `ByteAutomaton`.

    intersection, difference, complement        on the tables of the operands
    alternation, concatenation, repetition      laid out side by side, then made deterministic and minimal
    rest                                        what is left after a prefix

Each takes automata, expressions or literal text and gives an automaton, minimal again: `a & b` of automata is the
automaton of `a & b` of expressions. Where an expression meets an automaton the result is an automaton, because an
expression cannot hold one; `automata.elimination.to_expr` is the way back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile import combine, compile_expr, of_fragment
from automata.expr import Expr
from automata.thompson import Fragment, Layout

Language: TypeAlias = ByteAutomaton | Expr
Operand: TypeAlias = Language | str | bytes


def automaton_of(operand: Operand) -> ByteAutomaton:
    """The automaton of an operand; text stands for itself.

    Raises:
        TypeError: something else.
    """
    if isinstance(operand, ByteAutomaton):
        return operand
    if not isinstance(operand, Expr | str | bytes):
        raise TypeError(f"a language is an automaton, an expression or text, and not {type(operand).__name__}")
    return compile_expr(operand if isinstance(operand, Expr) else ex.literal(operand))


def intersection(left: Operand, right: Operand) -> ByteAutomaton:
    """What is in both."""
    return combine(automaton_of(left), automaton_of(right), difference=False)


def difference(left: Operand, right: Operand) -> ByteAutomaton:
    """What is in `left` and not in `right`."""
    return combine(automaton_of(left), automaton_of(right), difference=True)


def complement(inner: Operand) -> ByteAutomaton:
    """Every text (sequence of UTF-8 characters) that is not in `inner`."""
    return difference(ex.ANY_TEXT, inner)


def alternation(*parts: Operand) -> ByteAutomaton:
    """Any one of the parts."""
    return _laid_out(ex.alternation, *parts)


def concatenation(*parts: Operand) -> ByteAutomaton:
    """One part after the other."""
    return _laid_out(ex.concat, *parts)


def repetition(inner: Operand, low: int, high: int | None = None) -> ByteAutomaton:
    """`inner` between `low` and `high` times; `high` None is no bound.

    Raises:
        ValueError: a negative bound, or an upper bound below the lower one.
    """
    return _laid_out(lambda part: ex.repeat(part, low, high), inner)


class _StandIn(Expr):
    """Stands for an automaton in an expression while that is laid out; it never leaves this file."""

    __slots__ = ("number",)
    __match_args__ = ("number",)
    number: int

    def __init__(self, number: int, size: int) -> None:
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "size", size)


def _laid_out(operation: Callable[..., Expr], *operands: Operand) -> ByteAutomaton:
    """The automaton of an operation on expressions, with the operands' automata in their place."""
    automata = [automaton_of(operand) for operand in operands]
    parts = [_StandIn(number, len(automaton.edges()[0])) for number, automaton in enumerate(automata)]
    known: dict[Expr, ByteAutomaton] = dict(zip(parts, automata, strict=True))
    return of_fragment(Layout(known.__getitem__).lay(operation(*parts)))


def rest(automaton: ByteAutomaton, prefix: bytes) -> ByteAutomaton:
    """What can follow a prefix: the texts t for which `prefix + t` is in the language; see `automata.derivative`."""
    state, fragment = automaton.step(automaton.start, prefix), Fragment()
    if state >= 0:
        fragment.copy_of(automaton, 0, 1, begin=state)
    return of_fragment(fragment)
