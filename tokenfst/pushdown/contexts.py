"""Context trees: the effects of all classes, laid out so that the stack at hand picks a path.

An entry says that a class, in a state whose stack has certain symbols on top, makes a move. From entries to tables:

    place      every entry belongs to the node that its state and its pops spell; nodes on the way there are made too
    moves      what entries of one node and one class do, each move stored once; together they are an outcome
    sharing    nodes whose edges and children are the same are one, found from the deepest up. What follows once a
               symbol has been popped depends on little else, so most nodes of different states are shared.

Entries come in order of class, so that each node's edges do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.jit import kernel
from tokenfst.loops import Ints
from tokenfst.pushdown.actions import EMPTY, LENGTH, PARENT, POPS, PUSHES, SYMBOL, symbols_of
from tokenfst.pushdown.tables import PushdownTables

# Columns of the entries.
CLASS, SOURCE, ACTION, TARGET = range(4)
# Columns of the nodes.
_UP, _SYMBOL, _DEPTH = range(3)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class _Nodes(NamedTuple):
    """A trie of states and popped symbols; nodes 0 .. Q - 1 are the roots."""

    number: Ints  # [1]
    rows: Ints  # [N, 3]
    keys: npt.NDArray[np.int64]  # [slots], open addressing: the node above and the symbol, or -1
    found: Ints  # [slots], the node


def context_tables(
    entries: Ints,
    sequences: Ints,
    actions: Ints,
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
        entries: `[E, 4]`: class, source, action and target, in order of class.
        sequences, actions: `[P, 3]`, `[A, 2]`: what actions are (`tokenfst.pushdown.actions`).
        num_states, num_symbols, num_classes, start: Q, S, K, and where texts begin.
        headroom, symbol_headroom: `[Q]`, `[S]`, as of the automaton over bytes.
        max_configurations: as of the automaton over bytes.
    """
    rows, node_of = _placed(entries, sequences, actions, num_states)
    moves, move_of, push_offsets, push_symbols = _moves(entries, sequences, actions, rows, node_of, headroom)
    room = _room(moves, push_offsets, push_symbols, headroom, symbol_headroom)
    order, by_node = _by_node(node_of, len(rows))
    edge_offsets, edges, outcome_offsets, outcome_moves = _outcomes(order, by_node, entries, move_of)
    moves = np.concatenate([moves, room[:, None]], axis=1)[outcome_moves]
    child, row_offsets, shared = _shared(rows, edge_offsets, edges, num_states, num_symbols)
    return PushdownTables(
        num_states=num_states,
        num_symbols=num_symbols,
        num_classes=num_classes,
        start=start,
        child=child,
        max_pops=int(rows[:, _DEPTH].max()),
        row_offsets=row_offsets,
        edge_class=shared[0],
        edge_outcome=shared[1],
        outcome_offsets=outcome_offsets,
        move_pops=moves[:, 0].copy(),
        move_push=moves[:, 1].copy(),
        move_target=moves[:, 2].copy(),
        move_room=moves[:, 3].copy(),
        push_offsets=push_offsets,
        push_symbols=push_symbols,
        max_configurations=max_configurations,
    )


# Places


@kernel
def _new_nodes(capacity: int) -> _Nodes:
    return _Nodes(
        np.zeros(1, np.int32),
        np.empty((capacity, 3), np.int32),
        np.full(4 * capacity, -1, np.int64),
        np.empty(4 * capacity, np.int32),
    )


@kernel
def _more_nodes(nodes: _Nodes) -> _Nodes:
    grown = _new_nodes(2 * len(nodes.rows))
    count = nodes.number[0]
    grown.number[0] = count
    grown.rows[:count] = nodes.rows[:count]
    for slot in range(len(nodes.keys)):
        if nodes.keys[slot] >= 0:
            new = _slot(grown.keys, nodes.keys[slot])
            grown.keys[new], grown.found[new] = nodes.keys[slot], nodes.found[slot]
    return grown


