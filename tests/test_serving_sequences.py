"""One sequence, followed by its tokens in whatever order an engine hands them over; no engine is needed."""

from __future__ import annotations

import random
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import complete

import constraints
import tokenfst
from automata import EmptyLanguage, IncompleteOutput, LimitExceeded, Limits, TokenNotAllowed, TooManyConfigurations
from automata import expressions as ex
from decoding.compiling import BackgroundCompiler
from serving.sequences import SequenceProcessor, SequenceTracker
from tokenfst import Vocabulary

LETTERS = Vocabulary([b"a", b"b", b"ab", b"aba", b"\xc3", b"\xa9", b"", b"bb", b"", b"("], eos_ids=[6, 8])
ENDS = [6, 8]
# A token of the vocabulary, and one past it.
STOPS = (1, 10)
WIDTH = 12
BALANCED = constraints.grammar('start: "a" start "b" | "ab"', syntax="lark")
PALINDROMES = constraints.grammar('start: "a" start "a" | "b" start "b" | ""', syntax="lark")
KINDS: dict[str, Any] = {
    "dense": complete("(ab)*b?", LETTERS),
    "counted": complete("(a|bb){3,200}", LETTERS),
    "stack": complete(BALANCED, LETTERS),
    "parallel": tokenfst.compile(replace(PALINDROMES, ambiguity="parallel", max_configurations=12), LETTERS),
    "lazy": tokenfst.compile("b(ab|b)+a?", LETTERS),
    "weighted": tokenfst.compile(ex.ANY_TEXT | ex.literal("ab").weighted(-2.5) + ex.ANY_TEXT, LETTERS),
}


def expected(automaton: Any, written: list[int], stops: tuple[int, ...], limit: int | None) -> Any:
    """The biases behind a text, found by reading it from the start."""
    state, has_ended = automaton.start, False
    for token in written:
        has_ended = has_ended or token in ENDS or token in stops
        state = state if has_ended else automaton.advance(state, token)
    found = np.full(WIDTH, -np.inf)
    if has_ended:
        found[[*ENDS, *stops]] = 0
        return found
    remaining = None if limit is None else limit - len(written)
    mask = automaton.mask(state, remaining)
    found[: len(mask)][mask] = -automaton.costs(state)[mask]
    # A stop token ends the text as an end token does.
    found[list(stops)] = -automaton.costs(state)[6] if mask[6] else -np.inf
    return found


def is_stuck(biases: Any) -> bool:
    """Whether a text can continue with nothing but stop tokens."""
    return not np.isfinite(biases).any()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_biases_are_those_of_the_text_in_whatever_order_it_comes(kind: str, seed: int) -> None:
    rng, automaton = random.Random(seed), KINDS[kind]
    stops, limit = rng.choice([(), STOPS]), rng.choice([None, 20])
    processor = SequenceProcessor(automaton, LETTERS, stops=stops, max_tokens=limit)
    prompt, written = [rng.randrange(10) for _ in range(rng.randrange(3))], list[int]()
    texts: list[list[int]] = [[]]
    for _ in range(40):
        found = processor.biases(np.array(prompt + written, np.int32), WIDTH)
        assert found.dtype == np.float32
        right = expected(automaton, written, stops, limit)
        if is_stuck(right):
            assert np.flatnonzero(np.isfinite(found)).tolist() == sorted([*ENDS, *stops])
            with pytest.raises(IncompleteOutput, match="only those at which the engine stops"):
                processor.check()
            return
        np.testing.assert_allclose(found, right, rtol=1e-6)
        allowed = np.flatnonzero(np.isfinite(found)).tolist()
        move = rng.choice(["on", "on", "on", "back", "elsewhere", "again"])
        if move == "on" and allowed:
            written = [*written, rng.choice(allowed)]
            texts.append(written)
        elif move == "back":
            written = written[: rng.randrange(len(written) + 1)]
        elif move == "elsewhere":
            written = rng.choice(texts)
    processor.check()


def test_a_refused_token_leaves_what_comes_before_it() -> None:
    tracker = SequenceTracker(KINDS["dense"])
    with pytest.raises(TokenNotAllowed, match="token 0, number 3 of the text"):
        tracker.follow([2, 0, 0, 1])
    tracker.follow([2])
    assert np.flatnonzero(tracker.biases(WIDTH) == 0).tolist() == [0, 1, 2, 3, *ENDS]
    with pytest.raises(TokenNotAllowed, match="token 0, number 3 of the text"):
        tracker.follow([2, 6, 0])
    tracker.follow([0])
    assert np.flatnonzero(tracker.biases(WIDTH) == 0).tolist() == [1, 7]


def test_the_end_may_come_again_when_nothing_is_left() -> None:
    """Engines ask for a token more than they take."""
    processor = SequenceProcessor("ab", LETTERS, stops=[10], max_tokens=2)
    for written, allowed in (([], [2]), ([2], [6, 8, 10]), ([2, 6], [6, 8, 10]), ([2, 10, 6], [6, 8, 10])):
        found = processor.biases(np.array([5, *written]), WIDTH)
        assert np.flatnonzero(np.isfinite(found)).tolist() == allowed
    processor.check()


