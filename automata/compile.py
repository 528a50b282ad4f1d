"""From an expression to its minimal byte automaton: lay out, cut the bytes, determinize, minimize, tabulate.

The layout has arcs over byte ranges. Their ends cut the 256 bytes into intervals that no arc tells apart, and automata
are built over intervals in place of bytes: a pattern with `[^"]` has some twenty of them, so automata stay small where
arcs over bytes would be hundreds. Intersection and difference are products, on the common refinement of the operands'
byte classes.

Every step has limits and can be stopped (`automata.limits`). Where there are too many states, the error names the
smallest part of the expression that has too many by itself (`automata.blame`).

Rejected: one arc a byte (twenty times the arcs for free text); OpenFst for determinization and minimization as well,
which took a quarter of the whole way from pattern to token tables for quoted text, and a third for a JSON object. It
is what the tests compare with.
"""

from __future__ import annotations

import numpy as np

from automata import expr as ex
from automata.blame import excerpt, responsible
from automata.byte_automaton import ByteArray, ByteAutomaton, canonical, from_tables
from automata.determinize import DONE, TOO_MANY_STATES, TOO_MUCH_MEMORY, determinize
from automata.errors import LimitExceeded
from automata.expr import Complement, Difference, Expr, Intersection
from automata.jit import kernel
from automata.limits import Flag, Limits, Work, under_way
from automata.minimize import minimize
from automata.openfst import BoolArray, IntArray
from automata.product import product
from automata.thompson import FIRST_LABEL, Layout

# Columns of a fragment's arcs.
_SOURCE, _LOW, _HIGH, _TARGET = range(4)
# From this depth of intersections, differences and complements on, the innermost are compiled first.
_MAX_DEPTH = 50


def compile_expr(expr: Expr, work: Work | None = None) -> ByteAutomaton:
    """The minimal deterministic trim automaton of a language.

    Args:
        expr: the language.
        work: the limits, and how the compilation is stopped; without it, the default limits.

    Raises:
        LimitExceeded: a limit was passed; the message names it, the amount and the part of the expression.
        Cancelled: another thread cancelled the compilation.
    """
    with under_way(work) as work:
        return Compiler(work).compile(expr)


class Compiler:
    """One compilation: equal sub-expressions are compiled once."""

    def __init__(self, work: Work, *, blames: bool = True) -> None:
        """Starts with nothing compiled.

        Args:
            work: limits and the flag to stop.
            blames: whether errors name the part of the expression, which takes some more time.
        """
        self.work = work
        self.blames = blames
        self.done: dict[Expr, ByteAutomaton] = {}
        self.depth = 0

    def compile(self, expr: Expr) -> ByteAutomaton:
        """The automaton of an expression."""
        automaton = self.done.get(expr)
        if automaton is None:
            self.depth += 1
            if self.depth == _MAX_DEPTH:
                self.compile_innermost_first(expr)
            automaton = self.done[expr] = self.construct(expr)
            self.depth -= 1
        return automaton

    def compile_innermost_first(self, expr: Expr) -> None:
        """Compiles all operands within an expression, so that no nesting is too deep."""
        found: list[Expr] = []
        stack = [expr]
        while stack:
            node = stack.pop()
            found += node.operands() if isinstance(node, Intersection | Difference | Complement) else ()
            stack += node.operands()
        for node in reversed(found):
            if node not in self.done:
                self.done[node] = self.construct(node)

    def construct(self, expr: Expr) -> ByteAutomaton:
        if isinstance(expr, Intersection):
            return self.combine(expr, self.compile(expr.left), self.compile(expr.right), difference=False)
        if isinstance(expr, Difference):
            return self.combine(expr, self.compile(expr.left), self.compile(expr.right), difference=True)
        if isinstance(expr, Complement):
            return self.combine(expr, self.compile(ex.ANY_TEXT), self.compile(expr.inner), difference=True)
        fragment = Layout(self.compile, self.work).lay(expr)
        labels, limits = tuple(sorted(fragment.labels)), self.work.limits
        status, start, final, byte_class, columns, by_label = _minimal(
            fragment.num_states, *fragment.tables(), len(labels), limits.states, limits.table_bytes, self.work.stop
        )
        self.work.check()
        if status != DONE:
            raise self.exceeded(expr, status)
        return from_tables(start, final, byte_class, columns, by_label, labels)

    def combine(self, expr: Expr, left: ByteAutomaton, right: ByteAutomaton, *, difference: bool) -> ByteAutomaton:
        """The intersection or the difference, over the common refinement of both partitions of the bytes."""
        if left.is_empty or right.is_empty:
            return left if difference or left.is_empty else right
        pairs = left.byte_class.astype(np.int32) * right.num_classes + right.byte_class
        blocks, block_of = np.unique(pairs, return_inverse=True)
        labels = tuple(sorted({*left.labels, *right.labels}))
        status, found = product(
            left.final,
            left.symbol_arcs(left.next[:, blocks // right.num_classes], labels),
            right.final,
            right.symbol_arcs(right.next[:, blocks % right.num_classes], labels),
            difference,
            self.work.limits.states,
            self.work.stop,
        )
        self.work.check()
        if status != DONE:
            raise self.exceeded(expr, status)
        start, final, table = minimize(found, len(blocks) + len(labels), self.work.stop)
        self.work.check()
        return from_tables(
            start, *canonical(start, final, block_of.reshape(-1).astype(np.int32), table, len(labels)), labels
        )

    def exceeded(self, expr: Expr, status: int) -> LimitExceeded:
        """The error for a construction that ended with this status."""
        limits = self.work.limits
        reason = {
            TOO_MANY_STATES: f"a deterministic automaton has more than {limits.states:,} states (limit `states`)",
            TOO_MUCH_MEMORY: f"a construction takes more than {limits.table_bytes:,} bytes (limit `table_bytes`)",
        }[status]
        part = expr
        if self.blames:
            trial = Limits(limits.arcs, max(limits.states // 10, 1), limits.table_bytes, seconds=1)
            part = responsible(expr, lambda inner: _explodes(inner, trial))
        return LimitExceeded(f"{reason}; the part responsible is {excerpt(part)}")


def _explodes(expr: Expr, limits: Limits) -> bool:
    try:
        with Work(limits) as work:
            Compiler(work, blames=False).compile(expr)
    except LimitExceeded:
        return True
    return False


@kernel
def _minimal(
    num_states: int,
    ranges: IntArray,
    epsilon: IntArray,
    num_labels: int,
    max_states: int,
    max_bytes: int,
    stop: Flag,
) -> tuple[int, int, BoolArray, ByteArray, IntArray, IntArray]:
    """The tables of the minimal automaton of a fragment, over the coarsest cut of the bytes into intervals none of
    which a range splits; before them, how the construction ended, and the start state."""
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
    status, automaton = determinize(num_states, num_symbols, arcs, epsilon.T.copy(), 1, max_states, max_bytes, stop)
    if status != DONE:
        return status, -1, automaton.final, np.zeros(256, np.uint8), arcs, arcs
    start, final, table = minimize(automaton, num_symbols, stop)
    final, byte_class, columns, by_label = canonical(start, final, interval[:256], table, num_labels)
    return DONE, start, final, byte_class, columns, by_label
