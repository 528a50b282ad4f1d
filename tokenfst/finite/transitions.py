"""The transitions of a token automaton as arrays, which are views of the native core's tables.

    Dense      next [Q, K], the state that a class leads to, or -1: one look-up, for all but large automata
    Csr        row_offsets [Q + 1], edge_class [E], edge_target [E], ascending by class within a state: memory in
               proportion to the transitions, not to Q x K
    Counted    guarded edges over control states and a register, for large bounds

With a register, a state is the number register x Q + control state. The last of the Q control states is the one after
the end. Its register always has the greatest value R, so the end is the greatest state, as in every automaton. An edge
has a guard, an interval of register values, and an action: n >= 0 adds n to the register, ~n sets it to n. The guards
of a class in one control state do not overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray

# A table of at most this size, in bytes, is dense even if most entries are -1.
DENSE_BYTES = 1 << 20

# The arrays of `Counted`.
COUNTED_COLUMNS = ("row_offsets", "edge_class", "low", "high", "edge_target", "action")

Edges: TypeAlias = tuple[IntArray, IntArray, IntArray]


@dataclass(frozen=True, eq=False, slots=True)
class Dense:
    """A table with an entry for every state and class.

    Attributes:
        next: `[Q, K]` int32, the state reached, or -1.
    """

    next: IntArray

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as a file stores them."""
        return {"next": self.next}

    def edges(self) -> Edges:
        """Return source, class and target of every transition, `[E]` int32 each, ordered by source and class."""
        source, number = np.nonzero(self.next >= 0)
        return source.astype(np.int32), number.astype(np.int32), self.next[source, number]


@dataclass(frozen=True, eq=False, slots=True)
class Csr:
    """Compressed sparse rows.

    Attributes:
        row_offsets: `[Q + 1]` int64, the index of the first edge of each state.
        edge_class: `[E]` int32, the class of each edge, ascending within a state.
        edge_target: `[E]` int32, the state that each edge leads to.
        num_classes: K.
    """

    row_offsets: npt.NDArray[np.int64]
    edge_class: IntArray
    edge_target: IntArray
    num_classes: int

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as a file stores them."""
        columns = {name: getattr(self, name) for name in ("row_offsets", "edge_class", "edge_target")}
        return {"num_classes": np.array([self.num_classes], np.int32), **columns}

    def edges(self) -> Edges:
        """Return source, class and target of every transition, `[E]` int32 each, ordered by source and class."""
        counts = np.diff(self.row_offsets)
        return np.repeat(np.arange(len(counts), dtype=np.int32), counts), self.edge_class, self.edge_target


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """Guarded edges, in order of source, class and register value.

    Attributes:
        max_register: R.
        num_classes: K.
        row_offsets: `[Q + 1]` int64, the index of the first edge of each control state.
        edge_class, low, high, edge_target, action: `[E]` int32 each, the class, the guard's ends, the control state
            that the edge leads to, and the action.
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
        """Return the arrays by name, as a file stores them."""
        numbers = {name: np.array([getattr(self, name)], np.int32) for name in ("max_register", "num_classes")}
        return numbers | {name: getattr(self, name) for name in COUNTED_COLUMNS}

    @property
    def num_control_states(self) -> int:
        """Q, the number of control states."""
        return len(self.row_offsets) - 1

    def source(self) -> npt.NDArray[np.int64]:
        """Return the control state that each edge leaves, `[E]` int64."""
        return np.repeat(np.arange(self.num_control_states), np.diff(self.row_offsets))

    def edges(self) -> Edges:
        """Return source, class and target of every transition, `[E]` int32 each, ordered by source and class.

        There is one transition for every value of the register, so the bounds should be small.
        """
        times = self.high - self.low + 1
        edge = np.repeat(np.arange(len(times)), times)
        register = self.low[edge] + np.arange(len(edge)) - np.repeat(np.cumsum(times) - times, times)
        after = np.where(self.action[edge] >= 0, register + self.action[edge], ~self.action[edge])
        source = register * self.num_control_states + self.source()[edge]
        order = np.lexsort((self.edge_class[edge], source))
        target = after * self.num_control_states + self.edge_target[edge]
        return source[order].astype(np.int32), self.edge_class[edge][order], target[order].astype(np.int32)


Transitions: TypeAlias = Dense | Csr | Counted
