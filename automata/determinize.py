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

from automata.jit import kernel
from automata.openfst import BoolArray, IntArray

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Transitions(NamedTuple):
    """An automaton as flat arrays: A transitions, `[A]` each, and Q final flags."""

    final: BoolArray
    source: IntArray
    symbol: IntArray
    target: IntArray


@kernel
def by_source(num_states: int, source: IntArray) -> tuple[IntArray, IntArray]:
    """Arcs sorted by source: where those of each state begin `[Q + 1]`, and the arcs in order `[A]`."""
    offsets = np.zeros(num_states + 1, np.int32)
    for arc in range(len(source)):
        offsets[source[arc] + 1] += 1
    for state in range(num_states):
        offsets[state + 1] += offsets[state]
    place = offsets[:-1].copy()
    order = np.empty(len(source), np.int32)
    for arc in range(len(source)):
        order[place[source[arc]]] = arc
        place[source[arc]] += 1
    return offsets, order


class _Sets(NamedTuple):
    """Sets of states, each stored once; set s is members[offset[s]] up to members[offset[s + 1]]."""

    count: IntArray  # [1]
    offset: IntArray
    members: IntArray
    slots: IntArray  # open addressing, -1 for none


@kernel
def _room(sets: _Sets, size: int) -> _Sets:
    """The sets with room for one more of `size` members."""
    count = sets.count[0]
    used = sets.offset[count]
    capacity, space = len(sets.offset) - 1, len(sets.members)
    if count + 1 <= capacity and used + size <= space:
        return sets
    if count + 1 > capacity:
        capacity *= 2
    if used + size > space:
        space = 2 * (used + size)
    grown = _Sets(
        sets.count,
        np.zeros(capacity + 1, np.int32),
        np.empty(space, np.int32),
        np.full(4 * capacity, -1, np.int32),
    )
    grown.offset[: count + 1] = sets.offset[: count + 1]
    grown.members[:used] = sets.members[:used]
    mask = len(grown.slots) - 1
    for known in range(count):
        slot = _hash(grown.members[grown.offset[known] : grown.offset[known + 1]]) & mask
        while grown.slots[slot] >= 0:
            slot = (slot + 1) & mask
        grown.slots[slot] = known
    return grown


@kernel
def _hash(members: IntArray) -> int:
    value = np.uint64(len(members))
    for member in members:
        value = (value ^ np.uint64(member)) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    return int(value >> np.uint64(2))


@kernel
def _find(sets: _Sets, members: IntArray) -> int:
    """The number of the set with these sorted members, which is added if it is new; there must be room."""
    offset, known_members, slots = sets.offset, sets.members, sets.slots
    mask = len(slots) - 1
    slot = _hash(members) & mask
    while slots[slot] >= 0:
        known = slots[slot]
        begin = offset[known]
        if offset[known + 1] - begin == len(members):
            at = 0
            while at < len(members) and known_members[begin + at] == members[at]:
                at += 1
            if at == len(members):
                return int(known)
        slot = (slot + 1) & mask
    count = sets.count[0]
    slots[slot] = count
    begin = offset[count]
    for at in range(len(members)):
        known_members[begin + at] = members[at]
    offset[count + 1] = begin + len(members)
    sets.count[0] = count + 1
    return int(count)


@kernel
def determinize(
    num_states: int, num_symbols: int, arcs: IntArray, epsilon: IntArray, end: int, max_states: int
) -> Transitions:
    """The deterministic automaton from state 0; its state 0 is the start.

    Args:
        num_states: Q, of the non-deterministic automaton.
        num_symbols: symbols are numbers below this.
        arcs: `[3, A]`, source, symbol and target.
        epsilon: `[2, N]`, source and target.
        end: the one final state.
        max_states: with more states than this the result is cut short; the caller can tell by their number.
    """
    arc_offset, arc_order = by_source(num_states, arcs[0])
    epsilon_offset, epsilon_order = by_source(num_states, epsilon[0])
    sets = _Sets(np.zeros(1, np.int32), np.zeros(129, np.int32), np.empty(1024, np.int32), np.full(512, -1, np.int32))
    _find(sets, np.zeros(1, np.int32))
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
    while state < sets.count[0] and sets.count[0] <= max_states:
        if state >= len(final):
            final = np.concatenate((final, np.zeros_like(final)))
        size = 0
        for at in range(sets.offset[state], sets.offset[state + 1]):
            seen[sets.members[at]] = state
            closure[size] = sets.members[at]
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
            size, at = 0, first[symbol]
            first[symbol] = -1
            while at >= 0:
                target = link[0, at]
                if marked[target] != stamp:
                    marked[target] = stamp
                    closure[size] = target
                    size += 1
                at = link[1, at]
            stamp += 1
            if size > 1:
                closure[:size].sort()
            if sets.count[0] + 1 >= len(sets.offset) or sets.offset[sets.count[0]] + size > len(sets.members):
                sets = _room(sets, size)
            made[0, num_made], made[1, num_made] = state, symbol
            made[2, num_made] = _find(sets, closure[:size])
            num_made += 1
        state += 1
    if sets.count[0] > len(final):
        final = np.concatenate((final, np.zeros(sets.count[0] - len(final), np.bool_)))
    return Transitions(final[: sets.count[0]], made[0, :num_made], made[1, :num_made], made[2, :num_made])
