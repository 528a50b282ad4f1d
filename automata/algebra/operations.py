"""Operations on compiled languages; the operators of `ByteAutomaton`.

    intersection, difference, complement
    alternation, concatenation, repetition
    rest                                        what may follow a prefix

Each takes automata, expressions or literal text and returns a minimal automaton: for automata, `a & b` is the automaton
of the expression `a & b`. So each operation compiles that expression, with a leaf in place of each automaton.

An operation on an expression and an automaton returns an automaton; `automata.algebra.elimination.to_expr` converts it
to an expression.

This module imports both classes and their functions. It registers the operators of automata, and those methods of
expressions that need higher-level modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from automata import _native
from automata import expressions as ex
from automata.byte_automaton import DENSE_BYTES, SPARSE, ByteAutomaton, Operand
from automata.compile.compiler import Compiler, compile_expr
from automata.compile.constructions import product
from automata.drawing import Drawing, shown
from automata.errors import LimitExceeded, TokenfstError, wrong_type
from automata.expressions import Alternation, Expr
from automata.expressions.base import ExprFunctions
from automata.expressions.nodes import has_weights
from automata.expressions.operators import Operations
from automata.expressions.printing import to_pattern
from automata.limits import Limits, Work, current_work
from automata.weighted.automaton import WeightedByteAutomaton
from automata.weighted.compile import compile_weighted

RegularLanguage: TypeAlias = ByteAutomaton | Expr

_set = object.__setattr__
# The limits of compiling an expression for a notebook; they are low because the user has not asked for an automaton.
_SHOWN = Limits(states=10_000, memory=1 << 26, seconds=1.0)


def automaton_of(language: RegularLanguage) -> ByteAutomaton:
    """Return the automaton of a language.

    Raises:
        TypeError: it is neither an automaton nor an expression; text could be meant literally or as a pattern.
    """
    if isinstance(language, ByteAutomaton):
        return language
    if not isinstance(language, Expr):
        raise wrong_type("an automaton or an expression", language)
    return compile_expr(language)


def intersection(left: Operand, right: Operand) -> ByteAutomaton:
    """Return the texts that are in both."""
    if isinstance(left, ByteAutomaton) and isinstance(right, ByteAutomaton):
        return _product(left, right, difference=False)
    return _compiled(ex.intersection, left, right)


def difference(left: Operand, right: Operand) -> ByteAutomaton:
    """Return the texts that are in `left` and not in `right`."""
    if isinstance(left, ByteAutomaton) and isinstance(right, ByteAutomaton):
        return _product(left, right, difference=True)
    return _compiled(ex.difference, left, right)


def complement(inner: Operand) -> ByteAutomaton:
    """Return all texts (sequences of UTF-8 characters) that are not in `inner`."""
    return _compiled(ex.complement, inner)


def alternation(*parts: Operand) -> ByteAutomaton:
    """Return the texts that are in any of the parts."""
    return _compiled(ex.alternation, *parts)


def concatenation(*parts: Operand) -> ByteAutomaton:
    """Return the texts made of a text of each part, one after the other."""
    return _compiled(ex.concat, *parts)


def repetition(inner: Operand, low: int, high: int | None = None) -> ByteAutomaton:
    """Repeat `inner` between `low` and `high` times; `high` None means no bound.

    Raises:
        ValueError: a negative bound, or an upper bound below the lower one.
    """
    return _compiled(lambda part: ex.repeat(part, low, high), inner)


def rest(automaton: ByteAutomaton, prefix: bytes) -> ByteAutomaton:
    """Return what may follow a prefix: the texts t for which `prefix + t` is in the language."""
    state = automaton.step(automaton.start, prefix)
    if state < 0:
        return compile_expr(ex.EMPTY)
    if not automaton.labels:
        dense_bytes = SPARSE if automaton.is_sparse else DENSE_BYTES
        return ByteAutomaton(_native.from_state(automaton.tables, state, dense_bytes, current_work().budget))
    # Make the automaton with another start, and compile it to drop the states that can no longer be reached.
    make, (_, *arrays) = automaton.__reduce__()
    return _compiled(lambda part: Alternation((part,)), make(state, *arrays))


class _StandIn(Expr):
    """A leaf that stands for an automaton in an expression that is being compiled; used only in this module."""

    __slots__ = ("automaton",)
    automaton: ByteAutomaton

    def __init__(self, automaton: ByteAutomaton) -> None:
        _set(self, "automaton", automaton)
        _set(self, "size", automaton.num_arcs)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<automaton of {self.automaton.num_states:,} states>"


def _compiled(operation: Callable[..., Expr], *operands: Operand) -> ByteAutomaton:
    """Return the automaton of an operation on expressions, where some operands are automata.

    Raises:
        TypeError: an operand is neither an automaton nor an expression nor text.
        LimitExceeded: the result is too large.
    """
    parts = [_StandIn(operand) if isinstance(operand, ByteAutomaton) else operand for operand in operands]
    for part in parts:
        if not isinstance(part, Expr | str | bytes):
            raise wrong_type("an automaton, an expression or text", part)
    # To blame a part, the compiler would compile parts again on their own, and it cannot compile a stand-in.
    compiler = Compiler(current_work(), blames=False)
    compiler.done |= {part: part.automaton for part in parts if isinstance(part, _StandIn)}
    return compiler.compile(operation(*parts))


def _product(left: ByteAutomaton, right: ByteAutomaton, *, difference: bool) -> ByteAutomaton:
    """Return the same as `_compiled` of two automata, in half the time if they are small.

    Raises:
        LimitExceeded: the result is too large.
    """
    try:
        return product(left, right, current_work(), difference=difference)
    except LimitExceeded as error:
        raise error.of("a deterministic automaton") from None


def _draw(expr: Expr, title: str | None, around: int | None, radius: int, path: str | bytes | None) -> Drawing:
    return _automaton(expr).draw(title=title, around=around, radius=radius, path=path)


def _automaton(expr: Expr) -> ByteAutomaton | WeightedByteAutomaton:
    return compile_weighted(expr) if has_weights(expr) else compile_expr(expr)


def _to_html(expr: Expr) -> str:
    """Return what a notebook shows of an expression: its pattern, and its automaton unless that is too large."""
    try:
        pattern = to_pattern(expr)
    except TokenfstError:
        pattern = repr(expr)
    try:
        with Work(_SHOWN).current():
            automaton = _automaton(expr)._repr_html_()
    except TokenfstError as error:
        automaton = shown("no picture", str(error))
    return shown("expression", pattern) + automaton


ByteAutomaton.operations = Operations(
    (ByteAutomaton, Expr, str, bytes), concatenation, alternation, intersection, difference, complement, repetition
)
Expr.functions = ExprFunctions(to_pattern, _draw, _to_html, ex.weighted)
