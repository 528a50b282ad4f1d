"""ByteAutomaton: a minimal deterministic trim automaton over bytes.

Its tables are the native core's, dense or sparse (`native/automata/byte_tables.h`); the arrays here are views of them:

    start                the state where every text begins
    byte_class  [256]    dense: the class of each byte; bytes that no state tells apart share a class
    next        [Q, C]   dense: the state that each class leads to, or -1
    offsets     [Q + 1]  sparse: the first arc of each state
    arcs        [A, 3]   sparse: first byte, last byte and target of each arc
    final       [Q]      whether a text may end in each state
    by_label    [Q, L]   the state that each label leads to, or -1

`fst()` returns the automaton as an OpenFst acceptor, with one arc for each byte, for OpenFst's algebra. An automaton
without states (Q = 0, `start` = -1) has the empty language.

Labels are symbols other than bytes, with names (`automata.expressions.Label`). Nearly all automata have none, and a
text, which consists of bytes, never contains one. Labels are kept apart from the byte classes, so code that works on
bytes can ignore them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from automata import openfst
from automata._native import Budget, ByteTables
from automata.arrays import BoolArray, ByteArray, IntArray
from automata.drawing import Drawing, draw_graph, name_label, range_label, shown
from automata.errors import LimitExceeded, TextNotAllowed
from automata.expressions.base import Expr
from automata.expressions.operators import Operators
from automata.limits import DEFAULT_LIMITS, Work
from automata.openfst import Fst
from automata.texts import bytes_or_none, text_bytes
from automata.view import View, first_look

# The other operand of an operator of an automaton; a string is literal text.
Operand: TypeAlias = "ByteAutomaton | Expr | str | bytes"
# The size in bytes up to which a table `[Q, C]` is stored; automata with larger tables are sparse.
DENSE_BYTES = 1 << 20
# Used instead of `DENSE_BYTES` for automata that are only copied elsewhere: they need no table.
SPARSE = 0


class RangeArcs(NamedTuple):
    """Arcs over runs of consecutive bytes, `[A]` each, sorted by source and then by byte."""

    source: IntArray
    low: IntArray
    high: IntArray
    target: IntArray


class ByteAutomaton(Operators["Operand", "ByteAutomaton"]):
    """A minimal deterministic trim automaton over bytes; immutable.

    Attributes:
        tables: the tables of the native core.
        labels: L names in ascending order, each of which occurs in some text.
    """

    def __init__(self, tables: ByteTables, labels: tuple[str, ...] = ()) -> None:
        self.tables = tables
        self.labels = labels

    def __repr__(self) -> str:
        return f"<ByteAutomaton, {self.num_states:,} states>"

    @staticmethod
    def dense(
        start: int,
        byte_class: ByteArray,
        next_: IntArray,
        final: BoolArray,
        by_label: IntArray | None = None,
        labels: tuple[str, ...] = (),
    ) -> ByteAutomaton:
        """Build the automaton from a table; the module docstring describes the arguments.

        Raises:
            ValueError: a state or a class is out of range, or shapes do not match.
        """
        return ByteAutomaton(
            ByteTables.dense(start, byte_class, next_, final, _label_columns(by_label, final, labels)), labels
        )

    @staticmethod
    def sparse(
        start: int,
        offsets: IntArray,
        arcs: IntArray,
        final: BoolArray,
        by_label: IntArray | None = None,
        labels: tuple[str, ...] = (),
    ) -> ByteAutomaton:
        """Build the automaton from arcs; the module docstring describes the arguments.

        Raises:
            ValueError: a state or a byte is out of range, arcs are not in order, or shapes do not match.
        """
        return ByteAutomaton(
            ByteTables.sparse(start, offsets, arcs, final, _label_columns(by_label, final, labels)), labels
        )

    def __reduce__(self) -> tuple[Callable[..., ByteAutomaton], tuple[object, ...]]:
        common = self.final, self.by_label, self.labels
        if self.is_sparse:
            return ByteAutomaton.sparse, (self.start, self.offsets, self.arcs, *common)
        return ByteAutomaton.dense, (self.start, self.byte_class, self.next, *common)

    @property
    def start(self) -> int:
        """The state where every text begins; -1 if there are no states."""
        return self.tables.start

    @property
    def num_states(self) -> int:
        """Q, the number of states."""
        return self.tables.num_states

    @property
    def is_empty(self) -> bool:
        """Whether no text is accepted."""
        return self.tables.start < 0

    @property
    def is_sparse(self) -> bool:
        """Whether the transitions are stored as arcs instead of a table."""
        return self.tables.is_sparse

    @property
    def num_arcs(self) -> int:
        """The number of arcs over ranges of bytes and labels."""
        return len(self.ranges()) + (int((self.by_label >= 0).sum()) if self.labels else 0)

    @property
    def nbytes(self) -> int:
        """The memory of the tables, in bytes."""
        return self.tables.num_bytes

    @cached_property
    def final(self) -> BoolArray:
        """`[Q]`, whether a text may end in each state."""
        return self.tables.final

    @cached_property
    def by_label(self) -> IntArray:
        """`[Q, L]`, the state that each label leads to, or -1."""
        return self.tables.by_label

    @property
    def offsets(self) -> IntArray:
        """`[Q + 1]`, the first arc of each state of a sparse automaton."""
        return self.tables.offsets

    @property
    def arcs(self) -> IntArray:
        """`[A, 3]`, first byte, last byte and target of each arc of a sparse automaton."""
        return self.tables.arcs

    @cached_property
    def _dense(self) -> ByteTables:
        if not self.tables.is_sparse:
            return self.tables
        try:
            return self.tables.densified(_default_budget())
        except LimitExceeded as error:
            raise error.of(f"the table of {self.num_states:,} states") from None

    @property
    def num_classes(self) -> int:
        """C, the number of byte classes; for a sparse automaton, see `next`."""
        return self._dense.num_classes

    @cached_property
    def byte_class(self) -> ByteArray:
        """`[256]`, the class of each byte, less than C; for a sparse automaton, see `next`."""
        return self._dense.byte_class

    @cached_property
    def next(self) -> IntArray:
        """`[Q, C]`, the state that each class leads to, or -1. A sparse automaton makes this table on first use.

        Raises:
            LimitExceeded: the table of a sparse automaton takes more than `DEFAULT_LIMITS.memory`.
        """
        return self._dense.next

    def step(self, state: int, text: str | bytes) -> int:
        """Return the state reached from `state` by a text (encoded in UTF-8) or bytes, or -1."""
        return self.tables.walk(state, text if type(text) is bytes else text_bytes(text))

    def accepts(self, text: str | bytes) -> bool:
        """Return whether the language contains a text (encoded in UTF-8) or bytes."""
        written = bytes_or_none(text)
        return written is not None and self.tables.accepts(written)

    def edges(self) -> tuple[IntArray, IntArray]:
        """Return the source and the target of every arc, over a range of bytes or a label, `[E]` each."""
        arcs, (labelled, number) = self.range_arcs(), np.nonzero(self.by_label >= 0)
        source = np.concatenate([arcs.source, labelled.astype(np.int32)])
        return source, np.concatenate([arcs.target, self.by_label[labelled, number]])

    def ranges(self) -> IntArray:
        """Return the transitions over bytes as arcs over byte ranges, `[A, 4]`: source, first byte, last byte and
        target."""
        return self.tables.range_arcs(_default_budget())

    def range_arcs(self) -> RangeArcs:
        """Return the transitions over bytes as arcs over byte ranges, column by column."""
        return RangeArcs(*np.ascontiguousarray(self.ranges().T))

    def by_byte(self) -> IntArray:
        """Return the state that each byte leads to, or -1, `[Q, 256]`.

        Raises:
            LimitExceeded: the table takes more than `DEFAULT_LIMITS.memory`.
        """
        _check_bytes(f"the table of {self.num_states:,} states by 256 bytes", 1024 * self.num_states)
        return self.next[:, self.byte_class]

    def fst(self, labels: tuple[str, ...] | None = None) -> Fst:
        """Return the automaton as an OpenFst acceptor, a `pynini.Fst`.

        Byte b has the FST label b, as in pynini's "byte" strings. Byte 0 has the FST label 256, because 0 means
        epsilon; texts with byte 0 are therefore lost in a composition with an FST from pynini. This automaton's own
        labels have FST labels from 257 up, and a symbol table names them; without labels there is no symbol table, as
        in pynini.

        >>> from automata import compile_expr, parse
        >>> fst = compile_expr(parse("colou?r")).fst()
        >>> sorted(fst.paths().ostrings())
        ['color', 'colour']

        Args:
            labels: names that include this automaton's labels, so that automata with different labels can be combined;
                by default, this automaton's labels.

        Raises:
            TypeError: `labels` are a text.
            ValueError: `labels` lack one of this automaton's labels.
            LimitExceeded: the FST's arcs, one for each byte, take more than `DEFAULT_LIMITS.memory`.
        """
        if isinstance(labels, str):
            raise TypeError(f"labels are a tuple of names, not {labels!r}")
        names = self.labels if labels is None else tuple(labels)
        if lacking := [name for name in self.labels if name not in names]:
            raise ValueError(f"the labels include those of the automaton, and {lacking[0]!r} is missing")
        arcs = self.range_arcs()
        width = arcs.high - arcs.low + 1
        # One of OpenFst's arcs takes 16 bytes.
        _check_bytes("OpenFst's arcs", 16 * int(width.sum(dtype=np.int64)))
        first = np.cumsum(width) - width
        byte = np.arange(int(width.sum()), dtype=np.int32) - np.repeat(first - arcs.low, width).astype(np.int32)
        by_label = self.label_columns(names)
        labelled, label = np.nonzero(by_label >= 0)
        fst = openfst.to_fst(
            self.start,
            self.final,
            np.concatenate([np.repeat(arcs.source, width), labelled.astype(np.int32)]),
            np.concatenate([openfst.symbol_of_byte(byte), 256 + label.astype(np.int32)]),
            np.concatenate([np.repeat(arcs.target, width), by_label[labelled, label]]),
        )
        if names:
            table = openfst.byte_symbol_table(names)
            fst.set_input_symbols(table)
            fst.set_output_symbols(table)
        return fst

    def label_columns(self, labels: tuple[str, ...]) -> IntArray:
        """Return `[Q, len(labels)]`, the state that each of these labels leads to, or -1."""
        columns = np.full((self.num_states, len(labels)), -1, np.int32)
        for number, name in enumerate(self.labels):
            if name in labels:
                columns[:, labels.index(name)] = self.by_label[:, number]
        return columns

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: str | bytes | None = None,
    ) -> Drawing:
        """Draw the automaton, with ranges of bytes on its arcs.

        Args:
            title: a line above the picture.
            around: draw only the states near this one; None draws all states.
            radius: the greatest distance from `around`, in arcs in either direction.
            path: a text whose path through the automaton is highlighted.

        Raises:
            TextNotAllowed: no text of the language begins with `path`.
            ValueError: there is no state `around`, or the radius is negative.
        """
        view = View(around, radius, () if path is None else self.states_along(path))
        part = view.part(self.num_states, *self.edges())
        drawn = np.zeros(self.num_states, np.bool_)
        drawn[list(part.states)] = True
        labels: dict[tuple[int, int], list[str]] = {}
        arcs = self.ranges()
        for source, low, high, target in arcs[drawn[arcs[:, 0]] & drawn[arcs[:, 3]]].tolist():
            labels.setdefault((source, target), []).append(range_label(low, high))
        for state, label in zip(*np.nonzero(self.by_label >= 0), strict=True):
            target = int(self.by_label[state, label])
            if drawn[state] and drawn[target]:
                labels.setdefault((int(state), target), []).append(name_label(self.labels[label]))
        lines = {pair: " ".join(parts) for pair, parts in labels.items()}
        return draw_graph(part.states, self.start, self.final.tolist(), lines, title=title, part=part)

    def states_along(self, text: str | bytes) -> tuple[int, ...]:
        """Return the states that a text passes through, beginning with the start.

        Raises:
            TextNotAllowed: no text of the language begins with this text.
        """
        written, states = text_bytes(text), [self.start]
        for at in range(len(written)):
            states.append(self.step(states[-1], written[at : at + 1]) if states[-1] >= 0 else -1)
        if states[-1] < 0:
            place = states.index(-1) - 1
            where = f": byte {place} is not allowed" if place >= 0 else ""
            raise TextNotAllowed(f"no text of the language begins like this{where}", written.decode(errors="replace"))
        return tuple(states)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the sizes and a picture; a large automaton is drawn only around its start."""
        sizes = f"{self.num_states:,} states" + (f", labels {', '.join(self.labels)}" if self.labels else "")
        if self.is_empty:
            return shown("byte automaton", "no text at all")
        around, radius = first_look(self.start, self.num_states, *self.edges())
        return shown("byte automaton", sizes, self.draw(around=around, radius=radius))


def _label_columns(by_label: IntArray | None, final: BoolArray, labels: tuple[str, ...]) -> IntArray:
    columns = np.zeros((len(final), 0), np.int32) if by_label is None else by_label
    if columns.shape[1:] != (len(labels),):
        raise ValueError(f"`by_label` of shape {columns.shape} has no column for each of {len(labels)} labels")
    return columns


def _default_budget() -> Budget:
    return Work(DEFAULT_LIMITS).budget


def _check_bytes(what: str, amount: int) -> None:
    if amount > DEFAULT_LIMITS.memory:
        raise LimitExceeded(
            f"{what} would take {amount:,} bytes, more than {DEFAULT_LIMITS.memory:,} (limit `memory`)", limit="memory"
        )
