"""The transitions of a token automaton with a register, behind the interface of `tokenfst.transitions`.

A state is one number to everyone else: register x Q + place, where a place is what a state is without the register. Of
Q places the last is the one after the end, and only with the greatest value R, so that the end is the greatest state,
as it is in every automaton. An edge has a guard, an interval of register values, and an action: n >= 0 adds n to the
register, ~n sets it to n. From one place the guards of a class do not overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tokenfst.loops import Ints


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """Guarded edges, in order of source, class and register value.

    Attributes:
        num_places: Q.
        num_classes: K.
        max_register: R.
        row_offsets: `[Q + 1]` int64, where each place's edges begin.
        edge_class, low, high, edge_target, action: `[E]` int32 each.
    """

    num_places: int
    num_classes: int
    max_register: int
    row_offsets: npt.NDArray[np.int64]
    edge_class: Ints
    low: Ints
    high: Ints
    edge_target: Ints
    action: Ints
    _keys: list[int] = field(init=False, repr=False)
    _rest: list[tuple[int, int, int]] = field(init=False, repr=False)
    _cuts: list[list[int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for array in (self.row_offsets, self.edge_class, self.low, self.high, self.edge_target, self.action):
            array.setflags(write=False)
        object.__setattr__(self, "_keys", self.keys().tolist())
        columns = (self.high.tolist(), self.edge_target.tolist(), self.action.tolist())
        object.__setattr__(self, "_rest", list(zip(*columns, strict=True)))
        # The register values of each place from which on other edges are open.
        bounds = zip(self.row_offsets[:-1].tolist(), self.row_offsets[1:].tolist(), strict=True)
        cuts = [{0, *self.low[begin:end].tolist(), *(self.high[begin:end] + 1).tolist()} for begin, end in bounds]
        object.__setattr__(self, "_cuts", [sorted(values) for values in cuts])

    @property
    def num_states(self) -> int:
        """Q x (R + 1)."""
        return self.num_places * (self.max_register + 1)

    @property
    def nbytes(self) -> int:
        """Memory, in bytes."""
        return self.row_offsets.nbytes + 5 * self.edge_class.nbytes

    def source(self) -> npt.NDArray[np.int64]:
        """The place that each edge leaves, `[E]`."""
        return np.repeat(np.arange(self.num_places), np.diff(self.row_offsets))

    def keys(self) -> npt.NDArray[np.int64]:
        """(source x K + class) x (R + 1) + low of each edge, `[E]`, ascending: what look-ups search."""
        return (self.source() * self.num_classes + self.edge_class) * (self.max_register + 1) + self.low

    def target(self, state: int, number: int) -> int:
        """The state that a class leads to, or -1."""
        register, place = divmod(state, self.num_places)
        values = self.max_register + 1
        row = place * self.num_classes + number
        edge = bisect_right(self._keys, row * values + register) - 1
        if edge < 0 or self._keys[edge] < row * values:
            return -1
        high, reached, action = self._rest[edge]
        if register > high:
            return -1
        return (register + action if action >= 0 else ~action) * self.num_places + reached

    def row(self, state: int) -> Ints:
        """The classes that `state` allows, ascending, `[n]`."""
        return self.edge_class[self._open(state)]

    def reached(self, state: int) -> npt.NDArray[np.int64]:
        """The states that those classes lead to, `[n]`."""
        register, edges = state // self.num_places, self._open(state)
        action = self.action[edges]
        after = np.where(action >= 0, register + action, ~action).astype(np.int64)
        reached: npt.NDArray[np.int64] = after * self.num_places + self.edge_target[edges]
        return reached

    def _open(self, state: int) -> npt.NDArray[np.int64]:
        """The edges that are open in a state."""
        register, place = divmod(state, self.num_places)
        edges = slice(self.row_offsets[place], self.row_offsets[place + 1])
        open_now = (self.low[edges] <= register) & (register <= self.high[edges])
        found: npt.NDArray[np.int64] = np.flatnonzero(open_now) + edges.start
        return found

    def alike(self, state: int) -> int:
        """One state for all at the same place at which the same edges are open."""
        register, place = divmod(state, self.num_places)
        cuts = self._cuts[place]
        return cuts[bisect_right(cuts, register) - 1] * self.num_places + place

    def edges(self) -> tuple[Ints, Ints, Ints]:
        """Source, class and target of every transition, `[E]` each, by source and then by class, all register values
        written out: for small bounds."""
        times = self.high - self.low + 1
        edge = np.repeat(np.arange(len(times)), times)
        register = self.low[edge] + np.arange(len(edge)) - np.repeat(np.cumsum(times) - times, times)
        after = np.where(self.action[edge] >= 0, register + self.action[edge], ~self.action[edge])
        source = register * self.num_places + self.source()[edge]
        order = np.lexsort((self.edge_class[edge], source))
        target = after * self.num_places + self.edge_target[edge]
        return source[order].astype(np.int32), self.edge_class[edge][order], target[order].astype(np.int32)
