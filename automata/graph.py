"""Distances and orders over the edges of a graph, by breadth-first search (`native/automata/distance.h`)."""

from __future__ import annotations

import numpy as np

from automata import _native
from automata.arrays import BoolArray, IntArray
from automata.limits import Work, current_work


def distances(source: IntArray, target: IntArray, goal: BoolArray, work: Work | None = None) -> IntArray:
    """The least number of edges from each state to a goal, `[Q]`, or -1 where none can be reached.

    Args:
        source, target: `[E]` each, in any order. Exchanged, the result is the distance from the goals.
        goal: `[Q]`.
        work: the compilation that it is part of; without it, the default limits.
    """
    return _native.distances(*_columns(source, target), goal, current_work(work).budget)


def bottom_up(num_states: int, source: IntArray, target: IntArray, work: Work | None = None) -> IntArray:
    """The states from which no loop can be reached, each behind all that it has edges to (Kahn 1962). All states, if no
    edge is on a loop.

    Args:
        num_states: Q.
        source, target: `[E]` each, in any order.
        work: the compilation that it is part of; without it, the default limits.
    """
    return _native.bottom_up(num_states, *_columns(source, target), current_work(work).budget)


def _columns(source: IntArray, target: IntArray) -> tuple[IntArray, IntArray]:
    """Columns of tables lie apart; the native core takes them in one piece."""
    return np.ascontiguousarray(source), np.ascontiguousarray(target)
