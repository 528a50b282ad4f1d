"""The transitions of a token automaton as arrays, dense or sparse; they are views of the native core's tables.

    Dense    next [Q, K], the state that a class leads to, or -1: one look-up, for all but large automata
    Csr      row_offsets [Q + 1], edge_class [E], edge_target [E], classes ascending within a row: memory that grows
             with the transitions and not with Q x K
    Counted  guarded edges over states with a register, for large bounds

A state with a register is one number to everyone else: register x Q + place, where a place is what a state is without
the register. Of Q places the last is the one after the end, and only with the greatest value R, so that the end is the
greatest state, as it is in every automaton. An edge has a guard, an interval of register values, and an action: n >= 0
adds n to the register, ~n sets it to n. From one place the guards of a class do not overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray

# A dense table up to this size is taken whatever its density.
DENSE_BYTES = 1 << 20

# The arrays of `Counted`.
COUNTED_COLUMNS = ("row_offsets", "edge_class", "low", "high", "edge_target", "action")

Edges: TypeAlias = tuple[IntArray, IntArray, IntArray]


@dataclass(frozen=True, eq=False, slots=True)
class Dense:
    """A table with a column for every class.

    Attributes:
        next: `[Q, K]` int32, the state reached, or -1.
    """

    next: IntArray

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of a file."""
        return {"next": self.next}

    def edges(self) -> Edges:
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

    row_offsets: npt.NDArray[np.int64]
    edge_class: IntArray
    edge_target: IntArray
    num_classes: int

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of a file."""
        columns = {name: getattr(self, name) for name in ("row_offsets", "edge_class", "edge_target")}
        return {"num_classes": np.array([self.num_classes], np.int32), **columns}

    def edges(self) -> Edges:
        """Source, class and target of every transition, `[E]` each, by source and then by class."""
        counts = np.diff(self.row_offsets)
        return np.repeat(np.arange(len(counts), dtype=np.int32), counts), self.edge_class, self.edge_target


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """Guarded edges, in order of source, class and register value.

    Attributes:
        max_register: R.
        num_classes: K.
        row_offsets: `[Q + 1]` int64, where each place's edges begin.
        edge_class, low, high, edge_target, action: `[E]` int32 each.
    """

    max_register: int
    num_classes: int
    row_offsets: npt.NDArray[np.int64]
    edge_class: IntArray
    low: IntArray
    high: IntArray
    edge_target: IntArray
    action: IntArray

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of a file."""
        numbers = {name: np.array([getattr(self, name)], np.int32) for name in ("max_register", "num_classes")}
        return numbers | {name: getattr(self, name) for name in COUNTED_COLUMNS}

    @property
    def num_control_states(self) -> int:
        """Q."""
        return len(self.row_offsets) - 1

    def source(self) -> npt.NDArray[np.int64]:
        """The place that each edge leaves, `[E]`."""
        return np.repeat(np.arange(self.num_control_states), np.diff(self.row_offsets))

    def edges(self) -> Edges:
        """Source, class and target of every transition, `[E]` each, by source and then by class, all register values
        written out: for small bounds."""
        times = self.high - self.low + 1
        edge = np.repeat(np.arange(len(times)), times)
        register = self.low[edge] + np.arange(len(edge)) - np.repeat(np.cumsum(times) - times, times)
        after = np.where(self.action[edge] >= 0, register + self.action[edge], ~self.action[edge])
        source = register * self.num_control_states + self.source()[edge]
        order = np.lexsort((self.edge_class[edge], source))
        target = after * self.num_control_states + self.edge_target[edge]
        return source[order].astype(np.int32), self.edge_class[edge][order], target[order].astype(np.int32)


Transitions: TypeAlias = Dense | Csr | Counted
