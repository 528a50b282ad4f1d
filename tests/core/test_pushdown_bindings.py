"""Automata with a stack of the native core: what they do, beside configurations written out; and whatever is thrown at
them, an error that says what is wrong, or an answer."""

from __future__ import annotations

import copy
import pickle
import signal
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata._native import Budget
from automata._native import PushdownTables as ByteTables
from automata.errors import Cancelled, EmptyLanguage, LimitExceeded, TooManyConfigurations
from tokenfst import _native as native

REFUSALS = (TypeError, ValueError, LimitExceeded, EmptyLanguage, TooManyConfigurations)
WILD = [-(1 << 31), -2, -1, 0, 1, 2, 3, 7, 100, 1 << 20, (1 << 31) - 1]
KINDS = [np.int32, np.int64, np.int16, np.float32, np.uint8, np.bool_]
TOKENS = [b"a", b"b", b"c", b"aa", b"ab", b"ba", b"cab", b"bbb", b"", b"", "\N{SNOWMAN}".encode(), b"\xe2"]
END = len(TOKENS) - 3
MOST = 1 << 26

Configuration = tuple[int, tuple[int, ...]]


def budget(max_bytes: int = MOST) -> Budget:
    return Budget(max_bytes, 20.0)


def vocabulary(has_end: bool = True) -> native.VocabularyTries:
    return native.VocabularyTries(TOKENS, np.array([END] if has_end else [], np.int32))


# Automata over bytes at random


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


@settings(max_examples=250, deadline=None)
@given(machines(), st.booleans(), st.randoms(use_true_random=False))
def test_deterministic_ones_do_what_their_steps_do(machine: Machine, has_end: bool, dice: Any) -> None:
    check_walk(machine, has_end, dice)


@settings(max_examples=150, deadline=None)
@given(machines(most=40), st.booleans(), st.randoms(use_true_random=False))
def test_ambiguous_ones_do_what_their_steps_do(machine: Machine, has_end: bool, dice: Any) -> None:
    check_walk(machine, has_end, dice)


def check_walk(machine: Machine, has_end: bool, dice: Any) -> None:
    automaton = compiled(machine, has_end)
    state, expected = automaton.start, {(0, ())}
    for _ in range(8):
        assert set(state.configurations) == expected
        assert state == native.PushdownState(sorted(expected, reverse=True))
        after = {token: machine.token(expected, token) for token in range(len(TOKENS)) if not has_end or token != END}
        ends = bool(machine.read(expected, [4]))
        assert automaton.is_final(state) == ends
        allowed = {token for token, found in after.items() if found}
        assert mask_of(automaton, state) == allowed | ({END} if ends and has_end else set())
        for token, found in after.items():
            if len(found) <= machine.most:
                reached = automaton.advance(state, token)
                assert (set(reached.configurations) if reached is not None else set()) == found
            else:
                with pytest.raises(TooManyConfigurations, match=f"than the {machine.most} that"):
                    automaton.advance(state, token)
        going_on = [token for token, found in after.items() if found and len(found) <= machine.most]
        if not going_on:
            break
        token = dice.choice(going_on)
        state, expected = automaton.advance(state, token), after[token]


@settings(max_examples=150, deadline=None)
@given(machines(), st.booleans())
def test_least_numbers_of_tokens_are_found_by_going_everywhere(machine: Machine, has_end: bool) -> None:
    automaton, depth = compiled(machine, has_end), 4
    levels = [[automaton.start]]
    for _ in range(depth):
        found = [automaton.advance(state, token) for state in levels[-1] for token in range(len(TOKENS))]
        going_on = (state for state in found if state is not None and state != automaton.end_state)
        levels.append(list(dict.fromkeys(going_on)))
        if len(levels[-1]) > 300:
            break
    least = {state: int(has_end) for level in levels for state in level if automaton.is_final(state)}
    for level in reversed(levels):
        for state in level:
            tokens = mask_of(automaton, state) - ({END} if has_end else set())
            after = [automaton.advance(state, token) for token in tokens]
            least[state] = min([least.get(state, 1 << 29), *(1 + least.get(other, 1 << 29) for other in after)])
    # What is at most this far has been gone through.
    reach = len(levels) - 1
    for state in levels[0]:
        expected, number = least[state], automaton.min_tokens(state)
        assert number == expected if expected <= reach else number > reach - 1
        for remaining in (0, 1, 2, expected, expected + 1, -(1 << 63), (1 << 63) - 1):
            allowed = mask_of(automaton, state, remaining)
            assert allowed <= mask_of(automaton, state)
            if has_end and remaining < reach:
                near = {t for t in allowed if automaton.min_tokens(automaton.advance(state, t)) < remaining}
                assert allowed == near
    assert automaton.min_tokens(automaton.end_state) == 0


