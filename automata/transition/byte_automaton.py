"""ByteAutomaton: a minimal deterministic trim automaton over bytes, as dense numpy tables.

    byte_class  [256]    bytes that no state tells apart share a class
    next        [Q, C]   the state that a class leads to, or -1
    final       [Q]      whether a text may end here
    by_label    [Q, L]   the state that a label leads to, or -1

The same automaton is an OpenFst acceptor (`fst()`, one arc for each byte), for drawing and for OpenFst's algebra. With
no state at all (Q = 0, `start` = -1) the language is empty.

Labels are symbols beyond the bytes, known by their names (`automata.expr.Label`). Nearly all automata have none, and a
text, which is bytes, never takes one. They are apart from the bytes, not among their classes, so that what works on
bytes need not know of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from automata.arrays import BoolArray, IntArray
from automata.jit import kernel, plain_kernel

ByteArray = npt.NDArray[np.uint8]


@kernel
def canonical(
    start: int, final: BoolArray, block_of: IntArray, table: IntArray, num_labels: int
) -> tuple[BoolArray, ByteArray, IntArray, IntArray]:
    """A minimal automaton with its states numbered breadth first, by ascending bytes and then labels, from the start,
    which is 0; and with blocks of equal columns merged to byte classes. Equal languages have equal tables.

    Args:
        start: the start state, -1 where there is no state.
        final: `[Q]`.
        block_of: `[256]`, the block of each byte, below P.
        table: `[Q, P + L]`, the state reached by each block and each label; every state can be reached.
        num_labels: L.

    Returns:
        The final states `[Q]`, the class of each byte `[256]`, the table `[Q, C]` and that of labels `[Q, L]`.
    """
    num_states, num_columns = table.shape
    num_blocks = num_columns - num_labels
    by_first_byte, seen = np.empty(num_columns, np.int32), np.zeros(num_columns, np.bool_)
    num_seen = 0
    for byte in range(256):
        if not seen[block_of[byte]]:
            seen[block_of[byte]] = True
            by_first_byte[num_seen] = block_of[byte]
            num_seen += 1
    for label in range(num_blocks, num_columns):
        by_first_byte[num_seen] = label
        num_seen += 1
    number, order = np.full(num_states, -1, np.int32), np.empty(num_states, np.int32)
    count = 0
    if start >= 0:
        number[start], order[0], count = 0, start, 1
    at = 0
    while at < count:
        for block in by_first_byte[:num_seen]:
            target = table[order[at], block]
            if target >= 0 and number[target] < 0:
                number[target] = count
                order[count] = target
                count += 1
        at += 1
    renumbered, ends = np.full((num_states, num_blocks), -1, np.int32), np.empty(num_states, np.bool_)
    by_label = np.full((num_states, num_labels), -1, np.int32)
    for state in range(num_states):
        ends[state] = final[order[state]]
        for block in range(num_blocks):
            target = table[order[state], block]
            if target >= 0:
                renumbered[state, block] = number[target]
        for label in range(num_labels):
            target = table[order[state], num_blocks + label]
            if target >= 0:
                by_label[state, label] = number[target]
    byte_class, columns = merge_columns(block_of, renumbered)
    return ends, byte_class, columns, by_label


@kernel
def merge_columns(block_of: IntArray, table: IntArray) -> tuple[ByteArray, IntArray]:
    """The class of each byte `[256]` and the table `[Q, C]`, from the block of each byte and the table `[Q, P]` of
    blocks: blocks with equal columns are one class."""
    num_states, num_blocks = table.shape
    class_of, first_block = np.empty(num_blocks, np.int32), np.empty(num_blocks, np.int32)
    num_classes = 0
    for block in range(num_blocks):
        found = 0
        while found < num_classes and not _same_column(table, block, first_block[found]):
            found += 1
        if found == num_classes:
            first_block[found] = block
            num_classes += 1
        class_of[block] = found
    byte_class = np.empty(256, np.uint8)
    for byte in range(256):
        byte_class[byte] = class_of[block_of[byte]]
    columns = np.empty((num_states, num_classes), np.int32)
    for state in range(num_states):
        for column in range(num_classes):
            columns[state, column] = table[state, first_block[column]]
    return byte_class, columns


@plain_kernel
def _same_column(table: IntArray, left: int, right: int) -> bool:
    state = 0
    while state < len(table) and table[state, left] == table[state, right]:
        state += 1
    return state == len(table)


@kernel
def _range_arcs(byte_class: ByteArray, table: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Source, first byte, last byte and target of the arcs of a table of classes; runs are as long as they can be."""
    first = np.empty(257, np.int32)
    num_runs = 0
    for byte in range(256):
        if byte == 0 or byte_class[byte] != byte_class[byte - 1]:
            first[num_runs] = byte
            num_runs += 1
    first[num_runs] = 256
    num_arcs = 0
    for state in range(len(table)):
        before = -1
        for run in range(num_runs):
            target = table[state, byte_class[first[run]]]
            num_arcs += target >= 0 and target != before
            before = target
    source, low = np.empty(num_arcs, np.int32), np.empty(num_arcs, np.int32)
    high, reached = np.empty(num_arcs, np.int32), np.empty(num_arcs, np.int32)
    arc = -1
    for state in range(len(table)):
        before = -1
        for run in range(num_runs):
            target = table[state, byte_class[first[run]]]
            if target >= 0 and target != before:
                arc += 1
                source[arc], low[arc], reached[arc] = state, first[run], target
            if target >= 0:
                high[arc] = first[run + 1] - 1
            before = target
    return source, low, high, reached
