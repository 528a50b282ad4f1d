"""Construction: the states of a pushdown automaton as sets of elements, and their steps.

The native core finds them (`native/automata/pushdown/construction.h` explains how); this module gives access to them
for errors and for pruning.

    Element         a local stack and a state of the network
    Unbounded       a set that exceeded a bound, so that the grammar is not deterministic
    SymbolsBelow    the symbols that may be below states and symbols on the stack
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.limits import Work
from automata.pushdown.network import Network
from automata.pushdown.sequences import Stack

Element = tuple[Stack, int]
Elements = tuple[Element, ...]

# The reason for stopping that is a limit and not a property of the grammar, as the native core numbers it.
_TOO_MANY_WAYS = 4
_REASONS = (None, "derivations", "stack", "pops", None, "words")
# The cost of reading an element, in steps of the budget.
_VISIT_STEPS = 500


@dataclass(frozen=True, slots=True)
class Unbounded:
    """A set that exceeds a bound ("derivations", "stack" or "pops"), or in which words begin at different places
    ("words"); and the state that it comes from."""

    reason: str
    elements: Elements
    state: int


@dataclass(frozen=True, slots=True)
class SymbolsBelow:
    """Which symbols may lie directly under states and symbols; none if only the empty stack may.

    Attributes:
        state_kind, symbol_kind: the kind of each state, and of each symbol.
        below: for each kind, the symbols in order. Symbols without a kind are those that no step pops.
    """

    state_kind: list[int]
    symbol_kind: list[int]
    below: list[list[int]]

    def tops(self) -> list[Sequence[int]]:
        """Return, for each state, the symbols that may lie under it."""
        return [self.below[kind] for kind in self.state_kind]

    def under(self) -> dict[int, Sequence[int]]:
        """Return, for each symbol, those that may lie directly under it."""
        return {symbol: self.below[kind] for symbol, kind in enumerate(self.symbol_kind)}


class Construction:
    """The states and steps of a network, as far as they were found."""

    def __init__(self, network: Network, work: Work, *, side_by_side: bool, max_configurations: int) -> None:
        """Find the states and steps.

        Args:
            network: the network.
            work: the limits, and the means to stop the construction.
            side_by_side: whether each configuration is resolved separately.
            max_configurations: the maximum number of configurations if they are resolved separately.

        Raises:
            LimitExceeded: there are too many states or ways to continue, or a limit of memory or time was exceeded.
            Cancelled: the construction was cancelled.
        """
        self.network, self.work = network, work
        limits = work.limits
        try:
            self.tables = _native.construct(
                byte_class=network.byte_class,
                next=np.ascontiguousarray(network.next),
                by_label=np.ascontiguousarray(network.by_label),
                final=network.final,
                rule_of=network.rule_of,
                rule_start=network.rule_start,
                start_rule=network.start_rule,
                in_words=network.in_words,
                lexer=network.lexer,
                call_offsets=network.call_offsets,
                calls=np.stack([network.call_rule, network.call_return], axis=1),
                word_offsets=network.word_offsets,
                words=np.stack([network.word, network.word_target], axis=1),
                num_lazy=network.num_lazy,
                side_by_side=side_by_side,
                max_configurations=max_configurations,
                max_states=limits.states,
                max_ways=limits.arcs,
                budget=work.budget,
            )
        except LimitExceeded as error:
            raise error.of("a pushdown automaton") from None
        if self.tables.unbounded == _TOO_MANY_WAYS:
            raise LimitExceeded(f"there are more than {limits.arcs:,} ways to continue (limit `arcs`)", limit="arcs")

    @property
    def num_states(self) -> int:
        """The number of states."""
        return len(self.tables.came_from)

    @property
    def num_columns(self) -> int:
        """The number of columns of a state: classes, the end of the text, and labels."""
        return int(self.network.next.shape[1]) + 1 + len(self.network.labels)

    @cached_property
    def rule_of(self) -> IntArray:
        """The rule of each state of the network; states added for the call of the start rule belong to that rule."""
        rule_of = self.tables.rule_of
        return np.where(rule_of < len(self.network.rule_names), rule_of, self.network.start_rule).astype(np.int32)

    def rule_name(self, state: int) -> str:
        """Return the name of the rule that a state of the network is in."""
        return self.network.rule_names[int(self.rule_of[state])]

    @cached_property
    def unbounded(self) -> Unbounded | None:
        """The set at which the construction stopped, if there is one."""
        reason = _REASONS[self.tables.unbounded]
        if reason is None:
            return None
        return Unbounded(reason, self._read(self.tables.unbounded_elements), self.tables.unbounded_state)

    def elements(self, state: int) -> Elements:
        """Return the elements of a state."""
        begin, end = self.tables.element_offsets[state : state + 2]
        return self._read(self.tables.elements[begin:end])

    @cached_property
    def steps(self) -> IntArray:
        """`[E, 5]`, the steps, including those that states share, in order: state, column, pops, pushes and target."""
        tables = self.tables
        return _native.with_shared(tables.steps, tables.shared, self.num_states, self.work.budget)

    @cached_property
    def sharing(self) -> Mapping[int, list[int]]:
        """For each state whose moves others share, these others; no text leads to the state itself."""
        found: dict[int, list[int]] = {}
        for state, other in self.work.watched(self.tables.shared.tolist()):
            found.setdefault(other, []).append(state)
        return found

    def below(self) -> SymbolsBelow:
        """Return which symbols may lie directly under states and symbols.

        Under a state, or a symbol that stands for several stacks, a symbol may lie only if it may lie under every rule
        at the bottom of the stacks. Under a state whose moves others share, it may lie if it may under any of these.
        """
        tables = self.tables
        below = [rows.tolist() for rows in np.split(tables.below, tables.below_offsets[1:-1])]
        state_kind: list[int] = tables.state_kind.tolist()
        known: dict[frozenset[int], int] = {}
        for state, states in self.work.watched(self.sharing.items()):
            kinds = frozenset([state_kind[each] for each in states])
            if kinds not in known:
                known[kinds] = len(below)
                below.append(sorted(set[int]().union(*(below[kind] for kind in kinds))))
            state_kind[state] = known[kinds]
        return SymbolsBelow(state_kind, tables.symbol_kind.tolist(), below)

    def _read(self, numbers: IntArray) -> Elements:
        """Read elements, each of which is the size of its stack, the symbols from the bottom up, and the state."""
        left: list[int] = numbers.tolist()
        found: list[Element] = []
        at = 0
        while at < len(left):
            self.work.budget.spend(_VISIT_STEPS)
            end = at + 1 + left[at]
            found.append((tuple(left[at + 1 : end]), left[end]))
            at = end + 1
        return tuple(found)
