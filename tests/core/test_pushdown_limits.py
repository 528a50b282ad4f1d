"""Limits, interrupts and threads leave automata with a stack usable."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pushdown_machines import (
    BRACKETS,
    Machine,
    advanced,
    budget,
    compiled,
    effects_of,
    machines,
    mask_of,
    refused_or_done,
    tables_of,
    vocabulary,
)

from automata.errors import Cancelled
from tokenfst import _native as native


@settings(max_examples=75, deadline=None)
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
        state = advanced(automata[0], state, token)
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
