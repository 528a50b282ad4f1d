"""Choose the repetitions that a register counts, and lay each out once, as a loop with marks where the count changes.

    start --enter--> first   inner   last --exit--> end
                       ^---- iterate ----'

A repetition is counted if writing it out would take many leaves. Of nested repetitions, the one with the largest bound
is counted, and the others are written out. The larger side of an intersection and the left side of a difference may
have counted loops; the other side is an automaton (`automata.counted.product`). Inside a complement, all repetitions
are written out. (`automata.counted` explains the marks.)

A repetition whose inner expression may be empty needs no lower bound: `(a?){3,9}` is `(a?){0,9}`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.compile.nfa import FIRST_LABEL, ThompsonConstruction, repeated
from automata.counted.product import CountingNfa, product
from automata.expressions import (
    ANY_BYTES,
    Alternation,
    Concatenation,
    Difference,
    Expr,
    Intersection,
    Repetition,
    difference,
    whole,
)
from automata.graph import distances, reachable
from automata.limits import Work

# The greatest depth of intersections and differences that may hold a loop.
MAX_DEPTH = 20
# The effects of an epsilon arc on the count.
PLAIN, ENTER, ITERATE, EXIT = range(4)
# Columns of the table of loops. Of two different counts in one state, the smaller or the larger one allows all that the
# other allows (FEWER, MORE); where both bounds matter, neither does.
LOW, HIGH, PREFERS = range(3)
NEITHER, FEWER, MORE = range(3)
UNBOUNDED = -1


def counts(expr: Repetition) -> int:
    """Return the largest count that a repetition needs."""
    return expr.low if expr.high is None else expr.high


def choose(expr: Expr, threshold: int, barred: Container[Expr]) -> set[Repetition]:
    """Return the repetitions to count: those of more than `threshold` leaves that are not barred."""
    # The largest bound at or below each large node.
    largest: dict[Expr, int] = {}
    for node in _large_nodes(expr, threshold):
        below = max([largest.get(part, 0) for part in _parts(node)], default=0)
        own = counts(node) if isinstance(node, Repetition) and node not in barred else 0
        largest[node] = max(own, below)
    chosen: set[Repetition] = set()
    seen: set[Expr] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if node not in largest or node in seen:
            continue
        seen.add(node)
        if isinstance(node, Repetition) and node not in barred and counts(node) == largest[node] > 1:
            chosen.add(node)
        else:
            stack.extend(_parts(node))
    return chosen


def size_without(expr: Expr, threshold: int, counted: set[Repetition]) -> int:
    """Return the number of leaves of an expression in which counted repetitions are laid once."""
    sizes: dict[Expr, int] = {}
    for node in _large_nodes(expr, threshold):
        parts = sum([sizes.get(part, part.size) for part in _parts(node)])
        written_out = isinstance(node, Repetition) and node not in counted
        sizes[node] = parts * max(counts(node), 1) if isinstance(node, Repetition) and written_out else parts
    return sizes.get(expr, expr.size)


def _parts(expr: Expr) -> tuple[Expr, ...]:
    """Return the sub-expressions that may hold loops."""
    if isinstance(expr, Intersection):
        return (max(expr.left, expr.right, key=lambda side: side.size),)
    if isinstance(expr, Difference):
        return (expr.left,)
    return expr.operands() if isinstance(expr, Concatenation | Alternation | Repetition) else ()


def _large_nodes(expr: Expr, threshold: int) -> list[Expr]:
    """Return the different sub-expressions of more than `threshold` leaves, parts before wholes."""
    found: dict[Expr, None] = {}
    stack = [(expr, False)]
    while stack:
        node, parts_done = stack.pop()
        if parts_done:
            found[node] = None
        elif node.size > threshold and node not in found:
            stack.append((node, True))
            stack.extend((part, False) for part in _parts(node))
    return list(found)


@dataclass(frozen=True, slots=True)
class _Loop:
    """A counted repetition as it was laid; its own states are those from `first` up to `stop`."""

    repetition: Repetition
    start: int
    first: int
    last: int
    stop: int
    end: int


class _Product(NamedTuple):
    """Pairs of states, numbered from `offset`."""

    offset: int
    pairs: CountingNfa


class CountingConstruction(ThompsonConstruction):
    """Thompson's construction in which some repetitions are loops with marks.

    Attributes:
        products: the parts that were laid as pairs of states.
    """

    def __init__(
        self, compiled: Callable[[Expr], ByteAutomaton], work: Work, counted: set[Repetition], depth: int = 0
    ) -> None:
        """Start with nothing laid.

        Args:
            compiled, work: as for `ThompsonConstruction`.
            counted: the repetitions to lay as loops.
            depth: the number of intersections and differences around this layout.
        """
        super().__init__(compiled, work)
        self.counted = counted
        self.depth = depth
        self.products: list[_Product] = []
        self._loops: list[_Loop] = []
        self._in_loop = False

    def counting_nfa(self, expr: Expr) -> CountingNfa:
        """Lay out an expression.

        Raises:
            LimitExceeded, Cancelled: as for `ThompsonConstruction.lay`.
        """
        # A part with a loop is laid wherever it occurs: a copy of its automaton would have the loop written out.
        self.shared = {node for node in repeated(expr) if not self._holds_loop(node)}
        self.between(expr, 0, 1, whole=True)
        self.finish(expr)
        return self._marked()

    def _holds_loop(self, expr: Expr) -> bool:
        stack = [expr]
        while stack:
            node = stack.pop()
            if node in self.counted:
                return True
            stack.extend(_parts(node))
        return False

    def between(self, expr: Expr, start: int, end: int, *, whole: bool = False) -> None:
        """Lay `expr` between two states."""
        combines = isinstance(expr, Intersection | Difference) and not self._in_loop and self.depth < MAX_DEPTH
        if combines and self._holds_loop(expr):
            self.combination(expr, start, end)
        else:
            super().between(expr, start, end, whole=whole)

    def combination(self, expr: Expr, start: int, end: int) -> None:
        """Lay an intersection or a difference in which something is counted."""
        inner, fragment = _parts(expr)[0], self.fragment
        layout = CountingConstruction(self.compiled, self.work, self.counted, self.depth + 1)
        marked = layout.counting_nfa(inner)
        if isinstance(expr, Intersection):
            other = self.compiled(whole(expr.right if inner is expr.left else expr.left))
        else:
            other = self.compiled(difference(ANY_BYTES, expr.operands()[1]))
        for name in (*layout.fragment.labels, *other.labels):
            fragment.labels.setdefault(name, FIRST_LABEL + len(fragment.labels))
        offset, size = fragment.num_states, other.num_states
        self.products.append(_Product(offset, product(marked, other, self.work)))
        fragment.num_states += len(marked.loop_of) * size
        if size:
            fragment.epsilon += (start, offset + other.start)
            for state in np.flatnonzero(other.final).tolist():
                fragment.epsilon += (offset + size + state, end)

    def repetition(self, expr: Repetition, start: int, end: int) -> None:
        """Lay a repetition, as a loop if it is counted."""
        # A repetition that is counted elsewhere may occur inside a loop as well.
        if self._in_loop or expr not in self.counted:
            super().repetition(expr, start, end)
            return
        fragment = self.fragment
        first, last = fragment.state(), fragment.state()
        # The inner expression is laid at once, so that its states are consecutive.
        put_off, self.tasks, self._in_loop = self.tasks, [], True
        self.put(expr.inner, first, last)
        self.finish(expr)
        self.tasks, self._in_loop = put_off, False
        self._loops.append(_Loop(expr, start, first, last, fragment.num_states, end))
        if expr.low == 0:
            fragment.epsilon += (start, end)

    def _marked(self) -> CountingNfa:
        """Return all that was laid, without arcs that do not lead to the end."""
        ranges, plain = self.fragment.tables()
        plain = plain[np.argsort(plain[:, 0], kind="stable")]
        loop_of = np.full(self.fragment.num_states, -1, np.int32)
        loops, marks = np.empty((len(self._loops), 3), np.int32), array("i")
        for number, loop in enumerate(self._loops):
            loop_of[loop.first : loop.stop] = number
            inside = slice(*np.searchsorted(plain[:, 0], (loop.first, loop.stop)))
            nullable = _leads_to(plain[inside].tolist(), loop.first, loop.last)
            loops[number] = _bounds(loop.repetition, nullable)
            marks.extend((loop.start, loop.first, ENTER, loop.last, loop.first, ITERATE, loop.last, loop.end, EXIT))
            if nullable:
                marks.extend((loop.start, loop.end, PLAIN))
        plain = np.column_stack([plain, np.full(len(plain), PLAIN, np.int32)])
        epsilon = np.concatenate([plain, np.array(marks, np.int32).reshape(-1, 3)])
        repetitions = tuple(loop.repetition for loop in self._loops)
        marked = _with_products(CountingNfa(ranges, epsilon, loop_of, loops, repetitions), self.products)
        return _trimmed(marked, self.work)


def _with_products(marked: CountingNfa, products: list[_Product]) -> CountingNfa:
    """Return a layout with the arcs and the loops of its products."""
    for offset, pairs in products:
        loop_of, size = marked.loop_of.copy(), len(pairs.loop_of)
        loop_of[offset : offset + size] = np.where(pairs.loop_of >= 0, pairs.loop_of + len(marked.loops), -1)
        marked = CountingNfa(
            np.concatenate([marked.ranges, pairs.ranges + np.array([offset, 0, 0, offset], np.int32)]),
            np.concatenate([marked.epsilon, pairs.epsilon + np.array([offset, offset, 0], np.int32)]),
            loop_of,
            np.concatenate([marked.loops, pairs.loops]),
            marked.repetitions + pairs.repetitions,
        )
    return marked


def _trimmed(marked: CountingNfa, work: Work) -> CountingNfa:
    """Return a layout without arcs into states from which its end cannot be reached."""
    ranges, epsilon = marked.ranges, marked.epsilon
    source, target = np.append(ranges[:, 0], epsilon[:, 0]), np.append(ranges[:, 3], epsilon[:, 1])
    live = distances(source, target, np.arange(len(marked.loop_of)) == 1, work) >= 0
    return marked._replace(ranges=ranges[live[ranges[:, 3]]], epsilon=epsilon[live[epsilon[:, 1]]])


def _bounds(expr: Repetition, nullable: bool) -> tuple[int, int, int]:
    # Inside the loop the count is at least 1; skipping the loop is an arc of its own.
    low, high = 1 if nullable else max(expr.low, 1), expr.high
    if high is None:
        return low, UNBOUNDED, MORE
    return low, high, FEWER if low == 1 else NEITHER


def _leads_to(epsilon: list[list[int]], start: int, end: int) -> bool:
    """Return whether epsilon arcs, pairs of source and target, lead from `start` to `end`."""
    following: dict[int, list[int]] = {}
    for source, target in epsilon:
        following.setdefault(source, []).append(target)
    return end in reachable([start], lambda state: following.get(state, ()))