@kernel
def _slot(keys: npt.NDArray[np.int64], key: int) -> int:
    """Where a key is, or belongs."""
    slot = int((np.uint64(key) * _FACTOR) >> np.uint64(33)) & (len(keys) - 1)
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@kernel
def _placed(entries: Ints, sequences: Ints, actions: Ints, num_states: int) -> tuple[Ints, Ints]:
    """The nodes, `[N, 3]`, and the node of every entry, `[E]`."""
    capacity = 1024
    while capacity < 2 * num_states:
        capacity *= 2
    nodes = _new_nodes(capacity)
    nodes.number[0] = num_states
    for state in range(num_states):
        nodes.rows[state, _UP], nodes.rows[state, _SYMBOL], nodes.rows[state, _DEPTH] = -1, -1, 0
    node_of = np.empty(len(entries), np.int32)
    for entry in range(len(entries)):
        node, pops = entries[entry, SOURCE], actions[entries[entry, ACTION], POPS]
        if pops != EMPTY:
            while nodes.number[0] + sequences[pops, LENGTH] > len(nodes.rows):
                nodes = _more_nodes(nodes)
            for symbol in symbols_of(sequences, pops):
                node = _below(nodes, node, symbol)
        node_of[entry] = node
    return nodes.rows[: nodes.number[0]].copy(), node_of


@kernel
def _below(nodes: _Nodes, node: int, symbol: int) -> int:
    """The child of a node for a symbol."""
    key = node << 32 | symbol
    slot = _slot(nodes.keys, key)
    if nodes.keys[slot] < 0:
        child = nodes.number[0]
        nodes.number[0] = child + 1
        row = nodes.rows[child]
        row[_UP], row[_SYMBOL], row[_DEPTH] = node, symbol, nodes.rows[node, _DEPTH] + 1
        nodes.keys[slot], nodes.found[slot] = key, child
    return int(nodes.found[slot])


# Moves


