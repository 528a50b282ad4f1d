"""Counts, shortest and random sequences of tokens are those of a search over all sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import BruteForce, exprs, vocabularies

import tokenfst
from automata import EmptyLanguage, Expr, compile_expr
from tokenfst import Vocabulary
from tokenfst.finite.compile import from_bytes
from tokenfst.queries import count, sample, shortest

LENGTH = 3
# d, f, foo, food, o and the end.
FOOD = Vocabulary([b"d", b"f", b"foo", b"food", b"o", b""], eos_ids=[5])


def sequences(oracle: BruteForce, state: int, length: int) -> Iterator[tuple[int, ...]]:
    """Every sequence of just `length` tokens that completes a text from a state."""
    if length == 0:
        if oracle.final[state]:
            yield ()
        return
    for token, target in oracle.steps[state].items():
        if token not in oracle.vocabulary.eos_ids:
            for rest in sequences(oracle, target, length - 1):
                yield (token, *rest)


@settings(max_examples=40)
@given(exprs(), vocabularies(), st.integers(0, 9))
def test_questions_are_answered_as_by_search(expr: Expr, vocabulary: Vocabulary, seed: int) -> None:
    byte_automaton = compile_expr(expr)
    oracle = BruteForce(byte_automaton, vocabulary)
    assume(not oracle.is_empty and sum(map(len, oracle.steps)) < 60)
    automaton = from_bytes(byte_automaton, vocabulary)
    found = [list(sequences(oracle, oracle.start, length)) for length in range(LENGTH + 1)]
    for length in range(LENGTH + 1):
        assert count(automaton, length) == sum(map(len, found[: length + 1]))
        if not found[length]:
            with pytest.raises(EmptyLanguage):
                sample(automaton, 1, length=length, seed=seed)
            continue
        drawn = sample(automaton, 8, length=length, seed=seed)
        assert {tuple(tokens) for tokens in drawn} <= set(found[length])
        assert all(map(automaton.accepts, drawn))
    first = next((texts for texts in found if texts), None)
    assert automaton.accepts(shortest(automaton))
    assert first is None or tuple(shortest(automaton)) == min(first)


def test_by_hand() -> None:
    automaton = tokenfst.compile("(foo)+d", FOOD)
    assert shortest(automaton) == [3]
    # Of n tokens there are foo ... foo d and foo ... foo food, and of four also f o o d and f o o food.
    assert [count(automaton, length) for length in range(-1, 5)] == [0, 0, 1, 3, 5, 9]
    assert count(tokenfst.compile("(?:d|f)*", FOOD), 200) == 2**201 - 1
    with pytest.raises(EmptyLanguage, match="no sequence of -1 tokens"):
        sample(tokenfst.compile("d*", FOOD), 1, length=-1, seed=0)
    with pytest.raises(ValueError, match="a number of sequences is 0 or more, not -1"):
        sample(tokenfst.compile("d*", FOOD), -1, length=1, seed=0)


def test_samples_are_uniform() -> None:
    automaton = tokenfst.compile("(?:foo|d)*", FOOD)
    number = count(automaton, 4) - count(automaton, 3)
    found = Counter(map(tuple, sample(automaton, 400 * number, length=4, seed=1)))
    assert len(found) == number
    square = sum((times - 400) ** 2 / 400 for times in found.values())
    assert abs(square - (number - 1)) < 4 * (2 * (number - 1)) ** 0.5
