"""Every method that takes a state refuses what is not a state of its automaton, in automata of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from kinds import complete

import tokenfst
from automata import parse
from automata.errors import TokenNotAllowed
from constraints import grammar, json_schema
from tokenfst import TokenAutomaton
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.unique_items.automaton import UniqueItemsTokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES
from tokenfst.weighted.automaton import WeightedTokenAutomaton

BRACKETS = grammar('start: "(" start ")" | "x"')
UNIQUE = json_schema({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})
KINDS: dict[str, tuple[TokenAutomaton, type[TokenAutomaton]]] = {
    "lazy": (tokenfst.compile("(ab)+", ALL_BYTES), LazyTokenAutomaton),
    "finite": (complete("(ab)+", ALL_BYTES), TokenAutomaton),
    "pushdown": (complete(BRACKETS, ALL_BYTES), PushdownTokenAutomaton),
    "unique items": (tokenfst.compile(UNIQUE, ALL_BYTES), UniqueItemsTokenAutomaton),
    "weighted": (tokenfst.compile(parse("(ab)+").weighted(1), ALL_BYTES), WeightedTokenAutomaton),
}
METHODS: dict[str, Callable[[TokenAutomaton, Any], object]] = {
    "mask": lambda automaton, state: automaton.mask(state),
    "mask within": lambda automaton, state: automaton.mask(state, 5),
    "advance": lambda automaton, state: automaton.advance(state, 97),
    "step": lambda automaton, state: automaton.step(state, 97),
    "is_final": lambda automaton, state: automaton.is_final(state),
    "min_tokens": lambda automaton, state: automaton.min_tokens(state),
    "fits": lambda automaton, state: automaton.fits(state, 5),
    "costs": lambda automaton, state: automaton.costs(state),
    "key": lambda automaton, state: automaton.key(state),
    "tokens_to": lambda automaton, state: automaton.tokens_to(state),
    "explain": lambda automaton, state: automaton.explain(state=state),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_state_is_refused(kind: str, method: str) -> None:
    automaton, expected = KINDS[kind]
    assert isinstance(automaton, expected)
    others = [other.start for other, _ in KINDS.values() if type(other.start) is not type(automaton.start)]
    for state in (12345, -1, "x", 1.5, (0,), *others):
        with pytest.raises((TypeError, ValueError)):
            METHODS[method](automaton, state)


@pytest.mark.parametrize("method", METHODS)
def test_a_number_that_no_state_has_is_named(method: str) -> None:
    with pytest.raises(ValueError, match="state 12345"):
        METHODS[method](KINDS["lazy"][0], 12345)


@pytest.mark.parametrize("method", ["mask", "mask within", "advance", "step", "is_final", "min_tokens", "fits"])
@pytest.mark.parametrize("kind", ["lazy", "finite", "pushdown"])
def test_a_state_of_another_kind_is_named(kind: str, method: str) -> None:
    other = KINDS["pushdown" if kind != "pushdown" else "lazy"][0].start
    with pytest.raises(TypeError, match="is not a state of this automaton"):
        METHODS[method](KINDS[kind][0], other)


def test_other_arguments_of_another_type_are_not_taken_for_the_state() -> None:
    automaton, token = KINDS["pushdown"][0], cast("Any", "x")
    with pytest.raises(TypeError, match="incompatible function arguments"):
        automaton.advance(automaton.start, token)


def test_the_end_has_no_tokens_of_its_own() -> None:
    automaton = KINDS["lazy"][0]
    with pytest.raises(ValueError, match="no tokens are known that lead to state"):
        automaton.explain(state=automaton.end_state)
    with pytest.raises(TokenNotAllowed, match="not allowed after the end of the text"):
        automaton.advance(automaton.end_state, 97)


def test_tokens_to_known_states() -> None:
    automaton = tokenfst.compile("(ab)+", ALL_BYTES)
    state = automaton.advance(automaton.start, 97)
    assert automaton.tokens_to(automaton.start) == []
    assert automaton.tokens_to(state) == [97]
    assert automaton.tokens_to(automaton.advance(state, 98)) == [97, 98]
