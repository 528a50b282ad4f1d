"""From the arcs of an automaton that is minimal as it was built to its tables, in one pass.

What `automata.tabulate` does for arcs over intervals of bytes is done here for arcs over runs of bytes, of which there
are a third as many where a state has arcs for most bytes. The tables are the same.
"""

from __future__ import annotations

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.jit import kernel
from automata.transition.byte_automaton import canonical
from automata.transition.grouping import grouped
from automata.transition.sparse import HIGH, LOW, REACHED
from automata.transition.tabulate import Tables

# Columns of ranges.
_SOURCE, _FROM, _UPTO, _TARGET = range(4)


@kernel
def tables_of(start: int, final: BoolArray, ranges: IntArray, dense_bytes: int) -> Tables:
    """The tables of a minimal automaton, all of whose states can be reached.

    Args:
        start: the start state.
        final: `[Q]`.
        ranges: `[A, 4]`, source, first byte, last byte and target; those of one source do not overlap.
        dense_bytes: the largest dense table, in bytes.
    """
    num_states = len(final)
    offsets, arcs = _rows(num_states, ranges)
    interval = np.zeros(256, np.int32)
    cuts = np.zeros(257, np.bool_)
    for arc in range(len(arcs)):
        cuts[arcs[arc, LOW]] = cuts[arcs[arc, HIGH] + 1] = True
    for byte in range(1, 256):
        interval[byte] = interval[byte - 1] + cuts[byte]
    num_symbols = interval[255] + 1
    no_arcs, no_labels = np.zeros((0, 3), np.int32), np.zeros((num_states, 0), np.int32)
    if 4 * num_states * num_symbols <= dense_bytes:
        table = np.full((num_states, num_symbols), -1, np.int32)
        for state in range(num_states):
            for arc in range(offsets[state], offsets[state + 1]):
                for symbol in range(interval[arcs[arc, LOW]], interval[arcs[arc, HIGH]] + 1):
                    table[state, symbol] = arcs[arc, REACHED]
        ends, byte_class, columns, by_label = canonical(start, final, interval, table, 0)
        return Tables(start, ends, byte_class, columns, np.zeros(0, np.int32), no_arcs, by_label)
    ends, offsets, arcs = breadth_first(start, final, offsets, arcs)
    return Tables(start, ends, np.zeros(0, np.uint8), np.zeros((0, 0), np.int32), offsets, arcs, no_labels)


@kernel
def _rows(num_states: int, ranges: IntArray) -> tuple[IntArray, IntArray]:
    """Where the arcs of each state begin, `[Q + 1]`, and the arcs `[A, 3]` by state and byte, in runs as long as they
    can be."""
    begins, order = grouped(num_states, ranges[:, _SOURCE])
    offsets, arcs = np.zeros(num_states + 1, np.int32), np.empty((len(ranges), 3), np.int32)
    count = 0
    for state in range(num_states):
        offsets[state] = count
        for place in range(begins[state] + 1, begins[state + 1]):
            # Insertion, since nearly all arcs come in order.
            arc, at = order[place], place
            while at > begins[state] and ranges[order[at - 1], _FROM] > ranges[arc, _FROM]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = arc
        for place in range(begins[state], begins[state + 1]):
            low, high, target = ranges[order[place], _FROM], ranges[order[place], _UPTO], ranges[order[place], _TARGET]
            if count > offsets[state] and arcs[count - 1, HIGH] + 1 == low and arcs[count - 1, REACHED] == target:
                arcs[count - 1, HIGH] = high
            else:
                arcs[count, LOW], arcs[count, HIGH], arcs[count, REACHED] = low, high, target
                count += 1
    offsets[num_states] = count
    return offsets, arcs[:count]


@kernel
def breadth_first(
    start: int, final: BoolArray, offsets: IntArray, arcs: IntArray
) -> tuple[BoolArray, IntArray, IntArray]:
    """The states numbered breadth first from the start by ascending bytes, and their arcs."""
    num_states = len(final)
    number, states = np.full(num_states, -1, np.int32), np.empty(num_states, np.int32)
    number[start], states[0], found = 0, start, 1
    ends, begins, rows = np.empty(num_states, np.bool_), np.zeros(num_states + 1, np.int32), np.empty_like(arcs)
    count = 0
    for state in range(num_states):
        source = states[state]
        ends[state], begins[state] = final[source], count
        for arc in range(offsets[source], offsets[source + 1]):
            target = arcs[arc, REACHED]
            if number[target] < 0:
                number[target], states[found] = found, target
                found += 1
            rows[count, LOW], rows[count, HIGH], rows[count, REACHED] = arcs[arc, LOW], arcs[arc, HIGH], number[target]
            count += 1
    begins[num_states] = count
    return ends, begins, rows


@kernel
def from_state(state: int, final: BoolArray, ranges: IntArray, dense_bytes: int) -> Tables:
    """The tables of a minimal automaton that starts in another state, without what cannot be reached from there.

    Args:
        state: the new start.
        final: `[Q]`.
        ranges: `[A, 4]`, as for `tables_of`.
        dense_bytes: the largest dense table, in bytes.
    """
    num_states = len(final)
    offsets, arcs = _rows(num_states, ranges)
    number, order = np.full(num_states, -1, np.int32), np.empty(num_states, np.int32)
    number[state], order[0], count, num_arcs, at = 0, state, 1, 0, 0
    while at < count:
        for arc in range(offsets[order[at]], offsets[order[at] + 1]):
            num_arcs += 1
            target = arcs[arc, REACHED]
            if number[target] < 0:
                number[target] = count
                order[count] = target
                count += 1
        at += 1
    kept, row = np.empty((num_arcs, 4), np.int32), 0
    for source in range(num_states):
        if number[source] < 0:
            continue
        for arc in range(offsets[source], offsets[source + 1]):
            kept[row, 0], kept[row, 1], kept[row, 2] = number[source], arcs[arc, LOW], arcs[arc, HIGH]
            kept[row, 3] = number[arcs[arc, REACHED]]
            row += 1
    return tables_of(0, final[order[:count]], kept, dense_bytes)
