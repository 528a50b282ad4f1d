"""Partial functions on the states of a byte automaton, each stored once and known by its number.

A function is a run of (source, target) pairs with ascending sources in a pool. Two functions with the same pairs are
the same number (hash-consing), so equality is a comparison of integers and a composition is computed once. What is
known of a function is one row of a table:

    LOOP ..      the bytes and characters that leave it unchanged, 5 words (`tokenfst.loops`)
    CLASS        for the walk: the class that the function has become, 0 for none
    PAIRS_..     BEGIN and END of its pairs in the pool
    THROUGH ..   the function followed by the valid rests of a character, where all have one result, for each that may
                 be pending
    STEP ..      the function followed by a byte, for each class of bytes

Number 0 is the identity. The pool grows between steps (`grow`), so that a step never runs out of room.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.arrays import ByteArray
from automata.jit import kernel, plain_kernel
from tokenfst.transition.loops import DEAD, LOOP_WORDS, MIXED, NUM_PENDING, UNKNOWN, Ints, after_character

IDENTITY = 0
LOOP = 0
CLASS, PAIRS_BEGIN, PAIRS_END, HASH, THROUGH = range(LOOP_WORDS, LOOP_WORDS + 5)
STEP = THROUGH + NUM_PENDING
# In a pair the source is in the upper half and the target in the lower.
SOURCE_SHIFT, TARGET = 32, (1 << 32) - 1

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SLOTS_PER_FUNCTION = 4

Pairs: TypeAlias = npt.NDArray[np.int64]


class Functions(NamedTuple):
    """The pool, with room for F functions and P pairs."""

    number: Ints  # [1], how many functions there are
    rows: Ints  # [F, STEP + C]
    pairs: Pairs  # [P]
    slots: Ints  # [4 F], open addressing: the function, or -1


@kernel
def allocate(capacity: int, num_pairs: int, num_columns: int) -> Functions:
    return Functions(
        np.zeros(1, np.int32),
        np.empty((capacity, num_columns), np.int32),
        np.empty(num_pairs, np.int64),
        np.full(_SLOTS_PER_FUNCTION * capacity, -1, np.int32),
    )


@kernel
def identity_only(delta: Ints, state_loop: Ints) -> Functions:
    """A pool that holds the identity."""
    functions = allocate(512, max(8 * len(delta), 1 << 13), STEP + delta.shape[1])
    for state in range(len(delta)):
        functions.pairs[state] = state << SOURCE_SHIFT | state
    _add(functions, 0, len(delta), delta, state_loop)
    return functions


@plain_kernel
def num_pairs(functions: Functions) -> int:
    """How many pairs all functions hold."""
    return int(functions.rows[functions.number[0] - 1, PAIRS_END])


@plain_kernel
def is_full(functions: Functions, num_states: int) -> bool:
    """Whether there may be no room for two more functions."""
    rows, number = functions.rows, functions.number[0]
    return bool(number + 2 > len(rows) or rows[number - 1, PAIRS_END] + 2 * num_states > len(functions.pairs))


@kernel
def grow(functions: Functions, num_states: int) -> Functions:
    """The pool with more room."""
    number, used = functions.number[0], num_pairs(functions)
    capacity, room = len(functions.rows), len(functions.pairs)
    if number + 2 > capacity:
        capacity *= 2
    if used + 2 * num_states > room:
        room = 2 * (used + 2 * num_states)
    grown = allocate(capacity, room, functions.rows.shape[1])
    grown.number[0] = number
    grown.rows[:number] = functions.rows[:number]
    grown.pairs[:used] = functions.pairs[:used]
    for function in range(number):
        take_slot(grown.slots, functions.rows[function, HASH], function)
    return grown


@plain_kernel
def take_slot(slots: Ints, value: int, function: int) -> None:
    mask = len(slots) - 1
    slot = value & mask
    while slots[slot] >= 0:
        slot = (slot + 1) & mask
    slots[slot] = function


@plain_kernel
def hash_pairs(pairs: Pairs, begin: int, end: int) -> int:
    """31 bits of the pairs."""
    value = np.uint64(end - begin)
    for pair in range(begin, end):
        value = (value ^ np.uint64(pairs[pair])) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    return int(value >> np.uint64(33))


@plain_kernel
def find(rows: Ints, pairs: Pairs, slots: Ints, number: int, begin: int, end: int) -> int:
    """The function with the pairs from `begin` to `end`, which lie behind all others; `number` if it is new, DEAD if
    there are none.
    """
    value, mask, size = hash_pairs(pairs, begin, end), len(slots) - 1, end - begin
    slot, found = value & mask, UNKNOWN if size else DEAD
    while found == UNKNOWN:
        known = slots[slot]
        if known < 0:
            found = number
        elif rows[known, HASH] == value and rows[known, PAIRS_END] - rows[known, PAIRS_BEGIN] == size:
            shift, pair = rows[known, PAIRS_BEGIN] - begin, begin
            while pair < end and pairs[pair] == pairs[pair + shift]:
                pair += 1
            if pair == end:
                found = known
        slot = (slot + 1) & mask
    return int(found)


@plain_kernel
def _add(functions: Functions, begin: int, end: int, delta: Ints, state_loop: Ints) -> None:
    """Makes the pairs from `begin` to `end`, which lie behind all others, a new function, with what is known of it at
    once: which bytes no target can take, and what all targets loop on."""
    number = functions.number[0]
    functions.number[0] = number + 1
    row, pairs = functions.rows[number], functions.pairs
    row[CLASS], row[PAIRS_BEGIN], row[PAIRS_END], row[HASH] = 0, begin, end, hash_pairs(pairs, begin, end)
    take_slot(functions.slots, row[HASH], number)
    row[THROUGH:STEP], row[STEP:] = UNKNOWN, DEAD
    row[LOOP : LOOP + LOOP_WORDS] = -1
    for pair in range(begin, end):
        target = pairs[pair] & TARGET
        for column in range(delta.shape[1]):
            row[STEP + column] = max(row[STEP + column], delta[target, column])
        for word in range(LOOP_WORDS):
            row[LOOP + word] &= state_loop[target, word]
    for column in range(STEP, len(row)):
        row[column] = DEAD if row[column] < 0 else UNKNOWN


@plain_kernel
def compose(functions: Functions, function: int, column: int, delta: Ints, state_loop: Ints) -> None:
    """Finds the function followed by a byte of class `column`, or DEAD, and keeps it in its row."""
    rows, pairs, number = functions.rows, functions.pairs, functions.number[0]
    begin = end = rows[number - 1, PAIRS_END]
    for pair in range(rows[function, PAIRS_BEGIN], rows[function, PAIRS_END]):
        target = delta[pairs[pair] & TARGET, column]
        if target >= 0:
            pairs[end] = pairs[pair] & ~TARGET | target
            end += 1
    result = find(rows, pairs, functions.slots, number, begin, end)
    if result == number:
        _add(functions, begin, end, delta, state_loop)
    rows[function, STEP + column] = result


@plain_kernel
def pass_character(
    functions: Functions,
    function: int,
    pending: int,
    delta: Ints,
    byte_class: ByteArray,
    after: Ints,
    state_loop: Ints,
) -> None:
    """Finds the function followed by any valid rest of the pending character, DEAD if all die, MIXED if they differ,
    and keeps it in its row."""
    rows, pairs, number = functions.rows, functions.pairs, functions.number[0]
    begin = end = rows[number - 1, PAIRS_END]
    target = UNKNOWN
    for pair in range(rows[function, PAIRS_BEGIN], rows[function, PAIRS_END]):
        target = after_character(pairs[pair] & TARGET, pending, delta, byte_class, after)
        if target == MIXED:
            break
        if target >= 0:
            pairs[end] = pairs[pair] & ~TARGET | target
            end += 1
    result = MIXED if target == MIXED else find(rows, pairs, functions.slots, number, begin, end)
    if result == number:
        _add(functions, begin, end, delta, state_loop)
    rows[function, THROUGH + pending] = result
