"""The subset construction: from a non-deterministic automaton with epsilon arcs to a deterministic one.

A state of the result is the sorted set of the states that a symbol led to, before following epsilon arcs; it is found
again by its hash. Epsilon arcs are followed when the set is expanded, once. Sets that differ only by that are states
too many, which minimization merges. (Rabin & Scott 1959; Hopcroft, Motwani & Ullman 2.3.5 and 2.5.5.)

OpenFst's `rmepsilon` and `determinize` do the same and are what the tests compare with. For patterns of everyday size
they cost ten times as much, most of it in objects and streams at the boundary, and this step is in every compilation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.jit import kernel, plain_kernel
from automata.limits import Flag
from automata.transition.grouping import grouped

# How a construction ended.
DONE, TOO_MANY_STATES, TOO_MUCH_MEMORY, STOPPED = range(4)

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Transitions(NamedTuple):
    """An automaton as flat arrays: A transitions, `[A]` each, and Q final flags."""

    final: BoolArray
    source: IntArray
    symbol: IntArray
    target: IntArray


class Sets(NamedTuple):
    """Sets of states, each stored once; set s is members[offset[s]] up to members[offset[s + 1]]."""

    offset: IntArray
    members: IntArray
    slots: IntArray  # open addressing, -1 for none


@kernel
def with_room(sets: Sets, count: int, size: int) -> Sets:
    """The `count` sets with room for one more of `size` members."""
    used = sets.offset[count]
    capacity, space = len(sets.offset) - 1, len(sets.members)
    if count + 1 > capacity:
        capacity *= 2
    if used + size > space:
        space = 2 * (used + size)
    grown = Sets(np.zeros(capacity + 1, np.int32), np.empty(space, np.int32), np.full(4 * capacity, -1, np.int32))
    grown.offset[: count + 1] = sets.offset[: count + 1]
    grown.members[:used] = sets.members[:used]
    for known in range(count):
        find(grown.offset, grown.members, grown.slots, known, grown.offset[known + 1])
    return grown


@plain_kernel
def find(offset: IntArray, members: IntArray, slots: IntArray, count: int, end: int) -> int:
    """The number of the set whose sorted members lie behind those of `count` sets, up to `end`; `count` if it is new.

    The arguments are arrays because a tuple of them would have its references counted at every call.
    """
    begin = offset[count]
    value = np.uint64(end - begin)
    for at in range(begin, end):
        value = (value ^ np.uint64(members[at])) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot, found = value & mask, -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            found = slots[slot] = count
        elif offset[known + 1] - offset[known] == end - begin:
            shift, at = offset[known] - begin, begin
            while at < end and members[at] == members[at + shift]:
                at += 1
            if at == end:
                found = known
        slot = (slot + np.uint64(1)) & mask
    return int(found)


@kernel
def determinize(
    num_states: int,
    num_symbols: int,
    arcs: IntArray,
    epsilon: IntArray,
    end: int,
    max_states: int,
    max_bytes: int,
    stop: Flag,
) -> tuple[int, Transitions]:
    """The deterministic automaton from state 0; its state 0 is the start.

    Args:
        num_states: Q, of the non-deterministic automaton.
        num_symbols: symbols are numbers below this.
        arcs: `[3, A]`, source, symbol and target.
        epsilon: `[2, N]`, source and target.
        end: the one final state.
        max_states: where to stop.
        max_bytes: where to stop, for the memory of all sets of states, and for that of all transitions.
        stop: `[1]`, looked at for every state.

    Returns:
        DONE, or why it was stopped; and the automaton.
    """
    max_members, max_made = min(max_bytes // 4, 2**31 - 1 - arcs.shape[1]), max_bytes // 12
    arc_offset, arc_order = grouped(num_states, arcs[0])
    epsilon_offset, epsilon_order = grouped(num_states, epsilon[0])
    # The first set is state 0 alone.
    offset, members, slots = np.zeros(129, np.int32), np.zeros(1024, np.int32), np.full(512, -1, np.int32)
    count, offset[1] = 1, 1
    find(offset, members, slots, 0, 1)
    final = np.zeros(128, np.bool_)
    made = np.empty((3, 512), np.int32)
    num_made = 0
    seen, closure = np.full(num_states, -1, np.int32), np.empty(num_states, np.int32)
    # The targets of each symbol, as linked lists that are emptied as they are read.
    first = np.full(num_symbols, -1, np.int32)
    touched = np.empty(num_symbols, np.int32)
    link = np.empty((2, max(arcs.shape[1], 1)), np.int32)
    stamp, marked = 0, np.full(num_states, -1, np.int32)
    state = 0
    while state < count <= max_states and offset[count] <= max_members and num_made <= max_made and stop[0] == 0:
        if state >= len(final):
            final = np.concatenate((final, np.zeros_like(final)))
        size = 0
        for at in range(offset[state], offset[state + 1]):
            seen[members[at]] = state
            closure[size] = members[at]
            size += 1
        num_links, num_touched, at = 0, 0, 0
        while at < size:
            member = closure[at]
            at += 1
            if member == end:
                final[state] = True
            for place in range(epsilon_offset[member], epsilon_offset[member + 1]):
                target = epsilon[1, epsilon_order[place]]
                if seen[target] != state:
                    seen[target] = state
                    closure[size] = target
                    size += 1
            for place in range(arc_offset[member], arc_offset[member + 1]):
                arc = arc_order[place]
                symbol = arcs[1, arc]
                if first[symbol] < 0:
                    touched[num_touched] = symbol
                    num_touched += 1
                link[0, num_links], link[1, num_links] = arcs[2, arc], first[symbol]
                first[symbol] = num_links
                num_links += 1
        if num_made + num_touched > made.shape[1]:
            grown = np.empty((3, 2 * (num_made + num_touched)), np.int32)
            grown[:, :num_made] = made[:, :num_made]
            made = grown
        for number in range(num_touched):
            symbol = touched[number]
            # No set has more members than there are arcs to them.
            if count + 1 >= len(offset) or offset[count] + num_links > len(members):
                offset, members, slots = with_room(Sets(offset, members, slots), count, num_links)
            top, at = offset[count], first[symbol]
            first[symbol] = -1
            while at >= 0:
                target = link[0, at]
                if marked[target] != stamp:
                    marked[target] = stamp
                    members[top] = target
                    top += 1
                at = link[1, at]
            stamp += 1
            if top - offset[count] > 1:
                members[offset[count] : top].sort()
            made[0, num_made], made[1, num_made] = state, symbol
            made[2, num_made] = found = find(offset, members, slots, count, top)
            num_made += 1
            if found == count:
                count += 1
                offset[count] = top
        state += 1
    if count > len(final):
        final = np.concatenate((final, np.zeros(count - len(final), np.bool_)))
    status = DONE if state == count else TOO_MANY_STATES if count > max_states else TOO_MUCH_MEMORY
    if stop[0]:
        status = STOPPED
    return status, Transitions(final[:count], made[0, :num_made], made[1, :num_made], made[2, :num_made])
