"""Walks over a trie with one configuration: what a mask is made of.

What is below a node is not visited if the state loops on every byte that occurs there: its tokens are all allowed.
Cells that a walk pushes are written behind those that are there for good, and are free again when the walk goes back.

    path    [depth, 8]   the next sibling, the end of the siblings, the state and the stack before them, and where cells
                         are free; and another state and stack where two are compared
    loops   [Q, 5..]     as in `tokenfst.loops`, made when first needed: 0 in the last word where they have not been;
                         columns behind them are not looked at
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.jit import plain_kernel
from tokenfst.lazy.program import Machine
from tokenfst.lazy.sets import NO_ROOM, SET_FULL
from tokenfst.lazy.subsets import has_row, special_step
from tokenfst.transition.loops import AFTER_LEAD, DEAD, NEXT_HIGH, NEXT_LOW, Ints
from tokenfst.transition.trie import BYTE, CHILDREN, COUNT_SHIFT, END_RANK, FIRST_RANK, HIGH_BYTE_BELOW, Nodes

PATH_COLUMNS = 8


class Tries(NamedTuple):
    """What walks look at, and where they write.

    Attributes:
        whole, partial: the tries of the vocabulary's tokens that are whole characters, and of the others.
        token_of_rank: the token of each of their ranks.
        path: see the module.
        found: `[V]`, the tokens that a walk finds.
        chain: `[longest token + 1]`, states one after the other.
        nothing: `[5]`, all 0.
    """

    whole: Nodes
    partial: Nodes
    token_of_rank: Ints
    path: Ints
    found: Ints
    chain: Ints
    nothing: Ints


# How many bytes of a character are to come, by what is pending (`tokenfst.loops`).
TO_COME = np.array([1, 2, 2, 2, 3, 3, 3], np.int32)


@plain_kernel
def _rest_leads_to(state: int, count: int, low: int, high: int, target: int, m: Machine) -> bool:
    """Whether all continuations of a character lead to one state, by steps that leave the stack alone: the first of
    them from `low` to `high`, `count` in all."""
    table, byte_class = m.table, m.byte_class
    if not has_row(state, m):
        return False
    seen = -1
    for byte in range(low, high + 1):
        if byte_class[byte] == seen:
            continue
        seen = byte_class[byte]
        reached = table[state, seen]
        if count == 1:
            if reached != target:
                return False
            continue
        if reached < 0 or not has_row(reached, m):
            return False
        inner = -1
        for second in range(0x80, 0xC0):
            if byte_class[second] == inner:
                continue
            inner = byte_class[second]
            middle = table[reached, inner]
            if count == 2:
                if middle != target:
                    return False
                continue
            if middle < 0 or not has_row(middle, m):
                return False
            last = -1
            for third in range(0x80, 0xC0):
                if byte_class[third] != last:
                    last = byte_class[third]
                    if table[middle, last] != target:
                        return False
    return True


@plain_kernel
def characters_lead_to(state: int, target: int, m: Machine) -> bool:
    """Whether every character beyond ASCII leads from one state to another, whatever the stack is."""
    table, byte_class = m.table, m.byte_class
    seen_class, seen_pending = -1, -1
    for lead in range(0xC2, 0xF5):
        column, pending = byte_class[lead], AFTER_LEAD[lead]
        if column == seen_class and pending == seen_pending:
            continue
        seen_class, seen_pending = column, pending
        middle = table[state, column]
        if middle < 0 or not _rest_leads_to(middle, TO_COME[pending], NEXT_LOW[pending], NEXT_HIGH[pending], target, m):
            return False
    return True


@plain_kernel
def find_loops(state: int, m: Machine, loops: Ints) -> None:
    """Fills in the loops of a state."""
    table, members = m.table, m.members
    for column in range(table.shape[1]):
        if table[state, column] == state:
            for word in range(4):
                loops[state, word] |= members[column, word]
    characters = characters_lead_to(state, state, m)
    # What was not seen for lack of room will be looked at again.
    loops[state, 4] = 0 if m.sets[SET_FULL] else -1 if characters else ~HIGH_BYTE_BELOW


@plain_kernel
def loops_below(nodes: Nodes, node: int, loops: Ints, state: int, characters: bool) -> bool:
    """Whether a state, whose loops are known, loops on all that occurs below a node."""
    return not (
        nodes[node, 0] & ~loops[state, 0]
        | nodes[node, 1] & ~loops[state, 1]
        | nodes[node, 2] & ~loops[state, 2]
        | nodes[node, 3] & ~loops[state, 3]
        | nodes[node, BYTE] & HIGH_BYTE_BELOW & (~loops[state, 4] if characters else HIGH_BYTE_BELOW)
    )


@plain_kernel
def allowed_tokens(
    nodes: Nodes,
    root: int,
    characters: bool,
    token_of_rank: Ints,
    skipped: Ints,
    m: Machine,
    cells: Ints,
    loops: Ints,
    path: Ints,
    found: Ints,
    count: int,
    state: int,
    top: int,
    free: int,
    known: int,
    lowest: int,
) -> tuple[int, int]:
    """Writes the tokens that a configuration allows.

    Args:
        nodes, root: a trie, or several of them and the root of one.
        characters: whether its tokens are whole characters.
        token_of_rank: the token of each of its ranks.
        skipped: `[5]`: the first bytes whose tokens are left out, as bits, and whether those beyond ASCII are.
        m: the program.
        cells, loops, path: see the module.
        found: where tokens are written, from `count` on.
        state, top: the configuration.
        free, known, lowest: as in `stack_step`.

    Returns:
        The new `count` and `lowest`; a count of -1 where there was no room for new states.
    """
    table, byte_class = m.table, m.byte_class
    depth, node = 0, nodes[root, CHILDREN]
    end = node + (nodes[root, BYTE] >> COUNT_SHIFT)
    path[0, 0], path[0, 1], path[0, 2], path[0, 3], path[0, 4] = node, end, state, top, free
    while True:
        if node == end:
            depth -= 1
            if depth < 0:
                return count, lowest
            node, end, state, top, free = path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3], path[depth, 4]
            continue
        byte = nodes[node, BYTE] & 255
        if depth == 0 and (skipped[byte >> 5] >> (byte & 31) & 1 if byte < 128 else skipped[4]):
            node += 1
            continue
        column = byte_class[byte]
        reached, reached_top, reached_free = table[state, column], top, free
        if reached < DEAD:
            reached, reached_top, reached_free, lowest = special_step(
                reached, state, column, m, cells, top, free, known, lowest
            )
        if reached < 0:
            if reached == NO_ROOM:
                return -1, lowest
            node += 1
            continue
        children, last = nodes[node, CHILDREN], nodes[node, END_RANK]
        if children:
            if byte < 128 and reached == state and reached_top == top and loops[state, 4] == 0:
                find_loops(state, m, loops)
            if loops[reached, 4] and loops_below(nodes, node, loops, reached, characters and byte < 128):
                children = 0
            else:
                last = nodes[children, FIRST_RANK]
        for rank in range(nodes[node, FIRST_RANK], last):
            found[count] = token_of_rank[rank]
            count += 1
        node += 1
        if children:
            path[depth, 0] = node
            depth += 1
            end = children + (nodes[node - 1, BYTE] >> COUNT_SHIFT)
            node, state, top, free = children, reached, reached_top, reached_free
            path[depth, 1], path[depth, 2], path[depth, 3], path[depth, 4] = end, state, top, free


@plain_kernel
def differing_tokens(
    nodes: Nodes,
    characters: bool,
    token_of_rank: Ints,
    m: Machine,
    cells: Ints,
    loops: Ints,
    path: Ints,
    found: Ints,
    count: int,
    state: int,
    other: int,
    top: int,
    free: int,
    known: int,
    lowest: int,
) -> tuple[int, int]:
    """Writes the tokens that one of two states allows, with the same stack; arguments as of `allowed_tokens`.

    Where both have come to one configuration, nothing below differs.
    """
    table, byte_class = m.table, m.byte_class
    depth, node, other_top = 0, 1, top
    end = 1 + (nodes[0, BYTE] >> COUNT_SHIFT)
    path[0, 0], path[0, 1], path[0, 2], path[0, 3], path[0, 4] = node, end, state, top, free
    path[0, 5], path[0, 6] = other, other_top
    while True:
        if node == end:
            depth -= 1
            if depth < 0:
                return count, lowest
            node, end, state, top, free = path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3], path[depth, 4]
            other, other_top = path[depth, 5], path[depth, 6]
            continue
        byte = nodes[node, BYTE] & 255
        column = byte_class[byte]
        reached, reached_top, reached_free = DEAD, top, free
        if state >= 0:
            reached = table[state, column]
            if reached < DEAD:
                reached, reached_top, reached_free, lowest = special_step(
                    reached, state, column, m, cells, top, reached_free, known, lowest
                )
        second, second_top = DEAD, other_top
        if other >= 0:
            second = table[other, column]
            if second < DEAD:
                second, second_top, reached_free, lowest = special_step(
                    second, other, column, m, cells, other_top, reached_free, known, lowest
                )
        if reached == NO_ROOM or second == NO_ROOM:
            return -1, lowest
        if reached == second and (reached < 0 or reached_top == second_top):
            node += 1
            continue
        children, last = nodes[node, CHILDREN], nodes[node, END_RANK]
        if children:
            inside = characters and byte < 128
            if (reached < 0 or _skips(nodes, node, loops, reached, inside)) and (
                second < 0 or _skips(nodes, node, loops, second, inside)
            ):
                children = 0
            else:
                last = nodes[children, FIRST_RANK]
        if (reached < 0) != (second < 0):
            for rank in range(nodes[node, FIRST_RANK], last):
                found[count] = token_of_rank[rank]
                count += 1
        node += 1
        if children:
            path[depth, 0] = node
            depth += 1
            end = children + (nodes[node - 1, BYTE] >> COUNT_SHIFT)
            node, state, top, free = children, reached, reached_top, reached_free
            other, other_top = second, second_top
            path[depth, 1], path[depth, 2], path[depth, 3], path[depth, 4] = end, state, top, free
            path[depth, 5], path[depth, 6] = other, other_top


@plain_kernel
def _skips(nodes: Nodes, node: int, loops: Ints, state: int, characters: bool) -> bool:
    return loops[state, 4] != 0 and loops_below(nodes, node, loops, state, characters)
