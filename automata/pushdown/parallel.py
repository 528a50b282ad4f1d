"""Steps without sets, for grammars that are ambiguous: each configuration goes on by itself, side by side with others.

A state is a state of the network, and a (state, column) has a step for each way on. Words are resolved within each
configuration: what it reads comes first, and only columns that it does not read end its words, of those that can end
the one of the highest priority. (A set resolves them over all its elements; here two configurations may read one text
as different words.)

One column may let any number of calls return at once: after `if a if b x`, what follows both. Each place that such a
chain of returns passes could go on otherwise, because what returns at once and can do nothing else was a tail call. So
a chain longer than `max_configurations` passes more ways on than may be carried. It is followed as long as no symbol
comes twice, which has an end. Otherwise the step leads to one state more than may be carried, each of which reads
anything, so that whoever runs the automaton notices.
"""

from __future__ import annotations

from collections.abc import Sequence

from automata.errors import LimitExceeded
from automata.limits import Work
from automata.pushdown.determinize import Determinizer, Element
from automata.pushdown.places import Places, Stack


class SideBySide(Determinizer):
    """The construction with a step for each way on."""

    def __init__(self, places: Places, work: Work, max_configurations: int) -> None:
        super().__init__(places, work)
        self.max_configurations = max_configurations

    def explore(self, elements: Sequence[Element], popped: Stack, columns: int) -> None:
        """Finds the steps of each element over some columns, once some symbols have been popped."""
        for element in elements:
            leaves, ends = self.leaves([element])
            if self.places.any_lazy(state for _, state, _ in leaves):
                self.end_words(leaves, popped, columns)
                continue
            self.emit(leaves, popped, columns)
            read = 0
            for _, _, reads in leaves:
                read |= reads
            if columns & ~read:
                self.end_words(leaves, popped, columns & ~read)
            for rule in ends:
                self.return_from(rule, popped, columns & self.places.first[rule])

    def return_from(self, rule: int, popped: Stack, columns: int) -> None:
        """Adds the steps through the callers of a rule."""
        self.work.check()
        if len(self.steps.groups) > self.work.limits.arcs:
            raise LimitExceeded(f"there are more than {self.work.limits.arcs:,} ways on (limit `arcs`)")
        if columns and len(popped) > self.max_configurations and len(set(popped)) < len(popped):
            self.give_up(popped, columns)
        elif columns:
            for symbol in self.places.under[rule]:
                self.explore([((), symbol)], (*popped, symbol), columns)

    def give_up(self, popped: Stack, columns: int) -> None:
        """Adds the steps to more states than may be carried."""
        sequences, sets = self.steps.sequences, self.steps.sets
        if not self.too_many:
            last = self.place(self.places.end_state)
            end = 1 << self.places.end_column
            others = ((1 << self.places.num_columns) - 1) & ~end
            for _ in range(self.max_configurations + 1):
                state = self._new((((), self.places.end_state),))
                self.too_many.append(state)
                sets += [(state, 0, 0, last, end), (state, 0, 0, state, others)]
        sets += [(self.at, sequences.of(popped), 0, state, columns) for state in self.too_many]
