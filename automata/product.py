"""Intersection and difference: the automaton of pairs of states, as far as pairs are reached.

    intersection    both go on
    difference      the left one goes on, and the right one goes on or has died, which is state -1

The arcs of a pair are those of both states, cut where either of them changes, so the work is the arcs of the pairs and
not a look at every byte. The result is deterministic, and minimized like everything else. (Hopcroft, Motwani & Ullman
4.2.1.)

Rejected: OpenFst's `intersect` and `difference`, which are what the tests compare with: an arc for each class of bytes,
objects and streams at the boundary, ten times the time for a hundred thousand strings.
"""

from __future__ import annotations

import numpy as np

from automata.determinize import DONE, STOPPED, TOO_MANY_STATES, TOO_MUCH_MEMORY
from automata.intervals import FIRST_LABEL
from automata.jit import kernel, plain_kernel
from automata.limits import Flag
from automata.openfst import BoolArray, IntArray
from automata.sparse import HIGH, LOW, REACHED

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@kernel
def product(
    left_offsets: IntArray,
    left_arcs: IntArray,
    left_final: BoolArray,
    left_labels: IntArray,
    right_offsets: IntArray,
    right_arcs: IntArray,
    right_final: BoolArray,
    right_labels: IntArray,
    difference: bool,
    max_states: int,
    max_bytes: int,
    stop: Flag,
) -> tuple[int, BoolArray, IntArray]:
    """The intersection, or the difference, of two automata whose state 0 is the start.

    Args:
        left_offsets, left_arcs, right_offsets, right_arcs: their arcs by state (`automata.sparse.by_state`).
        left_final, right_final: `[Q]` each.
        left_labels, right_labels: `[Q, L]` each, the state that each label leads to, or -1.
        difference: what is in the left one and not in the right one, in place of what is in both.
        max_states: where to stop.
        max_bytes: where to stop, for the memory of the ranges.
        stop: `[1]`, looked at for every state.

    Returns:
        DONE, or why it was stopped; and the final states `[Q]` and the ranges `[A, 4]` of the automaton
        (`automata.intervals`), whose state 0 is the start.
    """
    max_ranges = max_bytes // 16
    num_labels = left_labels.shape[1]
    pairs, slots = np.empty((1024, 2), np.int32), np.full(4096, -1, np.int32)
    final, ranges = np.empty(1024, np.bool_), np.empty((4096, 4), np.int32)
    _number_of(pairs, slots, 0, 0, 0)
    count, num_ranges, state = 1, 0, 0
    while state < count <= max_states and num_ranges <= max_ranges and stop[0] == 0:
        p, q = pairs[state]
        final[state] = left_final[p] and (not right_final[q] if difference and q >= 0 else difference or right_final[q])
        begin, end = (right_offsets[q], right_offsets[q + 1]) if q >= 0 else (0, 0)
        # Between two arcs of the left state lie at most as many cuts as the right one has arcs.
        needed = 2 * (left_offsets[p + 1] - left_offsets[p] + end - begin) + num_labels + 1
        if count + needed > len(pairs):
            pairs, final, slots = _more_states(pairs, final, count, count + needed)
        if num_ranges + needed > len(ranges):
            grown = np.empty((2 * (num_ranges + needed), 4), np.int32)
            grown[:num_ranges] = ranges[:num_ranges]
            ranges = grown
        for arc in range(left_offsets[p], left_offsets[p + 1]):
            low, last = left_arcs[arc, LOW], left_arcs[arc, HIGH]
            while low <= last:
                while begin < end and right_arcs[begin, HIGH] < low:
                    begin += 1
                # The right state's arc over `low`, or none, and up to where that holds.
                other, high = -1, last
                if begin < end:
                    if right_arcs[begin, LOW] <= low:
                        other, high = right_arcs[begin, REACHED], min(last, right_arcs[begin, HIGH])
                    else:
                        high = min(last, right_arcs[begin, LOW] - 1)
                if difference or other >= 0:
                    reached = _number_of(pairs, slots, count, left_arcs[arc, REACHED], other)
                    count = max(count, reached + 1)
                    ranges[num_ranges, 0], ranges[num_ranges, 1] = state, low
                    ranges[num_ranges, 2], ranges[num_ranges, 3] = high, reached
                    num_ranges += 1
                low = high + 1
        for label in range(num_labels):
            other = right_labels[q, label] if q >= 0 else -1
            if left_labels[p, label] >= 0 and (difference or other >= 0):
                reached = _number_of(pairs, slots, count, left_labels[p, label], other)
                count = max(count, reached + 1)
                ranges[num_ranges, 0], ranges[num_ranges, 3] = state, reached
                ranges[num_ranges, 1] = ranges[num_ranges, 2] = FIRST_LABEL + label
                num_ranges += 1
        state += 1
    status = DONE if state == count else TOO_MANY_STATES if count > max_states else TOO_MUCH_MEMORY
    return STOPPED if stop[0] else status, final[:count], ranges[:num_ranges]


@plain_kernel
def _number_of(pairs: IntArray, slots: IntArray, count: int, left: int, right: int) -> int:
    """The number of a pair; `count`, where it is put, if it is new."""
    value = (np.uint64(left) << np.uint64(32) ^ np.uint64(right + 1)) * _HASH_FACTOR
    value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while slots[slot] >= 0:
        known = slots[slot]
        if pairs[known, 0] == left and pairs[known, 1] == right:
            return int(known)
        slot = (slot + np.uint64(1)) & mask
    slots[slot] = count
    pairs[count, 0], pairs[count, 1] = left, right
    return count


@kernel
def _more_states(pairs: IntArray, final: BoolArray, count: int, needed: int) -> tuple[IntArray, BoolArray, IntArray]:
    """Twice the room for pairs, which are entered anew."""
    capacity = len(pairs)
    while capacity < 2 * needed:
        capacity *= 2
    grown, ends = np.empty((capacity, 2), np.int32), np.empty(capacity, np.bool_)
    ends[:count] = final[:count]
    slots = np.full(4 * capacity, -1, np.int32)
    for number in range(count):
        _number_of(grown, slots, number, pairs[number, 0], pairs[number, 1])
    return grown, ends, slots
