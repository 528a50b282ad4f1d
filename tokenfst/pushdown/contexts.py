"""Context trees: the effects of all classes together, laid out so that the stack at hand picks a path.

An entry says that a class, in a state, does what a tree says (`tokenfst.pushdown.trees`). The trees of all classes are
read side by side, from the states down:

    node        how many symbols have been popped, and for each class the trees that may apply there
    edge        of a class with a leaf among its trees: the outcome is what all its leaves do
    child       for one more symbol: the classes with a child for it, and those children

Nodes with the same trees at the same depth are one. A node's number is above its parents'.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.jit import kernel, plain_kernel
from tokenfst.transition.loops import Ints
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.pushdown.trees import (
    CHILDREN_BEGIN,
    CHILDREN_END,
    EMPTY,
    LEAVES_BEGIN,
    LEAVES_END,
    LENGTH,
    LOWER,
    PARENT,
    SHIFT,
    SYMBOL,
    Pairs,
    Trees,
)

# Columns of the entries.
CLASS, SOURCE, TREE = range(3)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def context_tables(
    entries: Ints,
    trees: Trees,
    *,
    num_states: int,
    num_symbols: int,
    num_classes: int,
    start: int,
    headroom: Ints,
    symbol_headroom: Ints,
    max_configurations: int,
) -> PushdownTables:
    """The tables of some effects.

    Args:
        entries: `[E, 3]`: class, source and tree, in order of class.
        trees: what the trees are.
        num_states, num_symbols, num_classes, start: Q, S, K, and where texts begin.
        headroom, symbol_headroom: `[Q]`, `[S]`, as of the automaton over bytes.
        max_configurations: as of the automaton over bytes.
    """
    child, depth, item_offsets, items = _nodes(entries, trees, num_states, num_symbols)
    row_offsets, edges, outcome_offsets, outcome_moves, moves = _edges(depth, item_offsets, items, trees)
    move_push, push_offsets, push_symbols = _pushes(moves[:, 1], trees.sequences)
    moves[:, 1] = move_push
    room = _room(moves, push_offsets, push_symbols, headroom, symbol_headroom)
    of_outcomes = moves[outcome_moves]
    return PushdownTables(
        num_states=num_states,
        num_symbols=num_symbols,
        num_classes=num_classes,
        start=start,
        child=child,
        max_pops=int(depth.max()),
        row_offsets=row_offsets,
        edge_class=edges[0],
        edge_outcome=edges[1],
        outcome_offsets=outcome_offsets,
        move_pops=of_outcomes[:, 0].copy(),
        move_push=of_outcomes[:, 1].copy(),
        move_target=of_outcomes[:, 2].copy(),
        move_room=room[outcome_moves],
        push_offsets=push_offsets,
        push_symbols=push_symbols,
        max_configurations=max_configurations,
    )


# Nodes


class _Nodes(NamedTuple):
    """Nodes as they are found; an item is a class in the upper half and a tree in the lower."""

    counts: Ints  # [2], nodes and items
    child: Ints  # [N, S]
    depth: Ints  # [N]
    item_offsets: Ints  # [N + 1]
    items: Pairs
    slots: Ints  # open addressing: the node, or -1


@kernel
def _allocate(nodes: int, num_symbols: int, items: int) -> _Nodes:
    return _Nodes(
        np.zeros(2, np.int32),
        np.full((nodes, num_symbols), -1, np.int32),
        np.zeros(nodes, np.int32),
        np.zeros(nodes + 1, np.int32),
        np.empty(items, np.int64),
        np.full(4 * nodes, -1, np.int32),
    )


@kernel
def _with_room(nodes: _Nodes, more: int, items: int, num_roots: int) -> _Nodes:
    counts = nodes.counts
    capacity, room = len(nodes.child), len(nodes.items)
    if counts[0] + more <= capacity and counts[1] + items <= room:
        return nodes
    while capacity < counts[0] + more:
        capacity *= 2
    grown = _allocate(capacity, nodes.child.shape[1], max(room, 2 * (counts[1] + items)))
    grown.counts[:] = counts
    grown.child[: counts[0]], grown.depth[: counts[0]] = nodes.child[: counts[0]], nodes.depth[: counts[0]]
    grown.item_offsets[: counts[0] + 1] = nodes.item_offsets[: counts[0] + 1]
    grown.items[: counts[1]] = nodes.items[: counts[1]]
    for node in range(num_roots, counts[0]):
        _known(grown, grown.item_offsets[node], grown.item_offsets[node + 1], grown.depth[node], node)
    return grown


@plain_kernel
def _known(nodes: _Nodes, begin: int, end: int, depth: int, number: int) -> int:
    """The node with the items from `begin` to `end`; `number` if it is new."""
    items, offsets, slots = nodes.items, nodes.item_offsets, nodes.slots
    value = np.uint64(depth)
    for place in range(begin, end):
        value = (value ^ np.uint64(items[place])) * _FACTOR
        value ^= value >> np.uint64(29)
    slot, found = int(value >> np.uint64(33)) & (len(slots) - 1), -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            slots[slot] = found = number
        elif nodes.depth[known] == depth and offsets[known + 1] - offsets[known] == end - begin:
            shift, place = offsets[known] - begin, begin
            while place < end and items[place] == items[place + shift]:
                place += 1
            if place == end:
                found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


@kernel
def _nodes(entries: Ints, trees: Trees, num_states: int, num_symbols: int) -> tuple[Ints, Ints, Ints, Pairs]:
    """All nodes: their children `[N, S]`, depths `[N]`, and items: where those of each begin `[N + 1]`, and which."""
    capacity = 1024
    while capacity < 2 * num_states:
        capacity *= 2
    nodes = _roots(_allocate(capacity, num_symbols, 4 * len(entries)), entries, num_states)
    node = 0
    while node < nodes.counts[0]:
        begin, end = nodes.item_offsets[node], nodes.item_offsets[node + 1]
        count = 0
        for place in range(begin, end):
            row = trees.rows[nodes.items[place] & LOWER]
            count += row[CHILDREN_END] - row[CHILDREN_BEGIN]
        if count:
            below, offsets = _by_symbol(nodes.items[begin:end], count, trees, num_symbols)
            nodes = _with_room(nodes, num_symbols, count, num_states)
            for symbol in range(num_symbols):
                if offsets[symbol] < offsets[symbol + 1]:
                    _put(nodes, node, symbol, below[offsets[symbol] : offsets[symbol + 1]])
        node += 1
    counts = nodes.counts
    return (
        nodes.child[: counts[0]].copy(),
        nodes.depth[: counts[0]].copy(),
        nodes.item_offsets[: counts[0] + 1].copy(),
        nodes.items[: counts[1]].copy(),
    )


@kernel
def _roots(nodes: _Nodes, entries: Ints, num_states: int) -> _Nodes:
    offsets = nodes.item_offsets
    for entry in range(len(entries)):
        offsets[entries[entry, SOURCE] + 1] += 1
    for state in range(num_states):
        offsets[state + 1] += offsets[state]
    at = offsets[:num_states].copy()
    for entry in range(len(entries)):
        source = entries[entry, SOURCE]
        nodes.items[at[source]] = np.int64(entries[entry, CLASS]) << SHIFT | entries[entry, TREE]
        at[source] += 1
    nodes.counts[0], nodes.counts[1] = num_states, len(entries)
    return nodes


@kernel
def _by_symbol(items: Pairs, count: int, trees: Trees, num_symbols: int) -> tuple[Pairs, Ints]:
    """The children of some items, as items, by symbol and otherwise in order; and where those of each begin."""
    offsets = np.zeros(num_symbols + 1, np.int32)
    for item in items:
        row = trees.rows[item & LOWER]
        for place in range(row[CHILDREN_BEGIN], row[CHILDREN_END]):
            offsets[(trees.children[place] >> SHIFT) + 1] += 1
    for symbol in range(num_symbols):
        offsets[symbol + 1] += offsets[symbol]
    at, below = offsets[:-1].copy(), np.empty(count, np.int64)
    for item in items:
        row = trees.rows[item & LOWER]
        for place in range(row[CHILDREN_BEGIN], row[CHILDREN_END]):
            symbol = trees.children[place] >> SHIFT
            below[at[symbol]] = item >> SHIFT << SHIFT | trees.children[place] & LOWER
            at[symbol] += 1
    return below, offsets


@plain_kernel
def _put(nodes: _Nodes, node: int, symbol: int, items: Pairs) -> None:
    """Makes the node with these items a child; there has to be room for it."""
    counts = nodes.counts
    begin, depth = counts[1], nodes.depth[node] + 1
    end = begin + len(items)
    for place in range(len(items)):
        nodes.items[begin + place] = items[place]
    found = _known(nodes, begin, end, depth, counts[0])
    if found == counts[0]:
        counts[0], counts[1] = found + 1, end
        nodes.item_offsets[found + 1], nodes.depth[found] = end, depth
    nodes.child[node, symbol] = found


# Edges


@kernel
def _edges(
    depth: Ints, item_offsets: Ints, items: Pairs, trees: Trees
) -> tuple[Ints, Ints, Ints, Ints, npt.NDArray[np.int32]]:
    """Where the edges of each node begin, the edges `[2, E]` (class and outcome), where the moves of each outcome
    begin, those moves, and what each move is, `[M, 3]`: how many symbols are popped, the sequence pushed, the state."""
    num_leaves = 0
    for item in items:
        row = trees.rows[item & LOWER]
        num_leaves += row[LEAVES_END] - row[LEAVES_BEGIN]
    size = 1024
    while size < 4 * num_leaves:
        size *= 2
    move_slots, outcome_slots = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    moves, num_moves = np.empty((num_leaves, 3), np.int32), 0
    row_offsets, edges = np.zeros(len(depth) + 1, np.int32), np.empty((2, num_leaves), np.int32)
    outcome_offsets, outcomes = np.zeros(num_leaves + 1, np.int32), np.empty(num_leaves, np.int32)
    num_edges = num_outcomes = 0
    for node in range(len(depth)):
        place = item_offsets[node]
        while place < item_offsets[node + 1]:
            number = items[place] >> SHIFT
            begin = end = outcome_offsets[num_outcomes]
            while place < item_offsets[node + 1] and items[place] >> SHIFT == number:
                row = trees.rows[items[place] & LOWER]
                for leaf in trees.leaves[row[LEAVES_BEGIN] : row[LEAVES_END]]:
                    move = _move(move_slots, moves, num_moves, depth[node], leaf >> SHIFT, leaf & LOWER)
                    num_moves = max(num_moves, move + 1)
                    end = _with_move(outcomes, begin, end, move)
                place += 1
            if begin < end:
                outcome = _same_outcome(outcome_slots, outcome_offsets, outcomes, begin, end, num_outcomes)
                if outcome == num_outcomes:
                    num_outcomes += 1
                    outcome_offsets[num_outcomes] = end
                edges[0, num_edges], edges[1, num_edges] = number, outcome
                num_edges += 1
        row_offsets[node + 1] = num_edges
    return (
        row_offsets,
        edges[:, :num_edges].copy(),
        outcome_offsets[: num_outcomes + 1].copy(),
        outcomes[: outcome_offsets[num_outcomes]].copy(),
        moves[:num_moves].copy(),
    )


@plain_kernel
def _move(slots: Ints, moves: Ints, count: int, pops: int, push: int, target: int) -> int:
    """The number of a move; `count` if it is new."""
    value = ((np.uint64(pops) * _FACTOR ^ np.uint64(push)) * _FACTOR ^ np.uint64(target)) * _FACTOR
    slot, found = int(value >> np.uint64(33)) & (len(slots) - 1), -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            slots[slot] = found = count
            moves[count, 0], moves[count, 1], moves[count, 2] = pops, push, target
        elif moves[known, 0] == pops and moves[known, 1] == push and moves[known, 2] == target:
            found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


@plain_kernel
def _with_move(outcomes: Ints, begin: int, end: int, move: int) -> int:
    """Puts a move into an ascending run, if it is not there; returns the new end."""
    place = end
    while place > begin and outcomes[place - 1] > move:
        place -= 1
    if place > begin and outcomes[place - 1] == move:
        return end
    for after in range(end, place, -1):
        outcomes[after] = outcomes[after - 1]
    outcomes[place] = move
    return end + 1


@plain_kernel
def _same_outcome(slots: Ints, offsets: Ints, outcomes: Ints, begin: int, end: int, number: int) -> int:
    """The outcome with the moves from `begin` to `end`; `number` if it is new."""
    value = np.uint64(0)
    for place in range(begin, end):
        value = (value ^ np.uint64(outcomes[place] + 1)) * _FACTOR
    slot, found = int(value >> np.uint64(33)) & (len(slots) - 1), -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            slots[slot] = found = number
        elif offsets[known + 1] - offsets[known] == end - begin:
            place = begin
            while place < end and outcomes[place] == outcomes[offsets[known] + place - begin]:
                place += 1
            if place == end:
                found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


@kernel
def _pushes(sequence_of: Ints, sequences: Ints) -> tuple[Ints, Ints, Ints]:
    """The new numbers of pushed sequences, the empty one's is 0; their offsets, and their symbols."""
    number = np.full(len(sequences), -1, np.int32)
    number[EMPTY] = 0
    found, count = np.empty(len(sequence_of), np.int32), 1
    offsets = np.zeros(len(sequence_of) + 2, np.int32)
    for move in range(len(sequence_of)):
        sequence = sequence_of[move]
        if number[sequence] < 0:
            number[sequence] = count
            offsets[count + 1] = offsets[count] + sequences[sequence, LENGTH]
            count += 1
        found[move] = number[sequence]
    symbols = np.empty(offsets[count], np.int32)
    for move in range(len(sequence_of)):
        place, sequence = offsets[found[move] + 1], sequence_of[move]
        while sequence != EMPTY:
            place -= 1
            symbols[place] = sequences[sequence, SYMBOL]
            sequence = sequences[sequence, PARENT]
    return found, offsets[: count + 1].copy(), symbols


@kernel
def _room(moves: Ints, push_offsets: Ints, push_symbols: Ints, headroom: Ints, symbol_headroom: Ints) -> Ints:
    """How many symbols beyond the height after popping every move needs, `[M]`: for what it pushes, for the rest of the
    rule that it leads to, and for what goes on after each pushed symbol has been popped."""
    room = np.empty(len(moves), np.int32)
    for move in range(len(moves)):
        begin, end = push_offsets[moves[move, 1]], push_offsets[moves[move, 1] + 1]
        needed = end - begin + max(headroom[moves[move, 2]], 0)
        for place in range(begin, end):
            needed = max(needed, place - begin + symbol_headroom[push_symbols[place]])
        room[move] = needed
    return room
