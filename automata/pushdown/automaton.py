"""PushdownAutomaton: states, a stack of return states, and one table of steps.

A configuration is a state and a stack of symbols. A step reads one column (a class of bytes, the end of the text, or a
label), pops symbols and pushes others:

    step    (state, column) -> pops, pushes, target

A step applies where its pops are the symbols on top of the stack. What it pops it may push again: that is how a step
looks at the stack. In a deterministic automaton at most one step applies in any configuration to any column; otherwise
each step that applies leads to one of the configurations that are carried side by side.

Sequences of symbols are in one trie, so that each is one number: 0 is the empty sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from automata._native import PushdownTables
from automata.arrays import BoolArray, ByteArray, IntArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import TooManyConfigurations
from automata.limits import Work, under_way
from automata.pushdown.steps import Sequences, Stack
from automata.pushdown.under import UnderSymbols

if TYPE_CHECKING:
    from automata.drawing import Drawing
    from automata.limits import Work


# A state and the symbols on the stack, from the bottom up.
Configuration = tuple[int, Stack]


@dataclass(frozen=True, eq=False)
class PushdownAutomaton:
    """A pushdown automaton over bytes; Q states, S symbols, C byte classes, L labels, P sequences, E steps.

    Every configuration that can be reached leads on to the end of a text.

    Attributes:
        start: the state where every text begins, with an empty stack.
        byte_class: `[256]` uint8, below C. Column C is the end of the text; column C + 1 + i is label i.
        labels: L names.
        num_symbols: S.
        step_offsets: `[Q * (C + 1 + L) + 1]` int32: the steps of state q on column c are those from entry
            `q * (C + 1 + L) + c` to the next.
        step_pops, step_pushes, step_target: `[E]` int32 each: sequences and a state. Pops are written from the top of
            the stack down, pushes from the bottom up: the last one pushed is on top afterwards. The target of a step
            on the end of the text is the last state, Q - 1, which has no steps.
        parent, symbol: `[P]` int32 each: sequence p is sequence `parent[p]` followed by `symbol[p]`; entry 0, the
            empty one, is its own parent.
        headroom: `[Q]` int32: the least number of symbols above the present top that some way to the end of the
            rules at hand needs; and `symbol_headroom`: `[S]`, the same for going on after a symbol has been popped.
        may_lie_under: `may_lie_under[i, j]` says whether symbol j can lie directly under symbol i in some reachable
            stack (the truth, or more than the truth): pairs of kinds of symbols, or a table `[S, S]`.
        max_configurations: 1 where the automaton is deterministic, otherwise how many configurations are carried.
    """

    start: int
    byte_class: ByteArray
    labels: tuple[str, ...]
    num_symbols: int
    step_offsets: IntArray
    step_pops: IntArray
    step_pushes: IntArray
    step_target: IntArray
    parent: IntArray
    symbol: IntArray
    headroom: IntArray
    symbol_headroom: IntArray
    may_lie_under: UnderSymbols | BoolArray
    max_configurations: int = 1

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def tables(self) -> PushdownTables:
        """The same as the tables of the native core, which are stepped through."""
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
            budget=under_way().budget,
        )

    @property
    def num_states(self) -> int:
        """Q, the state after the end of the text included."""
        return len(self.headroom)

    @property
    def num_columns(self) -> int:
        """C + 1 + L."""
        return (len(self.step_offsets) - 1) // self.num_states

    @property
    def num_classes(self) -> int:
        """C, the number of byte classes; the end of the text is column C."""
        return self.num_columns - 1 - len(self.labels)

    def overflow_states(self) -> frozenset[int]:
        """The states that stand for more configurations than are carried, each of which reads anything and may end
        anywhere (`native/automata/pushdown/construction.h`); a text that leads to one of them leads to all."""
        if self.max_configurations == 1:
            return frozenset()
        first = np.append(self.step_offsets[:-1], 0)[: self.num_states * self.num_columns].reshape(self.num_states, -1)
        own = np.arange(self.num_states)[:, None]
        single = np.diff(self.step_offsets).reshape(self.num_states, -1) == 1
        plain = np.append((self.step_pops == 0) & (self.step_pushes == 0), False)
        target = np.append(self.step_target, -1)
        loops = single & plain[first] & (target[first] == own)
        ends = single & plain[first] & (target[first] == self.num_states - 1)
        found = np.flatnonzero(loops[:, : self.num_classes].all(axis=1) & ends[:, self.num_classes])
        return frozenset(found.tolist()) if len(found) > self.max_configurations else frozenset()

    def sequence(self, number: int) -> tuple[int, ...]:
        """The symbols of a sequence, in order."""
        symbols = []
        while number:
            symbols.append(int(self.symbol[number]))
            number = int(self.parent[number])
        return tuple(reversed(symbols))

    def steps_by_state(self, work: Work | None = None) -> list[list[tuple[int, Stack, Stack, int]]]:
        """All steps, by state: column, pops from the bottom up, so as they lie on the stack, pushes, and target."""
        work = under_way(work)
        cell = np.repeat(np.arange(len(self.step_offsets) - 1), np.diff(self.step_offsets))
        state, column = np.divmod(cell, self.num_columns)
        sequences = Sequences(self.parent, self.symbol, work).stacks
        found: list[list[tuple[int, Stack, Stack, int]]] = [[] for _ in range(self.num_states)]
        tables = (state, column, self.step_pops, self.step_pushes, self.step_target)
        for at, read, pops, pushes, target in work.watched(zip(*(table.tolist() for table in tables), strict=True)):
            found[at].append((read, sequences[pops][::-1], sequences[pushes], target))
        return found

    def expand(self, depth: int, work: Work | None = None) -> ByteAutomaton:
        """The minimal automaton of the texts that at most `depth` symbols on the stack are enough for; see
        `automata.pushdown.expansion.expand`."""
        from automata.pushdown.expansion import expand

        return expand(self, depth, work)

    def draw(self, *, title: str | None = None) -> Drawing:
        """A picture; see `automata.pushdown.drawing`."""
        from automata.pushdown.drawing import draw_pushdown_automaton

        return draw_pushdown_automaton(self, title=title)

    # The plainest way to run it, one byte at a time: to explain and to test, not to be fast.

    def steps_from(self, configuration: Configuration, column: int) -> list[Configuration]:
        """The configurations that a column leads to from one, each once."""
        state, stack = configuration
        cell = state * self.num_columns + column
        found: list[Configuration] = []
        for step in range(self.step_offsets[cell], self.step_offsets[cell + 1]):
            pops = self.sequence(int(self.step_pops[step]))
            if stack[len(stack) - len(pops) :] == pops[::-1]:
                rest = stack[: len(stack) - len(pops)] + self.sequence(int(self.step_pushes[step]))
                found = united(found, [(int(self.step_target[step]), rest)])
        return found

    def configurations(self, text: bytes) -> list[Configuration]:
        """The configurations after a text; none where no text of the language begins with it.

        Raises:
            TooManyConfigurations: there are more than `max_configurations` at some place.
        """
        found: list[Configuration] = [(self.start, ())]
        for at, byte in enumerate(text):
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
            f"more derivations of the first {length} bytes go on side by side than the {self.max_configurations} that "
            "may be carried (`max_configurations`)"
        )

    def accepts(self, text: bytes) -> bool:
        """Whether a text is in the language.

        Raises:
            TooManyConfigurations: see `configurations`.
        """
        accepts, too_many = self.tables.read(text, under_way().budget)
        if too_many >= 0:
            raise self._too_many(too_many)
        return accepts

    def allowed_bytes(self, text: bytes) -> frozenset[int]:
        """The bytes with which the text can go on; it does go on to the end of a text from each of them.

        Raises:
            TooManyConfigurations: see `configurations`.
        """
        found = self.configurations(text)
        classes = {column for column in range(self.num_classes) if any(self.steps_from(each, column) for each in found)}
        return frozenset(byte for byte in range(256) if self.byte_class[byte] in classes)


def united(left: list[Configuration], right: list[Configuration]) -> list[Configuration]:
    """All of both, each once; stacks are hashed only if there is something to compare."""
    return list(dict.fromkeys(left + right)) if left and right else left or right
