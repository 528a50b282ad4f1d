"""Minimization: the smallest deterministic automaton of a language, in the time of a sort.

Valmari's algorithm ("Fast brief practical DFA minimization", Information Processing Letters 112, 2012) refines two
partitions in turn, states into blocks and transitions into cords, always looking at the smaller part of what was
split: O(A log Q) for A transitions, and partial automata need no dead state. States that cannot be reached, or from
which no end can be, are left out before.

    Partition       elements grouped into sets, which are runs of a permutation of the elements; marked elements are
                    moved to the front of their set, and a split makes them, or the others, a set of their own
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.arrays import IntArray
from automata.jit import kernel, plain_kernel
from automata.limits import Flag
from automata.transition.determinize import Transitions
from automata.transition.distance import distances
from automata.transition.grouping import grouped

# Columns of a partition's elements: the permutation, its inverse, and the set of each element.
_ORDER, _PLACE, _OWNER = range(3)
# Columns of its sets: the bounds in the permutation, how many elements are marked, and in the first rows of the last
# column the sets with marked elements.
_FIRST, _LAST, _MARKED, _TOUCHED = range(4)
# How many sets there are, and how many have marked elements.
_SETS, _NUM_TOUCHED = range(2)


class _Partition(NamedTuple):
    elements: IntArray  # [N, 3]
    sets: IntArray  # [N + 1, 4]
    counts: IntArray  # [2]


@kernel
def _one_set(size: int) -> _Partition:
    partition = _Partition(np.zeros((size, 3), np.int32), np.zeros((size + 1, 4), np.int32), np.zeros(2, np.int32))
    for element in range(size):
        partition.elements[element, _ORDER] = partition.elements[element, _PLACE] = element
    if size:
        partition.counts[_SETS] = 1
        partition.sets[0, _LAST] = size
    return partition


@plain_kernel
def _mark(elements: IntArray, sets: IntArray, counts: IntArray, element: int) -> None:
    """Marks an element; the arguments are a partition's arrays, because a tuple of arrays would have its references
    counted at every call."""
    owner = elements[element, _OWNER]
    old, new = elements[element, _PLACE], sets[owner, _FIRST] + sets[owner, _MARKED]
    if old >= new:  # not marked before
        other = elements[new, _ORDER]
        elements[old, _ORDER], elements[other, _PLACE] = other, old
        elements[new, _ORDER], elements[element, _PLACE] = element, new
        if sets[owner, _MARKED] == 0:
            sets[counts[_NUM_TOUCHED], _TOUCHED] = owner
            counts[_NUM_TOUCHED] += 1
        sets[owner, _MARKED] += 1


@plain_kernel
def _split(elements: IntArray, sets: IntArray, counts: IntArray) -> None:
    """Makes the smaller of the marked and the unmarked part of every set with marks a new set."""
    while counts[_NUM_TOUCHED]:
        counts[_NUM_TOUCHED] -= 1
        owner = sets[counts[_NUM_TOUCHED], _TOUCHED]
        first, last = sets[owner, _FIRST], sets[owner, _LAST]
        middle = first + sets[owner, _MARKED]
        sets[owner, _MARKED] = 0
        if middle == last:
            continue
        new = counts[_SETS]
        counts[_SETS] += 1
        if middle - first <= last - middle:
            sets[new, _FIRST], sets[new, _LAST] = first, middle
            sets[owner, _FIRST] = middle
        else:
            sets[new, _FIRST], sets[new, _LAST] = middle, last
            sets[owner, _LAST] = middle
        for at in range(sets[new, _FIRST], sets[new, _LAST]):
            elements[elements[at, _ORDER], _OWNER] = new


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
    elements, sets = partition.elements, partition.sets
    offsets, order = grouped(symbol.max() + 1, symbol)
    count = 0
    for number in range(len(offsets) - 1):
        if offsets[number] == offsets[number + 1]:
            continue
        sets[count, _FIRST], sets[count, _LAST] = offsets[number], offsets[number + 1]
        for at in range(offsets[number], offsets[number + 1]):
            elements[at, _ORDER], elements[order[at], _PLACE] = order[at], at
            elements[order[at], _OWNER] = count
        count += 1
    partition.counts[_SETS] = count
    return partition


@kernel
def minimize(automaton: Transitions, stop: Flag) -> tuple[int, Transitions]:
    """The start state, -1 where nothing is accepted, and the minimal trim automaton of what is accepted from state 0.

    Args:
        automaton: deterministic transitions.
        stop: `[1]`, looked at while sets split; if it is set, nothing is left of the automaton, since blocks that are
            not split yet are no states: what goes through them could read a state that there is not.
    """
    number, trimmed = _trim(automaton)
    if number[0] < 0:
        return -1, Transitions(np.zeros(0, np.bool_), trimmed.source, trimmed.symbol, trimmed.target)
    num_states = len(trimmed.final)
    states, blocks, block_counts = _one_set(num_states)
    arcs, cords, cord_counts = _by_symbol(trimmed.symbol)
    for state in range(num_states):
        if trimmed.final[state]:
            _mark(states, blocks, block_counts, state)
    _split(states, blocks, block_counts)
    source, target = trimmed.source, trimmed.target
    offsets, entering = grouped(num_states, target)
    block, cord = 1, 0
    while cord < cord_counts[_SETS] and stop[0] == 0:
        for at in range(cords[cord, _FIRST], cords[cord, _LAST]):
            _mark(states, blocks, block_counts, source[arcs[at, _ORDER]])
        _split(states, blocks, block_counts)
        cord += 1
        while block < block_counts[_SETS] and stop[0] == 0:
            for at in range(blocks[block, _FIRST], blocks[block, _LAST]):
                state = states[at, _ORDER]
                for arc in range(offsets[state], offsets[state + 1]):
                    _mark(arcs, cords, cord_counts, entering[arc])
            _split(arcs, cords, cord_counts)
            block += 1
    if stop[0]:
        return -1, Transitions(np.zeros(0, np.bool_), source[:0], trimmed.symbol[:0], target[:0])
    # The arcs of one state of each block are the arcs of the block.
    final = np.zeros(block_counts[_SETS], np.bool_)
    chosen = np.empty(block_counts[_SETS], np.int32)
    for owner in range(block_counts[_SETS]):
        chosen[owner] = states[blocks[owner, _FIRST], _ORDER]
        final[owner] = trimmed.final[chosen[owner]]
    kept = np.empty((3, len(source)), np.int32)
    count = 0
    for arc in range(len(source)):
        owner = states[source[arc], _OWNER]
        if chosen[owner] == source[arc]:
            kept[0, count], kept[1, count], kept[2, count] = owner, trimmed.symbol[arc], states[target[arc], _OWNER]
            count += 1
    return int(states[number[0], _OWNER]), Transitions(final, kept[0, :count], kept[1, :count], kept[2, :count])


@kernel
def table_of(automaton: Transitions, num_symbols: int) -> IntArray:
    """The table `[Q, P]` of the state that each symbol leads to, or -1."""
    table = np.full((len(automaton.final), num_symbols), -1, np.int32)
    for arc in range(len(automaton.source)):
        table[automaton.source[arc], automaton.symbol[arc]] = automaton.target[arc]
    return table
