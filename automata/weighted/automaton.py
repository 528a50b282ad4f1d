"""WeightedByteAutomaton: a deterministic automaton over bytes in which every text has a cost.

Its tables are the native core's (`native/automata/weighted/weighted_tables.h`). Costs are paid as early as they can be
known. In the tropical semiring, the cost of an arc is the amount by which it raises the least possible cost of the
whole text, unless a loop lowers the cost; `native/automata/weighted/potentials.h` describes all cases. The costs along
a text add up exactly to the cost of the text.

    tables      states, arcs with costs, costs of ending
    support     the texts that have a cost, as an automaton with the same states and without weights
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from automata._native import WeightedTables
from automata.acceptor_tables import Semiring
from automata.arrays import BoolArray, IntArray, offsets_of
from automata.byte_automaton import ByteAutomaton
from automata.compile.nfa import FIRST_LABEL
from automata.drawing import Drawing, cost_suffix, draw_graph, name_label, quoted_range_label, shown
from automata.openfst import Fst
from automata.texts import bytes_or_none
from automata.view import View, first_look
from automata.weighted.to_fst import to_fst
from automata.weighted.units import NO_COST, UnitArray, from_units, to_units


class WeightedByteAutomaton:
    """A deterministic trim automaton over bytes with costs; immutable.

    >>> from automata import expressions as ex
    >>> from automata.weighted import compile_weighted
    >>> automaton = compile_weighted(ex.literal("colour").weighted(0.5) | "color")
    >>> automaton.weight("colour"), automaton.weight("color"), automaton.weight("red")
    (0.5, 0.0, inf)

    Attributes:
        tables: the tables of the native core.
        labels: the names of its labels, in ascending order; each occurs in some text.
        semiring: how the costs of several paths for the same text were combined.
    """

    def __init__(self, tables: WeightedTables, labels: tuple[str, ...], semiring: Semiring) -> None:
        self.tables = tables
        self.labels = labels
        self.semiring: Semiring = semiring

    def __reduce__(self) -> tuple[object, ...]:
        tables = self.tables
        arrays = tables.initial, tables.offsets, tables.arcs, tables.cost, tables.final, len(self.labels)
        return _rebuilt, (arrays, self.labels, self.semiring)

    @property
    def num_states(self) -> int:
        """Q, the number of states; state 0 is the start."""
        return self.tables.num_states

    @property
    def is_empty(self) -> bool:
        """Whether no text is accepted."""
        return self.tables.num_states == 0

    @property
    def nbytes(self) -> int:
        """The memory of the tables, in bytes."""
        return self.tables.num_bytes

    def __repr__(self) -> str:
        return f"<WeightedByteAutomaton, {self.num_states:,} states, {self.semiring} semiring>"

    def weight(self, text: str | bytes) -> float:
        """Return the cost of a text (encoded in UTF-8) or bytes; infinity if the automaton does not accept it."""
        written = bytes_or_none(text)
        units = NO_COST if written is None else self.tables.weight(written)
        return inf if units == NO_COST else from_units(units)

    def accepts(self, text: str | bytes) -> bool:
        """Return whether the language contains a text (encoded in UTF-8) or bytes."""
        return self.weight(text) < inf

    @cached_property
    def support(self) -> ByteAutomaton:
        """The texts that have a cost, as an automaton with the same states."""
        tables = self.tables
        final = tables.final != NO_COST
        if not self.num_states:
            return ByteAutomaton.sparse(-1, np.zeros(1, np.int32), np.zeros((0, 3), np.int32), np.zeros(0, np.bool_))
        source = self.arc_sources
        is_label = tables.arcs[:, 0] >= FIRST_LABEL
        by_label = np.full((self.num_states, len(self.labels)), -1, np.int32)
        by_label[source[is_label], tables.arcs[is_label, 0] - FIRST_LABEL] = tables.arcs[is_label, 2]
        offsets = offsets_of(np.bincount(source[~is_label], minlength=self.num_states))
        arcs = np.ascontiguousarray(tables.arcs[~is_label])
        return ByteAutomaton.sparse(0, offsets, arcs, final, by_label, self.labels)

    @property
    def arc_sources(self) -> IntArray:
        """`[A]`, the source state of each arc."""
        counts = np.diff(self.tables.offsets)
        return np.repeat(np.arange(self.num_states, dtype=np.int32), counts)

    def scaled(self, factor: float) -> WeightedByteAutomaton:
        """Return the same automaton with every cost multiplied by a factor.

        Raises:
            ValueError: the factor is negative, or not finite.
        """
        if not 0 <= factor < inf:
            raise ValueError(f"a factor for costs is 0 or more, not {factor}")
        if factor == 1:
            return self
        tables, final = self.tables, self.tables.final
        ends: BoolArray = final != NO_COST
        scaled_final = np.where(ends, _scaled(np.where(ends, final, 0), factor), NO_COST)
        initial = int(_scaled(np.array([tables.initial]), factor)[0])
        costs = _scaled(tables.cost, factor)
        made = WeightedTables.of(initial, tables.offsets, tables.arcs, costs, scaled_final, len(self.labels))
        return WeightedByteAutomaton(made, self.labels, self.semiring)

    def fst(self) -> Fst:
        """Return the automaton as an OpenFst acceptor, a `pynini.Fst`: "standard" arcs for tropical, else "log" arcs.

        Symbols are those of `ByteAutomaton.fst`. An initial cost becomes the weight of an epsilon arc from the start.
        OpenFst's weights have 24 bits of precision.

        Raises:
            LimitExceeded: the FST's arcs, one for each byte, take more than `DEFAULT_LIMITS.memory`.
        """
        return to_fst(self.tables, self.labels, self.semiring)

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: str | bytes | None = None,
    ) -> Drawing:
        """Draw the automaton. An arc `"a"/0.5` reads a at a cost of 0.5, and to end in a state `2/0.5` costs 0.5.

        Args:
            title: a line above the picture.
            around, radius, path: as for `ByteAutomaton.draw`.

        Raises:
            TextNotAllowed, ValueError: as for `ByteAutomaton.draw`.
        """
        tables = self.tables
        view = View(around, radius, () if path is None else self.support.states_along(path))
        part = view.part(self.num_states, self.arc_sources, tables.arcs[:, 2])
        drawn = frozenset(part.states)
        parts: dict[tuple[int, int], dict[int, list[str]]] = {}
        rows = zip(self.arc_sources.tolist(), tables.arcs.tolist(), tables.cost.tolist(), strict=True)
        for source, (low, high, target), cost in rows:
            if source in drawn and target in drawn:
                parts.setdefault((source, target), {}).setdefault(cost, []).append(self._symbols(low, high))
        lines = {
            pair: "\n".join(f"{' '.join(by_cost[cost])}{cost_suffix(from_units(cost))}" for cost in sorted(by_cost))
            for pair, by_cost in parts.items()
        }
        ends = tables.final != NO_COST
        names = {
            state: f"{state}{cost_suffix(from_units(int(tables.final[state])))}"
            for state in np.flatnonzero(ends).tolist()
        }
        legend = self._legend()
        return draw_graph(part.states, 0, ends.tolist(), lines, title=title, names=names, legend=legend, part=part)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the size, and a picture; of a large automaton, only around its start."""
        sizes = f"{self.num_states:,} states, {self.semiring} semiring"
        if self.is_empty:
            return shown("weighted byte automaton", "no text at all")
        around, radius = first_look(0, self.num_states, self.arc_sources, self.tables.arcs[:, 2])
        return shown("weighted byte automaton", sizes, self.draw(around=around, radius=radius))

    def _symbols(self, low: int, high: int) -> str:
        return name_label(self.labels[low - FIRST_LABEL]) if low >= FIRST_LABEL else quoted_range_label(low, high)

    def _legend(self) -> str:
        lines = [
            "bold: start; doubled: the text may end",
            '"a"/0.5: a byte and its cost; "a": at no cost',
        ]
        final = self.tables.final
        if ((final != NO_COST) & (final != 0)).any():
            lines.append("2/0.5: a state and what it costs to end there")
        if self.labels:
            lines.append("<name>: a token of this set")
        if self.tables.initial:
            lines.append(f"every text costs {round(from_units(self.tables.initial), 3):g} before its first byte")
        return "\n".join(lines)


def _rebuilt(arrays: tuple[Any, ...], labels: tuple[str, ...], semiring: Semiring) -> WeightedByteAutomaton:
    return WeightedByteAutomaton(WeightedTables.of(*arrays), labels, semiring)


def _scaled(units: UnitArray, factor: float) -> UnitArray:
    return to_units(from_units(units) * factor)
