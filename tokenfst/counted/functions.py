"""Partial functions on states and a register: what a token does to a counted byte automaton.

A function is a run of entries in a pool, in order of source and then of register values:

    SOURCE, LOW, HIGH     from this state, while the register is between low and high
    TARGET, ACTION        to that state; n >= 0 adds n to the register, ~n sets it to n

Equal functions have equal entries, whatever bytes they were composed of, since entries are canonical: the values are
taken in ascending order, and each entry is as long as it can be. (One value alone is written as one that is set. Where
a value fits the entry before it and the one behind it, it is the former's.) So functions are hash-consed as in
`tokenfst.functions`: equal ones are one number, and what is known of a function is one row of two tables:

    known    BEGIN and END of its entries, HASH, and for the walk the CLASS that it has become, 0 for none
    step     the function followed by a byte, for each class of bytes

Number 0 is the identity. The pool grows between steps, so that a step never runs out of room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.jit import kernel, plain_kernel
from tokenfst.transition.loops import DEAD, UNKNOWN, Ints

IDENTITY = 0
SOURCE, LOW, HIGH, TARGET, ACTION = range(5)
BEGIN, END, _HASH, CLASS = range(4)

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SLOTS_PER_FUNCTION = 4


class CountedFunctions(NamedTuple):
    """The pool, with room for F functions and P entries."""

    number: Ints  # [1], how many functions there are
    known: Ints  # [F, 4]
    step: Ints  # [F, C]
    entries: Ints  # [P, 5]
    slots: Ints  # [4 F], open addressing: the function, or -1


@kernel
def _allocate(capacity: int, num_entries: int, num_columns: int) -> CountedFunctions:
    return CountedFunctions(
        np.zeros(1, np.int32),
        np.empty((capacity, 4), np.int32),
        np.full((capacity, num_columns), UNKNOWN, np.int32),
        np.empty((num_entries, 5), np.int32),
        np.full(_SLOTS_PER_FUNCTION * capacity, -1, np.int32),
    )


@kernel
def identity_alone(num_states: int, num_columns: int, max_register: int) -> CountedFunctions:
    """A pool that holds the identity."""
    pool = _allocate(512, max(8 * num_states, 1 << 12), num_columns)
    for state in range(num_states):
        entry = pool.entries[state]
        entry[SOURCE], entry[LOW], entry[HIGH], entry[TARGET], entry[ACTION] = state, 0, max_register, state, 0
    _add(pool, 0, num_states)
    return pool


@plain_kernel
def _add(pool: CountedFunctions, begin: int, end: int) -> None:
    """Makes the entries from `begin` to `end`, which lie behind all others, a new function."""
    number = pool.number[0]
    pool.number[0] = number + 1
    row = pool.known[number]
    row[BEGIN], row[END], row[_HASH], row[CLASS] = begin, end, _hash(pool.entries, begin, end), 0
    _take_slot(pool.slots, row[_HASH], number)


@plain_kernel
def _take_slot(slots: Ints, value: int, function: int) -> None:
    mask = len(slots) - 1
    slot = value & mask
    while slots[slot] >= 0:
        slot = (slot + 1) & mask
    slots[slot] = function


@plain_kernel
def _hash(entries: Ints, begin: int, end: int) -> int:
    """31 bits of the entries."""
    value = np.uint64(end - begin)
    for entry in range(begin, end):
        for column in range(5):
            value = (value ^ np.uint64(entries[entry, column])) * _HASH_FACTOR
            value ^= value >> np.uint64(29)
    return int(value >> np.uint64(33))


@kernel
def with_room(pool: CountedFunctions, entries: int) -> CountedFunctions:
    """The pool with room for one more function of so many entries."""
    number = pool.number[0]
    used = pool.known[number - 1, END]
    capacity, room = len(pool.known), len(pool.entries)
    if number + 1 <= capacity and used + entries <= room:
        return pool
    if number + 1 > capacity:
        capacity *= 2
    if used + entries > room:
        room = 2 * (used + entries)
    grown = _allocate(capacity, room, pool.step.shape[1])
    grown.number[0] = number
    grown.known[:number] = pool.known[:number]
    grown.step[:number] = pool.step[:number]
    grown.entries[:used] = pool.entries[:used]
    for function in range(number):
        _take_slot(grown.slots, grown.known[function, _HASH], function)
    return grown


@plain_kernel
def room_needed(pool: CountedFunctions, function: int, column: int, offsets: Ints) -> int:
    """No fewer entries than the function followed by a byte of class `column` can have."""
    num_columns, needed = pool.step.shape[1], 1
    for entry in range(pool.known[function, BEGIN], pool.known[function, END]):
        place = pool.entries[entry, TARGET] * num_columns + column
        needed += offsets[place + 1] - offsets[place]
    return int(needed)


@plain_kernel
def compose(pool: CountedFunctions, function: int, column: int, offsets: Ints, arcs: Ints) -> None:
    """Finds the function followed by a byte of class `column`, or DEAD, and keeps it; there is room.

    Args:
        pool, function, column: what is followed by what.
        offsets, arcs: of the byte automaton (`automata.counted.CountedByteAutomaton`).
    """
    entries, num_columns = pool.entries, pool.step.shape[1]
    number = pool.number[0]
    begin = end = pool.known[number - 1, END]
    for entry in range(pool.known[function, BEGIN], pool.known[function, END]):
        source, low, high = entries[entry, SOURCE], entries[entry, LOW], entries[entry, HIGH]
        action = entries[entry, ACTION]
        place = entries[entry, TARGET] * num_columns + column
        for arc in range(offsets[place], offsets[place + 1]):
            least, most, target, then = arcs[arc, 0], arcs[arc, 1], arcs[arc, 2], arcs[arc, 3]
            if action >= 0:
                least, most = max(low, least - action), min(high, most - action)
                if then >= 0:
                    then += action
            else:
                if not least <= ~action <= most:
                    continue
                least, most = low, high
                if then >= 0:
                    then = ~(~action + then)
            if least <= most:
                end = _append(entries, begin, end, source, least, most, target, then)
    found = _find(pool.known, entries, pool.slots, number, begin, end)
    if found == number:
        _add(pool, begin, end)
    pool.step[function, column] = found


@plain_kernel
def _append(entries: Ints, begin: int, end: int, source: int, low: int, high: int, target: int, action: int) -> int:
    """Puts an entry behind those up to `end`, of which it may continue the last; returns where they end then."""
    value = low + action if action >= 0 else ~action
    if end > begin:
        last = entries[end - 1]
        if last[SOURCE] == source and last[TARGET] == target and last[HIGH] + 1 == low:
            form = last[ACTION]
            if last[LOW] == last[HIGH]:
                # One value alone goes on as a constant, or as a sum.
                form = value - low if value == ~form + 1 and value >= low else form
            if value == (low + form if form >= 0 else ~form):
                last[ACTION] = form
                last[HIGH] = high if form == action else low
                if last[HIGH] == high:
                    return end
                low += 1
                value += action >= 0
    new = entries[end]
    new[SOURCE], new[LOW], new[HIGH], new[TARGET] = source, low, high, target
    new[ACTION] = ~value if low == high else action
    return end + 1


@plain_kernel
def _find(known: Ints, entries: Ints, slots: Ints, number: int, begin: int, end: int) -> int:
    """The function with the entries from `begin` to `end`, which lie behind all others; `number` if it is new, DEAD if
    there are none."""
    value, mask, size = _hash(entries, begin, end), len(slots) - 1, end - begin
    slot, found = value & mask, UNKNOWN if size else DEAD
    while found == UNKNOWN:
        function = slots[slot]
        if function < 0:
            found = number
        elif known[function, _HASH] == value and _equal(entries, begin, size, known[function]):
            found = function
        slot = (slot + 1) & mask
    return int(found)


@plain_kernel
def _equal(entries: Ints, begin: int, size: int, known: Ints) -> bool:
    """Whether the `size` entries from `begin` on are those of a function that is known."""
    if known[END] - known[BEGIN] != size:
        return False
    left, right = begin, known[BEGIN]
    for entry in range(size):
        for column in range(5):
            if entries[left + entry, column] != entries[right + entry, column]:
                return False
    return True
