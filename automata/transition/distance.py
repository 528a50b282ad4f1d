"""Shortest distances over the edges of an automaton, by breadth-first search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.jit import kernel
from automata.transition.grouping import grouped


@kernel
def distances(source: IntArray, target: IntArray, goal: npt.NDArray[np.bool_]) -> IntArray:
    """The least number of edges from each state to a goal, `[Q]`, or -1 where none can be reached.

    Args:
        source, target: `[E]` each, in any order. Exchanged, the result is the distance from the goals.
        goal: `[Q]`.
    """
    num_states = len(goal)
    offsets, entering = grouped(num_states, target)
    distance = np.full(num_states, -1, np.int32)
    queue = np.empty(num_states, np.int32)
    end = 0
    for state in range(num_states):
        if goal[state]:
            distance[state] = 0
            queue[end] = state
            end += 1
    begin = 0
    while begin < end:
        state = queue[begin]
        begin += 1
        for at in range(offsets[state], offsets[state + 1]):
            before = source[entering[at]]
            if distance[before] < 0:
                distance[before] = distance[state] + 1
                queue[end] = before
                end += 1
    return distance
