"""An order of the states in which every arc leads backwards; there is one for all of them if no arc is on a loop."""

from __future__ import annotations

import numpy as np

from automata.grouping import grouped
from automata.jit import kernel
from automata.openfst import IntArray


@kernel
def bottom_up(num_states: int, source: IntArray, target: IntArray) -> IntArray:
    """The states from which no loop can be reached, each behind all that it has arcs to (Kahn 1962).

    Args:
        num_states: Q.
        source, target: `[E]` each, in any order.
    """
    offsets, entering = grouped(num_states, target)
    left = np.zeros(num_states, np.int32)  # arcs to states that are not in the order yet
    for arc in range(len(source)):
        left[source[arc]] += 1
    order = np.empty(num_states, np.int32)
    end = 0
    for state in range(num_states):
        if left[state] == 0:
            order[end] = state
            end += 1
    begin = 0
    while begin < end:
        state = order[begin]
        begin += 1
        for at in range(offsets[state], offsets[state + 1]):
            before = source[entering[at]]
            left[before] -= 1
            if left[before] == 0:
                order[end] = before
                end += 1
    return order[:end]
