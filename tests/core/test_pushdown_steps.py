"""Automata with a stack do what the steps of configurations written out do."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pushdown_machines import (
    BRACKETS,
    END,
    REFUSALS,
    TOKENS,
    Configuration,
    Machine,
    advanced,
    anything,
    budget,
    compiled,
    effects_of,
    low_stacks,
    machines,
    mask_of,
    refused_or_done,
    stacks,
    tables_of,
)

from automata.errors import TooManyConfigurations
from tokenfst import _native as native


@settings(max_examples=75, deadline=None)
@given(machines(), st.booleans(), st.randoms(use_true_random=False))
def test_deterministic_ones_do_what_their_steps_do(machine: Machine, has_end: bool, dice: Any) -> None:
    check_walk(machine, has_end, dice)


@settings(max_examples=75, deadline=None)
@given(machines(most=40), st.booleans(), st.randoms(use_true_random=False))
def test_ambiguous_ones_do_what_their_steps_do(machine: Machine, has_end: bool, dice: Any) -> None:
    check_walk(machine, has_end, dice)


def check_walk(machine: Machine, has_end: bool, dice: Any) -> None:
    automaton = compiled(machine, has_end)
    state = automaton.start
    expected: set[Configuration] = {(0, ())}
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
        state, expected = advanced(automaton, state, token), after[token]


@settings(max_examples=75, deadline=None)
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
            after = [advanced(automaton, state, token) for token in tokens]
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
                near = {t for t in allowed if automaton.min_tokens(advanced(automaton, state, t)) < remaining}
                assert allowed == near
    assert automaton.min_tokens(automaton.end_state) == 0


@settings(max_examples=40, deadline=None)
@given(machines())
def test_ways_satisfy_their_equations(machine: Machine) -> None:
    effects = effects_of(machine)
    tables = tables_of(machine, effects)
    across, nodes, offsets = native.pop_distances(tables, budget())
    far = 1 << 29
    assert across.shape == (tables.num_nodes, len(nodes) + 1)
    for node in range(tables.num_nodes):
        own = slice(tables.child_offsets[node], tables.child_offsets[node + 1])
        children = dict(zip(tables.child_symbol[own].tolist(), tables.child_node[own].tolist(), strict=True))
        for symbol in range(machine.num_symbols):
            for column in range(offsets[symbol], offsets[symbol + 1]):
                is_child = children.get(symbol) == nodes[column]
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


@settings(deadline=None)
@given(anything)
def test_states_of_anything(given_: Any) -> None:
    refused_or_done(native.PushdownState, given_)


@settings(max_examples=75, deadline=None)
@given(machines(), st.one_of(configurations, low_configurations), anything, anything)
def test_steps_from_any_state(machine: Machine, found: Any, token: Any, other: Any) -> None:
    automaton = compiled(machine)
    state = native.PushdownState(found)
    is_own = all(at < machine.num_states and all(s < machine.num_symbols for s in stack) for at, stack in found)
    words = np.zeros(1, np.int32)
    wrong: Any = "x"
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
            call(wrong)
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