@settings(max_examples=60, deadline=None)
@given(machines())
def test_ways_satisfy_their_equations(machine: Machine) -> None:
    effects = effects_of(machine)
    tables = tables_of(machine, effects)
    across, nodes, offsets = native.pop_distances(tables, budget())
    far = 1 << 29
    assert across.shape == (len(tables.child), len(nodes) + 1)
    for node in range(len(tables.child)):
        for symbol in range(machine.num_symbols):
            for column in range(offsets[symbol], offsets[symbol + 1]):
                is_child = tables.child[node, symbol] == nodes[column]
                assert (across[node, column] == 0) == is_child
                best = 0 if is_child else far
                for move in moves_of(tables, node):
                    best = min(best, 1 + over(tables, across, nodes, offsets, move)[column])
                assert min(best, far) == across[node, column]


def moves_of(tables: native.PushdownTables, node: int) -> list[int]:
    outcomes = tables.edge_outcome[tables.row_offsets[node] : tables.row_offsets[node + 1]]
    return [m for o in outcomes for m in range(tables.outcome_offsets[o], tables.outcome_offsets[o + 1])]


def over(tables: native.PushdownTables, across: Any, nodes: Any, offsets: Any, move: int) -> Any:
    """How many tokens it takes from a move's target to each column, over all that it pushes."""
    push = tables.move_push[move]
    landed = {int(tables.move_target[move]): 0}
    for symbol in tables.push_symbols[tables.push_offsets[push] : tables.push_offsets[push + 1]][::-1]:
        after: dict[int, int] = {}
        for node, cost in landed.items():
            for column in range(offsets[symbol], offsets[symbol + 1]):
                reached = int(nodes[column])
                after[reached] = min(after.get(reached, 1 << 29), int(across[node, column]) + cost)
        landed = after
    ways = [np.minimum(across[node].astype(np.int64) + cost, 1 << 29) for node, cost in landed.items()]
    return np.minimum.reduce(ways) if ways else np.full(across.shape[1], 1 << 29)


# States


stacks = st.lists(st.integers(0, 9), max_size=5)
low_stacks = st.lists(st.integers(0, 2), max_size=5)
configurations = st.lists(st.tuples(st.integers(0, 9), stacks), min_size=1, max_size=4)
low_configurations = st.lists(st.tuples(st.integers(0, 4), low_stacks), min_size=1, max_size=4)


@settings(deadline=None)
@given(configurations, configurations)
def test_states_are_sets_of_configurations(left: Any, right: Any) -> None:
    one, other = native.PushdownState(left), native.PushdownState(right)
    sets = [{(state, tuple(stack)) for state, stack in each} for each in (left, right)]
    assert (one == other) == (sets[0] == sets[1])
    if one == other:
        assert hash(one) == hash(other)
    assert set(one.configurations) == sets[0]
    assert len(one) == len(sets[0])
    assert [(state, (-1, *stack)[-1]) for state, stack in one.configurations] == list(one.tops)
    assert native.PushdownState(one.configurations) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.copy(one) is one
    assert copy.deepcopy(one) is one
    assert one != left
    assert len(repr(one)) < 400


def test_high_stacks_neither_recurse_nor_differ() -> None:
    symbols = [0, 1] * 200_000
    state, again = native.PushdownState([(1, symbols)]), native.PushdownState([(1, tuple(symbols))])
    assert state == again
    assert hash(state) == hash(again)
    assert state != native.PushdownState([(1, [1, *symbols[1:]])])
    assert len(repr(state)) < 100
    assert pickle.loads(pickle.dumps(state)) == state


anything = st.one_of(
    st.none(), st.integers(-3, 3), st.text(max_size=2), st.sampled_from([-(1 << 70), 1 << 31, 1 << 70, 0.5]),
    st.lists(st.one_of(st.integers(-2, 2), st.tuples(st.integers(-1, 3), st.one_of(st.integers(), stacks))), max_size=3)
)  # fmt: skip