def test_a_text_that_needs_what_the_engine_stops_at_ends_early() -> None:
    processor = SequenceProcessor("ab?c?", Vocabulary([b"a", b"b", b"c", b"x", b""], 4), stops=[1, 2])
    assert np.flatnonzero(np.isfinite(processor.biases(np.array([3]), 5))).tolist() == [0]
    assert np.flatnonzero(np.isfinite(processor.biases(np.array([3, 0]), 5))).tolist() == [1, 2, 4]
    processor.check()
    processor = SequenceProcessor("abb?", Vocabulary([b"a", b"b", b"x", b""], 3), stops=[1])
    for written in ([], [0], [0, 1]):
        found = processor.biases(np.array([2, *written]), 4)
        assert np.flatnonzero(np.isfinite(found)).tolist() == ([1, 3] if written else [0])
    with pytest.raises(IncompleteOutput, match="only those at which the engine stops"):
        processor.check()


def test_an_engine_that_loses_errors_has_every_one_kept() -> None:
    class Keeping(SequenceProcessor):
        _ending = (Exception,)

    processor = Keeping("ab", LETTERS)
    processor.biases(np.array([5]), WIDTH)
    assert np.flatnonzero(np.isfinite(processor.biases(np.array([5, 7]), WIDTH))).tolist() == ENDS
    with pytest.raises(TokenNotAllowed):
        processor.check()


def doomed() -> Any:
    nested = constraints.grammar('start: "(" start "a" | "b"', syntax="lark")
    return tokenfst.compile(nested, LETTERS, limits=Limits(memory=1 << 15))


def test_an_automaton_beyond_its_limits_ends_its_text(caplog: pytest.LogCaptureFixture) -> None:
    processor, prompt = SequenceProcessor(doomed(), LETTERS, stops=[10, 99, -1]), [3, 4]
    written: list[int] = []
    while processor.error is None:
        assert len(written) < 10_000
        found = processor.biases(np.array(prompt + written), WIDTH)
        written.append(9)
    assert np.flatnonzero(np.isfinite(found)).tolist() == [6, 8, 10]
    # It does not come back, whatever is written.
    assert processor.biases(np.array(prompt), WIDTH).tolist() == found.tolist()
    with pytest.raises(LimitExceeded):
        processor.check()
    assert "before its constraint is satisfied" in caplog.text
    several = tokenfst.compile(replace(PALINDROMES, ambiguity="parallel", max_configurations=2), LETTERS)
    processor = SequenceProcessor(several, LETTERS)
    for number in range(9):
        processor.biases(np.array([0] * number), WIDTH)
    with pytest.raises(TooManyConfigurations):
        processor.check()


def test_futures_are_waited_for_at_the_first_call() -> None:
    with BackgroundCompiler() as compiler:
        processor = SequenceProcessor(compiler.submit("ab", LETTERS), LETTERS)
        assert np.flatnonzero(processor.biases(np.array([5]), WIDTH) == 0).tolist() == [0, 2]
        failing = SequenceProcessor(compiler.submit("(?P<NOT>(.|\\n)*)", LETTERS), LETTERS)
        with pytest.raises(EmptyLanguage):
            failing.biases(np.array([5]), WIDTH)
    late: Future[Any] = Future()
    processor = SequenceProcessor(late, LETTERS, max_tokens=2)
    late.set_result(tokenfst.compile("abababab", LETTERS))
    with pytest.raises(IncompleteOutput, match="at least 5 tokens, and the limit is 2"):
        processor.biases(np.array([5]), WIDTH)


def test_mistakes_are_said() -> None:
    for options, message in (
        ({"constraint": None}, "leave the processor out"),
        ({"max_tokens": 0}, "max_tokens is 1 or more, or None, not 0"),
        ({"constraint": "(("}, "never closed"),
        ({"constraint": tokenfst.compile("a", Vocabulary([b"a", b""], 1))}, "another vocabulary"),
        ({"constraint": KINDS["dense"], "at_text_start": True}, "compile it with at_text_start=True"),
        ({"vocabulary": Vocabulary([b"a"])}, "no end-of-sequence token"),
    ):
        given: dict[str, Any] = {"constraint": "a", "vocabulary": LETTERS} | options
        with pytest.raises(ValueError, match=message):
            SequenceProcessor(**given)
    with pytest.raises(IncompleteOutput, match="at least 5 tokens, and the limit is 2"):
        SequenceProcessor("abababab", LETTERS, max_tokens=2)
    with pytest.raises(IncompleteOutput, match="never called"):
        SequenceProcessor("a", LETTERS).check()
    processor = SequenceProcessor("a", LETTERS)
    processor.biases(np.array([5, 3]), WIDTH)
    for tokens in ([5], [5, 4], []):
        with pytest.raises(ValueError, match="another prompt"):
            processor.biases(np.array(tokens), WIDTH)
    for width, message in ((9, "do not cover"), (21, "another model's")):
        with pytest.raises(ValueError, match=message):
            processor.biases(np.array([5, 3]), width)
    with pytest.raises(TokenNotAllowed):
        processor.biases(np.array([5, 3, 3]), WIDTH)
