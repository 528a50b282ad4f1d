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

from automata.byte_automaton import ByteArray
from automata.jit import kernel
from tokenfst.loops import DEAD, LOOP_WORDS, MIXED, NUM_PENDING, UNKNOWN, Ints, after_character, state_loops

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
_TREES, _LEAVES, _CHILDREN, _SEQUENCES = range(4)
# In place of a tree.
_NO_ROOM = -4

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


@kernel
def _power_of_two(size: int) -> int:
    power = 1024
    while power < size:
        power *= 2
    return power


@kernel
def has_room(pool: Trees, trees: int, leaves: int, children: int, sequences: int) -> bool:
    """Whether there is room for so many more."""
    counts = pool.counts
    return bool(
        counts[_TREES] + trees <= len(pool.rows)
        and counts[_LEAVES] + leaves <= len(pool.leaves)
        and counts[_CHILDREN] + children <= len(pool.children)
        and counts[_SEQUENCES] + sequences <= len(pool.sequences)
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
    larger.rows[: counts[_TREES]] = pool.rows[: counts[_TREES]]
    larger.leaves[: counts[_LEAVES]] = pool.leaves[: counts[_LEAVES]]
    larger.children[: counts[_CHILDREN]] = pool.children[: counts[_CHILDREN]]
    larger.sequences[: counts[_SEQUENCES]] = pool.sequences[: counts[_SEQUENCES]]
    for tree in range(counts[_TREES]):
        _take(larger.slots, larger.rows[tree, _HASH], tree)
    for sequence in range(1, counts[_SEQUENCES]):
        row = larger.sequences[sequence]
        _take(larger.sequence_slots, _sequence_hash(row[PARENT], row[SYMBOL]), sequence)
    return larger


@kernel
def _take(slots: Ints, value: int, number: int) -> None:
    slot = value & (len(slots) - 1)
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot] = number


@kernel
def _sequence_hash(sequence: int, symbol: int) -> int:
    value = (np.uint64(sequence) * _FACTOR ^ np.uint64(symbol)) * _FACTOR
    return int(value >> np.uint64(33))


@kernel
def extended(pool: Trees, sequence: int, symbol: int) -> int:
    """The sequence with one more symbol behind it; there has to be room for it."""
    rows, slots = pool.sequences, pool.sequence_slots
    slot, found = _sequence_hash(sequence, symbol) & (len(slots) - 1), -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            found = pool.counts[_SEQUENCES]
            pool.counts[_SEQUENCES] += 1
            rows[found, PARENT], rows[found, SYMBOL], rows[found, LENGTH] = sequence, symbol, rows[sequence, LENGTH] + 1
            slots[slot] = found
        elif rows[known, PARENT] == sequence and rows[known, SYMBOL] == symbol:
            found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


# Trees


@kernel
def _tree(pool: Trees, leaves: Pairs, children: Pairs) -> int:
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
            slots[slot] = found = pool.counts[_TREES]
            _add(pool, leaves, children, hashed)
        elif rows[known, _HASH] == hashed and _is(pool, known, leaves, children):
            found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


@kernel
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


@kernel
def _add(pool: Trees, leaves: Pairs, children: Pairs, hashed: int) -> None:
    """Makes a new tree, with what is known of it at once: what its leaves and children all loop on, and the columns
    that none of them can take."""
    counts, rows = pool.counts, pool.rows
    row = rows[counts[_TREES]]
    counts[_TREES] += 1
    row[_HASH] = hashed
    row[LEAVES_BEGIN], row[CHILDREN_BEGIN] = counts[_LEAVES], counts[_CHILDREN]
    row[LOOPS:LIVE], row[LIVE:FOLLOWED], row[FOLLOWED:] = -1, 0, DEAD
    for leaf in leaves:
        pool.leaves[counts[_LEAVES]] = leaf
        counts[_LEAVES] += 1
        _take_over(row, rows[leaf & LOWER])
    for child in children:
        pool.children[counts[_CHILDREN]] = child
        counts[_CHILDREN] += 1
        _take_over(row, rows[child & LOWER])
    row[LEAVES_END], row[CHILDREN_END] = counts[_LEAVES], counts[_CHILDREN]


