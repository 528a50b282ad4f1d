"""Generations: a lazy automaton reads any number of texts within its memory, whatever stacks and states they reach."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tokenfst
from automata.errors import LimitExceeded, TokenNotAllowed
from automata.limits import Limits
from automata.pattern import parse
from automata.visibly_pushdown import VisiblyPushdownGrammar, VisiblyPushdownRule
from constraints import grammar, json_schema
from tokenfst import TextStart, TokenAutomaton, Vocabulary
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.unique_items.language import RulesAlone

TOKENS = [bytes([byte]) for byte in range(256)] + [b"((", b"[[", b")]", b"])", b"([", b"[1", b'{"', b'":', b"a)", b""]
VOCABULARY = Vocabulary(TOKENS, eos_ids=len(TOKENS) - 1)
NESTED = grammar('start: "a" | "(" start ")" | "[" start "]" start?', syntax="lark")
VALUES = json_schema(
    {
        "type": ["array", "object"],
        "items": {"$ref": "#"},
        "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}},
        "additionalProperties": False,
    },
    whitespace="compact",
)
# A state for each set of names, and for each set of the places of the last letters.
ORDERS = json_schema(
    {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in "abcdefghi"},
        "additionalProperties": False,
    },
    whitespace="compact",
    property_order="any",
)
LAST = RulesAlone(
    VisiblyPushdownGrammar((VisiblyPushdownRule(3, [(0, parse(r"[ -~]*\([ -~]{12}"), 1)], ends=[(1, 0)]),))
)
MEMORY = 1 << 20
DEPTH = 40


def opening(automaton: TokenAutomaton, state: Any, rng: random.Random) -> int:
    """A token that the automaton allows, most likely one that opens a bracket."""
    allowed = np.flatnonzero(automaton.mask(state)[: len(TOKENS) - 1]).tolist()
    opens = [token for token in allowed if TOKENS[token][-1:] in (b"(", b"[", b"{")]
    return int(rng.choice(opens if opens and rng.random() < 0.8 else allowed))


def text_of(automaton: TokenAutomaton, rng: random.Random) -> list[int]:
    tokens, state = list[int](), automaton.start
    while len(tokens) < DEPTH and automaton.mask(state)[:-1].any():
        tokens.append(opening(automaton, state, rng))
        state = automaton.advance(state, tokens[-1])
    return tokens


@pytest.fixture(params=[NESTED, VALUES, ORDERS, LAST], ids=["nested", "values", "orders", "last"])
def lazy(request: pytest.FixtureRequest) -> LazyTokenAutomaton:
    automaton = tokenfst.compile(request.param, VOCABULARY, limits=Limits(memory=MEMORY))
    assert isinstance(automaton, LazyTokenAutomaton)
    return automaton


def test_any_number_of_texts_can_be_read(lazy: LazyTokenAutomaton) -> None:
    rng = random.Random(1)
    sizes = [lazy.nbytes]
    for _ in range(1500):
        text_of(lazy, rng)
        sizes.append(lazy.nbytes)
    assert any(later < before for before, later in pairwise(sizes))
    assert max(sizes) < MEMORY


def test_texts_side_by_side_outlive_a_generation(lazy: LazyTokenAutomaton) -> None:
    rng, tables = random.Random(2), lazy.complete(limits=Limits())
    texts = [(lazy.start, tables.start, 0)] * 6
    begun = 0
    while begun < 600:
        at = rng.randrange(len(texts))
        state, own, length = texts[at]
        assert (lazy.mask(state) == tables.mask(own)).all()
        assert lazy.is_final(state) == tables.is_final(own)
        if rng.random() < 0.1:
            least = tables.min_tokens(own)
            assert lazy.min_tokens(state) == least
            assert (lazy.mask(state, least + 1) == tables.mask(own, least + 1)).all()
        if length == DEPTH or not tables.mask(own)[:-1].any():
            texts[at] = lazy.start, tables.start, 0
            begun += 1
        else:
            token = opening(tables, own, rng)
            texts[at] = lazy.advance(state, token), tables.advance(own, token), length + 1


def test_a_state_is_right_until_it_is_refused_for_good(lazy: LazyTokenAutomaton) -> None:
    rng, tables = random.Random(3), lazy.complete(limits=Limits())
    held = list[tuple[Any, Any, int]]()
    for number in range(400):
        state, own = lazy.start, tables.start
        for token in text_of(lazy, rng):
            state, own = lazy.advance(state, token), tables.advance(own, token)
        held.append((state, own, number))
    refused = list[int]()
    for state, own, number in held:
        try:
            assert (lazy.mask(state) == tables.mask(own)).all()
        except LimitExceeded:
            refused.append(number)
            for ask in (lazy.min_tokens, lazy.is_final, lazy.mask, lambda state: lazy.advance(state, 0)):
                with pytest.raises(LimitExceeded, match="to make room for later texts within 1,048,576 bytes"):
                    ask(state)
    assert refused
    assert max(refused) < 395


@pytest.mark.parametrize(
    ("constraint", "letters"), [(NESTED, b"["), (VALUES, b"["), (LAST, b"([")], ids=["nested", "values", "last"]
)
def test_a_text_that_exceeds_the_memory_leaves_the_automaton_usable(constraint: Any, letters: bytes) -> None:
    """The stack of the text grows, or the number of states that it reaches."""
    lazy = tokenfst.compile(constraint, VOCABULARY, limits=Limits(memory=MEMORY))
    assert isinstance(lazy, LazyTokenAutomaton)
    rng, first = random.Random(4), lazy.mask(lazy.start)

    def write(states: list[Any]) -> None:
        for _ in range(MEMORY):
            states.append(lazy.advance(states[-1], rng.choice(letters)))

    for _ in range(2):
        states = [lazy.start]
        with pytest.raises(LimitExceeded, match="memory"):
            write(states)
        assert (lazy.mask(lazy.start) == first).all()
        for _ in range(200):
            text_of(lazy, rng)
        with pytest.raises(LimitExceeded, match="to make room for later texts"):
            lazy.mask(states[100])


def test_what_tokens_write_at_the_start_of_a_text_stays() -> None:
    vocabulary = Vocabulary(
        [*TOKENS[:-1], b" (", b""], eos_ids=len(TOKENS), text_start=TextStart(exceptions={len(TOKENS) - 1: b"("})
    )
    lazy = tokenfst.compile(NESTED, vocabulary, at_text_start=True, limits=Limits(memory=MEMORY))
    assert isinstance(lazy, LazyTokenAutomaton)
    first = lazy.mask(lazy.start)
    assert first[len(TOKENS) - 1]
    rng = random.Random(5)
    for _ in range(300):
        text_of(lazy, rng)
    assert (lazy.mask(lazy.start) == first).all()
    state = lazy.advance(lazy.start, len(TOKENS) - 1)
    assert (lazy.mask(state) == lazy.mask(lazy.advance(lazy.start, TOKENS.index(b"(")))).all()


def test_errors_name_the_text_after_many_others(lazy: LazyTokenAutomaton) -> None:
    rng = random.Random(6)
    for _ in range(300):
        tokens = text_of(lazy, rng)
        state = lazy.start
        for token in tokens:
            state = lazy.advance(state, token)
        if state != lazy.start:
            reached = lazy.start
            for token in lazy.tokens_to(state):
                reached = lazy.advance(reached, token)
            assert reached == state
            with pytest.raises(TokenNotAllowed, match=r"after .*"):
                lazy.advance(state, TOKENS.index(b"\x00"))
