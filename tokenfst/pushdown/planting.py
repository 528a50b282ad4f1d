"""Trees from what they say, path by path, and back; see `tokenfst.pushdown.trees`."""

from __future__ import annotations

import numpy as np

from automata.jit import kernel, plain_kernel
from tokenfst.transition.loops import Ints
from tokenfst.pushdown.trees import (
    CHILDREN_BEGIN,
    CHILDREN_END,
    EMPTY,
    LEAVES_BEGIN,
    LEAVES_END,
    LOWER,
    PARENT,
    SHIFT,
    SYMBOL,
    Pairs,
    Trees,
    extended,
    grown,
    has_room,
    tree_with,
)

# Symbols popped from the top down, symbols pushed, and the state.
Way = tuple[tuple[int, ...], tuple[int, ...], int]


@kernel
def planted(pool: Trees, paths: Ints, lengths: Ints, leaves: Pairs, count: int) -> int:
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
            tree = tree_with(
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
    return tree_with(pool, np.unique(open_leaves[0, : num_leaves[0]]), open_children[0, : num_children[0]])


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


@plain_kernel
def _comes_before(paths: Ints, lengths: Ints, left: int, right: int) -> bool:
    for place in range(min(lengths[left], lengths[right])):
        if paths[left, place] != paths[right, place]:
            return bool(paths[left, place] < paths[right, place])
    return bool(lengths[left] < lengths[right])


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
    return pool, planted(pool, paths, lengths, leaves, len(said))
