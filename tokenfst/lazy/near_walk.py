"""Walks that find how many tokens there are to the end behind every token that a configuration allows.

What a stack means for the distance is a number, its context, and a cost that is counted for it, both found from the
bottom up (`tokenfst.pushdown.distance`); the distance of a configuration is what `near` says of its context and state,
and the cost. These are known of cells that are there for good; those that a walk pushes get theirs on the way.

    near    [H, Q]   how far the end is from a state on a stack of each context; UNSEEN where it has not been asked for
    onto    [H, S]   the context with one symbol more, UNSEEN likewise; a walk that meets one notes it, and is repeated
    cost    [H, S]   what is counted for that symbol
    noted   [N, 2]   context and cost of the stack that each cell is the top of
    far, units, exits, vectors    where states are sets: what `near` is found from (`tokenfst.lazy.network_distance`)

Tokens are noted as runs of ranks with one distance. Below a node on all bytes of which the state loops, all is one run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.jit import plain_kernel
from automata.transition.stacks import BELOW, SYMBOL
from tokenfst.lazy.network_distance import FAR, set_distance
from tokenfst.lazy.program import Machine
from tokenfst.lazy.sets import NO_ROOM
from tokenfst.lazy.subsets import special_step
from tokenfst.lazy.walk import find_loops, loops_below
from tokenfst.transition.loops import DEAD, Ints
from tokenfst.transition.trie import BYTE, CHILDREN, COUNT_SHIFT, END_RANK, FIRST_RANK, Nodes

UNSEEN = -1


class Near(NamedTuple):
    """The arrays as kernels take them; see the module.

    Attributes:
        near, onto, cost: int32.
        far: `[N, E]`, empty where `near` is there from the beginning.
        units: the layers of what is counted (`tokenfst.lazy.network_distance.counted_bytes`).
        vectors: `[H, E]`, what lies behind each exit of the rule at hand.
    """

    near: Ints
    onto: Ints
    cost: Ints
    far: Ints
    units: Ints
    vectors: Ints


@plain_kernel
def distance(m: Machine, d: Near, context: int, cost: int, state: int) -> int:
    """How far the end is from a state on a stack, FAR where it is not known."""
    if context < 0:
        return FAR
    if d.near[context, state] == UNSEEN:
        d.near[context, state] = set_distance(m, state, d.far, d.units, d.vectors[context])
    return int(min(d.near[context, state] + cost, FAR))


@plain_kernel
def note_cell(cells: Ints, d: Near, noted: Ints, cell: int, wanted: Ints, count: int) -> int:
    """Notes the context and cost of a cell above one that they are known of; where they cannot be told yet, the pair
    of context and symbol is noted in `wanted`, behind `count` others. Returns how many there are."""
    below, symbol = cells[cell, BELOW], cells[cell, SYMBOL]
    context = noted[below, 0]
    noted[cell, 0], noted[cell, 1] = UNSEEN, FAR
    if context >= 0:
        above = d.onto[context, symbol]
        if above >= 0:
            noted[cell, 0] = above
            noted[cell, 1] = min(noted[below, 1] + d.cost[context, symbol], FAR)
        elif count < len(wanted):
            wanted[count, 0], wanted[count, 1] = context, symbol
            count += 1
    return count


@plain_kernel
def note_cells(cells: Ints, d: Near, noted: Ints, first: int, wanted: Ints) -> int:
    """Notes all cells from one on that are there for good; how many pairs are wanted for that."""
    count = 0
    for cell in range(first, cells[0, SYMBOL]):
        count = note_cell(cells, d, noted, cell, wanted, count)
    return count


@plain_kernel
def walk(
    nodes: Nodes,
    characters: bool,
    m: Machine,
    cells: Ints,
    loops: Ints,
    path: Ints,
    d: Near,
    noted: Ints,
    wanted: Ints,
    runs: Ints,
    counts: Ints,
    state: int,
    top: int,
) -> bool:
    """Notes the distances behind the tokens of a trie that a configuration allows.

    Args:
        nodes, characters, m, cells, loops, path: as of `tokenfst.lazy.walk.allowed_tokens`.
        d, noted, wanted: see the module and `note_cell`.
        runs: `[R, 3]`, the first rank, one past the last, and the distance.
        counts: `[2]`, how many runs there are, and how many pairs are wanted.
        state, top: the configuration.

    Returns:
        False where there was no room for new states.
    """
    table, byte_class, known, lowest = m.table, m.byte_class, cells[0, SYMBOL], 0
    depth, node, free = 0, nodes[0, CHILDREN], known
    end = node + (nodes[0, BYTE] >> COUNT_SHIFT)
    path[0, 0], path[0, 1], path[0, 2], path[0, 3], path[0, 4] = node, end, state, top, free
    while True:
        if node == end:
            depth -= 1
            if depth < 0:
                return True
            node, end, state, top, free = path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3], path[depth, 4]
            continue
        column = byte_class[nodes[node, BYTE] & 255]
        reached, reached_top, reached_free = table[state, column], top, free
        if reached < DEAD:
            reached, reached_top, reached_free, lowest = special_step(
                reached, state, column, m, cells, top, free, known, lowest
            )
            for cell in range(free, reached_free):
                counts[1] = note_cell(cells, d, noted, cell, wanted, counts[1])
        if reached < 0:
            if reached == NO_ROOM:
                return False
            node += 1
            continue
        children, last = nodes[node, CHILDREN], nodes[node, END_RANK]
        if children:
            inside = (nodes[node, BYTE] & 255) < 128
            if inside and reached == state and reached_top == top and loops[state, 4] == 0:
                find_loops(state, m, loops)
            if loops[reached, 4] and loops_below(nodes, node, loops, reached, characters and inside):
                children = 0
            else:
                last = nodes[children, FIRST_RANK]
        if nodes[node, FIRST_RANK] < last:
            least = distance(m, d, noted[reached_top, 0], noted[reached_top, 1], reached)
            _note_run(runs, counts, nodes[node, FIRST_RANK], last, least)
        node += 1
        if children:
            path[depth, 0] = node
            depth += 1
            end = children + (nodes[node - 1, BYTE] >> COUNT_SHIFT)
            node, state, top, free = children, reached, reached_top, reached_free
            path[depth, 1], path[depth, 2], path[depth, 3], path[depth, 4] = end, state, top, free


@plain_kernel
def _note_run(runs: Ints, counts: Ints, first: int, last: int, least: int) -> None:
    count = counts[0]
    if count and runs[count - 1, 1] == first and runs[count - 1, 2] == least:
        runs[count - 1, 1] = last
        return
    runs[count, 0], runs[count, 1], runs[count, 2] = first, last, least
    counts[0] = count + 1


@plain_kernel
def words_of_runs(runs: Ints, limit: int, token_of_rank: Ints, words: npt.NDArray[np.int32]) -> None:
    """Sets the bits of the tokens whose distance is less than a limit."""
    for run in range(len(runs)):
        if runs[run, 2] < limit:
            for rank in range(runs[run, 0], runs[run, 1]):
                token = token_of_rank[rank]
                words[token >> 5] |= np.int32(np.uint32(1) << np.uint32(token & 31))
