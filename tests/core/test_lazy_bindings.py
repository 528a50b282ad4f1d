"""Lazy automata: no argument makes them read or write out of bounds, and masks are those of their steps.

Automata of any tables that were taken are stepped through: each mask holds the tokens that a step takes, whatever was
asked before, and with a budget no more than without.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from arrays import NUMBERS, OTHERS, attempt, budget, ints
from hypothesis import given, settings
from hypothesis import strategies as st
from random_automata import MANY, SEEDS, draw_from, some_layout, some_tables

from automata import _native as automata
from automata.errors import Cancelled, LimitExceeded
from tokenfst import _native
from tokenfst._native import LazyCore, TextLibrary, VocabularyTries

TOKENS = [b"a", b"b", b"ab", b"ba", b"abc", b"c", b"", b"e", b"aaab", b"", b"\xc3", b"\xc3\xa9"]
VOCABULARY = VocabularyTries(TOKENS, ints([9]))
TEXTS = TextLibrary(VOCABULARY)
UNLIMITED = 1 << 60
# A grammar may turn out not to be visibly pushdown where a text leads.
REFUSALS = LimitExceeded, ValueError


def some_pushdown(rng: Random) -> automata.PushdownTables | None:
    """The tables of an automaton with a stack; None where they do not fit together."""
    num_states, num_symbols, num_classes = rng.randint(1, 4), rng.randint(1, 3), 3
    counts = [rng.choice([0, 1, 1]) for _ in range(num_states * (num_classes + 1))]
    byte_class = np.zeros(256, np.uint8)
    byte_class[97:99] = [1, 2]
    size = rng.randint(1, 5)

    def numbers(end: int) -> np.ndarray:
        return ints([rng.randrange(end) for _ in range(sum(counts))])

    return attempt(
        automata.PushdownTables,
        num_states=num_states,
        start=rng.randrange(num_states),
        byte_class=byte_class,
        num_classes=num_classes,
        num_labels=0,
        num_symbols=num_symbols,
        step_offsets=ints(np.cumsum([0, *counts])),
        pops=numbers(size),
        pushes=numbers(size),
        targets=numbers(num_states),
        parent=ints([0, *(rng.randrange(place) for place in range(1, size))]),
        symbol=ints([0, *(rng.randrange(num_symbols) for _ in range(1, size))]),
        max_configurations=rng.choice([1, 1, 2]),
        budget=budget(),
    )


def from_bytes(rng: Random, data: st.DataObject) -> LazyCore | None:
    tables = some_tables(rng, labels=rng.choice([0, 0, 0, 1]))
    arguments = {"texts": TEXTS, "tables": tables, "max_masks": rng.choice([1, 3, 1000])}
    return attempt(LazyCore.from_bytes, **draw_from(data, arguments), budget=budget())


def from_pushdown(rng: Random, data: st.DataObject) -> LazyCore | None:
    arguments = {"texts": TEXTS, "tables": some_pushdown(rng), "max_masks": rng.choice([1, 3, 1000])}
    return attempt(LazyCore.from_pushdown, **draw_from(data, arguments), budget=budget())


def from_visibly_pushdown(rng: Random, data: st.DataObject) -> LazyCore | None:
    layout = attempt(automata.VisiblyPushdownLayout, **draw_from(data, some_layout(rng)), budget=budget())
    arguments = {"texts": TEXTS, "layout": layout, "max_masks": rng.choice([1, 3, 1000])}
    return attempt(LazyCore.from_visibly_pushdown, **draw_from(data, arguments), budget=budget())


def tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a call gives, None where it is refused."""
    return attempt(lambda: function(*arguments))


def mask_of(automaton: LazyCore, state: int, remaining: int = UNLIMITED) -> set[int] | None:
    words = np.full(2, -1, np.int32)
    try:
        automaton.fill_within(state, words, remaining)
    except REFUSALS:
        return None
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    assert not bits[len(TOKENS) :].any()
    return set(np.flatnonzero(bits).tolist())