@settings(deadline=None)
@given(anything)
def test_states_of_anything(given_: Any) -> None:
    refused_or_done(native.PushdownState, given_)


@settings(max_examples=150, deadline=None)
@given(machines(), st.one_of(configurations, low_configurations), anything, anything)
def test_steps_from_any_state(machine: Machine, found: Any, token: Any, other: Any) -> None:
    automaton = compiled(machine)
    state = native.PushdownState(found)
    is_own = all(at < machine.num_states and all(s < machine.num_symbols for s in stack) for at, stack in found)
    words = np.zeros(1, np.int32)
    for call in (
        automaton.is_final,
        automaton.min_tokens,
        automaton.allows_any,
        lambda own: automaton.advance(own, 0),
        lambda own: automaton.fill_bitmask(own, words),
        lambda own: automaton.fill_within(own, words, 3),
        lambda own: native.fill_bitmasks([automaton], [own], words[None]),
    ):
        if is_own:
            refused_or_done(call, state)
        else:
            with pytest.raises(ValueError, match="none of"):
                call(state)
        with pytest.raises(TypeError):
            call("x")
    refused_or_done(automaton.advance, state, token)
    refused_or_done(automaton.fill_within, state, words, token)
    refused_or_done(automaton.fill_bitmask, state, other)
    refused_or_done(automaton.within, token)
    refused_or_done(native.fill_bitmasks, [automaton, automaton], [state, other], np.zeros((2, 1), np.int32))


@pytest.mark.parametrize(
    "out", [np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros((1, 1), np.int32), np.zeros(4, np.int32)[::2]]
)
def test_rows_that_do_not_fit_are_refused(out: Any) -> None:
    automaton = compiled(BRACKETS)
    with pytest.raises(REFUSALS):
        automaton.fill_bitmask(automaton.start, out)


# Arrays at random


