"""SparseAutomaton: a byte automaton whose transitions are arcs over runs of bytes, for the large ones.

    offsets  [Q + 1]    where the arcs of each state begin
    arcs     [A, 3]     first byte, last byte and the state reached, by ascending bytes within a state

A list of a million names takes millions of states with one or two arcs each, where the table `[Q, C]` would take
hundreds of entries for each. So memory grows with the arcs: 12 bytes for each, and 5 for each state. Everything that a
`ByteAutomaton` answers is answered here too, and states are numbered in the same way, so that equal languages have
equal tables and equal arcs. `next` and `byte_class` are made when they are first asked for, up to a limit.

Rejected: arcs for each class of bytes in place of runs (a complement, `[^"]` or an automaton with one child a state
have few runs and dozens of classes); hashing state and byte (as fast as the search by halves, and four times the
memory).
"""

from __future__ import annotations

import numpy as np

from automata.arrays import BoolArray, ByteArray, IntArray
from automata.jit import kernel
from automata.transition.byte_automaton import merge_columns
from automata.transition.determinize import Transitions
from automata.transition.grouping import grouped

# Columns of arcs.
LOW, HIGH, REACHED = range(3)

_set = object.__setattr__


def by_state(automaton):
    a = automaton.ranges()
    offsets = np.zeros(automaton.num_states + 1, np.int32)
    np.cumsum(np.bincount(a[:, 0], minlength=automaton.num_states), out=offsets[1:])
    return offsets, np.ascontiguousarray(a[:, 1:])


@kernel
def _arcs_by_state(byte_class: ByteArray, table: IntArray) -> tuple[IntArray, IntArray]:
    """Where the arcs of each state of a table of classes begin, and the arcs, in runs as long as they can be."""
    last = np.empty(257, np.int32)
    num_runs = 0
    for byte in range(256):
        if byte == 255 or byte_class[byte] != byte_class[byte + 1]:
            last[num_runs] = byte
            num_runs += 1
    offsets, arcs = np.zeros(len(table) + 1, np.int32), np.empty((len(table) * num_runs, 3), np.int32)
    size = 0
    for state in range(len(table)):
        low, before = 0, -1
        for run in range(num_runs):
            reached = table[state, byte_class[low]]
            if reached >= 0 and reached == before:
                arcs[size - 1, HIGH] = last[run]
            elif reached >= 0:
                arcs[size, LOW], arcs[size, HIGH], arcs[size, REACHED] = low, last[run], reached
                size += 1
            low, before = last[run] + 1, reached
        offsets[state + 1] = size
    return offsets, arcs[:size].copy()


@kernel
def cut_bytes(arcs: IntArray) -> IntArray:
    """The interval of each byte, `[256]`, where no arc tells the bytes of an interval apart."""
    cuts = np.zeros(257, np.bool_)
    for arc in range(len(arcs)):
        cuts[arcs[arc, LOW]] = cuts[arcs[arc, HIGH] + 1] = True
    interval = np.zeros(256, np.int32)
    for byte in range(1, 256):
        interval[byte] = interval[byte - 1] + cuts[byte]
    return interval


@kernel
def _dense_tables(offsets: IntArray, arcs: IntArray, interval: IntArray) -> tuple[ByteArray, IntArray]:
    """The class of each byte `[256]` and the table `[Q, C]`."""
    table = np.full((len(offsets) - 1, interval[-1] + 1), -1, np.int32)
    for state in range(len(offsets) - 1):
        for arc in range(offsets[state], offsets[state + 1]):
            table[state, interval[arcs[arc, LOW]] : interval[arcs[arc, HIGH]] + 1] = arcs[arc, REACHED]
    return merge_columns(interval, table)


@kernel
def canonical_arcs(
    start: int, automaton: Transitions, interval: IntArray, num_labels: int
) -> tuple[BoolArray, IntArray, IntArray, IntArray]:
    """A minimal automaton with its states numbered as `byte_automaton.canonical` numbers them, and with runs of bytes
    as long as they can be.

    Args:
        start: the start state, -1 where there is no state.
        automaton: the transitions, over intervals of bytes and then labels; every state can be reached.
        interval: `[256 + L]`, the ascending interval of each byte, and of each label behind.
        num_labels: L.

    Returns:
        The final states `[Q]`, the offsets `[Q + 1]` and arcs `[A, 3]`, and the table of labels `[Q, L]`.
    """
    num_states = len(automaton.final)
    offsets, order = _rows(num_states, interval[-1] + 1, automaton.source, automaton.symbol)
    symbol, target = automaton.symbol[order], automaton.target[order]
    number, states = np.full(num_states, -1, np.int32), np.empty(num_states, np.int32)
    count = 0
    if start >= 0:
        number[start], states[0], count = 0, start, 1
    at = 0
    while at < count:
        for arc in range(offsets[states[at]], offsets[states[at] + 1]):
            if number[target[arc]] < 0:
                number[target[arc]] = count
                states[count] = target[arc]
                count += 1
        at += 1
    first, last = np.zeros(interval[-1] + 1, np.int32), np.zeros(interval[-1] + 1, np.int32)
    for byte in range(256 + num_labels):
        last[interval[byte]] = byte
        first[interval[255 + num_labels - byte]] = 255 + num_labels - byte
    final, by_label = np.empty(num_states, np.bool_), np.full((num_states, num_labels), -1, np.int32)
    begins, arcs = np.zeros(num_states + 1, np.int32), np.empty((len(symbol), 3), np.int32)
    size = 0
    for state in range(num_states):
        final[state], begins[state] = automaton.final[states[state]], size
        for arc in range(offsets[states[state]], offsets[states[state] + 1]):
            low, high, reached = first[symbol[arc]], last[symbol[arc]], number[target[arc]]
            if low > 255:
                by_label[state, low - 256] = reached
            elif size > begins[state] and arcs[size - 1, HIGH] + 1 == low and arcs[size - 1, REACHED] == reached:
                arcs[size - 1, HIGH] = high
            else:
                arcs[size, LOW], arcs[size, HIGH], arcs[size, REACHED] = low, high, reached
                size += 1
    begins[num_states] = size
    return final, begins, arcs[:size].copy(), by_label


@kernel
def _rows(num_states: int, num_symbols: int, source: IntArray, symbol: IntArray) -> tuple[IntArray, IntArray]:
    """Where the arcs of each state begin, `[Q + 1]`, and the arcs by state and then by symbol, `[A]`."""
    _, by_symbol = grouped(num_symbols, symbol)
    offsets, place = grouped(num_states, source[by_symbol])
    return offsets, by_symbol[place]