@kernel
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
    pool.counts[_SEQUENCES] = 1
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
        _tree(pool, np.array([state], np.int64), no_children)
        row = pool.rows[state]
        row[LOOPS:LIVE], row[LIVE:FOLLOWED] = loops[state], 0
        row[FOLLOWED : FOLLOWED + width], row[FOLLOWED + width :] = row_steps[state], LATER
        for column in range(num_classes):
            if row_steps[state, column] != DEAD:
                row[LIVE + column // LIVE_BITS] |= 1 << (column % LIVE_BITS)
    return pool, Steps(
        plain, offsets, step_pops, own[step_pushes], step_target, parent, symbol, byte_class, after, width
    )


@kernel
def num_bytes(pool: Trees) -> int:
    """The memory that the pool uses."""
    counts = pool.counts
    return int(4 * counts[_TREES] * pool.rows.shape[1] + 8 * (counts[_LEAVES] + counts[_CHILDREN]))


# Steps


@kernel
def resolved(pool: Trees, steps: Steps, tree: int, column: int) -> bool:
    """Finds what follows a tree on a column and keeps it in the tree's row; with what may be pending of a character, W
    and more as a column, MIXED where its valid rests lead to different trees. False where there is no room."""
    waiting, size = np.empty(256, np.int32), 1
    waiting[0] = tree
    while size:
        tree = waiting[size - 1]
        row = pool.rows[tree]
        if row[FOLLOWED + column] != LATER:
            size -= 1
            continue
        waits = size
        for place in range(row[CHILDREN_BEGIN], row[CHILDREN_END]):
            child = pool.children[place] & LOWER
            if pool.rows[child, FOLLOWED + column] == LATER:
                if size == len(waiting):
                    waiting = np.append(waiting, np.empty(size, np.int32))
                waiting[size] = child
                size += 1
        if size == waits:
            is_byte = column < steps.width
            result = _followed(pool, steps, tree, column) if is_byte else _passed(pool, steps, tree, column)
            if result == _NO_ROOM:
                return False
            pool.rows[tree, FOLLOWED + column] = result
            size -= 1
    return True


@kernel
def _followed(pool: Trees, steps: Steps, tree: int, column: int) -> int:
    """What follows a tree whose children are known."""
    row = pool.rows[tree]
    num_leaves, num_children = row[LEAVES_END] - row[LEAVES_BEGIN], row[CHILDREN_END] - row[CHILDREN_BEGIN]
    if num_leaves == 1 and not num_children:
        return _from_leaf(pool, steps, pool.leaves[row[LEAVES_BEGIN]], column)
    if not has_room(pool, 1, 0, num_children, 0):
        return _NO_ROOM
    begin = end = pool.counts[_CHILDREN]
    for place in range(row[CHILDREN_BEGIN], row[CHILDREN_END]):
        child = pool.children[place]
        after = pool.rows[child & LOWER, FOLLOWED + column]
        if after >= 0:
            pool.children[end] = child >> SHIFT << SHIFT | after
            end += 1
    if num_leaves:
        return _side_by_side(pool, steps, tree, column, pool.children[begin:end].copy())
    return _tree(pool, pool.leaves[:0], pool.children[begin:end]) if begin < end else DEAD


@kernel
def _side_by_side(pool: Trees, steps: Steps, tree: int, column: int, children: Pairs) -> int:
    """What follows a tree with several leaves, or with leaves and children: all that follows any of them."""
    row = pool.rows[tree]
    leaves = np.empty(0, np.int64)
    for number in range(row[LEAVES_END] - row[LEAVES_BEGIN]):
        part = _from_leaf(pool, steps, pool.leaves[row[LEAVES_BEGIN] + number], column)
        if part == _NO_ROOM:
            return _NO_ROOM
        if part >= 0:
            found = pool.rows[part]
            leaves = np.append(leaves, pool.leaves[found[LEAVES_BEGIN] : found[LEAVES_END]])
            children = np.append(children, pool.children[found[CHILDREN_BEGIN] : found[CHILDREN_END]])
    if len(leaves) + len(children) == 0:
        return DEAD
    if not has_room(pool, 1, len(leaves), len(children), 0):
        return _NO_ROOM
    return _tree(pool, np.unique(leaves), np.unique(children))


@kernel
def _passed(pool: Trees, steps: Steps, tree: int, column: int) -> int:
    """What follows a tree after the valid rests of a character, if that is one tree."""
    row, pending = pool.rows[tree], column - steps.width
    leaves = pool.leaves[row[LEAVES_BEGIN] : row[LEAVES_END]].copy()
    children = pool.children[row[CHILDREN_BEGIN] : row[CHILDREN_END]].copy()
    num_leaves = num_children = 0
    for leaf in leaves:
        after = after_character(leaf & LOWER, pending, steps.plain, steps.byte_class, steps.after)
        if after == MIXED:
            return MIXED
        if after >= 0:
            leaves[num_leaves] = leaf >> SHIFT << SHIFT | after
            num_leaves += 1
    for child in children:
        after = pool.rows[child & LOWER, FOLLOWED + column]
        if after == MIXED:
            return MIXED
        if after >= 0:
            children[num_children] = child >> SHIFT << SHIFT | after
            num_children += 1
    if num_leaves + num_children == 0:
        return DEAD
    if not has_room(pool, 1, num_leaves, num_children, 0):
        return _NO_ROOM
    return _tree(pool, np.unique(leaves[:num_leaves]), np.unique(children[:num_children]))


@kernel
def _from_leaf(pool: Trees, steps: Steps, leaf: int, column: int) -> int:
    """The tree of a leaf followed by a column: its state's steps, after what the leaf has pushed."""
    if column < steps.plain.shape[1] and steps.plain[leaf & LOWER, column] >= 0:
        if not has_room(pool, 1, 1, 0, 0):
            return _NO_ROOM
        place = pool.counts[_LEAVES]
        pool.leaves[place] = leaf >> SHIFT << SHIFT | steps.plain[leaf & LOWER, column]
        return _tree(pool, pool.leaves[place : place + 1], pool.children[:0])
    pushed, entry = leaf >> SHIFT, (leaf & LOWER) * steps.width + column
    begin, end = steps.offsets[entry], steps.offsets[entry + 1]
    longest, total = 0, 0
    for step in range(begin, end):
        length = _length(steps.parent, steps.pops[step])
        longest = max(longest, length)
        total += length + pool.sequences[steps.pushes[step], LENGTH]
    if not has_room(pool, total + end - begin, end - begin, total, total):
        return _NO_ROOM
    paths, lengths = np.empty((end - begin, longest + 1), np.int32), np.empty(end - begin, np.int32)
    found, count = np.empty(end - begin, np.int64), 0
    for step in range(begin, end):
        left = _unpushed(pool, steps, pushed, steps.pops[step], paths[count], lengths[count : count + 1])
        if left >= 0:
            found[count] = _pushed(pool, left, steps.pushes[step]) << SHIFT | steps.target[step]
            count += 1
    return _planted(pool, paths, lengths, found, count) if count else DEAD


@kernel
def _length(parent: Ints, sequence: int) -> int:
    length = 0
    while sequence != EMPTY:
        sequence = parent[sequence]
        length += 1
    return length


@kernel
def _unpushed(pool: Trees, steps: Steps, pushed: int, pops: int, path: Ints, length: Ints) -> int:
    """What is left of a sequence pushed after some symbols are popped, or -1 where others lie on top; and those that
    are popped below, into `path` and `length`."""
    size = _length(steps.parent, pops)
    for place in range(size - 1, -1, -1):
        path[place] = steps.symbol[pops]
        pops = steps.parent[pops]
    taken = 0
    while taken < size and pushed != EMPTY:
        if pool.sequences[pushed, SYMBOL] != path[taken]:
            return -1
        pushed = pool.sequences[pushed, PARENT]
        taken += 1
    length[0] = size - taken
    for place in range(size - taken):
        path[place] = path[place + taken]
    return pushed


@kernel
def _pushed(pool: Trees, sequence: int, more: int) -> int:
    """A sequence with another one behind it."""
    if sequence == EMPTY or more == EMPTY:
        return sequence + more
    symbols = np.empty(pool.sequences[more, LENGTH], np.int32)
    for place in range(len(symbols) - 1, -1, -1):
        symbols[place] = pool.sequences[more, SYMBOL]
        more = pool.sequences[more, PARENT]
    for symbol in symbols:
        sequence = extended(pool, sequence, symbol)
    return sequence


@kernel
def _planted(pool: Trees, paths: Ints, lengths: Ints, leaves: Pairs, count: int) -> int:
    """The tree with these leaves at the ends of these paths; there has to be room for it."""
    order = _by_path(paths, lengths, count)
    depth = paths.shape[1]
    open_leaves, num_leaves = np.empty((depth, count), np.int64), np.zeros(depth, np.int32)
    open_children, num_children = np.empty((depth, count), np.int64), np.zeros(depth, np.int32)
    level = 0
    for place in range(count + 1):
        # Close what the next path does not go through.
        shared = 0
        if place < count and place > 0:
            last, here = order[place - 1], order[place]
            while shared < min(lengths[last], lengths[here]) and paths[last, shared] == paths[here, shared]:
                shared += 1
        while level > shared:
            tree = _tree(
                pool, np.unique(open_leaves[level, : num_leaves[level]]), open_children[level, : num_children[level]]
            )
            num_leaves[level] = num_children[level] = 0
            level -= 1
            symbol = np.int64(paths[order[place - 1], level])
            open_children[level, num_children[level]] = symbol << SHIFT | tree
            num_children[level] += 1
        if place < count:
            level = lengths[order[place]]
            open_leaves[level, num_leaves[level]] = leaves[order[place]]
            num_leaves[level] += 1
    return _tree(pool, np.unique(open_leaves[0, : num_leaves[0]]), open_children[0, : num_children[0]])


@kernel
def _by_path(paths: Ints, lengths: Ints, count: int) -> Ints:
    """The order of paths: by their symbols, a path before those that go on from it."""
    order = np.arange(count)
    for place in range(1, count):
        here, at = order[place], place
        while at > 0 and _comes_before(paths, lengths, here, order[at - 1]):
            order[at] = order[at - 1]
            at -= 1
        order[at] = here
    return order


@kernel
def _comes_before(paths: Ints, lengths: Ints, left: int, right: int) -> bool:
    for place in range(min(lengths[left], lengths[right])):
        if paths[left, place] != paths[right, place]:
            return bool(paths[left, place] < paths[right, place])
    return bool(lengths[left] < lengths[right])


# One tree at a time

# Symbols popped from the top down, symbols pushed, and the state.
Way = tuple[tuple[int, ...], tuple[int, ...], int]


def ways(pool: Trees, tree: int) -> list[Way]:
    """All that a tree says, path by path."""
    found: list[Way] = []
    todo: list[tuple[tuple[int, ...], int]] = [((), tree)]
    while todo:
        popped, tree = todo.pop()
        row = pool.rows[tree]
        leaves = pool.leaves[row[LEAVES_BEGIN] : row[LEAVES_END]].tolist()
        found += [(popped, _symbols(pool, leaf >> SHIFT), leaf & LOWER) for leaf in leaves]
        children = pool.children[row[CHILDREN_BEGIN] : row[CHILDREN_END]].tolist()
        todo += [((*popped, child >> SHIFT), child & LOWER) for child in children]
    return found


def _symbols(pool: Trees, sequence: int) -> tuple[int, ...]:
    symbols: list[int] = []
    while sequence != EMPTY:
        symbols.append(int(pool.sequences[sequence, SYMBOL]))
        sequence = int(pool.sequences[sequence, PARENT])
    return tuple(reversed(symbols))


def with_tree(pool: Trees, said: list[Way]) -> tuple[Trees, int]:
    """The pool with the tree that says just this, and its number."""
    longest = max(len(popped) for popped, _, _ in said)
    total = sum(len(popped) + len(pushed) for popped, pushed, _ in said)
    while not has_room(pool, total + len(said), len(said), total, total):
        pool = grown(pool)
    paths, leaves = np.zeros((len(said), longest + 1), np.int32), np.empty(len(said), np.int64)
    for number, (popped, pushed, state) in enumerate(said):
        paths[number, : len(popped)] = popped
        sequence = EMPTY
        for symbol in pushed:
            sequence = extended(pool, sequence, symbol)
        leaves[number] = sequence << SHIFT | state
    lengths = np.array([len(popped) for popped, _, _ in said], np.int32)
    return pool, _planted(pool, paths, lengths, leaves, len(said))
