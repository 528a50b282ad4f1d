"""Least numbers of steps to a goal for states with a register (`native/automata/counted/register_distance.h`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata import _native
from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.limits import Work, under_way

# Pieces at most: 16 MiB.
MAX_PIECES = _native.MAX_PIECES
# Columns of pieces.
STATE, LOW, HIGH, DISTANCE = range(4)


class Steps(NamedTuple):
    """A distance for every state and register value, as it changes from one value to the next.

    Attributes:
        key: `[S]` int64, ascending: state x (R + 1) + the least register value of a run; each state begins with 0.
        value: `[S]` int32, the distance of the run; the greatest number there is where no goal can be reached.
    """

    key: npt.NDArray[np.int64]
    value: IntArray


FAR = np.iinfo(np.int32).max


def pieces_by_distance(
    num_states: int, max_register: int, edges: IntArray, goals: IntArray, work: Work | None = None
) -> IntArray:
    """The pieces, `[N, 4]`: state, lowest and highest register value, distance; in order of distance.

    Args:
        num_states, max_register: Q and R.
        edges: `[E, 5]`, source, least and greatest value, target, and action: n >= 0 adds n, ~n sets to n.
        goals: `[G, 3]`, state, lowest and highest value.
        work: the compilation that it is part of; without it, the default limits.

    Raises:
        LimitExceeded: there are more than `MAX_PIECES`, or they take too much memory or time.
        Cancelled: the compilation was cancelled.
    """
    budget = under_way(work).budget
    pieces = _native.pieces_by_distance(num_states, max_register, edges, goals, MAX_PIECES, budget)
    if pieces is None:
        raise LimitExceeded(f"the least numbers of tokens change more than {MAX_PIECES:,} times with the count")
    return pieces


def steps(num_states: int, max_register: int, pieces: IntArray, work: Work | None = None) -> Steps:
    """The distances of pieces, and of what they leave out."""
    return Steps(*_native.distance_steps(num_states, max_register, pieces, under_way(work).budget))


def joined(pieces: IntArray, work: Work | None = None) -> IntArray:
    """The pieces, `[N, 3]`, by state and in order, neighbours as one whatever their distances."""
    return _native.joined(pieces, under_way(work).budget)


def live_parts(
    num_states: int, edges: IntArray, live: IntArray, max_parts: int, work: Work | None = None
) -> IntArray | None:
    """The parts of edges that lead to where a goal can be reached, `[P, 3]` in order of edges: which edge, and the
    least and the greatest value; None where there are more than `max_parts`.

    Args:
        num_states: Q.
        edges: `[E, 5]`.
        live: `[N, 3]`, as `joined` gives it.
        max_parts: where to stop.
        work: the compilation that it is part of; without it, the default limits.
    """
    return _native.live_parts(num_states, edges, live, max_parts, under_way(work).budget)
