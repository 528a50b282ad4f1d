"""What follows a tree when one more byte is read, or what is left of a character; see `tokenfst.pushdown.trees`."""

from __future__ import annotations

import numpy as np

from automata.jit import kernel, plain_kernel
from tokenfst.transition.loops import DEAD, MIXED, Ints, after_character
from tokenfst.pushdown.planting import planted
from tokenfst.pushdown.trees import (
    CHILDREN,
    CHILDREN_BEGIN,
    CHILDREN_END,
    EMPTY,
    FOLLOWED,
    LATER,
    LEAVES,
    LEAVES_BEGIN,
    LEAVES_END,
    LENGTH,
    LOWER,
    PARENT,
    SHIFT,
    SYMBOL,
    Pairs,
    Steps,
    Trees,
    extended,
    has_room,
    tree_with,
)

# In place of a tree.
_NO_ROOM = -4


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
    begin = end = pool.counts[CHILDREN]
    for place in range(row[CHILDREN_BEGIN], row[CHILDREN_END]):
        child = pool.children[place]
        after = pool.rows[child & LOWER, FOLLOWED + column]
        if after >= 0:
            pool.children[end] = child >> SHIFT << SHIFT | after
            end += 1
    if num_leaves:
        return _side_by_side(pool, steps, tree, column, pool.children[begin:end].copy())
    return tree_with(pool, pool.leaves[:0], pool.children[begin:end]) if begin < end else DEAD


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
    return tree_with(pool, np.unique(leaves), np.unique(children))


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
    return tree_with(pool, np.unique(leaves[:num_leaves]), np.unique(children[:num_children]))


@kernel
def _from_leaf(pool: Trees, steps: Steps, leaf: int, column: int) -> int:
    """The tree of a leaf followed by a column: its state's steps, after what the leaf has pushed."""
    if column < steps.plain.shape[1] and steps.plain[leaf & LOWER, column] >= 0:
        if not has_room(pool, 1, 1, 0, 0):
            return _NO_ROOM
        place = pool.counts[LEAVES]
        pool.leaves[place] = leaf >> SHIFT << SHIFT | steps.plain[leaf & LOWER, column]
        return tree_with(pool, pool.leaves[place : place + 1], pool.children[:0])
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
    return planted(pool, paths, lengths, found, count) if count else DEAD


@plain_kernel
def _length(parent: Ints, sequence: int) -> int:
    length = 0
    while sequence != EMPTY:
        sequence = parent[sequence]
        length += 1
    return length


@plain_kernel
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
