"""The token automaton is exact: every mask agrees with the definition by OpenFst and with brute force.

`check_exact` walks the fast automaton, the composition by OpenFst and the brute-force search together through every
reachable triple of states, so it covers all sequences of tokens, whatever their length.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import complete
from strategies import BruteForce, accepted, all_patterns, exprs, up_to, vocabularies
from token_automaton_cases import E_ACUTE, PATTERNS, STORAGES, VOCABULARIES, allowed, check_exact, target

from automata import ANY_BYTES, EMPTY, ByteAutomaton, Expr, compile_expr, literal, parse
from automata.errors import EmptyLanguage, TokenNotAllowed, VocabularyError
from tokenfst import Vocabulary
from tokenfst.finite.automaton import FiniteTokenAutomaton


@pytest.mark.parametrize("name", VOCABULARIES)
def test_every_small_pattern_is_exact(name: str) -> None:
    for pattern in up_to(3):
        check_exact(pattern, VOCABULARIES[name])


@pytest.mark.parametrize("name", ["no byte b", "prefixes of others", "pairs only", "characters in parts"])
def test_every_pattern_of_four_nodes_is_exact(name: str) -> None:
    for pattern in all_patterns(4, quantifiers=("*", "?", "{2}")):
        check_exact(pattern, VOCABULARIES[name])


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize(
    "pattern",
    [r".*", r"(.|\n)*", r'"[^"\\]*"', r"[^a]*", r"(é|€)*", r"a\u00e9?b|[\u00e8-\u00ea]+", r"(?P<NOT>.*ab.*)",
     r"(?P<AND>(?:.*a.*)(?:[^c]*))", r"(?P<BYTES>[\x80-\xff]*)", r"\w{2,4}", r"(?i)A+É*"],
)  # fmt: skip
def test_free_text_is_exact(pattern: str, name: str) -> None:
    check_exact(pattern, VOCABULARIES[name])


@given(exprs(), vocabularies())
def test_random_constraints_over_random_vocabularies_are_exact(expr: Expr, vocabulary: Vocabulary) -> None:
    check_exact(expr, vocabulary)


@given(st.sampled_from(up_to(4)), vocabularies())
def test_small_patterns_over_random_vocabularies_are_exact(pattern: str, vocabulary: Vocabulary) -> None:
    check_exact(pattern, vocabulary)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_accepts_exactly_the_tokenizations_of_the_language(name: str) -> None:
    vocabulary = VOCABULARIES[name]
    tokens = [i for i, token in enumerate(vocabulary.tokens) if set(token) <= set(b"abc")][:6]
    for pattern in ["(ab)*", "a+b?", "[ab]{2,3}", "(a|ba)*b?", ""]:
        byte_automaton = compile_expr(parse(pattern))
        if BruteForce(byte_automaton, vocabulary).is_empty:
            continue
        automaton = complete(pattern, vocabulary)
        for length in range(5):
            for sequence in product(tokens, repeat=length):
                check_accepts(automaton, byte_automaton, sequence)


def check_accepts(automaton: FiniteTokenAutomaton, byte_automaton: ByteAutomaton, sequence: Sequence[int]) -> None:
    vocabulary = automaton.vocabulary
    body = list(sequence[:-1] if sequence and sequence[-1] in vocabulary.eos_ids else sequence)
    # A token that emits nothing is never allowed, and the end comes only at the end.
    spells = all(vocabulary.tokens[token] for token in body)
    expected = spells and byte_automaton.accepts(vocabulary.detokenize(body))
    assert automaton.accepts(sequence) == expected, sequence
    for end in vocabulary.eos_ids:
        assert automaton.accepts([*body, end]) == expected, (sequence, end)


def test_accepts_takes_any_iterable_and_any_number() -> None:
    automaton = complete("ab", VOCABULARIES["bytes"])
    assert automaton.accepts(iter([0, 1, 3]))
    assert not automaton.accepts([0, 1, 3, 3])
    assert not automaton.accepts([3])
    assert not automaton.accepts([0, -1])
    assert not automaton.accepts([0, 99])


# What cannot be written


@pytest.mark.parametrize("constraint", [EMPTY, r"[^\x00-\U0010ffff]", "(?P<AND>(?:a)(?:b))", literal("a") & "b"])
def test_a_language_without_texts_is_refused(constraint: str | Expr) -> None:
    with pytest.raises(EmptyLanguage, match="no text at all"):
        complete(constraint, VOCABULARIES["every byte"])


def test_a_language_that_tokens_cannot_spell_is_refused() -> None:
    with pytest.raises(EmptyLanguage, match="vocabulary"):
        complete("b+", VOCABULARIES["no byte b"])


def test_bytes_that_are_no_text_can_be_written() -> None:
    check_exact(ANY_BYTES, VOCABULARIES["characters in parts"])
    check_exact(literal(b"\xff") + b"a", VOCABULARIES["every byte"])


# Masks


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("size", [1, 31, 32, 33, 64, 65, 300])
def test_packed_masks_are_masks(size: int, storage: str) -> None:
    pieces = [b"a", b"b", b"ab", b"", b"c", b"aab", E_ACUTE, b"\xc3", b"ba"]
    vocabulary = Vocabulary([pieces[i % len(pieces)] for i in range(size)], [size // 2] if size > 1 else [])
    automaton = STORAGES[storage](complete("[^c]*", vocabulary))
    num_words = -(-size // 32)
    for state in range(automaton.num_states):
        mask = automaton.mask(state)
        assert mask.shape == (size,)
        assert mask.dtype == np.bool_
        for extra in (0, 1, 5):
            out = np.full(num_words + extra, 0x5A5A5A5A, np.int32)
            automaton.fill_bitmask(state, out)
            bits = [bool(int(out[token >> 5]) >> (token & 31) & 1) for token in range(32 * len(out))]
            assert bits == mask.tolist() + [False] * (32 * len(out) - size)


def test_masks_that_are_too_short_are_refused() -> None:
    automaton = complete("a*", VOCABULARIES["every byte"])
    with pytest.raises(ValueError, match="words"):
        automaton.fill_bitmask(automaton.start, np.zeros(8, np.int32))


def test_masks_stay_right_when_the_cache_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = complete("[ab]{9}", VOCABULARIES["prefixes of others"])
    monkeypatch.setattr("tokenfst.finite.automaton.MAX_CACHED_MASKS", 2)
    small = complete("[ab]{9}", VOCABULARIES["prefixes of others"])
    for state in [*range(small.num_states)] * 2:
        out = np.zeros(1, np.int32)
        small.fill_bitmask(state, out)
        assert np.array_equal(small.mask(state), expected.mask(state))
        assert out.view(np.uint32)[0] == sum(1 << token for token in allowed(expected, state))


def test_the_caller_cannot_change_a_mask_that_is_kept() -> None:
    automaton = complete("a*", VOCABULARIES["bytes"])
    automaton.mask(automaton.start)[:] = False
    out = np.zeros(1, np.int32)
    automaton.fill_bitmask(automaton.start, out)
    out[:] = 0
    assert allowed(automaton, automaton.start) == {0, 3}


# Steps


@pytest.mark.parametrize("storage", STORAGES)
def test_a_token_that_is_not_allowed_is_refused(storage: str) -> None:
    vocabulary = VOCABULARIES["special tokens"]
    automaton = STORAGES[storage](complete("ab", vocabulary))
    for token in (-1, -5, 5, 99, 1 << 40, 1, 2, 4):
        with pytest.raises(TokenNotAllowed):
            automaton.advance(automaton.start, token)
    assert not automaton.mask(automaton.start)[[1, 2, 4]].any()
    inside = automaton.advance(automaton.start, 0)
    assert allowed(automaton, inside) == {2}


def test_end_tokens_lead_to_the_end_and_stay_there() -> None:
    automaton = complete("ab?", VOCABULARIES["several end tokens"])
    state = automaton.advance(automaton.start, 1)
    assert [automaton.advance(state, token) for token in (0, 3, 5)] == [automaton.end_state] * 3
    assert allowed(automaton, automaton.end_state) == {0, 3, 5}
    assert automaton.is_final(automaton.end_state)
    assert automaton.min_tokens(state) == 1


def test_token_classes_tell_tokens_apart_exactly_when_some_state_does() -> None:
    for name, pattern in product(VOCABULARIES, PATTERNS):
        vocabulary = VOCABULARIES[name]
        try:
            automaton = complete(pattern, vocabulary)
        except EmptyLanguage:
            continue
        columns: dict[tuple[int, ...], set[int]] = {}
        for token in range(len(vocabulary)):
            column = tuple(target(automaton, state, token) for state in range(automaton.num_states))
            columns.setdefault(column, set()).add(int(automaton.token_class[token]))
        silent = -1 * np.ones(automaton.num_states, int)
        for column, classes in columns.items():
            assert len(classes) == 1, (name, pattern, column)
            assert (classes == {0}) == (column == tuple(silent)), (name, pattern)


# Vocabularies


@pytest.mark.parametrize(
    ("tokens", "eos", "special"),
    [([], [], {}), ([b"a"], [1], {}), ([b"a"], [-1], {}), ([b"a"], [], {"x": 7}), ([b"a", "b"], [], {})],
)
def test_what_is_no_vocabulary_is_refused(tokens: list[bytes], eos: list[int], special: dict[str, int]) -> None:
    with pytest.raises(VocabularyError):
        Vocabulary(tokens, eos, special_tokens=special)


def test_a_very_long_token_is_a_token() -> None:
    vocabulary = Vocabulary([b"a" * 5000, b"a", b"b" + b"a" * 4999, b""], [3])
    automaton = complete("a*", vocabulary)
    assert allowed(automaton, automaton.start) == {0, 1, 3}
    check_exact("b?(aa)*", vocabulary)


# Threads


def test_threads_that_do_the_same_get_the_same() -> None:
    vocabulary = VOCABULARIES["every byte"]
    patterns = [r'"[^"\\]*"', "(ab)*", r"(.|\n)*", "a{3}|b"]
    shared = [complete(pattern, vocabulary) for pattern in patterns]
    expected = [masks(automaton) for automaton in shared]

    def work(index: int) -> bool:
        which = index % len(patterns)
        own = complete(patterns[which], vocabulary)
        return masks(own) == expected[which] and masks(shared[which]) == expected[which]

    # New automata, whose masks no one has asked for yet.
    shared = [complete(pattern, vocabulary) for pattern in patterns]
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(200)))


def test_threads_may_share_a_cache_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenfst.finite.automaton.MAX_CACHED_MASKS", 3)
    shared = complete("[ab]{40}", VOCABULARIES["prefixes of others"])
    expected = [shared.mask(state).tobytes() for state in range(shared.num_states)]

    def work(seed: int) -> bool:
        states = random.Random(seed).choices(range(shared.num_states), k=5000)
        return all(shared.mask(state).tobytes() == expected[state] for state in states)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(work, range(16)))
    finally:
        sys.setswitchinterval(interval)


def masks(automaton: FiniteTokenAutomaton) -> list[bytes]:
    return [automaton.mask(state).tobytes() for state in range(automaton.num_states)]


def test_the_oracle_itself_tells_live_from_dead() -> None:
    brute = BruteForce(compile_expr(parse("ab|ac")), Vocabulary([b"a", b"b", b"ac"]))
    assert brute.allowed(brute.start) == {0, 2}
    assert accepted(compile_expr(parse("ab|ac")), b"abc", 3) == {b"ab", b"ac"}
    assert BruteForce(compile_expr(parse("ab")), Vocabulary([b"a"])).is_empty
