"""What a text does to a state and a stack: trees of what is popped, each stored once and known by its number.

    leaf    symbols pushed, and the state that follows
    tree    leaves, and children: one more symbol popped, and a tree for what follows then

The tree of a state and a text says, for every stack, where the text leads: the symbols on top pick a path, and a leaf
at its end says what is pushed in place of what was popped, and the state. In a deterministic automaton every path ends
in one leaf; otherwise all leaves that are met on the path count, and several children may be for one symbol.

A tree followed by one more byte is a tree again, and is found once (`FOLLOWED` columns of its row): each leaf takes the
steps of its state, whose pops take first what the leaf has pushed, and go on as new branches below; children are
followed one by one. Trees 0 .. Q - 1 are single leaves that push nothing, the states themselves.

Equal trees are one, so what follows once symbols have been popped is shared by all ways to get there: `)))))` may pop
any of ten symbols each time, and has a hundred thousand ways through five small trees.

Rejected: (state, pops, pushes, state) tuples one by one, with single symbols or with sets of symbols to pop, which are
as many as the ways.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import ByteArray
from automata.jit import kernel, plain_kernel
from tokenfst.transition.loops import DEAD, LOOP_WORDS, MIXED, NUM_PENDING, UNKNOWN, Ints, state_loops

# Not found yet. Positive, unlike DEAD and MIXED, so that what is not known counts as alive.
LATER = 1 << 30

LEAVES_BEGIN, LEAVES_END, CHILDREN_BEGIN, CHILDREN_END, _HASH, LOOPS = range(6)
LIVE = LOOPS + LOOP_WORDS
# The byte classes that a tree may take, as bits of words that are never negative.
LIVE_BITS = 31
FOLLOWED = LIVE + 256 // LIVE_BITS + 1
PARENT, SYMBOL, LENGTH = range(3)
EMPTY = 0
# In a leaf the sequence pushed is in the upper half and the state in the lower; in a child the symbol and the tree.
SHIFT, LOWER = 32, (1 << 32) - 1
TREES, LEAVES, CHILDREN, SEQUENCES = range(4)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Pairs = npt.NDArray[np.int64]


class Trees(NamedTuple):
    """The pool, with room for N trees, their leaves and children, and P sequences of symbols."""

    counts: Ints  # [4], how many there are of each
    rows: Ints  # [N, FOLLOWED + W + pending], W columns of steps, and one for what may be pending of a character
    leaves: Pairs
    children: Pairs
    slots: Ints  # [4 N], open addressing: the tree, or -1
    sequences: Ints  # [P, 3]
    sequence_slots: Ints  # [4 P]


class Steps(NamedTuple):
    """The steps of a pushdown automaton over bytes, with Q states, C byte classes and W columns."""

    plain: Ints  # [Q, C], the state of the only step, if it neither pops nor pushes; DEAD if there is none, else MIXED
    offsets: Ints  # [Q * W + 1]
    pops: Ints  # [E], the automaton's sequences
    pushes: Ints  # [E], sequences of the pool
    target: Ints  # [E]
    parent: Ints  # [P], the automaton's sequences
    symbol: Ints  # [P]
    byte_class: ByteArray  # [256]
    after: Ints  # [Q, pending]
    width: int  # W


@kernel
def _allocate(trees: int, width: int, leaves: int, children: int, sequences: int) -> Trees:
    return Trees(
        np.zeros(4, np.int32),
        np.empty((trees, width), np.int32),
        np.empty(leaves, np.int64),
        np.empty(children, np.int64),
        np.full(4 * trees, -1, np.int32),
        np.empty((sequences, 3), np.int32),
        np.full(4 * sequences, -1, np.int32),
    )


@plain_kernel
def _power_of_two(size: int) -> int:
    power = 1024
    while power < size:
        power *= 2
    return power


@plain_kernel
def has_room(pool: Trees, trees: int, leaves: int, children: int, sequences: int) -> bool:
    """Whether there is room for so many more."""
    counts = pool.counts
    return bool(
        counts[TREES] + trees <= len(pool.rows)
        and counts[LEAVES] + leaves <= len(pool.leaves)
        and counts[CHILDREN] + children <= len(pool.children)
        and counts[SEQUENCES] + sequences <= len(pool.sequences)
    )


@kernel
def grown(pool: Trees) -> Trees:
    """The pool with twice the room.

    What runs out of room stops, is told by its result, and is asked again later: arrays that are replaced deep inside
    would be in the way of all that is done with them, and take half a minute more to compile.
    """
    counts = pool.counts
    larger = _allocate(
        2 * len(pool.rows),
        pool.rows.shape[1],
        2 * len(pool.leaves),
        2 * len(pool.children),
        2 * len(pool.sequences),
    )
    larger.counts[:] = counts
    larger.rows[: counts[TREES]] = pool.rows[: counts[TREES]]
    larger.leaves[: counts[LEAVES]] = pool.leaves[: counts[LEAVES]]
    larger.children[: counts[CHILDREN]] = pool.children[: counts[CHILDREN]]
    larger.sequences[: counts[SEQUENCES]] = pool.sequences[: counts[SEQUENCES]]
    for tree in range(counts[TREES]):
        _take(larger.slots, larger.rows[tree, _HASH], tree)
    for sequence in range(1, counts[SEQUENCES]):
        row = larger.sequences[sequence]
        _take(larger.sequence_slots, _sequence_hash(row[PARENT], row[SYMBOL]), sequence)
    return larger


@plain_kernel
def _take(slots: Ints, value: int, number: int) -> None:
    slot = value & (len(slots) - 1)
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot] = number


@plain_kernel
def _sequence_hash(sequence: int, symbol: int) -> int:
    value = (np.uint64(sequence) * _FACTOR ^ np.uint64(symbol)) * _FACTOR
    return int(value >> np.uint64(33))


@plain_kernel
def extended(pool: Trees, sequence: int, symbol: int) -> int:
    """The sequence with one more symbol behind it; there has to be room for it."""
    rows, slots = pool.sequences, pool.sequence_slots
    slot, found = _sequence_hash(sequence, symbol) & (len(slots) - 1), -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            found = pool.counts[SEQUENCES]
            pool.counts[SEQUENCES] += 1
            rows[found, PARENT], rows[found, SYMBOL], rows[found, LENGTH] = sequence, symbol, rows[sequence, LENGTH] + 1
            slots[slot] = found
        elif rows[known, PARENT] == sequence and rows[known, SYMBOL] == symbol:
            found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


# Trees


@plain_kernel
def tree_with(pool: Trees, leaves: Pairs, children: Pairs) -> int:
    """The tree with these leaves and children, both ascending and not both empty; there has to be room for it."""
    value = np.uint64(len(leaves))
    for leaf in leaves:
        value = (value ^ np.uint64(leaf)) * _FACTOR
        value ^= value >> np.uint64(29)
    for child in children:
        value = (value ^ np.uint64(child) ^ np.uint64(1 << 63)) * _FACTOR
        value ^= value >> np.uint64(29)
    hashed = int(value >> np.uint64(33))
    rows, slots = pool.rows, pool.slots
    slot, found = hashed & (len(slots) - 1), -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            slots[slot] = found = pool.counts[TREES]
            _add(pool, leaves, children, hashed)
        elif rows[known, _HASH] == hashed and _is(pool, known, leaves, children):
            found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


@plain_kernel
def _is(pool: Trees, tree: int, leaves: Pairs, children: Pairs) -> bool:
    row = pool.rows[tree]
    if row[LEAVES_END] - row[LEAVES_BEGIN] != len(leaves) or row[CHILDREN_END] - row[CHILDREN_BEGIN] != len(children):
        return False
    for at in range(len(leaves)):
        if pool.leaves[row[LEAVES_BEGIN] + at] != leaves[at]:
            return False
    same = True
    for at in range(len(children)):
        same = same and pool.children[row[CHILDREN_BEGIN] + at] == children[at]
    return same


@plain_kernel
def _add(pool: Trees, leaves: Pairs, children: Pairs, hashed: int) -> None:
    """Makes a new tree, with what is known of it at once: what its leaves and children all loop on, and the columns
    that none of them can take."""
    counts, rows = pool.counts, pool.rows
    row = rows[counts[TREES]]
    counts[TREES] += 1
    row[_HASH] = hashed
    row[LEAVES_BEGIN], row[CHILDREN_BEGIN] = counts[LEAVES], counts[CHILDREN]
    row[LOOPS:LIVE], row[LIVE:FOLLOWED], row[FOLLOWED:] = -1, 0, DEAD
    for leaf in leaves:
        pool.leaves[counts[LEAVES]] = leaf
        counts[LEAVES] += 1
        _take_over(row, rows[leaf & LOWER])
    for child in children:
        pool.children[counts[CHILDREN]] = child
        counts[CHILDREN] += 1
        _take_over(row, rows[child & LOWER])
    row[LEAVES_END], row[CHILDREN_END] = counts[LEAVES], counts[CHILDREN]


@plain_kernel
def _take_over(row: Ints, part: Ints) -> None:
    for word in range(LOOPS, LIVE):
        row[word] &= part[word]
    for word in range(LIVE, FOLLOWED):
        row[word] |= part[word]
    for column in range(FOLLOWED, len(row)):
        if part[column] != DEAD:
            row[column] = LATER


@kernel
def states_alone(
    offsets: Ints,
    step_pops: Ints,
    step_pushes: Ints,
    step_target: Ints,
    parent: Ints,
    symbol: Ints,
    byte_class: ByteArray,
    num_states: int,
    num_classes: int,
) -> tuple[Trees, Steps]:
    """A pool that holds the states, and the steps of an automaton."""
    width = (len(offsets) - 1) // num_states
    pool = _allocate(
        _power_of_two(4 * num_states),
        FOLLOWED + width + NUM_PENDING,
        _power_of_two(4 * num_states),
        _power_of_two(len(offsets)),
        _power_of_two(4 * len(parent)),
    )
    pool.sequences[EMPTY, PARENT], pool.sequences[EMPTY, SYMBOL], pool.sequences[EMPTY, LENGTH] = EMPTY, -1, 0
    pool.counts[SEQUENCES] = 1
    own = np.zeros(len(parent), np.int32)
    for sequence in range(1, len(parent)):
        own[sequence] = extended(pool, own[parent[sequence]], symbol[sequence])
    plain = np.full((num_states, num_classes), DEAD, np.int32)
    row_steps = np.full((num_states, width), DEAD, np.int32)
    for state in range(num_states):
        for column in range(width):
            begin, end = offsets[state * width + column], offsets[state * width + column + 1]
            if end > begin:
                is_plain = end - begin == 1 and step_pops[begin] == EMPTY and step_pushes[begin] == EMPTY
                row_steps[state, column] = step_target[begin] if is_plain else LATER
                if column < num_classes:
                    plain[state, column] = step_target[begin] if is_plain else MIXED
    after = np.full((num_states, NUM_PENDING), UNKNOWN, np.int32)
    loops = state_loops(plain, byte_class, after)
    no_children = np.empty(0, np.int64)
    for state in range(num_states):
        tree_with(pool, np.array([state], np.int64), no_children)
        row = pool.rows[state]
        row[LOOPS:LIVE], row[LIVE:FOLLOWED] = loops[state], 0
        row[FOLLOWED : FOLLOWED + width], row[FOLLOWED + width :] = row_steps[state], LATER
        for column in range(num_classes):
            if row_steps[state, column] != DEAD:
                row[LIVE + column // LIVE_BITS] |= 1 << (column % LIVE_BITS)
    return pool, Steps(
        plain, offsets, step_pops, own[step_pushes], step_target, parent, symbol, byte_class, after, width
    )


@plain_kernel
def num_bytes(pool: Trees) -> int:
    """The memory that the pool uses."""
    counts = pool.counts
    return int(4 * counts[TREES] * pool.rows.shape[1] + 8 * (counts[LEAVES] + counts[CHILDREN]))
