"""The labels of a pushdown automaton as bytes (`automata.label_bytes`).

Each state with steps on labels gets additional states: one after the marker, and one for each first byte of a number.
The last byte takes the steps of the label. The bytes of labels get columns of their own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from automata.arrays import IntArray
from automata.label_bytes import MARKER, LabelNumbers, by_first_byte
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton


def without_labels(automaton: PushdownAutomaton, numbers: LabelNumbers, work: Work) -> PushdownAutomaton:
    """Return a deterministic automaton with its labels as bytes; no number may belong to two labels.

    Raises:
        LimitExceeded, Cancelled: the time is up, or the compilation was cancelled.
    """
    return _Spelled(automaton, numbers).automaton(work)


class _Spelled:
    """The states and columns of the new automaton; its steps are the old ones, and those between added states."""

    def __init__(self, automaton: PushdownAutomaton, numbers: LabelNumbers) -> None:
        self.old = automaton
        self.label_of = {number: label for label, name in enumerate(automaton.labels) for number in numbers[name]}
        self.by_first = {name: by_first_byte(numbers[name]) for name in automaton.labels}
        used = {MARKER, *(byte for number in self.label_of for byte in divmod(number, 256))}
        self.column = {byte: automaton.num_classes + place for place, byte in enumerate(sorted(used))}
        self.num_classes = automaton.num_classes + len(used)
        self.byte_class = automaton.byte_class.copy()
        self.byte_class[sorted(used)] = [self.column[byte] for byte in sorted(used)]
        # The old column of each new one.
        copied = [int(automaton.byte_class[byte]) for byte in sorted(used)]
        self.columns = [*range(automaton.num_classes), *copied, automaton.num_classes]
        # The states that added ones come from, and the target of the step on a column of an added or an old state.
        self.origins: list[int] = []
        self.leads: list[tuple[int, int, int]] = []
        # The steps on a column of an added state: those of an old state on an old column.
        self.taken: list[tuple[int, int, int, int]] = []

    def automaton(self, work: Work) -> PushdownAutomaton:
        old = self.old
        first_label = old.num_classes + 1
        counts = np.diff(old.step_offsets).reshape(-1, old.num_columns)
        for state in work.watched(np.flatnonzero(counts[:, first_label:].any(axis=1)).tolist()):
            self.add_states(state, np.flatnonzero(counts[state, first_label:]).tolist())
        begins = self.cells(old.step_offsets[:-1].reshape(-1, old.num_columns))
        counts = self.cells(counts)
        plain = len(old.step_target)
        for number, (state, column, _) in enumerate(self.leads):
            begins[state, column], counts[state, column] = plain + number, 1
        offsets = np.append(0, np.cumsum(counts))
        chosen = np.arange(offsets[-1]) + np.repeat(begins.ravel() - offsets[:-1], counts.ravel())
        nothing = np.zeros(len(self.leads), np.int32)
        last, new_last = old.num_states - 1, old.num_states - 1 + len(self.origins)
        targets = np.where(old.step_target == last, new_last, old.step_target)
        return replace(
            old,
            byte_class=self.byte_class,
            labels=(),
            step_offsets=offsets.astype(np.int32),
            step_pops=np.append(old.step_pops, nothing)[chosen],
            step_pushes=np.append(old.step_pushes, nothing)[chosen],
            step_target=np.append(targets, [target for *_, target in self.leads])[chosen].astype(np.int32),
            headroom=self.with_added(old.headroom),
            state_rule=None if old.state_rule is None else self.with_added(old.state_rule),
        )

    def add_states(self, state: int, labels: list[int]) -> None:
        """Add the states that follow a state over some labels."""
        after_marker = self.add(state, state, MARKER)
        after_first: dict[int, int] = {}
        for label in labels:
            for first, last_bytes in self.by_first[self.old.labels[label]].items():
                if first not in after_first:
                    after_first[first] = self.add(state, after_marker, first)
                for byte in last_bytes:
                    own = after_first[first], self.column[byte]
                    self.taken.append((*own, state, self.old.num_classes + 1 + label))

    def add(self, origin: int, before: int, byte: int) -> int:
        """Add a state that a byte leads to, and return it."""
        added = self.old.num_states - 1 + len(self.origins)
        self.origins.append(origin)
        self.leads.append((before, self.column[byte], added))
        return added

    def cells(self, table: IntArray) -> IntArray:
        """Return a table by state and column with those of the new automaton, 0 where nothing is copied."""
        added = np.zeros((len(self.origins), len(self.columns)), table.dtype)
        kept = table[:, self.columns]
        cells: IntArray = np.concatenate([kept[:-1], added, kept[-1:]])
        for state, column, old_state, old_column in self.taken:
            cells[state, column] = table[old_state, old_column]
        return cells

    def with_added(self, by_state: IntArray) -> IntArray:
        """Return numbers by state, with those of added states."""
        return np.concatenate([by_state[:-1], by_state[self.origins], by_state[-1:]])
