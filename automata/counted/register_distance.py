"""Least numbers of steps to a goal for states with a register, by breadth-first search over intervals.

With a bound of 100,000 there are 100,000 values for each state, but neighbours mostly have the same distance: with
tokens of up to 20 letters, `[a-z]{50000,100000}` has some 2,500 different ones. So the search takes intervals of values
in place of values: a piece is a state with an interval, all of one distance. What leads into a piece by an edge that
adds n are the values n lower, as far as its guard goes, and by an edge that sets n all that its guard holds, if n is in
the piece; of these, what has no distance yet becomes a piece of the next level. Neighbouring pieces of one level are
joined before the search goes on from them.

The distances are exact. Values that no piece holds do not lead to a goal, and edges can be cut to those that do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.errors import LimitExceeded
from automata.transition.grouping import grouped
from automata.jit import kernel, plain_kernel
from automata.arrays import IntArray

# Pieces at most: 16 MiB.
MAX_PIECES = 1 << 20
# Columns of pieces, of what has no distance yet, and of edges.
STATE, LOW, HIGH, DISTANCE = range(4)
_NEXT = 3
_SOURCE, _FROM, _UPTO, _TARGET, _ACTION = range(5)


class Steps(NamedTuple):
    """A distance for every state and register value, as it changes from one value to the next.

    Attributes:
        key: `[S]` int64, ascending: state x (R + 1) + the least register value of a run; each state begins with 0.
        value: `[S]` int32, the distance of the run; the greatest number there is where no goal can be reached.
    """

    key: npt.NDArray[np.int64]
    value: IntArray


FAR = np.iinfo(np.int32).max


def pieces_by_distance(num_states: int, max_register: int, edges: IntArray, goals: IntArray) -> IntArray:
    """The pieces, `[N, 4]`: state, lowest and highest register value, distance; in order of distance.

    Args:
        num_states, max_register: Q and R.
        edges: `[E, 5]`, source, least and greatest value, target, and action: n >= 0 adds n, ~n sets to n.
        goals: `[G, 3]`, state, lowest and highest value.

    Raises:
        LimitExceeded: there are more than `MAX_PIECES`.
    """
    # The longest step first: it mostly takes all that shorter ones would cut into pieces.
    edges = edges[np.argsort(-edges[:, _ACTION], kind="stable")]
    pieces = _search(num_states, max_register, edges, goals, MAX_PIECES)
    if len(pieces) > MAX_PIECES:
        raise LimitExceeded(f"the least numbers of tokens change more than {MAX_PIECES:,} times with the count")
    return pieces


def steps(num_states: int, max_register: int, pieces: IntArray) -> Steps:
    """The distances of pieces, and of what they leave out."""
    values = np.int64(max_register + 1)
    order = np.lexsort((pieces[:, LOW], pieces[:, STATE]))
    begin = pieces[order, STATE] * values + pieces[order, LOW]
    stop = pieces[order, STATE] * values + pieces[order, HIGH] + 1
    # Gaps begin where a piece stops and no other begins, and at 0.
    gaps = np.setdiff1d(np.concatenate([np.arange(num_states) * values, stop[stop < num_states * values]]), begin)
    key = np.concatenate([begin, gaps])
    value = np.concatenate([pieces[order, DISTANCE], np.full(len(gaps), FAR, np.int32)])
    in_order = np.argsort(key)
    return Steps(key[in_order], value[in_order])


def joined(pieces: IntArray) -> IntArray:
    """The pieces, `[N, 3]`, by state and in order, neighbours as one whatever their distances."""
    pieces = pieces[np.lexsort((pieces[:, LOW], pieces[:, STATE]))]
    goes_on = (pieces[1:, STATE] == pieces[:-1, STATE]) & (pieces[1:, LOW] == pieces[:-1, HIGH] + 1)
    first, last = np.append(True, ~goes_on)[: len(pieces)], np.append(~goes_on, True)[: len(pieces)]
    return np.stack([pieces[first, STATE], pieces[first, LOW], pieces[last, HIGH]], axis=1)


def live_parts(num_states: int, edges: IntArray, live: IntArray, max_parts: int) -> tuple[IntArray, IntArray, IntArray]:
    """The parts of edges that lead to where a goal can be reached, in order of edges: which edge, and the least and the
    greatest register value, `[P]` each; more than `max_parts` of them where it was stopped for that.

    Args:
        num_states: Q.
        edges: `[E, 5]`.
        live: `[N, 3]`, as `joined` gives it.
        max_parts: where to stop.
    """
    bounds = np.searchsorted(live[:, STATE], np.arange(num_states + 1)).astype(np.int32)
    parts = _parts(edges, live, bounds, max_parts)
    return parts[:, 0], parts[:, 1], parts[:, 2]


@kernel
def _parts(edges: IntArray, live: IntArray, bounds: IntArray, max_parts: int) -> IntArray:
    parts = np.empty((2 * len(edges) + 16, 3), np.int32)
    count = 0
    for edge in range(len(edges)):
        if count > max_parts:
            break
        target, action = edges[edge, _TARGET], edges[edge, _ACTION]
        for place in range(bounds[target], bounds[target + 1]):
            least, most = edges[edge, _FROM], edges[edge, _UPTO]
            if action >= 0:
                least, most = max(least, live[place, LOW] - action), min(most, live[place, HIGH] - action)
            elif not live[place, LOW] <= ~action <= live[place, HIGH]:
                continue
            if least <= most:
                if count == len(parts):
                    parts = _more(parts)
                parts[count, 0], parts[count, 1], parts[count, 2] = edge, least, most
                count += 1
    return parts[:count].copy()


@kernel
def _search(num_states: int, max_register: int, edges: IntArray, goals: IntArray, max_pieces: int) -> IntArray:
    """The pieces; more than `max_pieces` of them where it was stopped for that."""
    offsets, entering = grouped(num_states, edges[:, _TARGET].copy())
    pieces = np.empty((1 << 10, 4), np.int32)
    # What has no distance yet, as a linked list of intervals for each state: that of state q begins with row q.
    free = np.empty((num_states + len(pieces), 4), np.int32)
    for state in range(num_states):
        free[state, LOW], free[state, HIGH], free[state, _NEXT] = 0, max_register, -1
    # How many pieces there are, and how many rows of `free` are taken.
    taken = np.array([0, num_states])
    for goal in range(len(goals)):
        while not _claim(pieces, free, taken, goals[goal, 0], goals[goal, 1], goals[goal, 2], 0):
            pieces, free = _more(pieces), _more(free)
    begin = 0
    while begin < taken[0] <= max_pieces:
        taken[0] = end = _join(pieces, begin, taken[0], max_register)
        for at in range(begin, end):
            state, low, high, distance = pieces[at, STATE], pieces[at, LOW], pieces[at, HIGH], pieces[at, DISTANCE]
            for place in range(offsets[state], offsets[state + 1]):
                edge = entering[place]
                least, most, action = edges[edge, _FROM], edges[edge, _UPTO], edges[edge, _ACTION]
                if action >= 0:
                    least, most = max(least, low - action), min(most, high - action)
                elif not low <= ~action <= high:
                    continue
                if least <= most:
                    while not _claim(pieces, free, taken, edges[edge, _SOURCE], least, most, distance + 1):
                        pieces, free = _more(pieces), _more(free)
        begin = end
    return pieces[: taken[0]].copy()


@kernel
def _more(rows: IntArray) -> IntArray:
    """Twice as many rows."""
    grown = np.empty((2 * len(rows), rows.shape[1]), np.int32)
    grown[: len(rows)] = rows
    return grown


@plain_kernel
def _claim(
    pieces: IntArray, free: IntArray, taken: npt.NDArray[np.int64], state: int, low: int, high: int, distance: int
) -> bool:
    """Gives a distance to what has none yet of an interval; false if there was no room for all of it, so that it is to
    be done again. A row of `free` that holds nothing has low above high."""
    row = state
    while row >= 0:
        begin, end, following = free[row, LOW], free[row, HIGH], free[row, _NEXT]
        least, most = max(begin, low), min(end, high)
        if least <= most:
            if taken[0] == len(pieces) or taken[1] == len(free):
                return False
            at = taken[0]
            pieces[at, STATE], pieces[at, LOW], pieces[at, HIGH], pieces[at, DISTANCE] = state, least, most, distance
            taken[0] += 1
            if begin < least and most < end:
                rest = taken[1]
                taken[1] += 1
                free[rest, LOW], free[rest, HIGH], free[rest, _NEXT] = most + 1, end, following
                free[row, HIGH], free[row, _NEXT] = least - 1, rest
            elif begin < least:
                free[row, HIGH] = least - 1
            else:
                free[row, LOW] = most + 1
        row = following
    return True


@kernel
def _join(pieces: IntArray, begin: int, end: int, max_register: int) -> int:
    """Sorts the pieces from `begin` to `end` and joins neighbours; returns where they end then."""
    if end == begin + 1:
        return end
    level = pieces[begin:end].copy()
    key = level[:, STATE].astype(np.int64) * (max_register + 2) + level[:, LOW]
    stop = begin
    for at in np.argsort(key):
        piece = level[at]
        if stop > begin and pieces[stop - 1, STATE] == piece[STATE] and pieces[stop - 1, HIGH] + 1 == piece[LOW]:
            pieces[stop - 1, HIGH] = piece[HIGH]
        else:
            pieces[stop] = piece
            stop += 1
    return stop