def check_walk(automaton: LazyCore, rng: Random) -> None:
    """A few steps at random, each beside the mask."""
    state = automaton.start
    for _ in range(6):
        mask = mask_of(automaton, state)
        if mask is None:
            return
        try:
            reached = {token: automaton.advance(state, token) for token in range(len(TOKENS))}
        except REFUSALS:
            return
        assert mask == {token for token, target in reached.items() if target is not None}
        for remaining in (0, 1, 2, 5):
            within = mask_of(automaton, state, remaining)
            assert within is None or within <= mask
        automaton.is_final(state)
        tried(automaton.min_tokens, state)
        if not mask:
            return
        after = reached[rng.choice(sorted(mask))]
        assert after is not None
        state = after
    assert automaton.num_masks >= 0
    assert automaton.num_contexts >= 0
    assert automaton.num_bytes > 0
    assert sum(automaton.mask_counts.values()) >= 0
    assert automaton.bytes_read.shape == (256,)


@pytest.mark.parametrize("make", [from_bytes, from_pushdown, from_visibly_pushdown])
@given(SEEDS, st.data())
@MANY
def test_masks_are_those_of_the_steps(make: Callable[..., LazyCore | None], seed: int, data: Any) -> None:
    rng = Random(seed)
    automaton = make(rng, data)
    if automaton is not None and not automaton.is_empty:
        check_walk(automaton, rng)


LETTERS = automata.ByteTables.sparse(
    0, ints([0, 2, 2]), ints([[97, 98, 0], [99, 99, 1]]), np.array([False, True]), np.zeros((2, 0), np.int32)
)


@given(st.data())
@settings(max_examples=75, deadline=None)
def test_states_tokens_and_masks_of_any_kind(data: Any) -> None:
    automaton = LazyCore.from_bytes(TEXTS, LETTERS, 100, budget())
    number = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(OTHERS), st.integers(-(2**63), 2**63 - 1))
    out = st.sampled_from([np.zeros(size, kind) for size in (0, 1, 2) for kind in (np.int32, np.int64, np.float32)])
    calls: list[Callable[[], object]] = [
        lambda: automaton.advance(data.draw(number), data.draw(number)),
        lambda: automaton.is_final(data.draw(number)),
        lambda: automaton.min_tokens(data.draw(number)),
        lambda: automaton.fill_bitmask(data.draw(number), data.draw(out)),
        lambda: automaton.fill_within(data.draw(number), data.draw(out), data.draw(number)),
    ]
    attempt(data.draw(st.sampled_from(calls)))
    assert mask_of(automaton, automaton.start) == {0, 1, 2, 3, 4, 5, 8}


@given(st.lists(st.tuples(st.sampled_from(NUMBERS), st.binary(max_size=3), st.sampled_from(NUMBERS)), max_size=3))
@settings(max_examples=100, deadline=None)
def test_beginnings_of_any_kind(beginnings: list[tuple[int, bytes, int]]) -> None:
    automaton = LazyCore.from_bytes(TEXTS, LETTERS, 100, budget())
    tried(automaton.set_beginnings, beginnings)
    mask_of(automaton, automaton.start)
    for token in range(len(TOKENS)):
        tried(automaton.advance, automaton.start, token)


def test_work_that_is_cancelled_stops() -> None:
    stopped = budget()
    stopped.cancel()

    def work() -> None:
        for _ in range(100_000):
            LazyCore.from_bytes(TEXTS, LETTERS, 100, stopped)

    with pytest.raises(Cancelled):
        work()


def test_a_library_is_of_a_vocabulary() -> None:
    for other in OTHERS:
        with pytest.raises(TypeError):
            TextLibrary(other)
    nothing: Any = None
    with pytest.raises(TypeError):
        _native.LazyCore.from_bytes(nothing, LETTERS, 100, budget())
