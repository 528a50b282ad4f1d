"""Intersection and difference of deterministic automata: the product construction.

A state of the product is a pair of states, found again by its hash; in a difference the right one may have died, which
is -1. Rows are sorted by symbol, so the rows of a pair are merged like sorted lists, and the cost is that of the arcs
that the pairs really have. (Hopcroft, Motwani & Ullman 4.2.1.)

OpenFst's `intersect` and `difference` do the same and are what the tests compare with; they know no limits and cannot
be stopped, and the product of two hostile patterns is larger than any machine.
"""

from __future__ import annotations

import numpy as np

from automata.determinize import DONE, STOPPED, TOO_MANY_STATES, Transitions
from automata.grouping import grouped
from automata.jit import kernel
from automata.limits import Flag
from automata.openfst import BoolArray, IntArray

_HASH_FACTOR, _OTHER_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@kernel
def product(
    left_final: BoolArray,
    left_arcs: IntArray,
    right_final: BoolArray,
    right_arcs: IntArray,
    difference: bool,
    max_states: int,
    stop: Flag,
) -> tuple[int, Transitions]:
    """The intersection, or the difference, of two automata whose state 0 is the start.

    Args:
        left_final, right_final: `[Q]` each.
        left_arcs, right_arcs: `[3, A]` each, source, symbol and target, in order of symbols for each source.
        difference: what is in the left one and not in the right one, in place of what is in both.
        max_states: where to stop.
        stop: `[1]`, looked at for every state.

    Returns:
        DONE, or why it was stopped; and the automaton, whose state 0 is the start.
    """
    left_offset, left_order = grouped(len(left_final), left_arcs[0])
    right_offset, right_order = grouped(len(right_final), right_arcs[0])
    pairs, slots = np.zeros((256, 2), np.int32), np.full(1024, -1, np.int32)
    made = np.empty((3, 1024), np.int32)
    count, num_made = 1, 0
    slots[_slot(slots, pairs, 0, 0)] = 0
    state = 0
    while state < count <= max_states and stop[0] == 0:
        left, right = pairs[state, 0], pairs[state, 1]
        at, end = left_offset[left], left_offset[left + 1]
        other, other_end = (right_offset[right], right_offset[right + 1]) if right >= 0 else (0, 0)
        if num_made + end - at > made.shape[1]:
            wider = np.empty((3, 2 * (num_made + end - at)), np.int32)
            wider[:, :num_made] = made[:, :num_made]
            made = wider
        while at < end:
            arc = left_order[at]
            at += 1
            symbol = left_arcs[1, arc]
            while other < other_end and right_arcs[1, right_order[other]] < symbol:
                other += 1
            both = other < other_end and right_arcs[1, right_order[other]] == symbol
            if not both and not difference:
                continue
            target, other_target = left_arcs[2, arc], right_arcs[2, right_order[other]] if both else np.int32(-1)
            if count + 1 > len(pairs):
                more = np.zeros((2 * len(pairs), 2), np.int32)
                more[:count] = pairs
                pairs = more
                slots = np.full(4 * len(pairs), -1, np.int32)
                for known in range(count):
                    slots[_slot(slots, pairs, pairs[known, 0], pairs[known, 1])] = known
            slot = _slot(slots, pairs, target, other_target)
            if slots[slot] < 0:
                slots[slot] = count
                pairs[count, 0], pairs[count, 1] = target, other_target
                count += 1
            made[0, num_made], made[1, num_made], made[2, num_made] = state, symbol, slots[slot]
            num_made += 1
        state += 1
    final = np.zeros(count, np.bool_)
    for number in range(count):
        left, right = pairs[number, 0], pairs[number, 1]
        final[number] = left_final[left] and (right >= 0 and right_final[right]) != difference
    status = STOPPED if stop[0] else TOO_MANY_STATES if count > max_states else DONE
    return status, Transitions(final, made[0, :num_made], made[1, :num_made], made[2, :num_made])


@kernel
def _slot(slots: IntArray, pairs: IntArray, left: np.int32 | int, right: np.int32 | int) -> np.uint64:
    """The place of a pair in the table: where it is, or where it belongs."""
    mask = np.uint64(len(slots) - 1)
    value = (np.uint64(left) * _HASH_FACTOR) ^ (np.uint64(right + 1) * _OTHER_FACTOR)
    slot = (value ^ (value >> np.uint64(31))) & mask
    while slots[slot] >= 0 and (pairs[slots[slot], 0] != left or pairs[slots[slot], 1] != right):
        slot = (slot + np.uint64(1)) & mask
    return slot
