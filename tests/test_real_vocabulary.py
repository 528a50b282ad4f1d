"""Masks over a real vocabulary of 131,072 tokens equal a check of every token by the byte automaton, byte after byte.

The vocabulary is Tekken's, from PyPI's mistral-common. Walks are random and seeded; every finished text is one that
Python's `re` matches, and no walk comes to a place where nothing is allowed.
"""

from __future__ import annotations

import random
import re
from importlib.resources import files

import numpy as np
import numpy.typing as npt
import pytest
from kinds import complete

from automata import ByteAutomaton, compile_expr, parse
from constraints.paper import PATTERNS, SAMPLES
from tokenfst import Vocabulary, from_tekken
from tokenfst.finite.automaton import FiniteTokenAutomaton

WALKS, LENGTH = 6, 14


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


class EveryToken:
    """Runs every token of a vocabulary through a byte automaton at once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        lengths = np.array([len(token) for token in vocabulary.tokens])
        # Longest first, so that those with another byte to read come first.
        self.order = np.argsort(-lengths, kind="stable")
        tokens = [vocabulary.tokens[token] for token in self.order.tolist()]
        self.columns = [
            np.frombuffer(bytes(token[place] for token in tokens[: int((lengths > place).sum())]), np.uint8)
            for place in range(int(lengths.max()))
        ]
        self.silent = lengths == 0

    def targets(self, automaton: ByteAutomaton, state: int) -> npt.NDArray[np.int32]:
        """The byte state that each token leads to, or -1."""
        # The last row is the dead end.
        table = np.vstack([automaton.by_byte(), np.full((1, 256), -1, np.int32)])
        states = np.full(len(self.order), state, np.int32)
        for column in self.columns:
            states[: len(column)] = table[states[: len(column)], column]
        result = np.empty_like(states)
        result[self.order] = states
        result[self.silent] = -1
        return result


@pytest.fixture(scope="module")
def every_token(vocabulary: Vocabulary) -> EveryToken:
    return EveryToken(vocabulary)


def test_the_vocabulary_is_the_real_one(vocabulary: Vocabulary) -> None:
    assert len(vocabulary) == 131_072
    assert vocabulary.is_token_byte.all()
    assert len(vocabulary.eos_ids) > 0


@pytest.mark.parametrize("name", PATTERNS)
def test_every_mask_and_every_step_is_exact(name: str, vocabulary: Vocabulary, every_token: EveryToken) -> None:
    """All tokens in all states, those inside characters included."""
    automaton, byte_automaton = complete(PATTERNS[name], vocabulary), compile_expr(parse(PATTERNS[name]))
    pairs = {(automaton.start, byte_automaton.start)}
    waiting = list(pairs)
    while waiting:
        state, byte_state = waiting.pop()
        expected = every_token.targets(byte_automaton, byte_state)
        by_class, (numbers, targets) = np.full(automaton.num_classes, -1), automaton.moves(state)
        by_class[numbers] = targets
        reached = by_class[automaton.token_class]
        ends = list(vocabulary.eos_ids)
        assert (reached[ends] == (automaton.end_state if byte_automaton.final[byte_state] else -1)).all()
        assert np.array_equal(automaton.mask(state), reached >= 0)
        reached[ends] = expected[ends] = -1
        assert np.array_equal(reached >= 0, expected >= 0)
        # Tokens that lead to one byte state lead to one state.
        for pair in set(zip(reached.tolist(), expected.tolist(), strict=True)) - {(-1, -1)} - pairs:
            pairs.add(pair)
            waiting.append(pair)
    states, byte_states = zip(*pairs, strict=True)
    assert len(pairs) == len(set(states)) == len(set(byte_states)) == automaton.num_states - 1


@pytest.mark.parametrize("name", PATTERNS)
def test_masks_along_random_walks(name: str, vocabulary: Vocabulary, every_token: EveryToken) -> None:
    pattern = PATTERNS[name]
    automaton, byte_automaton = complete(pattern, vocabulary), compile_expr(parse(pattern))
    checked: dict[int, npt.NDArray[np.int32]] = {}
    for seed in range(WALKS):
        text = walk(automaton, byte_automaton, every_token, random.Random(seed), checked)
        assert re.fullmatch(pattern, text.decode(), re.ASCII), text


def walk(
    automaton: FiniteTokenAutomaton,
    byte_automaton: ByteAutomaton,
    every_token: EveryToken,
    generator: random.Random,
    checked: dict[int, npt.NDArray[np.int32]],
) -> bytes:
    """A random text, every mask on its way checked against every token.

    A byte automaton that is trim, over tokens that hold every byte, forbids just the tokens that lead nowhere.
    """
    vocabulary = automaton.vocabulary
    state, byte_state, text = automaton.start, byte_automaton.start, b""
    while state != automaton.end_state:
        if byte_state not in checked:
            checked[byte_state] = every_token.targets(byte_automaton, byte_state)
        expected = checked[byte_state] >= 0
        expected[list(vocabulary.eos_ids)] = byte_automaton.final[byte_state]
        mask = automaton.mask(state)
        assert np.array_equal(mask, expected), text
        assert automaton.is_final(state) == byte_automaton.final[byte_state]
        allowed = np.flatnonzero(mask)
        assert len(allowed), text
        token = choose(automaton, state, allowed, generator, hurry=len(text) > LENGTH)
        state = automaton.advance(state, token)
        if token not in vocabulary.eos_ids:
            byte_state, text = int(checked[byte_state][token]), text + vocabulary.tokens[token]
    return text


def choose(
    automaton: FiniteTokenAutomaton, state: int, allowed: npt.NDArray[np.intp], generator: random.Random, *, hurry: bool
) -> int:
    """Any allowed token; in a hurry one that comes nearer to the end."""
    if not hurry:
        return int(generator.choice(allowed))
    numbers, targets = automaton.moves(state)
    wanted, moves = automaton.min_tokens(state) - 1, dict(zip(numbers, targets, strict=True))
    classes = {
        number
        for number in set(automaton.token_class[allowed].tolist())
        if automaton.min_tokens(int(moves[number])) == wanted
    }
    assert classes, "no token leads to where min_tokens points"
    return int(generator.choice(allowed[np.isin(automaton.token_class[allowed], list(classes))]))


@pytest.mark.parametrize("name", PATTERNS)
def test_texts_are_accepted_however_they_are_cut_into_tokens(name: str, vocabulary: Vocabulary) -> None:
    automaton, text = complete(PATTERNS[name], vocabulary), SAMPLES[name].encode()
    assert re.fullmatch(PATTERNS[name], SAMPLES[name])
    token_of = {token: token_id for token_id, token in enumerate(vocabulary.tokens) if token}
    longest = max(map(len, token_of))
    for seed in range(20):
        generator, place, cut = random.Random(seed), 0, []
        while place < len(text):
            ends = [end for end in range(place + 1, min(place + longest, len(text)) + 1) if text[place:end] in token_of]
            end = generator.choice(ends)
            cut.append(token_of[text[place:end]])
            place = end
        assert vocabulary.detokenize(cut) == text
        assert automaton.accepts(cut)
        assert automaton.accepts([*cut, vocabulary.eos_ids[0]])
        assert automaton.accepts(cut[:-1]) == bool(
            re.fullmatch(PATTERNS[name].encode(), vocabulary.detokenize(cut[:-1]))
        )


@pytest.mark.parametrize("name", PATTERNS)
def test_every_state_has_a_token_and_an_end(name: str, vocabulary: Vocabulary) -> None:
    automaton = complete(PATTERNS[name], vocabulary)
    words = np.zeros(-(-len(vocabulary) // 32), np.int32)
    for state in range(automaton.num_states):
        automaton.fill_bitmask(state, words)
        assert words.any()
        assert np.array_equal(
            np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool), automaton.mask(state)
        )
        assert automaton.min_tokens(state) >= (1 if state != automaton.end_state else 0)
