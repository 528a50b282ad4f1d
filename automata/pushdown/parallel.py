"""Steps without sets, for grammars that are ambiguous: each configuration goes on by itself, side by side with others.

A state is a state of the network, and a (state, column) has a step for each way on. Words are resolved within each
configuration: what it reads comes first, and only columns that it does not read end its words, of those that can end
the one of the highest priority. (A set resolves them over all its elements; here two configurations may read one text
as different words.)

One column may let any number of calls return at once: after `if a if b x`, what follows both. A chain of returns is
followed as long as no symbol is popped more often than `max_configurations` times. Where one would be, each of its
places can go on with the same text, which then has more derivations than may be carried: the step leads to one state
more than that, each of which reads anything, so that whoever runs the automaton notices. Chains without repetition
have no bound.
"""

from __future__ import annotations

from collections.abc import Iterable

from automata.errors import LimitExceeded
from automata.pushdown.determinize import Determinizer, Element, each_bit
from automata.pushdown.places import Places, Stack


class SideBySide(Determinizer):
    """The construction with a step for each way on."""

    def __init__(self, places: Places, max_states: int, max_steps: int, max_configurations: int) -> None:
        super().__init__(places, max_states)
        self.max_steps, self.max_configurations = max_steps, max_configurations

    def explore(self, elements: Iterable[Element], popped: Stack, columns: int) -> None:
        """Finds the steps of each element over some columns, once some symbols have been popped."""
        for element in elements:
            leaves, ends = self.leaves([element])
            if self.places.any_lazy(leaf.state for leaf in leaves):
                self.end_words(leaves, popped, columns)
                continue
            self.emit(leaves, popped, columns)
            read = 0
            for leaf in leaves:
                read |= leaf.columns
            if columns & ~read:
                self.end_words(leaves, popped, columns & ~read)
            for rule in ends:
                self.return_from(rule, popped, columns & self.places.first[rule])

    def return_from(self, rule: int, popped: Stack, columns: int) -> None:
        """Adds the steps through the callers of a rule."""
        if len(self.steps.groups) + len(self.steps.single) > self.max_steps:
            raise LimitExceeded(f"there are more than {self.max_steps:,} ways on (limit `arcs`)")
        if columns and popped and popped.count(popped[-1]) > self.max_configurations:
            self.give_up(popped, columns)
        elif columns:
            for symbol in self.places.under[rule]:
                self.explore([((), symbol)], (*popped, symbol), columns)

    def give_up(self, popped: Stack, columns: int) -> None:
        """Adds the steps to more states than may be carried."""
        sequences, end = self.steps.sequences, self.places.end_column
        if not self.too_many:
            everything = (1 << self.places.num_columns) - 1
            for _ in range(self.max_configurations + 1):
                state = self._new((((), self.places.end_state),))
                self.too_many.append(state)
                for column in each_bit(everything):
                    target = self.place(self.places.end_state) if column == end else state
                    self.steps.single.append((state, column, 0, 0, target))
        for column in each_bit(columns):
            for state in self.too_many:
                self.steps.single.append((self.at, column, sequences.of(popped), 0, state))
