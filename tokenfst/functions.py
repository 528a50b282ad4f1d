"""Partial functions on the states of a byte automaton, each stored once and known by its number.

A function is a run of (source, target) pairs with ascending sources in a pool. Two functions with the same pairs are
the same number (hash-consing), so equality is a comparison of integers and a composition is computed once:

    step [F, C]             the function followed by a byte of class c
    through [F, pending]    the function followed by the valid rests of a character, where all have one result
    loop [F, 6]             the bytes and characters that leave it unchanged (`tokenfst.loops`), and whether these are
                            all but rare bytes (`tokenfst.trie`): it is text

Number 0 is the identity. The pool grows between steps (`grow`), so that a step never runs out of room.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.byte_automaton import ByteArray
from automata.jit import kernel
from tokenfst.loops import DEAD, MIXED, NUM_PENDING, UNKNOWN, Ints, after_character
from tokenfst.trie import RARE_BYTES

IDENTITY = 0
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SLOTS_PER_FUNCTION = 4

Hashes: TypeAlias = npt.NDArray[np.uint64]


class Functions(NamedTuple):
    """The pool, with room for F functions and P pairs."""

    count: Ints  # [1], how many functions there are
    offset: Ints  # [F + 1], function f is pairs offset[f] up to offset[f + 1]
    pairs: Ints  # [P, 2]
    step: Ints  # [F, C]
    through: Ints  # [F, NUM_PENDING]
    loop: Ints  # [F, 6]; the last word is 1 where the function is text
    class_of: Ints  # [F], for the walk: the class that the function has become, 0 for none
    hashes: Hashes  # [F]
    slots: Ints  # [4 F], open addressing: the function, or -1


@kernel
def _allocate(capacity: int, num_pairs: int, num_byte_classes: int) -> Functions:
    return Functions(
        np.zeros(1, np.int32),
        np.zeros(capacity + 1, np.int32),
        np.empty((num_pairs, 2), np.int32),
        np.empty((capacity, num_byte_classes), np.int32),
        np.empty((capacity, NUM_PENDING), np.int32),
        np.empty((capacity, 6), np.int32),
        np.zeros(capacity, np.int32),
        np.empty(capacity, np.uint64),
        np.full(_SLOTS_PER_FUNCTION * capacity, -1, np.int32),
    )


@kernel
def identity_only(delta: Ints, state_loop: Ints) -> Functions:
    """A pool that holds the identity."""
    functions = _allocate(512, max(8 * len(delta), 1 << 13), delta.shape[1])
    for state in range(len(delta)):
        functions.pairs[state, 0] = functions.pairs[state, 1] = state
    _intern(functions, len(delta), delta, state_loop)
    return functions


@kernel
def num_pairs(functions: Functions) -> int:
    """How many pairs all functions hold."""
    return int(functions.offset[functions.count[0]])


@kernel
def is_full(functions: Functions, num_states: int) -> bool:
    """Whether there may be no room for two more functions."""
    count = functions.count[0]
    return count + 2 > len(functions.step) or functions.offset[count] + 2 * num_states > len(functions.pairs)


@kernel
def grow(functions: Functions, num_states: int) -> Functions:
    """The pool with more room."""
    count, used = functions.count[0], num_pairs(functions)
    capacity, room = len(functions.step), len(functions.pairs)
    if count + 2 > capacity:
        capacity *= 2
    if used + 2 * num_states > room:
        room = 2 * (used + 2 * num_states)
    grown = _allocate(capacity, room, functions.step.shape[1])
    grown.count[0] = count
    grown.offset[: count + 1] = functions.offset[: count + 1]
    grown.pairs[:used] = functions.pairs[:used]
    grown.step[:count] = functions.step[:count]
    grown.through[:count] = functions.through[:count]
    grown.loop[:count] = functions.loop[:count]
    grown.class_of[:count] = functions.class_of[:count]
    grown.hashes[:count] = functions.hashes[:count]
    for function in range(count):
        grown.slots[_free_slot(grown, functions.hashes[function])] = function
    return grown


@kernel
def _free_slot(functions: Functions, value: np.uint64) -> int:
    mask = np.uint64(len(functions.slots) - 1)
    slot = value & mask
    while functions.slots[slot] >= 0:
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@kernel
def _intern(functions: Functions, end: int, delta: Ints, state_loop: Ints) -> int:
    """The number of the function whose pairs have been written behind all others, up to `end`."""
    # Arrays are taken out of the tuple once: each look into it counts references.
    offset, pairs, slots, hashes = functions.offset, functions.pairs, functions.slots, functions.hashes
    count = functions.count[0]
    begin = offset[count]
    if end == begin:
        return DEAD
    value = np.uint64(end - begin)
    for pair in range(begin, end):
        value = (value ^ (np.uint64(pairs[pair, 0]) << np.uint64(32)) ^ np.uint64(pairs[pair, 1])) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while slots[slot] >= 0:
        known = slots[slot]
        if hashes[known] == value and offset[known + 1] - offset[known] == end - begin:
            shift = offset[known] - begin
            pair = begin
            while pair < end and pairs[pair, 0] == pairs[pair + shift, 0] and pairs[pair, 1] == pairs[pair + shift, 1]:
                pair += 1
            if pair == end:
                return int(known)
        slot = (slot + np.uint64(1)) & mask
    slots[slot] = count
    hashes[count] = value
    offset[count + 1] = end
    functions.count[0] = count + 1
    _describe(pairs[begin:end], count, delta, state_loop, functions.step, functions.loop)
    functions.through[count] = UNKNOWN
    return int(count)


@kernel
def _describe(pairs: Ints, function: int, delta: Ints, state_loop: Ints, step: Ints, loop: Ints) -> None:
    """What is known of a new function at once: which bytes no target can take, and what all targets loop on."""
    for column in range(delta.shape[1]):
        step[function, column] = DEAD
        for pair in range(len(pairs)):
            if delta[pairs[pair, 1], column] >= 0:
                step[function, column] = UNKNOWN
                break
    text = True
    for word in range(5):
        bits = np.int32(-1)
        for pair in range(len(pairs)):
            bits &= state_loop[pairs[pair, 1], word]
        loop[function, word] = bits
        text = text and (bits | RARE_BYTES[word] if word < 4 else bits) == -1
    loop[function, 5] = text


@kernel
def compose(functions: Functions, function: int, column: int, delta: Ints, state_loop: Ints) -> int:
    """The function followed by a byte of class `column`, or DEAD; kept in `step`."""
    pairs, offset = functions.pairs, functions.offset
    end = offset[functions.count[0]]
    for pair in range(offset[function], offset[function + 1]):
        target = delta[pairs[pair, 1], column]
        if target >= 0:
            pairs[end, 0] = pairs[pair, 0]
            pairs[end, 1] = target
            end += 1
    result = _intern(functions, end, delta, state_loop)
    functions.step[function, column] = result
    return result


@kernel
def pass_character(
    functions: Functions,
    function: int,
    pending: int,
    delta: Ints,
    byte_class: ByteArray,
    after: Ints,
    state_loop: Ints,
) -> int:
    """The function followed by any valid rest of the pending character: DEAD if all die, MIXED if they differ; kept in
    `through`."""
    pairs, offset = functions.pairs, functions.offset
    end = offset[functions.count[0]]
    result = UNKNOWN
    for pair in range(offset[function], offset[function + 1]):
        target = after_character(pairs[pair, 1], pending, delta, byte_class, after)
        if target == MIXED:
            result = MIXED
            break
        if target >= 0:
            pairs[end, 0] = pairs[pair, 0]
            pairs[end, 1] = target
            end += 1
    if result == UNKNOWN:
        result = _intern(functions, end, delta, state_loop)
    functions.through[function, pending] = result
    return result
