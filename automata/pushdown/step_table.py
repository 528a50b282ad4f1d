"""StepTable: the tables of a pushdown automaton.

A configuration is a state and a stack of symbols. A step reads one column (a class of bytes, the end of the text, or a
label), pops symbols and pushes others:

    step    (state, column) -> pops, pushes, target

A step applies if its pops are the symbols on top of the stack. To test symbols without removing them, a step pops and
pushes them again. In a deterministic automaton, at most one step applies to each configuration and column; otherwise
each step that applies leads to one of the configurations that are followed side by side.

Sequences of symbols are in one trie, so that each is one number: 0 is the empty sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from automata.arrays import BoolArray, ByteArray, IntArray
from automata.expressions.ranges import Ranges, from_sorted
from automata.limits import Work, current_work
from automata.pushdown.sequences import Sequences, Stack
from automata.pushdown.under import UnderSymbols

# A state and the symbols on the stack, from the bottom up.
Configuration = tuple[int, Stack]


@dataclass(frozen=True, eq=False)
class StepTable:
    """The tables of a pushdown automaton over bytes; Q states, S symbols, C byte classes, L labels, P sequences, E
    steps.

    From every configuration that can be reached some text leads to an end.

    Attributes:
        start: the state where every text begins, with an empty stack.
        byte_class: `[256]` uint8, the column of each byte, below C. Column C is the end of the text; column C + 1 + i
            is label i.
        labels: L names.
        num_symbols: S, the number of symbols.
        step_offsets: `[Q * (C + 1 + L) + 1]` int32: the steps of state q on column c are those from entry `q * (C + 1 +
            L) + c` to the next.
        step_pops, step_pushes, step_target: `[E]` int32 each: sequences and a state. Pops are written from the top of
            the stack down, pushes from the bottom up, so that the last symbol pushed is on top. The target of a step on
            the end of the text is the last state, Q - 1, which has no steps.
        parent, symbol: `[P]` int32 each: sequence p is sequence `parent[p]` followed by `symbol[p]`; entry 0, the empty
            one, is its own parent.
        headroom: `[Q]` int32: the least number of symbols that must still fit above the present top so that the open
            rules can be completed.
        symbol_headroom: `[S]` int32: the same after a symbol has been popped.
        may_lie_under: `may_lie_under[i, j]` is true if symbol j can lie directly under symbol i in some reachable
            stack, and may be true for other pairs. It is stored by kinds of symbols, or as a table `[S, S]`.
        max_configurations: 1 if the automaton is deterministic, otherwise the maximum number of configurations that are
            followed side by side.
        rule_names: the names of the grammar's rules, for pictures; empty if they have none.
        state_rule, symbol_rule: `[Q]` and `[S]` int32: the rule that a state is in, -1 for none, and the rule to which
            a symbol returns; None without names.
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
    rule_names: tuple[str, ...] = ()
    state_rule: IntArray | None = None
    symbol_rule: IntArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def num_states(self) -> int:
        """Q, the state after the end of the text included."""
        return len(self.headroom)

    @property
    def num_columns(self) -> int:
        """C + 1 + L, the number of columns of a state."""
        return (len(self.step_offsets) - 1) // self.num_states

    @property
    def num_classes(self) -> int:
        """C, the number of byte classes; the end of the text is column C."""
        return self.num_columns - 1 - len(self.labels)

    def overflow_states(self) -> frozenset[int]:
        """Return the states that stand for more configurations than the maximum, each of which reads anything and may
        end anywhere (`native/automata/pushdown/construction.h`); a text that leads to one of them leads to all."""
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
        """Return the symbols of a sequence, in order."""
        symbols = []
        while number:
            symbols.append(int(self.symbol[number]))
            number = int(self.parent[number])
        return tuple(reversed(symbols))

    def steps_by_state(self, work: Work | None = None) -> list[list[tuple[int, Stack, Stack, int]]]:
        """Return the steps of each state: column, pops and pushes, both from the bottom up, and target."""
        work = current_work(work)
        cell = np.repeat(np.arange(len(self.step_offsets) - 1), np.diff(self.step_offsets))
        state, column = np.divmod(cell, self.num_columns)
        sequences = Sequences(self.parent, self.symbol, work).stacks
        found: list[list[tuple[int, Stack, Stack, int]]] = [[] for _ in range(self.num_states)]
        tables = (state, column, self.step_pops, self.step_pushes, self.step_target)
        for at, read, pops, pushes, target in work.watched(zip(*(table.tolist() for table in tables), strict=True)):
            found[at].append((read, sequences[pops][::-1], sequences[pushes], target))
        return found

    def byte_runs(self) -> list[Ranges]:
        """Return the bytes of each class as ranges, both ends included."""
        return [from_sorted(np.flatnonzero(self.byte_class == number).tolist()) for number in range(self.num_classes)]

    def state_name(self, state: int) -> str:
        """Return the name of the rule that a state is in; "" if it has none."""
        rule = -1 if self.state_rule is None else int(self.state_rule[state])
        return self.rule_names[rule] if rule >= 0 else ""

    def symbol_name(self, symbol: int) -> str:
        """Return the name of a symbol: the rule to which it returns, and its number."""
        return str(symbol) if self.symbol_rule is None else f"{self.rule_names[self.symbol_rule[symbol]]}.{symbol}"
