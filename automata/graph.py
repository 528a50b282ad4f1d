"""Graph algorithms: distances, orders, components, reachable nodes.

distances       the least number of edges to a goal (`native/automata/distance.h`)
bottom_up       the nodes from which no cycle can be reached, in order
components      strongly connected components
reachable       the nodes that can be reached from given nodes
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from automata import _native
from automata.arrays import BoolArray, IntArray, int_array, offsets_of
from automata.limits import Work, current_work

N = TypeVar("N", bound=Hashable)

# The cost of visiting a node, in steps of the budget.
_VISIT_STEPS = 100


def distances(source: IntArray, target: IntArray, goal: BoolArray, work: Work | None = None) -> IntArray:
    """Return the least number of edges from each state to a goal, `[Q]`, or -1 if none can be reached.

    Args:
        source, target: `[E]` each, in any order. Exchanged, they give the distances from the goals.
        goal: `[Q]`.
        work: the limits; without it, those of the current compilation.
    """
    return _native.distances(*_contiguous(source, target), goal, current_work(work).budget)


def bottom_up(num_states: int, source: IntArray, target: IntArray, work: Work | None = None) -> IntArray:
    """Return the states from which no cycle can be reached, each after all states that it has edges to (Kahn 1962). If
    there is no cycle, these are all states.

    Args:
        num_states: Q.
        source, target: `[E]` each, in any order.
        work: the limits; without it, those of the current compilation.
    """
    return _native.bottom_up(num_states, *_contiguous(source, target), current_work(work).budget)


def _contiguous(source: IntArray, target: IntArray) -> tuple[IntArray, IntArray]:
    """Return columns of a table as contiguous arrays, which the native core requires."""
    return np.ascontiguousarray(source), np.ascontiguousarray(target)


def components(successors: Sequence[Collection[int]], work: Work | None = None) -> list[list[int]]:
    """Return the strongly connected components of a graph, each after those that it leads to (Tarjan 1972). The nodes
    of a component are in ascending order.

    Args:
        successors: for each node, the nodes that edges lead to.
        work: the limits; without it, those of the current compilation.
    """
    offsets = offsets_of([len(row) for row in successors])
    targets = int_array([target for row in successors for target in row])
    bounds, nodes = _native.components(offsets, targets, current_work(work).budget)
    members = nodes.tolist()
    return [members[begin:end] for begin, end in pairwise(bounds.tolist())]


def reachable(starts: Iterable[N], successors: Callable[[N], Iterable[N]], work: Work | None = None) -> set[N]:
    """Return the given nodes, and all nodes that can be reached from them.

    Raises:
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    spend = current_work(work).budget.spend
    seen = set(starts)
    waiting = list(seen)
    while waiting:
        spend(_VISIT_STEPS)
        for node in successors(waiting.pop()):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen
