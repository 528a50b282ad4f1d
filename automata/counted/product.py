"""What is in a language with counted loops and in a regular one: their layouts read along with an automaton.

A state of the result is a pair of a state of the layout and one of the automaton. A byte takes both on; marks and
epsilon arcs take on the layout alone, so loops remain loops and what is inside of them remains so
(`native/automata/counted/product.h`).

With some counts a pair may lead nowhere (`[ab]{500,900}` with `b*|a{9}`, after `aaaaaaaaa`), so what comes of it is
cut to the live values afterwards (`automata.counted`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.expr import Repetition
from automata.limits import Work


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
    return Marked(ranges, epsilon, loop_of, marked.loops, marked.repetitions)
