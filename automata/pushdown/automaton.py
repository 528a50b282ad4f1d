"""PushdownAutomaton: states, a stack of return states, and one table of steps (`automata.pushdown.step_table`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from automata._native import PushdownTables
from automata.byte_automaton import ByteAutomaton
from automata.drawing import Drawing, shown
from automata.errors import TextNotAllowed, TooManyConfigurations
from automata.limits import Work, current_work
from automata.pushdown.drawing import draw_step_table
from automata.pushdown.expansion import expand
from automata.pushdown.step_table import Configuration, StepTable
from automata.texts import bytes_or_none, text_bytes
from automata.view import View, first_look


@dataclass(frozen=True, eq=False, repr=False)
class PushdownAutomaton(StepTable):
    """A pushdown automaton over bytes; its attributes are those of `StepTable`."""

    def __repr__(self) -> str:
        return f"<PushdownAutomaton, {self._sizes}>"

    @property
    def _sizes(self) -> str:
        return f"{self.num_states:,} states, {self.num_symbols:,} stack symbols"

    @cached_property
    def tables(self) -> PushdownTables:
        """The tables of the native core, which computes the steps."""
        return PushdownTables(
            num_states=self.num_states,
            start=self.start,
            byte_class=self.byte_class,
            num_classes=self.num_classes,
            num_labels=len(self.labels),
            num_symbols=self.num_symbols,
            step_offsets=self.step_offsets,
            pops=self.step_pops,
            pushes=self.step_pushes,
            targets=self.step_target,
            parent=self.parent,
            symbol=self.symbol,
            max_configurations=self.max_configurations,
            budget=current_work().budget,
        )

    def expand(self, depth: int, work: Work | None = None) -> ByteAutomaton:
        """Return the minimal byte automaton of the texts that need a stack of at most `depth` symbols; see
        `automata.pushdown.expansion.expand`."""
        return expand(self, depth, work)

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: str | bytes | None = None,
    ) -> Drawing:
        """Draw the automaton; see `automata.pushdown.drawing`.

        Args:
            title: a line above the picture.
            around, radius: as for `ByteAutomaton.draw`.
            path: a text whose path through the states is highlighted.

        Raises:
            TextNotAllowed: no text of the language begins with `path`.
            ValueError: there is no state `around`, the radius is negative, or `path` can be read in several ways.
        """
        view = View(around, radius, () if path is None else self.states_along(path))
        return draw_step_table(self, title=title, view=view)

    def states_along(self, text: str | bytes) -> tuple[int, ...]:
        """Return the states that a text passes through, beginning with the start.

        Raises:
            TextNotAllowed: no text of the language begins with this text.
            ValueError: the text can be read in several ways.
        """
        written, found = text_bytes(text), self.configurations(b"")
        states = [found[0][0]]
        for at in range(len(written)):
            found = self.continued(found, written[at : at + 1])
            if not found:
                reason = f"no text of the language begins like this: byte {at} is not allowed"
                raise TextNotAllowed(reason, written.decode(errors="replace"))
            if len(found) > 1:
                raise ValueError(f"there are {len(found)} ways to read the text up to byte {at}; a path needs one way")
            states.append(found[0][0])
        return tuple(states)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the sizes and a picture; a large automaton is drawn only around its start."""
        cells = np.repeat(np.arange(len(self.step_offsets) - 1), np.diff(self.step_offsets))
        around, radius = first_look(self.start, self.num_states, cells // self.num_columns, self.step_target)
        return shown("pushdown automaton", self._sizes, self.draw(around=around, radius=radius))

    # Plain Python, one byte at a time: for explanations and tests, not for speed.

    def steps_from(self, configuration: Configuration, column: int) -> list[Configuration]:
        """Return the configurations that a column of the table leads to from a given configuration, each once."""
        state, stack = configuration
        cell = state * self.num_columns + column
        found: list[Configuration] = []
        for step in range(self.step_offsets[cell], self.step_offsets[cell + 1]):
            pops = self.sequence(int(self.step_pops[step]))
            if stack[len(stack) - len(pops) :] == pops[::-1]:
                rest = stack[: len(stack) - len(pops)] + self.sequence(int(self.step_pushes[step]))
                found = united(found, [(int(self.step_target[step]), rest)])
        return found

    def configurations(self, text: str | bytes) -> list[Configuration]:
        """Return the configurations after a text; none if no text of the language begins with it.

        Raises:
            TooManyConfigurations: there are more than `max_configurations` at some point of the text.
        """
        return self.continued([(self.start, ())], text)

    def continued(self, found: list[Configuration], text: str | bytes) -> list[Configuration]:
        """Read more of a text from the given configurations, and return the configurations after it.

        Raises:
            TooManyConfigurations: there are more than `max_configurations` at some point, counting from these.
        """
        for at, byte in enumerate(text_bytes(text)):
            column = int(self.byte_class[byte])
            reached: list[Configuration] = []
            for configuration in found:
                reached = united(reached, self.steps_from(configuration, column))
            found = reached
            if len(found) > self.max_configurations:
                raise self._too_many(at + 1)
        return found

    def _too_many(self, length: int) -> TooManyConfigurations:
        return TooManyConfigurations(
            f"more derivations of the first {length} bytes continue side by side than the {self.max_configurations} "
            "that may be carried (`max_configurations`)"
        )

    def accepts(self, text: str | bytes) -> bool:
        """Return whether the language contains a text (encoded in UTF-8) or bytes.

        Raises:
            TooManyConfigurations: see `configurations`.
        """
        if (written := bytes_or_none(text)) is None:
            return False
        accepts, too_many = self.tables.read(written, current_work().budget)
        if too_many >= 0:
            raise self._too_many(too_many)
        return accepts

    def allowed_bytes(self, text: str | bytes) -> frozenset[int]:
        """Return the bytes that may follow a text, such that it can still be completed.

        Raises:
            TooManyConfigurations: see `configurations`.
        """
        found = self.configurations(text)
        classes = {column for column in range(self.num_classes) if any(self.steps_from(each, column) for each in found)}
        return frozenset(byte for byte in range(256) if self.byte_class[byte] in classes)


def united(left: list[Configuration], right: list[Configuration]) -> list[Configuration]:
    """Return the union of both, each configuration once; stacks are hashed only if there is something to compare."""
    return list(dict.fromkeys(left + right)) if left and right else left or right
