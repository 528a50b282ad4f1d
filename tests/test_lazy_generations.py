"""Generations: a lazy automaton reads any number of texts of any length within its memory, whatever they reach."""

from __future__ import annotations

import random
import signal
from functools import reduce
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
# The same inside arrays, with counts of characters and of elements.
LISTED = json_schema(
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "a": {"type": "string", "minLength": 3, "maxLength": 30},
                "bc": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 20},
                **{name: {"type": ["boolean", "string"]} for name in "defghi"},
            },
            "additionalProperties": False,
            "minProperties": 1,
        },
    },
    whitespace="compact",
    property_order="any",
)
COUNTED = json_schema(
    {"type": "array", "items": {"type": "string", "pattern": "^[(-z]*$", "minLength": 5, "maxLength": 2000}},
    whitespace="compact",
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


def lazily(constraint: Any, memory: int = MEMORY) -> LazyTokenAutomaton:
    automaton = tokenfst.compile(constraint, VOCABULARY, limits=Limits(memory=memory))
    assert isinstance(automaton, LazyTokenAutomaton)
    return automaton


@pytest.fixture(params=[NESTED, VALUES, ORDERS, LAST, LISTED], ids=["nested", "values", "orders", "last", "listed"])
def lazy(request: pytest.FixtureRequest) -> LazyTokenAutomaton:
    return lazily(request.param)


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


@pytest.mark.parametrize(
    ("constraint", "memory"),
    [(NESTED, 2 * MEMORY), (VALUES, MEMORY), (ORDERS, MEMORY), (LISTED, MEMORY), (LAST, 2 * MEMORY)],
    ids=["nested", "values", "orders", "listed", "last"],
)
def test_texts_in_turn_are_never_forgotten(constraint: Any, memory: int) -> None:
    lazy, rng = lazily(constraint, memory), random.Random(8)
    tables = lazy.complete(limits=Limits())
    texts, sizes = [(lazy.start, tables.start, 0)] * 100, [lazy.core.num_bytes]
    for _ in range(150):
        for at, (state, own, length) in enumerate(texts):
            if length == 3 * DEPTH or not tables.mask(own)[:-1].any():
                texts[at] = lazy.start, tables.start, 0
                continue
            token = opening(tables, own, rng)
            state, own = lazy.advance(state, token), tables.advance(own, token)
            assert (lazy.mask(state) == tables.mask(own)).all()
            texts[at] = state, own, length + 1
            sizes.append(lazy.core.num_bytes)
    assert sum(later < before for before, later in pairwise(sizes)) > 3
    assert max(sizes) < memory


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


def continues(automaton: TokenAutomaton, state: Any, token: int) -> bool:
    return bool(automaton.mask(automaton.advance(state, token))[:-1].any())


@pytest.mark.parametrize(
    ("constraint", "memory"),
    [(LAST, MEMORY), (LISTED, MEMORY // 2), (COUNTED, MEMORY // 2)],
    ids=["last", "listed", "counted"],
)
def test_a_text_may_reach_any_number_of_states(constraint: Any, memory: int) -> None:
    lazy, rng = lazily(constraint, memory), random.Random(7)
    tables = lazy.complete(limits=Limits())
    state, own = lazy.start, tables.start
    sizes = [lazy.core.num_bytes]
    for length in range(10_000):
        token = opening(tables, own, rng)
        if not continues(tables, own, token):
            continue
        own, state = tables.advance(own, token), lazy.advance(state, token)
        assert (lazy.mask(state) == tables.mask(own)).all()
        sizes.append(lazy.core.num_bytes)
        if length % 500 == 0:
            assert reduce(tables.advance, lazy.tokens_to(state), tables.start) == own
            assert lazy.min_tokens(state) == tables.min_tokens(own)
    assert sum(later < before for before, later in pairwise(sizes)) > 5
    assert max(sizes) < memory
    with pytest.raises(TokenNotAllowed, match=r"after \.\.\."):
        lazy.advance(state, TOKENS.index(b"\x00"))


@pytest.mark.parametrize("constraint", [NESTED, VALUES], ids=["nested", "values"])
def test_a_text_that_exceeds_the_memory_leaves_the_automaton_usable(constraint: Any) -> None:
    lazy = lazily(constraint)
    rng, first = random.Random(4), lazy.mask(lazy.start)

    def write(states: list[Any]) -> None:
        for _ in range(MEMORY):
            states.append(lazy.advance(states[-1], TOKENS.index(b"[")))

    for _ in range(2):
        states = [lazy.start]
        with pytest.raises(LimitExceeded, match="memory"):
            write(states)
        assert (lazy.mask(lazy.start) == first).all()
        for _ in range(200):
            text_of(lazy, rng)
        with pytest.raises(LimitExceeded, match="to make room for later texts"):
            lazy.mask(states[100])


WORDS = RulesAlone(
    VisiblyPushdownGrammar(
        (
            VisiblyPushdownRule(
                3,
                [LAST.grammar.rules[0].arcs[0], *((0, parse(f"x{number:06}y"), 1) for number in range(20_000))],
                ends=[(1, 0)],
            ),
        )
    )
)


@pytest.mark.parametrize("share", [2.3, 6])
def test_a_large_grammar_leaves_room_for_texts(share: float) -> None:
    """After each step, a token is refused, and the least number of tokens is asked for, which takes more memory."""
    lazy = lazily(WORDS, int(share * lazily(WORDS, 1 << 30).nbytes))
    rng, states, sizes, num_forgotten = random.Random(10), [lazy.start] * 4, [lazy.nbytes], 0
    for step in range(3000):
        at = step % len(states)
        try:
            state = lazy.start if step % 160 < 4 else states[at]
            states[at] = state = lazy.advance(state, opening(lazy, state, rng))
            assert lazy.min_tokens(state) > 0
            with pytest.raises(TokenNotAllowed):
                lazy.advance(state, 0)
            assert lazy.is_final(state) in (False, True)
        except LimitExceeded:
            num_forgotten += 1
            states[at] = lazy.start
        sizes.append(lazy.nbytes)
    assert sum(later < 0.9 * before for before, later in pairwise(sizes)) < 30
    assert share < 6 or not num_forgotten


def test_a_state_may_outlive_what_is_known_of_its_text() -> None:
    """States without a stack are those of the grammar's automaton, and stay valid."""
    rules = 'start: "x"* item "w" start?\nitem: "a" item "b" | "d" item "e" | "ac" | "c"'
    lazy, rng = lazily(grammar(rules, syntax="lark"), 1 << 17), random.Random(11)
    held = lazy.advance(lazy.advance(lazy.start, ord("c")), ord("w"))
    for _ in range(300):
        reduce(lazy.advance, rng.choices(b"ad", k=60), lazy.start)
    with pytest.raises(ValueError, match="no tokens are known"):
        lazy.tokens_to(held)
    with pytest.raises(TokenNotAllowed):
        lazy.advance(held, 0)
    with pytest.raises(TokenNotAllowed):
        lazy.advance(lazy.advance(held, ord("x")), 0)
    assert lazy.min_tokens(held) == 1


class Interrupted(BaseException):
    """What the handler of a signal raises."""


def test_interrupts_leave_the_automaton_right() -> None:
    """Steps are interrupted, as by Ctrl-C, and some of them while generations are made and dropped."""
    words = [(0, parse(f"x{number:06}y"), 1) for number in range(3000)]
    last = LAST.grammar.rules[0].arcs[0]
    lazy = lazily(RulesAlone(VisiblyPushdownGrammar((VisiblyPushdownRule(3, [last, *words], ends=[(1, 0)]),))))
    rng, first, num_interrupts = random.Random(9), lazy.mask(lazy.start), 0

    def ring(*_: object) -> None:
        raise Interrupted

    def advanced(state: Any, token: int) -> Any:
        signal.setitimer(signal.ITIMER_REAL, 2e-5)
        try:
            return lazy.advance(state, token)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(300):
            state = lazy.start
            for _ in range(DEPTH):
                token = opening(lazy, state, rng)
                try:
                    state = advanced(state, token)
                except Interrupted:
                    num_interrupts += 1
                    state = lazy.advance(state, token)
            assert (lazy.mask(lazy.start) == first).all()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert num_interrupts


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
