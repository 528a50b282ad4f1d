"""From an expression to its minimal byte automaton: lay out, cut the bytes, determinize, minimize, tabulate.

The layout has arcs over byte ranges. Their ends cut the 256 bytes into intervals that no arc tells apart, and automata
are built over intervals in place of bytes: a pattern with `[^"]` has some twenty of them, so automata stay small where
arcs over bytes would be hundreds. Intersection and difference are products of arcs over bytes (`automata.product`), and
lists of strings and substrings of a text have constructions of their own (`automata.word_list`, `automata.substring`).

An expression with assertions cannot be laid out part by part: the layout stops at the first one, and the text that it
belongs to is resolved as a whole (`automata.assertions`). All others pay nothing for it.

Every step has limits and can be stopped (`automata.limits`). Where there are too many states, the error names the
smallest part of the expression that has too many by itself (`automata.blame`).

Rejected: one arc a byte (twenty times the arcs for free text); OpenFst for determinization and minimization as well,
which took a quarter of the whole way from pattern to token tables for quoted text, and a third for a JSON object. It
is what the tests compare with.
"""

from __future__ import annotations

from dataclasses import replace

from automata import expr as ex
from automata.assertions import holds_assertion, lookaround, simplified
from automata.blame import excerpt, responsible
from automata.byte_automaton import ByteAutomaton
from automata.determinize import DONE, TOO_MANY_STATES, TOO_MUCH_MEMORY, Transitions, determinize
from automata.errors import LimitExceeded
from automata.expr import Complement, Difference, Expr, Intersection, Strings, Substring
from automata.intervals import over_intervals
from automata.jit import kernel
from automata.limits import Flag, Limits, Work, under_way
from automata.minimize import minimize
from automata.openfst import BoolArray, IntArray
from automata.product import product
from automata.sparse import by_state
from automata.substring import substring_arcs
from automata.tabulate import DENSE_BYTES, Tables, from_either, no_tables, tabulate
from automata.thompson import AssertionMet, Fragment, Layout
from automata.word_list import word_list

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
        ExpressionError: raw bytes stand beside assertions.
    """
    with under_way(work) as work:
        compiler = Compiler(work)
        # The whole is not looked up or kept: hashing it takes as long as laying it out.
        try:
            return compiler.construct(expr)
        except AssertionMet:
            return compiler.resolve(expr)


class Compiler:
    """One compilation: equal sub-expressions are compiled once."""

    layout: type[Layout] = Layout

    def __init__(self, work: Work, *, blames: bool = True) -> None:
        """Starts with nothing compiled.

        Args:
            work: limits and the flag to stop.
            blames: whether errors name the part of the expression, which takes some more time.
        """
        self.work = work
        self.blames = blames
        self.done: dict[Expr, ByteAutomaton] = {}
        self.resolved: dict[Expr, ByteAutomaton] = {}  # of texts with assertions
        self.depth = 0

    def compile(self, expr: Expr) -> ByteAutomaton:
        """The automaton of an expression that is a text of its own."""
        if self.resolved and expr in self.resolved:
            return self.resolved[expr]
        try:
            return self.part(expr)
        except AssertionMet:
            automaton = self.resolved[expr] = self.resolve(expr)
            return automaton

    def part(self, expr: Expr) -> ByteAutomaton:
        """The automaton of a part of a text.

        Raises:
            AssertionMet: it depends on the parts around it.
        """
        automaton = self.done.get(expr)
        if automaton is None:
            self.depth += 1
            try:
                if self.depth == _MAX_DEPTH:
                    self.compile_innermost_first(expr)
                automaton = self.done[expr] = self.construct(expr)
            finally:
                self.depth -= 1
        return automaton

    def resolve(self, expr: Expr) -> ByteAutomaton:
        """The automaton of a text with assertions."""
        try:
            simpler = simplified(expr)
            if holds_assertion(simpler):
                return self.determinize(expr, lookaround.fragment(simpler, self.work, self.part))
            return self.part(simpler)
        except RecursionError:
            raise LimitExceeded(f"assertions are nested too deeply in {excerpt(expr)}") from None

    def compile_innermost_first(self, expr: Expr) -> None:
        """Compiles all operands within an expression, so that no nesting is too deep."""
        found: list[Expr] = []
        stack = [expr]
        while stack:
            node = stack.pop()
            found += node.operands() if isinstance(node, Intersection | Difference | Complement) else ()
            stack += node.operands()
        for node in reversed(found):
            self.compile(node)

    def construct(self, expr: Expr) -> ByteAutomaton:
        if isinstance(expr, Intersection):
            return self.combine(expr, self.compile(expr.left), self.compile(expr.right), difference=False)
        if isinstance(expr, Difference):
            return self.combine(expr, self.compile(expr.left), self.compile(expr.right), difference=True)
        if isinstance(expr, Complement):
            return self.combine(expr, self.compile(ex.ANY_TEXT), self.compile(expr.inner), difference=True)
        if isinstance(expr, Strings):
            return self.made(expr, *word_list(expr.values, self.work.limits.table_bytes, self.work.stop), ())
        if isinstance(expr, Substring):
            num_states, *arcs = substring_arcs(expr.text, expr.words, self.work)
            fragment = Fragment(num_states=0)
            fragment.copy_arcs(num_states, *arcs)
            return self.determinize(expr, fragment)
        return self.determinize(expr, self.layout(self.part, self.work).lay(expr))

    def determinize(self, expr: Expr, fragment: Fragment) -> ByteAutomaton:
        """The automaton of what is laid out."""
        labels, limits = tuple(sorted(fragment.labels)), self.work.limits
        # Automata that were copied in have passed their own limits: twice their states is no explosion.
        max_states = max(limits.states, 2 * fragment.num_copied_states)
        ranges, epsilon = fragment.tables()
        found = _minimal(
            fragment.num_states,
            ranges,
            epsilon,
            len(labels),
            max_states,
            limits.table_bytes,
            DENSE_BYTES,
            self.work.stop,
        )
        return self.made(expr, *found, labels)

    def combine(self, expr: Expr, left: ByteAutomaton, right: ByteAutomaton, *, difference: bool) -> ByteAutomaton:
        """The intersection or the difference."""
        if left.is_empty or right.is_empty:
            return left if difference or left.is_empty else right
        labels, limits, stop = tuple(sorted({*left.labels, *right.labels})), self.work.limits, self.work.stop
        found = _product(
            *by_state(left),
            left.final,
            left.label_columns(labels),
            *by_state(right),
            right.final,
            right.label_columns(labels),
            difference,
            max(limits.states, 2 * (left.num_states + right.num_states)),
            limits.table_bytes,
            DENSE_BYTES,
            stop,
        )
        return self.made(expr, *found, labels)

    def made(self, expr: Expr, status: int, tables: Tables, labels: tuple[str, ...]) -> ByteAutomaton:
        """The automaton of a construction that ended with this status."""
        self.work.check()
        if status != DONE:
            raise self.exceeded(expr, status)
        return from_either(tables, labels)

    def exceeded(self, expr: Expr, status: int) -> LimitExceeded:
        """The error for a construction that ended with this status."""
        limits = self.work.limits
        reason = {
            TOO_MANY_STATES: f"a deterministic automaton has more than {limits.states:,} states (limit `states`)",
            TOO_MUCH_MEMORY: f"a construction takes more than {limits.table_bytes:,} bytes (limit `table_bytes`)",
        }[status]
        if not self.blames:
            return LimitExceeded(reason)
        trial = replace(limits, seconds=1)
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
    dense_bytes: int,
    stop: Flag,
) -> tuple[int, Tables]:
    """How the construction ended, and the tables of the minimal automaton of a fragment."""
    interval, written, arcs = over_intervals(ranges, num_labels, max_bytes)
    if not written:
        return TOO_MUCH_MEMORY, no_tables()
    status, automaton = determinize(
        num_states, interval[-1] + 1, arcs, epsilon.T.copy(), 1, max_states, max_bytes, stop
    )
    if status != DONE:
        return status, no_tables()
    start, minimal = minimize(automaton, stop)
    return DONE, tabulate(start, minimal, interval, num_labels, dense_bytes)


@kernel
def _product(
    left_offsets: IntArray,
    left_arcs: IntArray,
    left_final: BoolArray,
    left_labels: IntArray,
    right_offsets: IntArray,
    right_arcs: IntArray,
    right_final: BoolArray,
    right_labels: IntArray,
    difference: bool,
    max_states: int,
    max_bytes: int,
    dense_bytes: int,
    stop: Flag,
) -> tuple[int, Tables]:
    """How the construction ended, and the tables of the minimal automaton of a product."""
    status, final, ranges = product(
        left_offsets,
        left_arcs,
        left_final,
        left_labels,
        right_offsets,
        right_arcs,
        right_final,
        right_labels,
        difference,
        max_states,
        max_bytes,
        stop,
    )
    if status != DONE:
        return status, no_tables()
    interval, written, arcs = over_intervals(ranges, left_labels.shape[1], max_bytes)
    if not written:
        return TOO_MUCH_MEMORY, no_tables()
    start, minimal = minimize(Transitions(final, arcs[0], arcs[1], arcs[2]), stop)
    return DONE, tabulate(start, minimal, interval, left_labels.shape[1], dense_bytes)
