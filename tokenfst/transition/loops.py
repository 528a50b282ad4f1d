"""What a state of a byte automaton is left unchanged by, and what whole characters do to it.

pending     what may follow inside a character whose first bytes have been read (RFC 3629, section 4): one more
            byte; two, the first of them narrowed after E0 and after ED; three, narrowed after F0 and after F4
after       [Q, pending] the one state that every valid rest of the character leads to, DEAD if all die, MIXED
            if they differ
delta       [Q, C] the state that each class of bytes leads to, DEAD or, for an automaton with a stack, MIXED where it
            does not lead to one state whatever the stack is (`tokenfst.pushdown.effects`)
loops       [Q, 5] as bits: the 128 ASCII bytes that lead the state back to itself, and in the last word, at
            the place of a trie node's HIGH_BYTE_BELOW, whether every whole character beyond ASCII does
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from automata.arrays import ByteArray
from automata.jit import kernel, plain_kernel
from tokenfst.transition.trie import HIGH_BYTE_BELOW

Ints: TypeAlias = npt.NDArray[np.int32]

LOOP_WORDS = 5

# In place of a state: not computed yet; none, the dead end; not one and the same.
UNKNOWN, DEAD, MIXED = -2, -1, -3

ONE, TWO_E0, TWO, TWO_ED, THREE_F0, THREE, THREE_F4 = range(7)
NUM_PENDING = 7
WHOLE = 7  # nothing is pending
# The first and the last byte that may come next, and what is pending after it.
NEXT_LOW = np.array([0x80, 0xA0, 0x80, 0x80, 0x90, 0x80, 0x80], np.int32)
NEXT_HIGH = np.array([0xBF, 0xBF, 0xBF, 0x9F, 0xBF, 0xBF, 0x8F], np.int32)
AFTER_CONTINUATION = np.array([WHOLE, ONE, ONE, ONE, TWO, TWO, TWO], np.int32)


def _after_lead() -> Ints:
    pending = np.full(256, WHOLE, np.int32)
    pending[0xC2:0xE0], pending[0xE0:0xF0], pending[0xF0:0xF5] = ONE, TWO, THREE
    pending[0xE0], pending[0xED], pending[0xF0], pending[0xF4] = TWO_E0, TWO_ED, THREE_F0, THREE_F4
    return pending


# What is pending after a byte that begins a character.
AFTER_LEAD = _after_lead()


@plain_kernel
def _one_more(state: int, delta: Ints, byte_class: ByteArray, after: Ints) -> int:
    """`after[state, ONE]`, computed when first needed."""
    if after[state, ONE] == UNKNOWN:
        found = delta[state, byte_class[0x80]]
        for byte in range(0x81, 0xC0):
            if delta[state, byte_class[byte]] != found:
                found = MIXED
                break
        after[state, ONE] = found
    return int(after[state, ONE])


@plain_kernel
def _two_more(state: int, pending: int, delta: Ints, byte_class: ByteArray, after: Ints) -> int:
    """`after[state, pending]` where two bytes are to come."""
    if after[state, pending] == UNKNOWN:
        found = UNKNOWN
        seen = -1
        for byte in range(NEXT_LOW[pending], NEXT_HIGH[pending] + 1):
            if byte_class[byte] == seen:
                continue
            seen = byte_class[byte]
            middle = delta[state, seen]
            reached = middle if middle < 0 else _one_more(middle, delta, byte_class, after)
            if reached == MIXED or (found != UNKNOWN and found != reached):
                found = MIXED
                break
            found = reached
        after[state, pending] = found
    return int(after[state, pending])


@plain_kernel
def after_character(state: int, pending: int, delta: Ints, byte_class: ByteArray, after: Ints) -> int:
    """`after[state, pending]`, computed when first needed."""
    if pending == ONE:
        return _one_more(state, delta, byte_class, after)
    if pending <= TWO_ED:
        return _two_more(state, pending, delta, byte_class, after)
    if after[state, pending] == UNKNOWN:
        found = UNKNOWN
        seen = -1
        for byte in range(NEXT_LOW[pending], NEXT_HIGH[pending] + 1):
            if byte_class[byte] == seen:
                continue
            seen = byte_class[byte]
            middle = delta[state, seen]
            reached = middle if middle < 0 else _two_more(middle, TWO, delta, byte_class, after)
            if reached == MIXED or (found != UNKNOWN and found != reached):
                found = MIXED
                break
            found = reached
        after[state, pending] = found
    return int(after[state, pending])


@kernel
def state_loops(delta: Ints, byte_class: ByteArray, after: Ints) -> Ints:
    """The loops of every state, `[Q, 5]`; fills in `after` as far as it needs to."""
    num_states, num_classes = delta.shape
    members = np.zeros((num_classes, 4), np.int32)
    for byte in range(128):
        members[byte_class[byte], byte >> 5] |= np.int32(np.uint32(1) << np.uint32(byte & 31))
    loops = np.zeros((num_states, LOOP_WORDS), np.int32)
    for state in range(num_states):
        for column in range(num_classes):
            if delta[state, column] == state:
                for word in range(4):
                    loops[state, word] |= members[column, word]
        # A word of a node that holds a byte and the flag for high bytes is compared with this one.
        loops[state, 4] = -1 if _loops_on_characters(state, delta, byte_class, after) else ~HIGH_BYTE_BELOW
    return loops


@plain_kernel
def _loops_on_characters(state: int, delta: Ints, byte_class: ByteArray, after: Ints) -> bool:
    seen_class, seen_pending = -1, -1
    for lead in range(0xC2, 0xF5):
        column, pending = byte_class[lead], AFTER_LEAD[lead]
        if column == seen_class and pending == seen_pending:
            continue
        seen_class, seen_pending = column, pending
        middle = delta[state, column]
        if middle < 0 or after_character(middle, pending, delta, byte_class, after) != state:
            return False
    return True
