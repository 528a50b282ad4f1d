"""From an expression to its minimal byte automaton: lay out, partition the bytes, let OpenFst determinize, tabulate.

The layout has arcs over byte ranges. Their ends cut the 256 bytes into intervals that no arc tells apart, and OpenFst
works on intervals in place of bytes: a pattern with `[^"]` has some twenty of them, so automata stay small where arcs
over bytes would be hundreds. Intersection and difference work the same way on the common refinement of the operands'
byte classes.

Rejected: one arc a byte (twenty times the arcs for free text); a subset construction of our own (OpenFst takes some
30 microseconds for a pattern of everyday size, and is right).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pywrapfst

from automata import expr as ex
from automata import openfst
from automata.byte_automaton import ByteAutomaton, from_blocks
from automata.expr import Complement, Difference, Expr, Intersection
from automata.jit import kernel
from automata.openfst import Fst, IntArray
from automata.thompson import Fragment, Layout

_EMPTY = ByteAutomaton(-1, np.zeros(256, np.uint8), np.zeros((0, 1), np.int32), np.zeros(0, np.bool_))


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
    low, high, epsilon = (np.array(ends, np.int32) for ends in (fragment.low, fragment.high, fragment.epsilon))
    interval = _intervals(low, high)
    source, target = np.array(fragment.source, np.int32), np.array(fragment.target, np.int32)
    arcs = _over_intervals(interval, source, low, high, target, epsilon.reshape(-1, 2))
    final = np.zeros(fragment.num_states, np.bool_)
    final[1] = True
    fst = openfst.to_fst(0, final, *arcs)
    return _tabulate(openfst.minimize(fst, epsilons=len(epsilon) > 0), interval, int(interval[-1]) + 1)


@kernel
def _intervals(low: IntArray, high: IntArray) -> IntArray:
    """The coarsest cut of the 256 bytes into intervals none of which a range splits: the interval of each byte."""
    cuts = np.zeros(257, np.bool_)
    for arc in range(len(low)):
        cuts[low[arc]] = True
        cuts[high[arc] + 1] = True
    interval = np.zeros(256, np.int32)
    for byte in range(1, 256):
        interval[byte] = interval[byte - 1] + cuts[byte]
    return interval


@kernel
def _over_intervals(
    interval: IntArray, source: IntArray, low: IntArray, high: IntArray, target: IntArray, epsilon: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Source, symbol and target of one arc for each interval in each range, and of the epsilon arcs."""
    num_arcs = len(epsilon)
    for arc in range(len(source)):
        num_arcs += interval[high[arc]] - interval[low[arc]] + 1
    arcs = np.empty((3, num_arcs), np.int32)
    at = 0
    for arc in range(len(source)):
        for symbol in range(interval[low[arc]], interval[high[arc]] + 1):
            arcs[0, at], arcs[1, at], arcs[2, at] = source[arc], symbol, target[arc]
            at += 1
    for arc in range(len(epsilon)):
        arcs[0, at], arcs[1, at], arcs[2, at] = epsilon[arc, 0], openfst.EPSILON, epsilon[arc, 1]
        at += 1
    return arcs[0], arcs[1], arcs[2]


def _tabulate(minimal: Fst, block_of: IntArray, num_blocks: int) -> ByteAutomaton:
    """The tables of a minimal acceptor over blocks of bytes."""
    start, final, table = openfst.to_table(minimal, num_blocks)
    return _EMPTY if start < 0 else from_blocks(start, final, block_of, table)


def _combine(left: ByteAutomaton, right: ByteAutomaton, *, difference: bool) -> ByteAutomaton:
    """The intersection or the difference, by OpenFst, over the common refinement of both partitions of the bytes."""
    if left.is_empty or right.is_empty:
        return left if difference else _EMPTY
    pairs = left.byte_class.astype(np.int32) * right.num_classes + right.byte_class
    blocks, block_of = np.unique(pairs, return_inverse=True)
    a = _over_blocks(left, left.next[:, blocks // right.num_classes])
    b = _over_blocks(right, right.next[:, blocks % right.num_classes])
    b.arcsort("ilabel")
    combined = pywrapfst.difference(a, b) if difference else pywrapfst.intersect(a, b)
    minimal = openfst.minimize(combined, epsilons=False)
    return _tabulate(minimal, block_of.reshape(-1).astype(np.int32), len(blocks))


def _over_blocks(automaton: ByteAutomaton, table: npt.NDArray[np.int32]) -> Fst:
    """The acceptor whose symbols are the columns of `table`."""
    source, block = np.nonzero(table >= 0)
    return openfst.to_fst(
        automaton.start, automaton.final, source.astype(np.int32), block.astype(np.int32), table[source, block]
    )
