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

from typing import Any

import numpy as np

from automata import openfst
from automata.byte_automaton import ByteArray, ByteAutomaton, RangeArcs, merge_columns
from automata.determinize import Transitions
from automata.errors import LimitExceeded
from automata.grouping import grouped
from automata.jit import kernel
from automata.limits import DEFAULT_LIMITS
from automata.openfst import BoolArray, Fst, IntArray

# Columns of arcs.
LOW, HIGH, REACHED = range(3)

_set = object.__setattr__


class SparseAutomaton(ByteAutomaton):
    """A minimal deterministic trim automaton over bytes, as arcs; immutable.

    Attributes:
        offsets: `[Q + 1]` int32, where each state's arcs begin.
        arcs: `[A, 3]` int32, first byte, last byte and target.
    """

    __slots__ = ("_tables", "arcs", "offsets")
    offsets: IntArray
    arcs: IntArray
    _tables: tuple[ByteArray, IntArray] | None

    def __init__(
        self,
        start: int,
        final: BoolArray,
        offsets: IntArray,
        arcs: IntArray,
        by_label: IntArray,
        labels: tuple[str, ...] = (),
    ) -> None:
        _set(self, "start", start)
        _set(self, "final", final)
        _set(self, "offsets", offsets)
        _set(self, "arcs", arcs)
        _set(self, "by_label", by_label)
        _set(self, "labels", labels)
        _set(self, "_tables", None)
        for array in (final, offsets, arcs, by_label):
            array.setflags(write=False)

    def __reduce__(self) -> tuple[type[SparseAutomaton], tuple[Any, ...]]:
        return SparseAutomaton, (self.start, self.final, self.offsets, self.arcs, self.by_label, self.labels)

    @property
    def nbytes(self) -> int:
        """Memory of the arcs and states, in bytes."""
        return self.offsets.nbytes + self.arcs.nbytes + self.final.nbytes + self.by_label.nbytes

    @property
    def byte_class(self) -> ByteArray:
        """`[256]`, as of a dense automaton; see `next`."""
        return self._dense()[0]

    @property
    def next(self) -> IntArray:
        """The table `[Q, C]` of a dense automaton, made when first asked for.

        Raises:
            LimitExceeded: it would take more than `DEFAULT_LIMITS.table_bytes`.
        """
        return self._dense()[1]

    def _dense(self) -> tuple[ByteArray, IntArray]:
        if self._tables is None:
            interval = cut_bytes(self.arcs)
            _check_table(self.num_states, int(interval[-1]) + 1)
            byte_class, columns = _dense_tables(self.offsets, self.arcs, interval)
            byte_class.setflags(write=False)
            columns.setflags(write=False)
            _set(self, "_tables", (byte_class, columns))
        assert self._tables is not None
        return self._tables

    def by_byte(self) -> IntArray:
        """The transitions without classes, `[Q, 256]`.

        Raises:
            LimitExceeded: they would take more than `DEFAULT_LIMITS.table_bytes`.
        """
        _check_table(self.num_states, 256)
        return super().by_byte()

    def step(self, state: int, text: bytes) -> int:
        """The state reached from `state` by `text`, or -1."""
        for byte in text:
            if state < 0:
                return -1
            arcs = self.arcs_of(state)
            place = int(np.searchsorted(arcs[:, HIGH], byte))
            state = int(arcs[place, REACHED]) if place < len(arcs) and arcs[place, LOW] <= byte else -1
        return state

    def arcs_of(self, state: int) -> IntArray:
        """The arcs of a state, `[n, 3]`."""
        return self.arcs[self.offsets[state] : self.offsets[state + 1]]

    def range_arcs(self) -> RangeArcs:
        """The transitions as arcs over runs of bytes that lead to one state."""
        source = np.repeat(np.arange(self.num_states, dtype=np.int32), np.diff(self.offsets))
        return RangeArcs(source, *(np.ascontiguousarray(self.arcs[:, column]) for column in (LOW, HIGH, REACHED)))

    def fst(self, labels: tuple[str, ...] | None = None) -> Fst:
        """The OpenFst acceptor; see `ByteAutomaton.fst`.

        Raises:
            LimitExceeded: its arcs, one for each byte, would take more than `DEFAULT_LIMITS.table_bytes`.
        """
        arcs = self.range_arcs()
        width = arcs.high - arcs.low + 1
        # An arc of OpenFst's takes 16 bytes.
        _check_bytes("OpenFst's arcs", 16 * int(width.sum(dtype=np.int64)))
        first = np.cumsum(width) - width
        symbol = np.arange(int(width.sum()), dtype=np.int32) - np.repeat(first - arcs.low, width).astype(np.int32)
        source, target = np.repeat(arcs.source, width), np.repeat(arcs.target, width)
        by_label = self.label_columns(self.labels if labels is None else labels)
        labelled, label = np.nonzero(by_label >= 0)
        return openfst.to_fst(
            self.start,
            self.final,
            np.concatenate([source, labelled.astype(np.int32)]),
            np.concatenate([symbol, 256 + label.astype(np.int32)]),
            np.concatenate([target, by_label[labelled, label]]),
        )


def by_state(automaton: ByteAutomaton) -> tuple[IntArray, IntArray]:
    """The arcs over bytes of any automaton: where those of each state begin, `[Q + 1]`, and `[A, 3]`."""
    if isinstance(automaton, SparseAutomaton):
        return automaton.offsets, automaton.arcs
    return _arcs_by_state(automaton.byte_class, automaton.next)


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


def _check_table(num_states: int, num_columns: int) -> None:
    _check_bytes(f"the table of {num_states:,} states by {num_columns} classes of bytes", 4 * num_states * num_columns)


def _check_bytes(what: str, amount: int) -> None:
    if amount > DEFAULT_LIMITS.table_bytes:
        raise LimitExceeded(
            f"{what} would take {amount:,} bytes, more than {DEFAULT_LIMITS.table_bytes:,} (limit `table_bytes`)"
        )


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