def refused_or_done(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return call(*arguments, **named)
    except REFUSALS:
        return None


def spoiled(dice: Any, array: Any) -> Any:
    """An array that is not what it should be."""
    if not isinstance(array, np.ndarray):
        return dice.choice([*WILD, None, "x"])
    array = array.copy()
    kind = dice.randrange(8)
    if kind < 4 and array.size:
        for _ in range(dice.choice([1, 1, 2, 5])):
            array.flat[dice.randrange(array.size)] = dice.choice(WILD)
        return array
    if kind == 4:
        return array.astype(dice.choice(KINDS))
    if kind == 5:
        return dice.choice([None, 3, array[..., None], array[:0], array.ravel()])
    if kind == 6 and array.ndim:
        return np.concatenate([array, array[: dice.randrange(3)]])
    return array[: max(len(array) - 1, 0)] if array.ndim else array


ARRAYS = ("child", "row_offsets", "edge_class", "edge_outcome", "outcome_offsets", "move_pops", "move_push",
          "move_target", "move_room", "push_offsets", "push_symbols")  # fmt: skip
NUMBERS = ("num_states", "num_symbols", "num_classes", "start", "max_pops", "max_configurations")


def parts_of(tables: native.PushdownTables) -> dict[str, Any]:
    arrays = {name: np.ascontiguousarray(getattr(tables, name)) for name in ARRAYS}
    return arrays | {name: getattr(tables, name) for name in NUMBERS}


@settings(max_examples=400, deadline=None)
@given(st.one_of(machines(), machines(most=6)), st.randoms(use_true_random=False), st.integers(1, 3))
def test_tables_of_any_arrays(machine: Machine, dice: Any, count: int) -> None:
    effects = effects_of(machine)
    parts = parts_of(tables_of(machine, effects))
    assert parts_of(native.PushdownTables(**parts)).keys() == parts.keys()
    for name in dice.sample(sorted(parts), count):
        parts[name] = spoiled(dice, parts[name])
    tables = refused_or_done(native.PushdownTables, **parts)
    if tables is not None:
        use_tables(tables, (effects.run_end, effects.run_class), dice)


def use_tables(tables: native.PushdownTables, runs: tuple[Any, Any], dice: Any) -> None:
    """Everything that can be done with tables that were taken."""
    assert tables.nbytes > 0
    refused_or_done(native.clashing_class, tables, budget())
    refused_or_done(native.pop_distances, tables, budget(1 << 20))
    refused_or_done(native.StackDistance(tables, 1 << 20, 1 << 10).by_context, 50)
    automaton = refused_or_done(automaton_of, tables, runs, max_depth=dice.choice([-1, 0, 1, 3]), masks=2)
    if automaton is None:
        return
    refused_or_done(automaton.allows_any, automaton.start)
    states = [automaton.start]
    for _ in range(20):
        state = dice.choice(states)
        remaining = dice.choice([None, 0, 1, 3, 10])
        if remaining is not None:
            refused_or_done(automaton.min_tokens, state)
        allowed = refused_or_done(mask_of, automaton, state, remaining) or set()
        automaton.is_final(state)
        for token in sorted(allowed):
            reached = refused_or_done(automaton.advance, state, token)
            states += [reached] * (reached is not None)


@settings(max_examples=200, deadline=None)
@given(machines(num_labels=1), st.randoms(use_true_random=False), st.integers(1, 3))
def test_effects_of_any_arrays(machine: Machine, dice: Any, count: int) -> None:
    effects = effects_of(machine)
    names = ("run_end", "run_class", "num_classes", "entries", "trees", "column_trees")
    parts = {name: getattr(effects, name) for name in names}
    again = native.TokenEffects(**parts)
    assert np.array_equal(again.entries, effects.entries)
    for name in dice.sample(sorted(set(parts) - {"trees"}), count):
        parts[name] = spoiled(dice, parts[name])
    taken = refused_or_done(native.TokenEffects, **parts)
    if taken is not None:
        tables = refused_or_done(tables_of, machine, taken)
        if tables is not None:
            use_tables(tables, (taken.run_end, taken.run_class), dice)
            refused_or_done(native.trimmed, taken, tables, np.array(dice.sample(WILD, 2), np.int32), budget())
            trim_and_use(machine, taken, tables, dice)


def trim_and_use(machine: Machine, effects: native.TokenEffects, tables: native.PushdownTables, dice: Any) -> None:
    found = refused_or_done(native.trimmed, effects, tables, np.zeros(0, np.int32), budget())
    if found is not None and found[1] is not None:
        left = tables_of(machine, found[1])
        use_tables(left, (found[1].run_end, found[1].run_class), dice)


@settings(max_examples=200, deadline=None)
@given(st.one_of(machines(), machines(most=5)), st.randoms(use_true_random=False))
def test_what_is_trimmed_leads_on(machine: Machine, dice: Any) -> None:
    effects = effects_of(machine)
    tables = tables_of(machine, effects)
    result, left = native.trimmed(effects, tables, np.zeros(0, np.int32), budget())
    automaton = automaton_of(tables, (effects.run_end, effects.run_class))
    assert (result == "empty") == (automaton.min_tokens(automaton.start) >= 1 << 29)
    if left is None:
        return
    trimmed = automaton_of(tables_of(machine, left), (left.run_end, left.run_class))
    state = own = trimmed.start
    for _ in range(6):
        try:
            alive = {t for t in mask_of(automaton, own) if leads_on(automaton, own, t)}
        except TooManyConfigurations:
            break
        assert mask_of(trimmed, state) == alive
        if not alive - {END}:
            break
        token = dice.choice(sorted(alive - {END}))
        state, own = trimmed.advance(state, token), automaton.advance(own, token)
        # Configurations that are dead ends have gone.
        own = native.PushdownState([each for each in own.configurations if reaches_end(automaton, each)])
        assert state == own


def leads_on(automaton: native.PushdownCore, state: native.PushdownState, token: int) -> bool:
    return automaton.min_tokens(automaton.advance(state, token)) < 1 << 29


def reaches_end(automaton: native.PushdownCore, configuration: Configuration) -> bool:
    return automaton.min_tokens(native.PushdownState([configuration])) < 1 << 29


ways = st.tuples(low_stacks, low_stacks, st.integers(0, 2))


@settings(max_examples=200, deadline=None)
@given(machines(), st.lists(st.lists(ways, min_size=1, max_size=6), max_size=4), anything)
def test_trees_have_the_paths_they_are_built_from(machine: Machine, said: Any, other: Any) -> None:
    trees = effects_of(machine).trees
    built = refused_or_done(trees.build, said, budget())
    if built is not None:
        larger, numbers = built
        for all_ways, number in zip(said, numbers, strict=True):
            assert {tuple(map(tuple, way[:2])) + way[2:] for way in all_ways} == set(larger.paths(number, budget()))
        for number in range(len(trees)):
            assert larger.paths(number, budget()) == trees.paths(number, budget())
    refused_or_done(trees.build, other, budget())
    refused_or_done(trees.paths, other, budget())


@pytest.mark.parametrize("number", [-1, 1 << 20, (1 << 31) - 1])
def test_trees_that_are_none_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match="tree"):
        effects_of(BRACKETS).trees.paths(number, budget())


