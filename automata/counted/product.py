"""Intersection of an NFA with counted loops and a byte automaton.

A state of the result is a pair of a state of the NFA and one of the automaton. A byte moves both; marks and epsilon
arcs move only the NFA, so loops remain loops (`native/automata/counted/product.h`).

With some counts, a pair may not lead to an end (`[ab]{500,900}` with `b*|a{9}`, after `aaaaaaaaa`). So guards are then
restricted to the values from which an end can be reached (`automata.counted`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.expressions import Repetition
from automata.limits import Work


class CountingNfa(NamedTuple):
    """An NFA with marks where a count changes: N states, state 0 the start and state 1 the end.

    Attributes:
        ranges: `[A, 4]`, source, lowest byte, highest byte and target.
        epsilon: `[M, 3]`, source, target and mark.
        loop_of: `[N]`, the loop that contains each state, or -1.
        loops: `[L, 3]`, LOW, HIGH (or `UNBOUNDED`) and PREFERS.
        repetitions: the repetition of each loop.
    """

    ranges: IntArray
    epsilon: IntArray
    loop_of: IntArray
    loops: IntArray
    repetitions: tuple[Repetition, ...]


def product(marked: CountingNfa, automaton: ByteAutomaton, work: Work) -> CountingNfa:
    """Pair the states of an NFA and an automaton; the pair of n and q is number n x Q + q.

    Raises:
        LimitExceeded: they take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    try:
        ranges, epsilon = _native.counted_product(
            marked.ranges, marked.epsilon, len(marked.loop_of), automaton.tables, work.budget
        )
    except LimitExceeded as error:
        raise error.of("an intersection") from None
    loop_of = np.repeat(marked.loop_of, automaton.num_states)
    return CountingNfa(ranges, epsilon, loop_of, marked.loops, marked.repetitions)