@kernel
def _moves(
    entries: Ints, sequences: Ints, actions: Ints, rows: Ints, node_of: Ints, headroom: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """The moves `[M, 3]`: how many symbols are popped, the sequence pushed, the target; the move of every entry; and
    the sequences that are pushed."""
    pushed, push_offsets, push_symbols = _pushed(entries, sequences, actions)
    size = 1024
    while size < 4 * len(entries):
        size *= 2
    keys, found = np.full(size, -1, np.int64), np.empty(size, np.int32)
    moves, move_of, count = np.empty((len(entries), 3), np.int32), np.empty(len(entries), np.int32), 0
    num_pushes, num_states = len(push_offsets) - 1, len(headroom)
    for entry in range(len(entries)):
        pops, target = rows[node_of[entry], _DEPTH], entries[entry, TARGET]
        push = pushed[actions[entries[entry, ACTION], PUSHES]]
        key = (np.int64(pops) * num_pushes + push) * num_states + target
        slot = _slot(keys, key)
        if keys[slot] < 0:
            keys[slot], found[slot] = key, count
            moves[count, 0], moves[count, 1], moves[count, 2] = pops, push, target
            count += 1
        move_of[entry] = found[slot]
    return moves[:count].copy(), move_of, push_offsets, push_symbols


@kernel
def _pushed(entries: Ints, sequences: Ints, actions: Ints) -> tuple[Ints, Ints, Ints]:
    """The new number of every sequence that is pushed, the empty one's is 0; their offsets, and their symbols."""
    number = np.full(len(sequences), -1, np.int32)
    number[EMPTY] = 0
    lengths, count = np.zeros(len(sequences) + 1, np.int32), 1
    for entry in range(len(entries)):
        push = actions[entries[entry, ACTION], PUSHES]
        if number[push] < 0:
            number[push] = count
            lengths[count] = sequences[push, LENGTH]
            count += 1
    offsets = np.zeros(count + 1, np.int32)
    for push in range(count):
        offsets[push + 1] = offsets[push] + lengths[push]
    symbols = np.empty(offsets[count], np.int32)
    for sequence in range(len(sequences)):
        if number[sequence] > 0:
            place, rest = offsets[number[sequence] + 1], sequence
            while rest != EMPTY:
                place -= 1
                symbols[place] = sequences[rest, SYMBOL]
                rest = sequences[rest, PARENT]
    return number, offsets, symbols


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


# Outcomes


@kernel
def _by_node(node_of: Ints, num_nodes: int) -> tuple[Ints, Ints]:
    """The entries sorted by node, and otherwise as they were; and where each node's begin, `[N + 1]`."""
    offsets = np.zeros(num_nodes + 1, np.int32)
    for node in node_of:
        offsets[node + 1] += 1
    for node in range(num_nodes):
        offsets[node + 1] += offsets[node]
    place, order = offsets[:-1].copy(), np.empty(len(node_of), np.int32)
    for entry in range(len(node_of)):
        order[place[node_of[entry]]] = entry
        place[node_of[entry]] += 1
    return order, offsets


@kernel
def _outcomes(order: Ints, by_node: Ints, entries: Ints, move_of: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Where the edges of each node begin, the edges `[2, E]` (class and outcome), where the moves of each outcome
    begin, and the moves."""
    size = 1024
    while size < 4 * len(entries):
        size *= 2
    keys = np.full(size, -1, np.int32)
    edge_offsets, edges = np.zeros(len(by_node), np.int32), np.empty((2, len(entries)), np.int32)
    outcome_offsets, outcomes = np.zeros(len(entries) + 1, np.int32), np.empty(len(entries), np.int32)
    num_edges = num_outcomes = 0
    for node in range(len(by_node) - 1):
        at = by_node[node]
        while at < by_node[node + 1]:
            number = entries[order[at], CLASS]
            begin = end = outcome_offsets[num_outcomes]
            while at < by_node[node + 1] and entries[order[at], CLASS] == number:
                end = _with_move(outcomes, begin, end, move_of[order[at]])
                at += 1
            outcome = _same_outcome(keys, outcome_offsets, outcomes, begin, end, num_outcomes)
            if outcome == num_outcomes:
                num_outcomes += 1
                outcome_offsets[num_outcomes] = end
            edges[0, num_edges], edges[1, num_edges] = number, outcome
            num_edges += 1
        edge_offsets[node + 1] = num_edges
    moves = outcomes[: outcome_offsets[num_outcomes]].copy()
    return edge_offsets, edges[:, :num_edges].copy(), outcome_offsets[: num_outcomes + 1].copy(), moves


@kernel
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


@kernel
def _same_outcome(keys: Ints, offsets: Ints, outcomes: Ints, begin: int, end: int, number: int) -> int:
    """The outcome with the moves from `begin` to `end`; `number` if it is new."""
    value = np.uint64(0)
    for place in range(begin, end):
        value = (value ^ np.uint64(outcomes[place] + 1)) * _FACTOR
    slot, found = int(value >> np.uint64(33)) & (len(keys) - 1), -1
    while found < 0:
        known = keys[slot]
        if known < 0:
            keys[slot] = found = number
        elif offsets[known + 1] - offsets[known] == end - begin:
            place = begin
            while place < end and outcomes[place] == outcomes[offsets[known] + place - begin]:
                place += 1
            if place == end:
                found = known
        slot = (slot + 1) & (len(keys) - 1)
    return int(found)


# Sharing


@kernel
def _shared(rows: Ints, edge_offsets: Ints, edges: Ints, num_states: int, num_symbols: int) -> tuple[Ints, Ints, Ints]:
    """The trees with equal nodes made one: children `[N, S]`, where the edges of each node begin, and the edges."""
    num_nodes = len(rows)
    child_offsets, children = _children(rows, num_symbols)
    # What a node becomes, and which one stands for all that become the same.
    final, stands = np.full(num_nodes, -1, np.int32), np.empty(num_nodes, np.int32)
    for state in range(num_states):
        final[state] = stands[state] = state
    size = 1024
    while size < 4 * num_nodes:
        size *= 2
    slots, count = np.full(size, -1, np.int32), num_states
    for node in _deepest_first(rows):
        if node < num_states:
            continue
        slot = _node_hash(node, rows, edge_offsets, edges, child_offsets, children, final) & (size - 1)
        while final[node] < 0:
            known = slots[slot]
            if known < 0:
                slots[slot], stands[count], final[node] = node, node, count
                count += 1
            elif _same_node(node, known, rows, edge_offsets, edges, child_offsets, children, final):
                final[node] = final[known]
            slot = (slot + 1) & (size - 1)
    child, row_offsets = np.full((count, num_symbols), -1, np.int32), np.zeros(count + 1, np.int32)
    for number in range(count):
        node = stands[number]
        row_offsets[number + 1] = row_offsets[number] + edge_offsets[node + 1] - edge_offsets[node]
        for below in children[child_offsets[node] : child_offsets[node + 1]]:
            child[number, rows[below, _SYMBOL]] = final[below]
    kept = np.empty((2, row_offsets[count]), np.int32)
    for number in range(count):
        begin = edge_offsets[stands[number]]
        for at in range(row_offsets[number], row_offsets[number + 1]):
            place = begin + at - row_offsets[number]
            kept[0, at], kept[1, at] = edges[0, place], edges[1, place]
    return child, row_offsets, kept


@kernel
def _children(rows: Ints, num_symbols: int) -> tuple[Ints, Ints]:
    """The children of every node, by symbol ascending: where they begin, `[N + 1]`, and which they are."""
    by_symbol, _ = _by_node(rows[:, _SYMBOL] + 1, num_symbols + 1)
    offsets = np.zeros(len(rows) + 1, np.int32)
    for node in range(len(rows)):
        if rows[node, _UP] >= 0:
            offsets[rows[node, _UP] + 1] += 1
    for node in range(len(rows)):
        offsets[node + 1] += offsets[node]
    place, children = offsets[:-1].copy(), np.empty(offsets[-1], np.int32)
    for node in by_symbol:
        up = rows[node, _UP]
        if up >= 0:
            children[place[up]] = node
            place[up] += 1
    return offsets, children


@kernel
def _deepest_first(rows: Ints) -> Ints:
    depth = rows[:, _DEPTH]
    order, _ = _by_node(depth.max() - depth, depth.max() + 1)
    return order


@kernel
def _node_hash(
    node: int, rows: Ints, edge_offsets: Ints, edges: Ints, child_offsets: Ints, children: Ints, final: Ints
) -> int:
    value = np.uint64(0)
    for place in range(edge_offsets[node], edge_offsets[node + 1]):
        value = (value ^ np.uint64(edges[0, place] + 1)) * _FACTOR ^ np.uint64(edges[1, place])
    for below in children[child_offsets[node] : child_offsets[node + 1]]:
        value = (value ^ np.uint64(rows[below, _SYMBOL] + 1)) * _FACTOR ^ np.uint64(final[below])
    return int((value * _FACTOR) >> np.uint64(33))


@kernel
def _same_node(
    node: int,
    other: int,
    rows: Ints,
    edge_offsets: Ints,
    edges: Ints,
    child_offsets: Ints,
    children: Ints,
    final: Ints,
) -> bool:
    """Whether two nodes have the same edges and children that have become the same."""
    first, begin, size = edge_offsets[node], edge_offsets[other], edge_offsets[other + 1] - edge_offsets[other]
    if edge_offsets[node + 1] - first != size:
        return False
    for at in range(size):
        if edges[0, first + at] != edges[0, begin + at] or edges[1, first + at] != edges[1, begin + at]:
            return False
    first, begin, size = child_offsets[node], child_offsets[other], child_offsets[other + 1] - child_offsets[other]
    if child_offsets[node + 1] - first != size:
        return False
    for at in range(size):
        below, known = children[first + at], children[begin + at]
        if rows[below, _SYMBOL] != rows[known, _SYMBOL] or final[below] != final[known]:
            return False
    return True
