"""Bounds as large as they are meant to be: exact for every token that crosses them, in kilobytes, within limits."""

from __future__ import annotations

import re
import time
from functools import cache
from importlib.resources import files
from random import Random

import numpy as np
import pytest
import torch
from counted_cases import (
    VOCABULARIES,
)
from kinds import complete

import tokenfst
from automata import compile_expr, equivalent, parse
from automata.compile import nfa
from automata.errors import Cancelled, EmptyLanguage, LimitExceeded
from automata.limits import Cancellation, Limits, Work
from decoding.arena import Arena
from tokenfst import TokenAutomaton, Vocabulary, from_tekken
from tokenfst.counted.automaton import CountedTokenAutomaton
from tokenfst.finite.compile import from_bytes


def counted_pattern(random: Random, depth: int) -> str:
    inner = [counted_pattern(random, depth - 1) for _ in range(2)] if depth else ["a", "bc"]
    low = random.choice([0, 1, 2, 15, 16, 17, 20])
    high = random.choice([str(low + 2), str(low + 5), ""])
    found = [
        random.choice(["a", "[ab]", r"\d", "é", r"\w"]),
        f"(?:{inner[0]}|{inner[1]})",
        inner[0] + inner[1],
        f"(?:{inner[0]}){random.choice('*+?')}",
        f"(?:{inner[0]}){{{low},{high}}}",
        f"(?:{inner[0]}){{{low},{high}}}",
    ]
    return random.choice(found)


def test_copies_of_arcs_are_what_is_laid_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    random, num_counted = Random(1), 0
    while num_counted < 150:
        pattern = counted_pattern(random, 3)
        automata = []
        try:
            for least in (4, 1 << 30):
                monkeypatch.setattr(nfa, "_MANY_COPIES", least)
                automata.append(compile_expr(parse(pattern), Work(Limits(states=20_000))))
        except LimitExceeded:
            continue
        assert automata[0].num_states == automata[1].num_states
        assert equivalent(*automata), pattern
        num_counted += "{" in pattern


def test_large_bounds_are_exact_for_every_token() -> None:
    vocabulary = VOCABULARIES["tokens across bounds"]
    automaton = complete("[ab]{50000,100000}", vocabulary)
    assert automaton.nbytes < 2000
    assert automaton.min_tokens(automaton.start) == 10_001
    five, one = vocabulary.tokens.index(b"aaaaa"), vocabulary.tokens.index(b"a")
    lengths = [len(token) if set(token) <= set(b"ab") else 0 for token in vocabulary.tokens]
    state, length = automaton.start, 0
    while length < 100_000:
        step = five if not (49_980 < length < 50_010 or length > 99_980) else one
        state, length = automaton.advance(state, step), length + lengths[step]
        if 100 < length < 49_980 or 50_010 < length < 99_980:
            continue
        allowed = {token for token, size in enumerate(lengths) if size and length + size <= 100_000}
        assert set(np.flatnonzero(automaton.mask(state)).tolist()) == allowed | ({0} if length >= 50_000 else set())
        assert automaton.is_final(state) == (length >= 50_000)
        assert automaton.min_tokens(state) == 1 + max(0, -(-(50_000 - length) // 5))
    assert automaton.advance(state, 0) == automaton.end_state


@pytest.mark.parametrize("pattern", ["[ab]{500,600}", '"[^"]{0,400}"', "(ab|b){310,1000}", "(ab?){400}b*"])
def test_every_text_is_whole_within_a_tight_budget(pattern: str) -> None:
    automaton = complete(pattern, VOCABULARIES["tokens across bounds"])
    assert isinstance(automaton, CountedTokenAutomaton)
    arena, generator = Arena.of([automaton]), torch.Generator().manual_seed(1)
    budget = automaton.min_tokens(automaton.start) + 3
    at, written = arena.starts([1] * 8), []
    for remaining in range(budget, 0, -1):
        mask = arena.mask(at, remaining)
        assert mask.any(1).all()
        tokens = torch.multinomial(mask.float(), 1, generator=generator)[:, 0]
        at = arena.advance(at, tokens)
        written.append(tokens)
    assert arena.ended(at).all()
    for row in torch.stack(written, 1).tolist():
        text = automaton.vocabulary.detokenize(row[: row.index(0)]).decode()
        assert re.fullmatch(pattern, text)


def test_counts_that_tokens_cannot_spell_are_no_dead_ends() -> None:
    vocabulary = Vocabulary([b"aa", b"aaaa", b"b", b""], [3])
    automaton = complete("a{1001}b|a{0,600}", vocabulary)
    state = automaton.start
    for count in range(0, 600, 2):
        # Only even numbers can be written, so nothing leads on to 1001.
        assert set(np.flatnonzero(automaton.mask(state)).tolist()) == ({0, 1, 3} if count < 598 else {0, 3})
        state = automaton.advance(state, 0)
    assert np.flatnonzero(automaton.mask(state)).tolist() == [3]
    with pytest.raises(EmptyLanguage):
        complete("a{1001}", vocabulary)


def test_limits_hold_where_something_is_counted() -> None:
    explosive, vocabulary = "(?:a|b)*a(?:a|b){60}c{1000}", Vocabulary([b"a" * length for length in range(1, 65)])
    part = re.escape("; the part responsible is (?:a|b)*a(?:a|b){60}") + "$"
    with pytest.raises(LimitExceeded, match=rf"more than 2,000 states \(limit `states`\){part}"):
        complete(explosive, vocabulary, limits=Limits(states=2000))
    with pytest.raises(LimitExceeded, match=rf"takes more than 1,000,000 bytes \(limit `memory`\){part}"):
        complete(explosive, vocabulary, limits=Limits(memory=1_000_000))
    with pytest.raises(LimitExceeded, match=r"states with a register takes more than 1,000,000 bytes"):
        complete("a" * 5000 + "b{1000}", vocabulary, limits=Limits(memory=1_000_000))
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        complete("a{1000}", vocabulary, cancellation=cancellation)


def test_a_distance_that_changes_too_often_is_refused() -> None:
    automaton = complete("a{1100000}", VOCABULARIES["bytes"])
    for _ in range(2):
        with pytest.raises(LimitExceeded, match="the least numbers of tokens takes more than 16,777,216 bytes"):
            automaton.min_tokens(automaton.start)
    assert np.flatnonzero(automaton.mask(automaton.start)).tolist() == [0]
    assert np.iinfo(np.int32).max not in complete("a{4000}", VOCABULARIES["bytes"]).min_tokens_by_state[:1]


def test_distances_of_two_counts_take_linear_time() -> None:
    """Each register value before the letter leads to another one after it, so that many values are told apart."""
    around = [b"x" * before + b"a" + b"x" * after for before in range(0, 30, 3) for after in range(0, 30, 5)]
    runs = [b"x" * length for length in (2, 3, 4, 7, 8, 16, 23, 64, 81)]
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), *runs, *around, b""], eos_ids=[265 + len(around)])
    took = []
    for count in (5_000, 40_000):
        automaton = tokenfst.compile(f"[a-z]{{{count}}}a[a-z]{{{count}}}", vocabulary)
        begun = time.process_time()
        least = automaton.min_tokens(automaton.start)
        took.append(time.process_time() - begun)
        assert 2 * (count // 81) <= least < count // 20
    assert took[1] < 24 * took[0] + 0.3


def test_all_states_are_written_out_where_they_fit() -> None:
    vocabulary = VOCABULARIES["tokens across bounds"]
    automaton = complete("a{5}[ab]{0,500000000}", vocabulary)
    assert automaton.min_tokens(automaton.start) == 2
    with pytest.raises(LimitExceeded, match=r"the least numbers of tokens takes more than .* bytes"):
        automaton.min_tokens_by_state  # noqa: B018


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


JSON_CHARACTER = r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))'