# Limits, interrupts and threads

# a pushes and b pops, and c ends: texts of brackets, with one symbol for each state that a was read in.
BRACKETS = Machine(
    4, 2,
    {(0, 0): [((), (0,), 1)], (1, 0): [((), (1,), 1)], (1, 1): [((0,), (), 2), ((1,), (), 1)], (2, 0): [((), (0,), 1)],
     (0, 4): [((), (), 3)], (2, 4): [((), (), 3)]},
    1, 0,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(machines(), st.integers(0, 1 << 15))
def test_memory_that_is_not_there_is_an_error(machine: Machine, most: int) -> None:
    refused_or_done(native.token_effects, machine.native, vocabulary(), budget(most))
    effects = effects_of(machine)
    headroom = np.zeros(machine.num_states, np.int32), np.zeros(machine.num_symbols, np.int32)
    refused_or_done(native.context_tables, effects, 0, 1, *headroom, budget(most))
    tables = tables_of(machine, effects)
    refused_or_done(native.trimmed, effects, tables, np.zeros(0, np.int32), budget(most))
    distance = native.StackDistance(tables, most, 1 << 10)
    automaton = native.PushdownCore(vocabulary(), tables, effects.run_end, effects.run_class, distance, -1, 3)
    for _ in range(3):
        refused_or_done(automaton.min_tokens, automaton.start)
        refused_or_done(distance.by_context, 10)
    assert mask_of(automaton, automaton.start) == mask_of(compiled(machine), automaton.start)


def test_work_that_is_cancelled_stops() -> None:
    stopped = budget()
    stopped.cancel()
    effects = effects_of(BRACKETS)

    def work() -> None:
        for _ in range(100_000):
            native.trimmed(effects, tables_of(BRACKETS, effects), np.zeros(0, np.int32), stopped)

    with pytest.raises(Cancelled):
        work()


class Alarm(Exception):
    """What the signal handler raises."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_interrupts_leave_everything_usable() -> None:
    def ring(*_: object) -> None:
        raise Alarm

    depth = 300_000
    high = native.PushdownState([(1, [0, *[1] * depth])])
    expected = compiled(BRACKETS).min_tokens(high)
    before = signal.signal(signal.SIGALRM, ring)
    rung = 0
    try:
        for delay in range(1, 60):
            automaton = compiled(BRACKETS)
            try:
                signal.setitimer(signal.ITIMER_REAL, delay / 1000)
                for _ in range(5):
                    fresh = native.PushdownState([(1, [0, *[1] * depth])])
                    automaton.min_tokens(fresh)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Alarm:
                rung += 1
            assert automaton.min_tokens(high) == expected
            assert mask_of(automaton, high, expected) <= mask_of(automaton, high)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung


def test_threads_share_automata_and_stacks() -> None:
    automata = [compiled(BRACKETS) for _ in range(2)]
    low = automata[0].within(40)
    state = automata[0].start
    states = [state]
    for token in [0] * 30:
        state = automata[0].advance(state, token)
        states.append(state)
    expected = [(compiled(BRACKETS).min_tokens(each), mask_of(compiled(BRACKETS), each, 20)) for each in states]
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            order = np.random.default_rng(seed)
            for at in order.integers(0, len(states), 400).tolist():
                automaton = [*automata, low][at % 3]
                assert automaton.min_tokens(states[at]) == expected[at][0]
                assert mask_of(automaton, states[at], 20) == expected[at][1]
                reached = automaton.advance(states[at], 0)
                assert reached is None or len(reached) == 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
