"""From an expression to its minimal byte automaton: lay out, cut the bytes, determinize, minimize, tabulate.

The layout has arcs over byte ranges. Their ends cut the 256 bytes into intervals that no arc tells apart, and automata
are built over intervals in place of bytes: a pattern with `[^"]` has some twenty of them, so automata stay small where
arcs over bytes would be hundreds. Intersection and difference are OpenFst's, on the common refinement of the operands'
byte classes.

Rejected: one arc a byte (twenty times the arcs for free text); OpenFst for determinization and minimization as well,
which took a quarter of the whole way from pattern to token tables for quoted text, and a third for a JSON object. It
is what the tests compare with.
"""

from __future__ import annotations

import numpy as np
import pywrapfst

from automata import expr as ex
from automata import openfst
from automata.byte_automaton import ByteArray, ByteAutomaton, canonical, from_fst, from_tables
from automata.determinize import determinize
from automata.errors import LimitExceeded
from automata.expr import Complement, Difference, Expr, Intersection
from automata.jit import kernel
from automata.minimize import minimize
from automata.openfst import BoolArray, IntArray
from automata.thompson import FIRST_LABEL, Fragment, Layout

# Deterministic states before minimization: where patterns whose automaton explodes stop.
MAX_STATES = 1_000_000
_TOO_MANY = -2
# Columns of a fragment's arcs.
_SOURCE, _LOW, _HIGH, _TARGET = range(4)


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
        return _determinize(Layout(self.compile).lay(expr))


def _determinize(fragment: Fragment) -> ByteAutomaton:
    labels = tuple(sorted(fragment.labels))
    start, final, byte_class, columns, by_label = _minimal(
        fragment.num_states, *fragment.tables(), len(labels), MAX_STATES
    )
    if start == _TOO_MANY:
        raise LimitExceeded(f"the deterministic automaton has more than {MAX_STATES:,} states")
    return from_tables(start, final, byte_class, columns, by_label, labels)


@kernel
def _minimal(
    num_states: int,
    ranges: IntArray,
    epsilon: IntArray,
    num_labels: int,
    max_states: int,
) -> tuple[int, BoolArray, ByteArray, IntArray, IntArray]:
    """The tables of the minimal automaton of a fragment, over the coarsest cut of the bytes into intervals none of
    which a range splits."""
    cuts = np.zeros(257, np.bool_)
    for arc in range(len(ranges)):
        if ranges[arc, _LOW] < FIRST_LABEL:
            cuts[ranges[arc, _LOW]] = cuts[ranges[arc, _HIGH] + 1] = True
    # A label is one symbol of its own behind the intervals.
    interval = np.zeros(256 + num_labels, np.int32)
    for byte in range(1, 256):
        interval[byte] = interval[byte - 1] + cuts[byte]
    for label in range(FIRST_LABEL, FIRST_LABEL + num_labels):
        interval[label] = interval[label - 1] + 1
    num_arcs = 0
    for arc in range(len(ranges)):
        num_arcs += interval[ranges[arc, _HIGH]] - interval[ranges[arc, _LOW]] + 1
    # Each arc over bytes is one arc for every interval in its range.
    arcs = np.empty((3, num_arcs), np.int32)
    at = 0
    for arc in range(len(ranges)):
        for symbol in range(interval[ranges[arc, _LOW]], interval[ranges[arc, _HIGH]] + 1):
            arcs[0, at], arcs[1, at], arcs[2, at] = ranges[arc, _SOURCE], symbol, ranges[arc, _TARGET]
            at += 1
    num_symbols = interval[-1] + 1
    automaton = determinize(num_states, num_symbols, arcs, epsilon.T.copy(), 1, max_states)
    if len(automaton.final) > max_states:
        return _TOO_MANY, automaton.final, np.zeros(256, np.uint8), arcs, arcs
    start, final, table = minimize(automaton, num_symbols)
    final, byte_class, columns, by_label = canonical(start, final, interval[:256], table, num_labels)
    return start, final, byte_class, columns, by_label


def _combine(left: ByteAutomaton, right: ByteAutomaton, *, difference: bool) -> ByteAutomaton:
    """The intersection or the difference, by OpenFst, over the common refinement of both partitions of the bytes."""
    if left.is_empty or right.is_empty:
        return left if difference or left.is_empty else right
    pairs = left.byte_class.astype(np.int32) * right.num_classes + right.byte_class
    blocks, block_of = np.unique(pairs, return_inverse=True)
    labels = tuple(sorted({*left.labels, *right.labels}))
    a = left.over_symbols(left.next[:, blocks // right.num_classes], labels)
    b = right.over_symbols(right.next[:, blocks % right.num_classes], labels)
    b.arcsort("ilabel")
    combined = pywrapfst.difference(a, b) if difference else pywrapfst.intersect(a, b)
    return from_fst(openfst.minimize(combined), block_of.reshape(-1).astype(np.int32), labels)