@pytest.mark.parametrize(
    ("pattern", "opening", "many", "rounds", "one", "rest", "bound"),
    [
        ('"[^"]{0,100000}"', '"', "information", 11, "é", '[^"]{0,%d}"', 100_000),
        (f'"{JSON_CHARACTER}{{0,100000}}"', '"', "information", 11, r"\n", JSON_CHARACTER + '{0,%d}"', 100_000),
        (r"(\w+ ){1,500}", "", "information ", 1, "a ", r"(\w+ ){0,%d}", 500),
        ("[a-z]{50000,100000}", "", "information", 11, "i", "[a-z]{0,%d}", 100_000),
        ("[a-z]{50000,100000}", "", "information", 11, "i", "[a-z]{%d,300}", 50_000),
    ],
)
def test_near_a_large_bound_everything_is_as_for_what_is_left(
    pattern: str, opening: str, many: str, rounds: int, one: str, rest: str, bound: int, tekken: Vocabulary
) -> None:
    automaton = complete(pattern, tekken)
    assert isinstance(automaton, CountedTokenAutomaton)
    assert 20 * len(automaton.transitions.low) < 50_000
    state, written = spell(automaton, automaton.start, opening), 0
    for left in (40, 17, 8, 3, 1, 0):
        while written + rounds <= bound - left:
            state, written = spell(automaton, state, many), written + rounds
        while written < bound - left:
            state, written = spell(automaton, state, one), written + 1
        expected = from_bytes(compile_expr(parse(rest % left)), tekken)
        assert np.array_equal(automaton.mask(state), expected.mask(expected.start)), left
        assert automaton.min_tokens(state) == expected.min_tokens(expected.start)
        assert automaton.is_final(state) == expected.is_final(expected.start)


def spell(automaton: TokenAutomaton, state: int, text: str) -> int:
    """The state after a text, written with the longest tokens from its beginning on."""
    place_of, data = token_places(automaton.vocabulary), text.encode()
    while data:
        end = next(end for end in range(len(data), 0, -1) if data[:end] in place_of)
        state, data = automaton.advance(state, place_of[data[:end]]), data[end:]
    return state


@cache
def token_places(vocabulary: Vocabulary) -> dict[bytes, int]:
    return {token: place for place, token in enumerate(vocabulary.tokens) if token}
