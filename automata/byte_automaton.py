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

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from automata import openfst
from automata.jit import kernel, plain_kernel
from automata.openfst import BoolArray, Fst, IntArray

if TYPE_CHECKING:
    from automata.algebra import Operand

ByteArray = npt.NDArray[np.uint8]


class RangeArcs(NamedTuple):
    """Arcs over runs of consecutive bytes, `[A]` each, sorted by source and then by byte."""

    source: IntArray
    low: IntArray
    high: IntArray
    target: IntArray


@dataclass(frozen=True, eq=False, slots=True)
class ByteAutomaton:
    """A minimal deterministic trim automaton over bytes; immutable.

    Attributes:
        start: the state where every text begins, -1 where there is no state.
        byte_class: `[256]` uint8, the class of each byte, below C.
        next: `[Q, C]` int32, the state reached, or -1.
        final: `[Q]` bool.
        by_label: `[Q, L]` int32, the state that each label leads to, or -1.
        labels: L names in ascending order, each of which occurs in some text.
    """

    start: int
    byte_class: ByteArray
    next: IntArray
    final: BoolArray
    by_label: IntArray
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.byte_class, self.next, self.final, self.by_label):
            array.setflags(write=False)

    @property
    def num_states(self) -> int:
        """Q."""
        return len(self.final)

    @property
    def num_classes(self) -> int:
        """C, the number of byte classes."""
        return int(self.next.shape[1])

    @property
    def is_empty(self) -> bool:
        """Whether no text at all is accepted."""
        return self.start < 0

    def step(self, state: int, text: bytes) -> int:
        """The state reached from `state` by `text`, or -1."""
        for byte in text:
            if state < 0:
                return -1
            state = int(self.next[state, self.byte_class[byte]])
        return state

    def accepts(self, text: bytes) -> bool:
        """Whether the text is in the language."""
        state = self.step(self.start, text)
        return state >= 0 and bool(self.final[state])

    def edges(self) -> tuple[IntArray, IntArray]:
        """Source and target of every arc, over a run of bytes or a label, `[E]` each."""
        arcs, (labelled, number) = self.range_arcs(), np.nonzero(self.by_label >= 0)
        source = np.concatenate([arcs.source, labelled.astype(np.int32)])
        return source, np.concatenate([arcs.target, self.by_label[labelled, number]])

    def by_byte(self) -> IntArray:
        """The transitions without classes, `[Q, 256]`."""
        return self.next[:, self.byte_class]

    def range_arcs(self) -> RangeArcs:
        """The transitions as arcs over runs of bytes that lead to one state."""
        return RangeArcs(*_range_arcs(self.byte_class, self.next))

    def fst(self, labels: tuple[str, ...] | None = None) -> Fst:
        """The OpenFst acceptor. Its symbols are the bytes, and from 256 up the labels: this automaton's own, or those
        given, which hold them, so that automata with different labels can be combined."""
        arcs = self.symbol_arcs(self.by_byte(), self.labels if labels is None else labels)
        return openfst.to_fst(self.start, self.final, *arcs)

    def symbol_arcs(self, columns: IntArray, labels: tuple[str, ...]) -> IntArray:
        """The arcs `[3, A]` over the columns `[Q, P]`, whose symbols are below P, and over the labels, whose symbols
        follow: source, symbol and target, by source and then by symbol."""
        table = np.concatenate([columns, self.label_columns(labels)], axis=1) if labels else columns
        source, symbol = np.nonzero(table >= 0)
        return np.stack([source, symbol, table[source, symbol]]).astype(np.int32)

    def label_columns(self, labels: tuple[str, ...]) -> IntArray:
        """`[Q, len(labels)]`, the state that each of these labels leads to, or -1."""
        columns = np.full((self.num_states, len(labels)), -1, np.int32)
        for number, name in enumerate(self.labels):
            if name in labels:
                columns[:, labels.index(name)] = self.by_label[:, number]
        return columns

    # Operators; with an expression or literal text on the other side as well. What they do is in `automata.algebra`.

    def __and__(self, other: Operand) -> ByteAutomaton:
        from automata import algebra

        return algebra.intersection(self, other)

    def __rand__(self, other: Operand) -> ByteAutomaton:
        from automata import algebra

        return algebra.intersection(other, self)

    def __or__(self, other: Operand) -> ByteAutomaton:
        from automata import algebra

        return algebra.alternation(self, other)

    def __ror__(self, other: Operand) -> ByteAutomaton:
        from automata import algebra

        return algebra.alternation(other, self)

    def __sub__(self, other: Operand) -> ByteAutomaton:
        from automata import algebra

        return algebra.difference(self, other)

    def __rsub__(self, other: Operand) -> ByteAutomaton:
        from automata import algebra

        return algebra.difference(other, self)

    def __add__(self, other: Operand) -> ByteAutomaton:
        from automata import algebra

        return algebra.concatenation(self, other)

    def __radd__(self, other: Operand) -> ByteAutomaton:
        from automata import algebra

        return algebra.concatenation(other, self)

    def __invert__(self) -> ByteAutomaton:
        from automata import algebra

        return algebra.complement(self)

    def repeat(self, low: int, high: int | None) -> ByteAutomaton:
        """Between `low` and `high` times; `high` None is no bound."""
        from automata import algebra

        return algebra.repetition(self, low, high)

    def star(self) -> ByteAutomaton:
        """Any number of times, none included."""
        return self.repeat(0, None)

    def plus(self) -> ByteAutomaton:
        """At least once."""
        return self.repeat(1, None)

    def optional(self) -> ByteAutomaton:
        """Once or not at all."""
        return self.repeat(0, 1)


def from_tables(
    start: int, final: BoolArray, byte_class: ByteArray, columns: IntArray, by_label: IntArray, labels: tuple[str, ...]
) -> ByteAutomaton:
    """The automaton of canonical tables, without labels that nothing takes."""
    if labels:
        kept = np.flatnonzero((by_label >= 0).any(axis=0))
        by_label, labels = np.ascontiguousarray(by_label[:, kept]), tuple(labels[number] for number in kept)
    return ByteAutomaton(min(start, 0), byte_class, columns, final, by_label, labels)


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
