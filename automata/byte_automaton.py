"""ByteAutomaton: a minimal deterministic trim automaton over bytes, as dense numpy tables.

    byte_class  [256]    bytes that no state tells apart share a class
    next        [Q, C]   the state that a class leads to, or -1
    final       [Q]      whether a text may end here

The same automaton is an OpenFst acceptor (`fst()`, one arc for each byte), for drawing and for OpenFst's algebra. With
no state at all (Q = 0, `start` = -1) the language is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata import openfst
from automata.jit import kernel
from automata.openfst import BoolArray, Fst, IntArray

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
    """

    start: int
    byte_class: ByteArray
    next: IntArray
    final: BoolArray

    def __post_init__(self) -> None:
        for array in (self.byte_class, self.next, self.final):
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

    def by_byte(self) -> IntArray:
        """The transitions without classes, `[Q, 256]`."""
        return self.next[:, self.byte_class]

    def range_arcs(self) -> RangeArcs:
        """The transitions as arcs over runs of bytes that lead to one state."""
        table = self.by_byte()
        begins = np.ones(table.shape, np.bool_)
        begins[:, 1:] = table[:, 1:] != table[:, :-1]
        source, low = np.nonzero(begins)
        # A run ends where the next one begins, in this row or at its end.
        high = np.append(low[1:], 0) - 1
        high[high < 0] = 255
        target = table[source, low]
        kept = target >= 0
        return RangeArcs(*(array[kept].astype(np.int32) for array in (source, low, high, target)))

    def fst(self) -> Fst:
        """The OpenFst acceptor: labels are bytes plus one, since label 0 is epsilon."""
        table = self.by_byte()
        source, byte = np.nonzero(table >= 0)
        return openfst.to_fst(
            self.start, self.final, source.astype(np.int32), byte.astype(np.int32), table[source, byte]
        )


def from_fst(minimal: Fst, block_of: IntArray) -> ByteAutomaton:
    """The automaton of a minimal acceptor whose symbols are blocks of bytes.

    Args:
        minimal: an OpenFst acceptor, deterministic and trim.
        block_of: `[256]`, the block of each byte.
    """
    start, final, table = openfst.to_table(minimal, int(block_of.max()) + 1)
    final, byte_class, columns = canonical(start, final, block_of, table)
    return ByteAutomaton(min(start, 0), byte_class, columns, final)


@kernel
def canonical(
    start: int, final: BoolArray, block_of: IntArray, table: IntArray
) -> tuple[BoolArray, ByteArray, IntArray]:
    """A minimal automaton with its states numbered breadth first, by ascending bytes, from the start, which is 0; and
    with blocks of equal columns merged to byte classes. Equal languages have equal `by_byte()` tables.

    Args:
        start: the start state, -1 where there is no state.
        final: `[Q]`.
        block_of: `[256]`, the block of each byte, below P.
        table: `[Q, P]`, the state reached by each block; every state can be reached.

    Returns:
        The final states `[Q]`, the class of each byte `[256]`, and the table `[Q, C]`.
    """
    num_states, num_blocks = table.shape
    by_first_byte, seen = np.empty(num_blocks, np.int32), np.zeros(num_blocks, np.bool_)
    num_seen = 0
    for byte in range(256):
        if not seen[block_of[byte]]:
            seen[block_of[byte]] = True
            by_first_byte[num_seen] = block_of[byte]
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
    for state in range(num_states):
        ends[state] = final[order[state]]
        for block in range(num_blocks):
            target = table[order[state], block]
            if target >= 0:
                renumbered[state, block] = number[target]
    byte_class, columns = merge_columns(block_of, renumbered)
    return ends, byte_class, columns


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


@kernel
def _same_column(table: IntArray, left: int, right: int) -> bool:
    state = 0
    while state < len(table) and table[state, left] == table[state, right]:
        state += 1
    return state == len(table)
