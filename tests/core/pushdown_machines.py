"""Pushdown automata at random, and what tests of the core do with them.

Machine             an automaton over bytes whose configurations are written out: the oracle
machines            a strategy for machines
compiled            the native automaton over tokens of a machine
refused_or_done     calls a function; only errors that bindings may raise are passed over
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from automata._native import Budget
from automata._native import PushdownTables as ByteTables
from automata.errors import EmptyLanguage, LimitExceeded, TooManyConfigurations
from tokenfst import _native as native

REFUSALS = (TypeError, ValueError, LimitExceeded, EmptyLanguage, TooManyConfigurations)
TOKENS = [b"a", b"b", b"c", b"aa", b"ab", b"ba", b"cab", b"bbb", b"", b"", "\N{SNOWMAN}".encode(), b"\xe2"]
END = len(TOKENS) - 3
MOST = 1 << 26

Configuration = tuple[int, tuple[int, ...]]


def budget(max_bytes: int = MOST) -> Budget:
    return Budget(max_bytes, 20.0)


def vocabulary(has_end: bool = True) -> native.VocabularyTries:
    return native.VocabularyTries(TOKENS, np.array([END] if has_end else [], np.int32))


class Machine:
    """A pushdown automaton over bytes: steps by state and column, as pops from the top down, pushes, and targets."""

    def __init__(
        self, num_states: int, num_symbols: int, steps: dict[tuple[int, int], list[Any]], most: int, num_labels: int
    ) -> None:
        self.num_states, self.num_symbols, self.steps = num_states, num_symbols, steps
        self.most, self.num_labels = most, num_labels
        self.byte_class = np.full(256, 3, np.uint8)
        self.byte_class[list(b"abc")] = range(3)

    @property
    def native(self) -> ByteTables:
        sequences: dict[tuple[int, ...], int] = {(): 0}
        parent, symbol, offsets = [0], [-1], [0]
        found: list[tuple[int, int, int]] = []

        def number(symbols: tuple[int, ...]) -> int:
            if symbols not in sequences:
                parent.append(number(symbols[:-1]))
                symbol.append(symbols[-1])
                sequences[symbols] = len(parent) - 1
            return sequences[symbols]

        for state in range(self.num_states):
            for column in range(5 + self.num_labels):
                own = self.steps.get((state, column), [])
                found += [(number(pops), number(pushes), target) for pops, pushes, target in own]
                offsets.append(len(found))
        pops, pushes, targets = np.ascontiguousarray(np.array(found, np.int32).reshape(-1, 3).T)
        ints = [np.array(values, np.int32) for values in (offsets, parent, symbol)]
        return ByteTables(
            num_states=self.num_states, start=0, byte_class=self.byte_class, num_classes=4, num_labels=self.num_labels,
            num_symbols=self.num_symbols, step_offsets=ints[0], pops=pops, pushes=pushes, targets=targets,
            parent=ints[1], symbol=ints[2], max_configurations=self.most, budget=budget(),
        )  # fmt: skip

    def read(self, configurations: Iterable[Configuration], columns: Iterable[int]) -> set[Configuration]:
        """Where columns lead to."""
        found = set(configurations)
        for column in columns:
            found = {after for before in found for after in self._after(before, column)}
        return found

    def _after(self, configuration: Configuration, column: int) -> Iterable[Configuration]:
        state, stack = configuration
        for pops, pushes, target in self.steps.get((state, column), []):
            if stack[len(stack) - len(pops) :] == pops[::-1]:
                yield target, stack[: len(stack) - len(pops)] + pushes

    def token(self, configurations: Iterable[Configuration], token: int) -> set[Configuration]:
        """Where a token leads to, which is no end token."""
        columns = [int(self.byte_class[byte]) for byte in TOKENS[token]]
        return self.read(configurations, columns) if columns else set()


@st.composite
def machines(draw: Any, most: int = 1, num_labels: int = 0) -> Machine:
    states, symbols = draw(st.integers(2, 5)), draw(st.integers(0, 3))
    sequences = st.lists(st.integers(0, symbols - 1), max_size=3).map(tuple) if symbols else st.just(())
    steps: dict[tuple[int, int], list[Any]] = {}
    for state in range(states - 1):
        for column in range(5 + num_labels):
            target = st.integers(0, states - 2) if column != 4 else st.just(states - 1)
            pops = draw(st.lists(sequences, max_size=2 if most == 1 else 3))
            if most == 1:
                # At most one of them applies to any stack.
                pops = [own for own in set(pops) if not any(one != own and own[: len(one)] == one for one in pops)]
            steps[state, column] = [(own, draw(sequences), draw(target)) for own in sorted(pops)]
    return Machine(states, symbols, steps, most, num_labels)


def effects_of(machine: Machine, has_end: bool = True) -> native.TokenEffects:
    return native.token_effects(machine.native, vocabulary(has_end), budget())


def tables_of(machine: Machine, effects: native.TokenEffects) -> native.PushdownTables:
    headroom = np.zeros(machine.num_states, np.int32), np.zeros(machine.num_symbols, np.int32)
    return native.context_tables(effects, 0, machine.most, *headroom, budget())


def automaton_of(
    tables: native.PushdownTables, runs: tuple[Any, Any], has_end: bool = True, max_depth: int = -1, masks: int = 100
) -> native.PushdownCore:
    distance = native.StackDistance(tables, MOST, 1 << 12)
    return native.PushdownCore(vocabulary(has_end), tables, *runs, distance, max_depth, masks)


def compiled(machine: Machine, has_end: bool = True) -> native.PushdownCore:
    effects = effects_of(machine, has_end)
    return automaton_of(tables_of(machine, effects), (effects.run_end, effects.run_class), has_end)


def mask_of(automaton: native.PushdownCore, state: native.PushdownState, remaining: int | None = None) -> set[int]:
    words = np.full(3, -1, np.int32)
    if remaining is None:
        automaton.fill_bitmask(state, words)
    else:
        automaton.fill_within(state, words, remaining)
    assert not words[1:].any()
    return {token for token in range(len(TOKENS)) if words[0] >> token & 1}


def advanced(automaton: native.PushdownCore, state: native.PushdownState, token: int) -> native.PushdownState:
    """The state after a token that is allowed."""
    after = automaton.advance(state, token)
    assert after is not None
    return after


def refused_or_done(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return call(*arguments, **named)
    except REFUSALS:
        return None


stacks = st.lists(st.integers(0, 9), max_size=5)
low_stacks = st.lists(st.integers(0, 2), max_size=5)
anything = st.one_of(
    st.none(), st.integers(-3, 3), st.text(max_size=2), st.sampled_from([-(1 << 70), 1 << 31, 1 << 70, 0.5]),
    st.lists(st.one_of(st.integers(-2, 2), st.tuples(st.integers(-1, 3), st.one_of(st.integers(), stacks))), max_size=3)
)  # fmt: skip

# a pushes and b pops, and c ends: texts of brackets, with one symbol for each state that a was read in.
BRACKETS = Machine(
    4, 2,
    {(0, 0): [((), (0,), 1)], (1, 0): [((), (1,), 1)], (1, 1): [((0,), (), 2), ((1,), (), 1)], (2, 0): [((), (0,), 1)],
     (0, 4): [((), (), 3)], (2, 4): [((), (), 3)]},
    1, 0,
)  # fmt: skip
