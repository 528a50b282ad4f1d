"""TransducerTables: a finite-state transducer over bytes and labels as arrays, compared and hashed by its contents.

This is the form of transducers in expressions (`automata.expressions.nodes.Transduction`). State 0 is the start and
state 1 the only final state; both may have incoming and outgoing arcs.

Arcs have runs of symbols on both sides. An arc that writes the symbol that it reads is marked as such, because copying
a byte of a run is not the same as writing any byte of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from automata.acceptor_tables import ArcCosts, digest
from automata.arrays import IntArray
from automata.drawing import Drawing, cost_suffix, draw_graph, name_label, range_label, shown
from automata.view import MAX_SHOWN

# In place of the first and last symbol: an arc reads or writes nothing, or writes the symbol that it reads.
NOTHING: Final = -1
SAME: Final = -2
# The maximum number of lines on an arc of a picture.
_MAX_LINES: Final = 6


@dataclass(frozen=True, eq=False)
class TransducerTables:
    """A transducer with S states; immutable.

    Attributes:
        num_states: S; 0 is the start and 1 the end.
        arcs: `[A, 6]` int32, source, first and last symbol read, first and last symbol written, and target, ascending
            by source and then by the first symbol read. Symbols are the bytes, and from 256 up labels, each in an arc
            of its own. Both symbols of a side are `NOTHING` if nothing is read or written there; both symbols written
            are `SAME` if the symbol that is read is written.
        epsilon: `[E, 2]` int32, source and target of arcs that neither read nor write.
        labels: the names of the labels, ascending.
        costs: the costs of the arcs; None without weights.
    """

    num_states: int
    arcs: IntArray
    epsilon: IntArray
    labels: tuple[str, ...] = ()
    costs: ArcCosts | None = None

    @cached_property
    def digest(self) -> bytes:
        """A hash of the contents."""
        return digest(self.num_states, self.arcs, self.epsilon, self.labels, self.costs)

    def inverted(self) -> TransducerTables:
        """Return the transducer that reads what this one writes, and writes what this one reads."""
        arcs = self.arcs.copy()
        writes_other = arcs[:, 3] != SAME
        arcs[writes_other, 1:5] = arcs[writes_other][:, [3, 4, 1, 2]]
        order = ascending(arcs)
        costs = (
            None if self.costs is None else ArcCosts(self.costs.semiring, self.costs.arcs[order], self.costs.epsilon)
        )
        return TransducerTables(self.num_states, arcs[order], self.epsilon, self.labels, costs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TransducerTables) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        weights = "" if self.costs is None else f", weights in the {self.costs.semiring} semiring"
        return f"<transducer of {self.num_states:,} states, {len(self.arcs):,} arcs{weights}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the sizes, and the picture of a small one, `read:written` on its arcs."""
        return shown("transducer", repr(self)[1:-1], self._drawn() if self.num_states <= MAX_SHOWN else None)

    def _drawn(self) -> Drawing:
        lines: dict[tuple[int, int], list[str]] = {}
        costs = self.costs or ArcCosts("tropical", np.zeros(len(self.arcs)), np.zeros(len(self.epsilon)))
        for (source, target), cost in zip(self.epsilon.tolist(), costs.epsilon.tolist(), strict=True):
            lines.setdefault((source, target), []).append(f"ε{cost_suffix(cost)}")
        for (source, low, high, first, last, target), cost in zip(self.arcs.tolist(), costs.arcs.tolist(), strict=True):
            read = self._symbols(low, high)
            text = read if first == SAME else f"{read}:{self._symbols(first, last)}"
            lines.setdefault((source, target), []).append(text + cost_suffix(cost))
        return draw_graph(range(self.num_states), 0, [state == 1 for state in range(self.num_states)], _cut(lines))

    def _symbols(self, low: int, high: int) -> str:
        if low == NOTHING:
            return "ε"
        return range_label(low, high) if high < 0x100 else name_label(self.labels[low - 0x100])


def _cut(lines: dict[tuple[int, int], list[str]]) -> dict[tuple[int, int], str]:
    """Return the label of each arc; of a long one, only the first lines."""
    more = {arc: [f"… {len(found) - _MAX_LINES:,} more"] for arc, found in lines.items() if len(found) > _MAX_LINES}
    return {arc: "\n".join([*found[:_MAX_LINES], *more.get(arc, [])]) for arc, found in lines.items()}


def ascending(arcs: IntArray) -> IntArray:
    """Return the order of the arcs of a transducer by source, and then by the first symbol read."""
    keys = arcs[:, 0].astype(np.int64) << 32 | (arcs[:, 1] - NOTHING)
    return np.argsort(keys, kind="stable").astype(np.int32)
