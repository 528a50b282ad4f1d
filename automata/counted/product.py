"""What is in a language with counted loops and in a regular one: their layouts read along with an automaton.

A state of the result is a pair of a state of the layout and one of the automaton. A byte takes both on; marks and
epsilon arcs take on the layout alone, so loops remain loops and what is inside of them remains so.

With some counts a pair may lead nowhere (`[ab]{500,900}` with `b*|a{9}`, after `aaaaaaaaa`), so what comes of it is
cut to the live values afterwards (`automata.counted`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.expr import Repetition
from automata.limits import Work
from automata.arrays import IntArray

# Memory of one pair of arcs.
_PAIR_BYTES = 16


class Marked(NamedTuple):
    """A layout with marks: N states, state 0 the start and state 1 the end.

    Attributes:
        ranges: `[A, 4]`, source, lowest byte, highest byte and target.
        epsilon: `[M, 3]`, source, target and mark.
        loop_of: `[N]`, the loop that a state is inside of, or -1.
        loops: `[L, 3]`, LOW, HIGH (or `UNBOUNDED`) and PREFERS.
        repetitions: what each loop was, L of them.
    """

    ranges: IntArray
    epsilon: IntArray
    loop_of: IntArray
    loops: IntArray
    repetitions: tuple[Repetition, ...]


def paired(marked: Marked, automaton: ByteAutomaton, work: Work) -> Marked:
    """The pairs of states, n x Q + q for state n of a layout and state q of an automaton.

    Raises:
        LimitExceeded: there are too many pairs of arcs.
    """
    size, (source, low, high, target) = automaton.num_states, automaton.range_arcs()
    ranges, limits = marked.ranges, work.limits
    if _PAIR_BYTES * len(ranges) * len(source) > limits.table_bytes:
        raise LimitExceeded(f"an intersection takes more than {limits.table_bytes:,} bytes (limit `table_bytes`)")
    least, most = np.maximum(ranges[:, 1:2], low), np.minimum(ranges[:, 2:3], high)
    mine, others = np.nonzero(least <= most)
    rows = [
        ranges[mine, 0] * size + source[others],
        least[mine, others],
        most[mine, others],
        ranges[mine, 3] * size + target[others],
    ]
    place = np.tile(np.arange(size, dtype=np.int32), len(marked.epsilon))
    before, after, mark = (np.repeat(column, size) for column in marked.epsilon.T)
    return Marked(
        np.stack(rows, axis=1).astype(np.int32),
        np.stack([before * size + place, after * size + place, mark], axis=1).astype(np.int32),
        np.repeat(marked.loop_of, size),
        marked.loops,
        marked.repetitions,
    )
