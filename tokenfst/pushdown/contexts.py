"""Context trees: the effects of all classes, laid out so that the stack at hand picks a path.

An entry says that a class, in a state whose stack has certain symbols on top, makes a move. From entries to tables:

    place      every entry belongs to the node that its state and its pops spell; nodes on the way there are made too
    moves      what entries of one node and one class do, each move stored once; together they are an outcome
    sharing    nodes whose edges and children are the same are one (`tokenfst.pushdown.sharing`)

Entries come in order of class, so that each node's edges do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.jit import kernel
from tokenfst.loops import Ints
from tokenfst.pushdown.actions import EMPTY, LENGTH, PARENT, POPS, PUSHES, SYMBOL
from tokenfst.pushdown.sharing import DEPTH, SYMBOL_READ, UP, shared_nodes, sorted_by
from tokenfst.pushdown.tables import PushdownTables

# Columns of the entries.
CLASS, SOURCE, ACTION, TARGET = range(4)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class _Nodes(NamedTuple):
    """A trie of states and popped symbols; nodes 0 .. Q - 1 are the roots."""

    number: Ints  # [1]
    rows: Ints  # [N, 3]
    keys: npt.NDArray[np.int64]  # [slots], open addressing: the state and the sequence popped, or -1
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
    order, by_node = sorted_by(node_of, len(rows))
    edge_offsets, edges, outcome_offsets, outcome_moves = _outcomes(order, by_node, entries, move_of)
    moves = np.concatenate([moves, room[:, None]], axis=1)[outcome_moves]
    child, row_offsets, shared = shared_nodes(rows, edge_offsets, edges, num_states, num_symbols)
    return PushdownTables(
        num_states=num_states,
        num_symbols=num_symbols,
        num_classes=num_classes,
        start=start,
        child=child,
        max_pops=int(rows[:, DEPTH].max()),
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
        nodes.rows[state, UP], nodes.rows[state, SYMBOL_READ], nodes.rows[state, DEPTH] = -1, -1, 0
    node_of = np.empty(len(entries), np.int32)
    for entry in range(len(entries)):
        state, pops = entries[entry, SOURCE], actions[entries[entry, ACTION], POPS]
        while nodes.number[0] + sequences[pops, LENGTH] > len(nodes.rows):
            nodes = _more_nodes(nodes)
        node_of[entry] = _node(nodes, state, pops, sequences)
    return nodes.rows[: nodes.number[0]].copy(), node_of


@kernel
def _node(nodes: _Nodes, state: int, pops: int, sequences: Ints) -> int:
    """The node of a state and a sequence popped; with those above it made, if they are not there."""
    found, below = -1, -1
    while found < 0 or below >= 0:
        node, is_new = state, False
        if pops != EMPTY:
            key = state << 32 | pops
            slot = _slot(nodes.keys, key)
            is_new = nodes.keys[slot] < 0
            if is_new:
                node = nodes.number[0]
                nodes.number[0] = node + 1
                nodes.keys[slot], nodes.found[slot] = key, node
                nodes.rows[node, SYMBOL_READ], nodes.rows[node, DEPTH] = (
                    sequences[pops, SYMBOL],
                    sequences[pops, LENGTH],
                )
            else:
                node = nodes.found[slot]
            pops = sequences[pops, PARENT]
        if found < 0:
            found = node
        if below >= 0:
            nodes.rows[below, UP] = node
        below = node if is_new else -1
    return int(found)


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
        pops, target = rows[node_of[entry], DEPTH], entries[entry, TARGET]
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
