"""The transitions of a token automaton: state and token class to state, dense or sparse behind one interface.

    Dense    next [Q, K], the state that a class leads to, or -1: one look-up, for all but large automata
    Csr      row_offsets [Q + 1], edge_class [E], edge_target [E], classes ascending within a row: memory that grows
             with the transitions and not with Q x K
    Counted  guarded edges over states with a register, for large bounds (`tokenfst.counted.transitions`)

`make_transitions` chooses between the first two: dense up to `DENSE_BYTES`, and past that only where it is the smaller.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from automata.transition.grouping import grouped
from automata.jit import kernel
from tokenfst.counted.transitions import Counted
from tokenfst.loops import Ints

DENSE_BYTES = 1 << 20


@dataclass(frozen=True, eq=False, slots=True)
class Dense:
    """A table with a column for every class.

    Attributes:
        next: `[Q, K]` int32, the state reached, or -1.
    """

    next: Ints
    _flat: memoryview = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.next.setflags(write=False)
        # Indexing a memoryview takes half the time of indexing an array.
        object.__setattr__(self, "_flat", self.next.reshape(-1).data)

    @property
    def num_states(self) -> int:
        """Q."""
        return int(self.next.shape[0])

    @property
    def num_classes(self) -> int:
        """K."""
        return int(self.next.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory, in bytes."""
        return self.next.nbytes

    def target(self, state: int, number: int) -> int:
        """The state that a class leads to, or -1."""
        return int(self._flat[state * self.next.shape[1] + number])

    def row(self, state: int) -> Ints:
        """The classes that `state` allows, ascending, `[n]`."""
        return _allowed(self.next, state)

    def reached(self, state: int) -> Ints:
        """The states that those classes lead to, `[n]`."""
        reached: Ints = self.next[state, self.row(state)]
        return reached

    def edges(self) -> tuple[Ints, Ints, Ints]:
        """Source, class and target of every transition, `[E]` each, by source and then by class."""
        source, number = np.nonzero(self.next >= 0)
        return source.astype(np.int32), number.astype(np.int32), self.next[source, number]


@dataclass(frozen=True, eq=False, slots=True)
class Csr:
    """Compressed sparse rows.

    Attributes:
        row_offsets: `[Q + 1]` int64, where each state's edges begin.
        edge_class: `[E]` int32, ascending within a state.
        edge_target: `[E]` int32.
        num_classes: K.
    """

    row_offsets: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    edge_class: Ints
    edge_target: Ints
    num_classes: int
    _data: tuple[memoryview, memoryview, memoryview] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for array in (self.row_offsets, self.edge_class, self.edge_target):
            array.setflags(write=False)
        object.__setattr__(self, "_data", (self.row_offsets.data, self.edge_class.data, self.edge_target.data))

    @property
    def num_states(self) -> int:
        """Q."""
        return len(self.row_offsets) - 1

    @property
    def nbytes(self) -> int:
        """Memory, in bytes."""
        return self.row_offsets.nbytes + self.edge_class.nbytes + self.edge_target.nbytes

    def target(self, state: int, number: int) -> int:
        """The state that a class leads to, or -1."""
        offsets, classes, targets = self._data
        end = offsets[state + 1]
        edge = bisect_left(classes, number, offsets[state], end)
        return int(targets[edge]) if edge < end and classes[edge] == number else -1

    def row(self, state: int) -> Ints:
        """The classes that `state` allows, ascending, `[n]`."""
        return self.edge_class[self.row_offsets[state] : self.row_offsets[state + 1]]

    def reached(self, state: int) -> Ints:
        """The states that those classes lead to, `[n]`."""
        return self.edge_target[self.row_offsets[state] : self.row_offsets[state + 1]]

    def edges(self) -> tuple[Ints, Ints, Ints]:
        """Source, class and target of every transition, `[E]` each, by source and then by class."""
        counts = np.diff(self.row_offsets)
        return (
            np.repeat(np.arange(self.num_states, dtype=np.int32), counts),
            self.edge_class,
            self.edge_target,
        )


Transitions: TypeAlias = Dense | Csr | Counted


def make_transitions(
    num_states: int,
    num_classes: int,
    source: Ints,
    number: Ints,
    target: Ints,
    dense_bytes: int = DENSE_BYTES,
) -> Transitions:
    """The transitions of edges that are given in order of class.

    Args:
        num_states, num_classes: Q and K.
        source, number, target: `[E]` each; of one class together, at most one for each pair of state and class.
        dense_bytes: a dense table up to this size is taken whatever its density.
    """
    dense, sparse = 4 * num_states * num_classes, 8 * (num_states + 1) + 8 * len(source)
    if dense <= max(dense_bytes, sparse):
        return Dense(_dense(num_states, num_classes, source, number, target))
    return Csr(*_csr(num_states, source, number, target), num_classes)


@kernel
def _allowed(table: Ints, state: int) -> Ints:
    """The columns of a row that hold a state."""
    columns = np.empty(table.shape[1], np.int32)
    count = 0
    for column in range(table.shape[1]):
        columns[count] = column
        count += table[state, column] >= 0
    return columns[:count]


@kernel
def _dense(num_states: int, num_classes: int, source: Ints, number: Ints, target: Ints) -> Ints:
    table = np.full((num_states, num_classes), -1, np.int32)
    for edge in range(len(source)):
        table[source[edge], number[edge]] = target[edge]
    return table


@kernel
def _csr(
    num_states: int, source: Ints, number: Ints, target: Ints
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], Ints, Ints]:
    # Edges come by class, so each row is in ascending order.
    offsets, order = grouped(num_states, source)
    return offsets.astype(np.int64), number[order], target[order]
