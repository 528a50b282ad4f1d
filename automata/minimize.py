"""Minimization: the smallest deterministic automaton of a language, in the time of a sort.

Valmari's algorithm ("Fast brief practical DFA minimization", Information Processing Letters 112, 2012) refines two
partitions in turn, states into blocks and transitions into cords, always looking at the smaller part of what was
split: O(A log Q) for A transitions, and partial automata need no dead state. States that cannot be reached, or from
which no end can be, are left out before.

    Partition       elements grouped into sets: `order` holds them set by set, `place` is the inverse, `owner` the set
                    of each element, `first` and `last` the bounds of each set in `order`, `marked` how many of the set
                    have been moved to its front
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.determinize import Transitions, by_source
from automata.distance import distances
from automata.jit import kernel
from automata.openfst import BoolArray, IntArray


class _Partition(NamedTuple):
    count: IntArray  # [1], how many sets there are
    order: IntArray
    place: IntArray
    owner: IntArray
    first: IntArray
    last: IntArray
    marked: IntArray
    touched: IntArray  # sets with marked elements
    num_touched: IntArray  # [1]


@kernel
def _one_set(size: int) -> _Partition:
    numbers = np.arange(size).astype(np.int32)
    bounds = np.zeros(size + 1, np.int32)
    partition = _Partition(
        np.zeros(1, np.int32),
        numbers,
        numbers.copy(),
        np.zeros(size, np.int32),
        bounds,
        np.zeros(size + 1, np.int32),
        np.zeros(size + 1, np.int32),
        np.zeros(size + 1, np.int32),
        np.zeros(1, np.int32),
    )
    if size:
        partition.count[0] = 1
        partition.last[0] = size
    return partition


@kernel
def _mark(partition: _Partition, element: int) -> None:
    order, place, marked = partition.order, partition.place, partition.marked
    owner = partition.owner[element]
    old, new = place[element], partition.first[owner] + marked[owner]
    if old < new:  # marked before
        return
    other = order[new]
    order[old], place[other] = other, old
    order[new], place[element] = element, new
    if marked[owner] == 0:
        partition.touched[partition.num_touched[0]] = owner
        partition.num_touched[0] += 1
    marked[owner] += 1


@kernel
def _split(partition: _Partition) -> None:
    """Makes the smaller of the marked and the unmarked part of every set with marks a new set."""
    first, last, marked = partition.first, partition.last, partition.marked
    while partition.num_touched[0]:
        partition.num_touched[0] -= 1
        owner = partition.touched[partition.num_touched[0]]
        middle = first[owner] + marked[owner]
        marked[owner] = 0
        if middle == last[owner]:
            continue
        new = partition.count[0]
        if middle - first[owner] <= last[owner] - middle:
            first[new], last[new] = first[owner], middle
            first[owner] = middle
        else:
            first[new], last[new] = middle, last[owner]
            last[owner] = middle
        for at in range(first[new], last[new]):
            partition.owner[partition.order[at]] = new
        partition.count[0] = new + 1


@kernel
def _trim(automaton: Transitions) -> tuple[IntArray, Transitions]:
    """The automaton without states that cannot be reached from state 0 or do not reach an end, and the new number of
    each state, -1 for those that are gone."""
    begins = np.zeros(len(automaton.final), np.bool_)
    begins[0] = True
    ahead = distances(automaton.source, automaton.target, automaton.final)
    behind = distances(automaton.target, automaton.source, begins)
    number = np.full(len(automaton.final), -1, np.int32)
    kept = 0
    for state in range(len(number)):
        if ahead[state] >= 0 and behind[state] >= 0:
            number[state] = kept
            kept += 1
    final = np.empty(kept, np.bool_)
    for state in range(len(number)):
        if number[state] >= 0:
            final[number[state]] = automaton.final[state]
    arcs = np.empty((3, len(automaton.source)), np.int32)
    count = 0
    for arc in range(len(automaton.source)):
        source, target = number[automaton.source[arc]], number[automaton.target[arc]]
        if source >= 0 and target >= 0:
            arcs[0, count], arcs[1, count], arcs[2, count] = source, automaton.symbol[arc], target
            count += 1
    return number, Transitions(final, arcs[0, :count], arcs[1, :count], arcs[2, :count])


@kernel
def _by_symbol(symbol: IntArray) -> _Partition:
    """The transitions, grouped by symbol."""
    partition = _one_set(len(symbol))
    if not len(symbol):
        return partition
    offsets, order = by_source(symbol.max() + 1, symbol)
    count = 0
    for number in range(len(offsets) - 1):
        if offsets[number] == offsets[number + 1]:
            continue
        partition.first[count], partition.last[count] = offsets[number], offsets[number + 1]
        for at in range(offsets[number], offsets[number + 1]):
            partition.order[at], partition.place[order[at]], partition.owner[order[at]] = order[at], at, count
        count += 1
    partition.count[0] = count
    return partition


@kernel
def minimize(automaton: Transitions, num_symbols: int) -> tuple[int, BoolArray, IntArray]:
    """The minimal trim automaton of what is accepted from state 0.

    Args:
        automaton: deterministic transitions.
        num_symbols: P.

    Returns:
        The start state (-1 where nothing is accepted), the final states `[Q]`, and the table `[Q, P]` of the state
        that each symbol leads to, or -1.
    """
    number, trimmed = _trim(automaton)
    if number[0] < 0:
        return -1, np.zeros(0, np.bool_), np.zeros((0, num_symbols), np.int32)
    num_states = len(trimmed.final)
    blocks, cords = _one_set(num_states), _by_symbol(trimmed.symbol)
    for state in range(num_states):
        if trimmed.final[state]:
            _mark(blocks, state)
    _split(blocks)
    offsets, entering = by_source(num_states, trimmed.target)
    block, cord = 1, 0
    while cord < cords.count[0]:
        for at in range(cords.first[cord], cords.last[cord]):
            _mark(blocks, trimmed.source[cords.order[at]])
        _split(blocks)
        cord += 1
        while block < blocks.count[0]:
            for at in range(blocks.first[block], blocks.last[block]):
                state = blocks.order[at]
                for arc in range(offsets[state], offsets[state + 1]):
                    _mark(cords, entering[arc])
            _split(cords)
            block += 1
    num_blocks = blocks.count[0]
    final, table = np.zeros(num_blocks, np.bool_), np.full((num_blocks, num_symbols), -1, np.int32)
    for state in range(num_states):
        final[blocks.owner[state]] = trimmed.final[state]
    for arc in range(len(trimmed.source)):
        table[blocks.owner[trimmed.source[arc]], trimmed.symbol[arc]] = blocks.owner[trimmed.target[arc]]
    return int(blocks.owner[number[0]]), final, table
