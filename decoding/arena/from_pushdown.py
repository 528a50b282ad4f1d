"""From automata with a stack to machines (`decoding.arena.machine`)."""

from __future__ import annotations

import numpy as np

from automata.limits import Work
from decoding.arena.layout import DEAD, ENDED, FREE, MOVE_SIZE, POPS, PUSH_AT, PUSHED, ROWS_AT, TARGET, WALK_AT
from decoding.arena.machine import Longs, Machine, leaves, with_last_two
from decoding.arena.pushdown_rows import PushdownRows, pushdown_rows
from tokenfst._native import PushdownTables
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.distance import FAR


def of_pushdown(automaton: PushdownTokenAutomaton, max_depth: int, work: Work | None = None) -> Machine:
    """Return the machine of an automaton with a stack.

    Node n of the context trees is node n + 2, but the state after the end is ENDED; rows are those of
    `decoding.arena.pushdown_rows`.
    """
    tables, distance = automaton.tables, automaton.distances
    made = pushdown_rows(tables, work)
    node = np.arange(tables.num_nodes) + 2
    node[tables.num_states - 1] = ENDED
    moves = _moves(tables, node)
    nodes, walk = _nodes(tables, made, node)
    # The outcomes of the last two moves, which follow all other moves.
    last_two = np.full((2, made.outcomes.shape[1]), len(moves) - 2)
    last_two[1, 0] += 1
    # The distances of the tables count an end token, even if the vocabulary has none.
    end = int(not automaton.vocabulary.eos_ids)
    rest, rest_of = with_last_two(np.where(distance.rest < FAR, distance.rest - end, FAR), distance.rest_of)
    return Machine(
        token_class=automaton.token_class,
        num_classes=tables.num_classes,
        rows=made.rows,
        outcomes=np.concatenate([made.outcomes, last_two]),
        moves=moves,
        pushes=tables.push_symbols,
        nodes=nodes,
        walk=walk,
        node_rows=np.append([DEAD, ENDED], made.node_rows),
        cuts=made.cuts,
        gauge=FREE,
        depth=min(depth for depth in (max_depth, automaton.max_depth) if depth is not None),
        first=int(node[tables.start]),
        rest=rest,
        rest_of=rest_of,
        next=distance.next,
        cost=distance.cost,
        least=distance.first - end,
        is_ambiguous=tables.max_configurations > 1,
        reads=tables.max_pops,
        longest=int(moves[:, PUSHED].max()),
        parts=made.parts,
        at_once=made.at_once,
    )


def _moves(tables: PushdownTables, node: Longs) -> Longs:
    """Return the moves, and the last two of every machine, `[M, MOVE_SIZE]`; `node` has the number of each node."""
    moves = np.zeros((len(tables.move_pops) + 2, MOVE_SIZE), np.int64)
    moves[:-2, POPS], moves[:-2, TARGET] = tables.move_pops, node[tables.move_target]
    moves[:-2, PUSHED] = np.diff(tables.push_offsets)[tables.move_push]
    moves[:-2, PUSH_AT] = tables.push_offsets[tables.move_push]
    moves[-1, TARGET] = ENDED
    return moves


def _nodes(tables: PushdownTables, made: PushdownRows, node: Longs) -> tuple[Longs, Longs]:
    """Return the nodes, `[N, NODE_SIZE]`, and the nodes that the inner ones lead to, by symbol, `[I, S + 1]`."""
    # The first two nodes have rows of their own, which come first.
    nodes = leaves(*(np.append([0, 0], column) for column in (made.rows_at + 2, made.cuts_at, made.num_cuts)))
    nodes[ENDED, ROWS_AT] = ENDED
    num_children = np.diff(tables.child_offsets)
    inner = np.flatnonzero(num_children)
    walk = np.full((len(inner), tables.num_symbols + 1), DEAD, np.int64)
    walk[np.repeat(np.arange(len(inner)), num_children[inner]), tables.child_symbol] = node[tables.child_node]
    nodes[inner + 2, WALK_AT] = np.arange(len(inner)) * walk.shape[1]
    return nodes, walk
