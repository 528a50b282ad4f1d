"""No array makes an automaton with a stack read or write out of bounds: it is refused, or gives results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pushdown_machines import (
    BRACKETS,
    END,
    Configuration,
    Machine,
    advanced,
    anything,
    automaton_of,
    budget,
    effects_of,
    low_stacks,
    machines,
    mask_of,
    refused_or_done,
    tables_of,
)

from automata.errors import TooManyConfigurations
from tokenfst import _native as native

WILD = [-(1 << 31), -2, -1, 0, 1, 2, 3, 7, 100, 1 << 20, (1 << 31) - 1]
KINDS = [np.int32, np.int64, np.int16, np.float32, np.uint8, np.bool_]


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


ARRAYS = ("child_offsets", "child_symbol", "child_node", "row_offsets", "edge_class", "edge_outcome", "outcome_offsets",
          "move_pops", "move_push", "move_target", "move_room", "push_offsets", "push_symbols")  # fmt: skip
NUMBERS = ("num_states", "num_symbols", "num_classes", "start", "max_pops", "max_configurations")


def parts_of(tables: native.PushdownTables) -> dict[str, Any]:
    arrays = {name: np.ascontiguousarray(getattr(tables, name)) for name in ARRAYS}
    return arrays | {name: getattr(tables, name) for name in NUMBERS}


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=100, deadline=None)
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
        state, own = advanced(trimmed, state, token), advanced(automaton, own, token)
        # Configurations that are dead ends have gone.
        own = native.PushdownState([each for each in own.configurations if reaches_end(automaton, each)])
        assert state == own


def leads_on(automaton: native.PushdownCore, state: native.PushdownState, token: int) -> bool:
    return automaton.min_tokens(advanced(automaton, state, token)) < 1 << 29


def reaches_end(automaton: native.PushdownCore, configuration: Configuration) -> bool:
    return automaton.min_tokens(native.PushdownState([configuration])) < 1 << 29


ways = st.tuples(low_stacks, low_stacks, st.integers(0, 2))


@settings(max_examples=100, deadline=None)
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
