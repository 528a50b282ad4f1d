"""From an expression to its minimal byte automaton: lay out, cut the bytes, determinize, minimize, tabulate.

The layout has arcs over byte ranges. Their ends cut the 256 bytes into intervals that no arc tells apart, and automata
are built over intervals in place of bytes: a pattern with `[^"]` has some twenty of them, so automata stay small where
arcs over bytes would be hundreds. Lists of strings have a construction of their own (`automata.word_list`), and so have
intersection and difference (`automata.product`).

Rejected: one arc a byte (twenty times the arcs for free text); OpenFst for determinization and minimization as well,
which took a quarter of the whole way from pattern to token tables for quoted text, and a third for a JSON object. It
is what the tests compare with.
"""

from __future__ import annotations

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.determinize import determinize
from automata.expr import Complement, Difference, Expr, Intersection, Strings, Substring
from automata.intervals import over_intervals
from automata.jit import kernel
from automata.minimize import minimize
from automata.openfst import IntArray
from automata.product import product
from automata.substring import substring_arcs
from automata.tabulate import (
    DENSE_BYTES,
    MAX_ARCS,
    TOO_MANY_ARCS,
    TOO_MANY_STATES,
    Tables,
    exceeded,
    from_either,
    tabulate,
)
from automata.thompson import Fragment, Layout
from automata.word_list import word_list

# Deterministic states before minimization: where patterns whose automaton explodes stop.
MAX_STATES = 1_000_000


def compile_expr(expr: Expr) -> ByteAutomaton:
    """The minimal deterministic trim automaton of a language.

    Raises:
        LimitExceeded: the expression is too large to lay out.
    """
    return _Compiler().compile(expr)


class _Compiler:
    """One compilation: equal sub-expressions are compiled once."""

    def __init__(self) -> None:
        self.done: dict[Expr, ByteAutomaton] = {}

    def compile(self, expr: Expr) -> ByteAutomaton:
        automaton = self.done.get(expr)
        if automaton is None:
            automaton = self.done[expr] = self.construct(expr)
        return automaton

    def construct(self, expr: Expr) -> ByteAutomaton:
        if isinstance(expr, Intersection):
            return _combine(self.compile(expr.left), self.compile(expr.right), difference=False)
        if isinstance(expr, Difference):
            return _combine(self.compile(expr.left), self.compile(expr.right), difference=True)
        if isinstance(expr, Complement):
            return _combine(self.compile(ex.ANY_TEXT), self.compile(expr.inner), difference=True)
        if isinstance(expr, Strings):
            return word_list(expr.values)
        if isinstance(expr, Substring):
            num_states, arcs, epsilon = substring_arcs(expr.text, words=expr.words)
            return _determinize(Fragment(num_states, copied_arcs=[arcs], copied_epsilon=[epsilon]))
        return _determinize(Layout(self.compile).lay(expr))


def _determinize(fragment: Fragment) -> ByteAutomaton:
    labels = tuple(sorted(fragment.labels))
    # What is deterministic as it was laid out is within the limit, however large.
    limit = max(MAX_STATES, 2 * fragment.num_states)
    tables = _minimal(fragment.num_states, *fragment.tables(), len(labels), limit, MAX_ARCS, DENSE_BYTES)
    return from_either(tables, labels, limit)


@kernel
def _minimal(
    num_states: int,
    ranges: IntArray,
    epsilon: IntArray,
    num_labels: int,
    max_states: int,
    max_arcs: int,
    dense_bytes: int,
) -> Tables:
    """The tables of the minimal automaton of a fragment."""
    interval, num_arcs, arcs = over_intervals(ranges, num_labels, max_arcs)
    if num_arcs > max_arcs:
        return exceeded(TOO_MANY_ARCS)
    whole, automaton = determinize(num_states, interval[-1] + 1, arcs, epsilon.T.copy(), 1, max_states, max_arcs)
    if not whole:
        return exceeded(TOO_MANY_STATES if len(automaton.final) > max_states else TOO_MANY_ARCS)
    start, minimal = minimize(automaton)
    return tabulate(start, minimal, interval, num_labels, dense_bytes)


def _combine(left: ByteAutomaton, right: ByteAutomaton, *, difference: bool) -> ByteAutomaton:
    # Pairs with a few states of the other one each are within the limit, however large both are.
    limit = max(MAX_STATES, 4 * (left.num_states + right.num_states))
    return product(left, right, difference=difference, max_states=limit)
