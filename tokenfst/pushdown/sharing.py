"""Nodes of context trees whose edges and children are the same, made one.

They are found from the deepest up, so that the children of two nodes are known to be the same by their numbers. What
follows once a symbol has been popped depends on little else, so most nodes of different states are shared. Roots stay
apart, since a root is known by the number of its state.
"""

from __future__ import annotations

import numpy as np

from automata.jit import kernel
from tokenfst.loops import Ints

# Columns of the nodes: the node above, the symbol that leads from there, and how many symbols have been read.
UP, SYMBOL_READ, DEPTH = range(3)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@kernel
def sorted_by(node_of: Ints, num_nodes: int) -> tuple[Ints, Ints]:
    """What belongs to nodes, or other numbers below N, sorted by node and otherwise as it was; and where each node's
    begin, `[N + 1]`."""
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
def shared_nodes(
    rows: Ints, edge_offsets: Ints, edges: Ints, num_states: int, num_symbols: int
) -> tuple[Ints, Ints, Ints]:
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
            child[number, rows[below, SYMBOL_READ]] = final[below]
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
    by_symbol, _ = sorted_by(rows[:, SYMBOL_READ] + 1, num_symbols + 1)
    offsets = np.zeros(len(rows) + 1, np.int32)
    for node in range(len(rows)):
        if rows[node, UP] >= 0:
            offsets[rows[node, UP] + 1] += 1
    for node in range(len(rows)):
        offsets[node + 1] += offsets[node]
    place, children = offsets[:-1].copy(), np.empty(offsets[-1], np.int32)
    for node in by_symbol:
        up = rows[node, UP]
        if up >= 0:
            children[place[up]] = node
            place[up] += 1
    return offsets, children


@kernel
def _deepest_first(rows: Ints) -> Ints:
    depth = rows[:, DEPTH]
    order, _ = sorted_by(depth.max() - depth, depth.max() + 1)
    return order


@kernel
def _node_hash(
    node: int, rows: Ints, edge_offsets: Ints, edges: Ints, child_offsets: Ints, children: Ints, final: Ints
) -> int:
    value = np.uint64(0)
    for place in range(edge_offsets[node], edge_offsets[node + 1]):
        value = (value ^ np.uint64(edges[0, place] + 1)) * _FACTOR ^ np.uint64(edges[1, place])
    for below in children[child_offsets[node] : child_offsets[node + 1]]:
        value = (value ^ np.uint64(rows[below, SYMBOL_READ] + 1)) * _FACTOR ^ np.uint64(final[below])
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
        if rows[below, SYMBOL_READ] != rows[known, SYMBOL_READ] or final[below] != final[known]:
            return False
    return True
