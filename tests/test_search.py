"""Search equals looking at every text of the language; scores are the model's own."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import constraints
import tokenfst
from automata import parse
from automata.errors import IncompleteOutput
from decoding import bundled_model, vocabulary_of
from decoding.difficulty import Difficulty
from decoding.sampling import Sampling, probabilities
from decoding.search import FunctionScorer, Hypothesis, ModelScorer, beam_search, best_of_n
from decoding.search.scorers import Logits
from tokenfst import TokenAutomaton, Vocabulary

LETTERS = Vocabulary([b"a", b"b", b"ab", b"ba", b""], eos_ids=[4])
TWO_ENDS = Vocabulary([b"a", b"b", b"ab", b"", b""], eos_ids=[3, 4])
PATTERNS = ["(a|b){0,3}", "(ab)*", "a*b?", "b(ab|a)+", "(aab|ba|b)*", "(a|b){5}"]
LIMIT = 4


def toy(seed: int, width: int) -> Logits:
    """A model whose logits depend on all tokens so far."""

    def logits(rows: list[list[int]]) -> torch.Tensor:
        return torch.stack([torch.from_numpy(toy_logits(seed, tuple(row), width)) for row in rows]).float()

    return logits


@cache
def toy_logits(seed: int, tokens: tuple[int, ...], width: int) -> Any:
    return np.random.default_rng([seed, 7, *tokens]).normal(size=width) * 2


def log_probability(seed: int, prompt: list[int], tokens: tuple[int, ...], vocabulary: Vocabulary, width: int) -> float:
    """Of tokens with an end token, in double precision; any end token will do."""
    total = 0.0
    for place, token in enumerate(tokens):
        logits = toy_logits(seed, (*prompt, *tokens[:place]), width)
        wanted = list(vocabulary.eos_ids) if token in vocabulary.eos_ids else [token]
        total += np.logaddexp.reduce(logits[wanted]) - np.logaddexp.reduce(logits)
    return float(total)


def language(automaton: TokenAutomaton, limit: int) -> list[tuple[int, ...]]:
    """All texts of at most `limit` tokens, the end counted and left out."""
    plain = [token for token in range(len(automaton.vocabulary)) if token not in automaton.vocabulary.eos_ids]
    sequences = (tokens for length in range(limit) for tokens in itertools.product(plain, repeat=length))
    return [tokens for tokens in sequences if automaton.accepts(tokens)]


def check(found: list[Hypothesis], seed: int, prompt: list[int], automaton: TokenAutomaton, penalty: float) -> None:
    """Scores, texts and order."""
    vocabulary = automaton.vocabulary
    for one in found:
        expected = log_probability(seed, prompt, one.tokens, vocabulary, len(vocabulary) + 2)
        assert math.isclose(one.log_probability, expected, abs_tol=1e-5)
        assert math.isclose(one.score, expected / len(one.tokens) ** penalty, abs_tol=1e-5)
        assert one.tokens[-1] in vocabulary.eos_ids
        assert automaton.accepts(one.tokens)
        assert one.text == str(one) == automaton.text(one.tokens[:-1]).decode()
        assert len(one.tokens) <= LIMIT
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@pytest.mark.parametrize("penalty", [0.0, 1.0, -0.7])
@pytest.mark.parametrize("vocabulary", [LETTERS, TWO_ENDS], ids=["one end", "two ends"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_wide_beams_find_the_whole_language(pattern: str, vocabulary: Vocabulary, penalty: float) -> None:
    automaton = tokenfst.compile(pattern, vocabulary)
    prompts, width = [[0, 1], [2], [0, 0, 1]], len(vocabulary) + 2
    options: dict[str, Any] = {"max_new_tokens": LIMIT, "beams": 200, "length_penalty": penalty}
    found = beam_search(toy(3, width), vocabulary, prompts, automaton, **options)
    every = language(automaton, LIMIT)
    assert len(every) > 1
    for prompt, hypotheses in zip(prompts, found, strict=True):
        assert sorted(one.tokens[:-1] for one in hypotheses) == sorted(every)
        check(hypotheses, 3, prompt, automaton, penalty)


@settings(max_examples=30)
@given(st.sampled_from(PATTERNS), st.integers(0, 30), st.integers(1, 4), st.sampled_from([0.0, 0.6, 1.0, -0.5, 2.0]))
def test_as_many_beams_as_prefixes_find_the_best(pattern: str, seed: int, count: int, penalty: float) -> None:
    """Stopping early loses nothing: with a width at which no beam is cut, the first `count` are the best `count`."""
    automaton = tokenfst.compile(pattern, LETTERS)
    options: dict[str, Any] = {"max_new_tokens": LIMIT, "length_penalty": penalty}
    found = beam_search(toy(seed, 7), LETTERS, [[1]], automaton, beams=40, **options)[0]
    scores = sorted(
        (
            log_probability(seed, [1], (*tokens, 4), LETTERS, 7) / (len(tokens) + 1) ** penalty
            for tokens in language(automaton, LIMIT)
        ),
        reverse=True,
    )
    assert np.allclose([one.score for one in found[:count]], scores[:count], atol=1e-5)
    narrow = beam_search(toy(seed, 7), LETTERS, [[1]], automaton, beams=count, **options)[0]
    check(narrow, seed, [1], automaton, penalty)
    assert narrow
    assert narrow[0].score <= scores[0] + 1e-5


@settings(max_examples=50)
@given(
    st.sampled_from(PATTERNS),
    st.integers(0, 30),
    st.integers(1, 3),
    st.integers(2, LIMIT),
    st.sampled_from([0.0, 0.6, 1.0, -0.5, 2.0]),
)
def test_beams_are_the_best_at_each_step(pattern: str, seed: int, beams: int, limit: int, penalty: float) -> None:
    """The definition, written down with nothing but sorting; and no stop before the limit."""
    automaton = tokenfst.compile(pattern, LETTERS)
    texts = language(automaton, limit)
    assume(texts)
    live: list[tuple[int, ...]] = [()]
    finished: list[float] = []
    for length in range(limit):
        ends = [(*tokens, 4) for tokens in live if tokens in texts]
        finished += [log_probability(seed, [1], end, LETTERS, 7) / (length + 1) ** penalty for end in ends]
        longer = {text[: length + 1] for text in texts if len(text) > length and text[:length] in live}
        live = sorted(longer, key=lambda tokens: -log_probability(seed, [1], tokens, LETTERS, 7))[:beams]
    options: dict[str, Any] = {"max_new_tokens": limit, "beams": beams, "length_penalty": penalty}
    found = beam_search(toy(seed, 7), LETTERS, [[1]], automaton, **options)[0]
    assert np.allclose([one.score for one in found], sorted(finished, reverse=True)[:beams], atol=1e-5)


@pytest.mark.parametrize("penalty", [-32, -1, 17, 32])
def test_no_limit_is_a_length_too_great_for_a_penalty(penalty: float) -> None:
    automaton = tokenfst.compile("(a|b){0,3}", LETTERS)
    options: dict[str, Any] = {"beams": 2, "length_penalty": penalty}
    found = beam_search(toy(3, 7), LETTERS, [[1]], automaton, max_new_tokens=2**62, **options)
    assert found == beam_search(toy(3, 7), LETTERS, [[1]], automaton, max_new_tokens=9, **options)


def test_each_prompt_has_its_own_constraint_and_answer() -> None:
    patterns = ["(a|b)*", "b+", "(ab|b)*a"]
    automata = [tokenfst.compile(pattern, LETTERS) for pattern in patterns]
    prompts = [[0], [1, 2, 3], [2, 2]]
    together = beam_search(toy(5, 7), LETTERS, prompts, automata, max_new_tokens=6, beams=3)
    for prompt, automaton, found in zip(prompts, automata, together, strict=True):
        assert found == beam_search(toy(5, 7), LETTERS, [prompt], automaton, max_new_tokens=6, beams=3)[0]
        assert all(automaton.accepts(one.tokens) for one in found)
    with pytest.raises(ValueError, match="2 constraints for 3 prompts"):
        beam_search(toy(5, 7), LETTERS, prompts, automata[:2], max_new_tokens=6)


def test_groups_differ_as_diversity_asks() -> None:
    """By hand: the second group avoids what the first chose if and only if that costs less than the diversity."""
    automaton = tokenfst.compile("a|b|ab|ba", LETTERS)

    def logits(rows: list[list[int]]) -> torch.Tensor:
        first = torch.tensor([2.0, 1.0, -3.0, -3.0, -9.0])
        return torch.stack([first if len(row) == 1 else torch.tensor([-5.0, -5.0, -9.0, -9.0, 5.0]) for row in rows])

    def texts(diversity: float) -> list[str]:
        found = beam_search(
            logits, LETTERS, [[0]], automaton, max_new_tokens=3, beams=2, groups=2, diversity=diversity
        )[0]
        return [one.text for one in sorted(found, key=lambda one: one.group)]

    # The second group may not end with the first one's text, and goes on from there.
    assert texts(0.9) == ["a", "ab"]
    assert texts(1.1) == ["a", "b"]


@settings(max_examples=25)
@given(st.integers(0, 30), st.sampled_from(PATTERNS), st.sampled_from([0.0, 0.5, 5.0]), st.sampled_from([0.0, 1.0]))
def test_the_first_group_is_plain_and_all_differ(seed: int, pattern: str, diversity: float, penalty: float) -> None:
    automaton = tokenfst.compile(pattern, LETTERS)
    options: dict[str, Any] = {"max_new_tokens": LIMIT, "length_penalty": penalty}
    found = beam_search(toy(seed, 7), LETTERS, [[1], [0]], automaton, beams=6, groups=3, diversity=diversity, **options)
    plain = beam_search(toy(seed, 7), LETTERS, [[1], [0]], automaton, beams=2, **options)
    for prompt, (own, expected) in enumerate(zip(found, plain, strict=True)):
        check(own, seed, [[1], [0]][prompt], automaton, penalty)
        assert len({one.tokens for one in own}) == len(own)
        assert [one for one in own if one.group == 0] == expected


def test_strong_diversity_gives_every_group_another_first_token() -> None:
    automaton = tokenfst.compile("(a|b){2,4}", LETTERS)
    found = beam_search(toy(8, 7), LETTERS, [[1]], automaton, max_new_tokens=5, beams=4, groups=4, diversity=1e6)[0]
    assert sorted(one.group for one in found) == [0, 1, 2, 3]
    assert len({one.tokens[0] for one in found}) == 4


@pytest.mark.parametrize("diversity", [-1.0, float("inf"), float("nan")])
def test_impossible_diversity_is_refused(diversity: float) -> None:
    with pytest.raises(ValueError, match="diversity is finite and at least 0"):
        beam_search(toy(1, 7), LETTERS, [[0]], "a", max_new_tokens=4, beams=2, groups=2, diversity=diversity)


@pytest.mark.parametrize("options", [{"beams": 0}, {"beams": 4, "groups": 3}, {"groups": 0}], ids=str)
def test_beams_that_cannot_be_divided_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cannot be divided"):
        beam_search(toy(1, 7), LETTERS, [[0]], tokenfst.compile("a", LETTERS), max_new_tokens=4, **options)


def test_limits_and_widths_that_do_not_do_are_refused() -> None:
    automaton = tokenfst.compile("(ab|ba){4}", LETTERS)
    for search in (beam_search, best_of_n):
        with pytest.raises(IncompleteOutput, match=r"prompt 0: the constraint takes at least 5 tokens, .* is 4"):
            search(toy(1, 7), LETTERS, [[0]], automaton, max_new_tokens=4)
        with pytest.raises(ValueError, match="width 3 do not cover the vocabulary of 5"):
            search(toy(1, 3), LETTERS, [[0]], automaton, max_new_tokens=5)
        assert search(toy(1, 7), LETTERS, [], automaton, max_new_tokens=5) == []
    with pytest.raises(ValueError, match="n is 1 or more, not 0"):
        best_of_n(toy(1, 7), LETTERS, [[0]], automaton, max_new_tokens=5, n=0)


@pytest.mark.parametrize("number", [-math.inf, math.nan], ids=str)
def test_texts_that_the_model_rules_out_are_found_where_there_are_no_others(number: float) -> None:
    automaton = tokenfst.compile("ab", LETTERS)

    def logits(rows: list[list[int]]) -> torch.Tensor:
        return torch.tensor([[0.0, number, number, 0.0, 0.0, 0.0, 0.0]] * len(rows))

    found = beam_search(logits, LETTERS, [[0]], automaton, max_new_tokens=3, beams=4)[0]
    assert {one.text for one in found} == {"ab"}
    assert [one.log_probability for one in found] == [-math.inf] * 2
    sampled = best_of_n(logits, LETTERS, [[0]], automaton, max_new_tokens=3, n=2)[0]
    assert [(one.text, one.log_probability) for one in sampled] == [("ab", -math.inf)] * 2


def test_samples_follow_the_stepwise_distribution() -> None:
    """Against the product of masked and renormalized steps, over all texts of the language."""
    automaton = tokenfst.compile("(a|b){0,2}", LETTERS)
    sampling, number = Sampling(temperature=1.3, top_k=3, seed=4), 4000
    found = best_of_n(
        toy(6, 7), LETTERS, [[1]], automaton, max_new_tokens=3, n=number, temperature=1.3, top_k=3, seed=4
    )[0]
    counts = Counter(one.tokens for one in found)
    total = 0.0
    for tokens in language(automaton, 3):
        chance, state = 1.0, automaton.start
        for place, token in enumerate((*tokens, 4)):
            logits = toy(6, 7)([[1, *tokens[:place]]])
            mask = torch.zeros(1, 7, dtype=torch.bool)
            mask[0, :5] = torch.from_numpy(automaton.mask(state, 3 - place))
            chance *= float(probabilities(logits, mask, sampling)[0, token])
            state = automaton.advance(state, token) if token != 4 else state
        total += chance
        spread = math.sqrt(number * chance * (1 - chance))
        assert abs(counts[(*tokens, 4)] - number * chance) <= 4.5 * spread
    assert math.isclose(total, 1, abs_tol=1e-5)
    check(found, 6, [1], automaton, 0.0)


def test_samples_of_a_prompt_do_not_depend_on_the_batch() -> None:
    automaton = tokenfst.compile("(a|b){0,5}", LETTERS)
    options: dict[str, Any] = {"max_new_tokens": 6, "n": 8, "seed": 9}
    options |= {"frequency_penalty": 0.3, "repetition_penalty": 1.2}
    together = best_of_n(toy(2, 7), LETTERS, [[0, 1], [1], [2]], automaton, **options)
    assert together[1] == best_of_n(toy(2, 7), LETTERS, [[1]], automaton, **options)[0]
    assert len({one.tokens for one in together[1]}) > 2
    fewer = best_of_n(toy(2, 7), LETTERS, [[1]], automaton, **{**options, "n": 3})[0]
    assert {one.tokens for one in fewer} <= {one.tokens for one in together[1]}


def test_any_end_token_ends_a_sample() -> None:
    automaton = tokenfst.compile("a{0,2}", TWO_ENDS)
    found = best_of_n(toy(2, 7), TWO_ENDS, [[0]], automaton, max_new_tokens=LIMIT, n=20, seed=3)[0]
    check(found, 2, [0], automaton, 0.0)
    assert {one.tokens[-1] for one in found} == {3, 4}


def test_a_judge_ranks() -> None:
    automaton = tokenfst.compile("(a|b){1,5}", LETTERS)
    options: dict[str, Any] = {"max_new_tokens": 6, "n": 12, "seed": 1}
    found = best_of_n(toy(2, 7), LETTERS, [[0]], automaton, judge=lambda text: float(text.count("a")), **options)[0]
    assert [one.score for one in found] == sorted((one.text.count("a") for one in found), reverse=True)
    assert sorted(one.tokens for one in found) == sorted(
        one.tokens for one in best_of_n(toy(2, 7), LETTERS, [[0]], automaton, **options)[0]
    )


def test_difficulty_is_filled_by_the_way() -> None:
    automaton, difficulty = tokenfst.compile("(ab|b){1,3}", LETTERS), Difficulty()
    options: dict[str, Any] = {"max_new_tokens": 7, "n": 4, "seed": 2}
    found = best_of_n(toy(2, 7), LETTERS, [[0], [1]], automaton, difficulty=difficulty, **options)
    assert found == best_of_n(toy(2, 7), LETTERS, [[0], [1]], automaton, **options)
    texts = difficulty.texts()
    assert sorted(len(text.removed) for text in texts[:4]) == sorted(len(one.tokens) for one in found[0])
    assert sorted(len(text.removed) for text in texts[4:]) == sorted(len(one.tokens) for one in found[1])
    assert sum(text.interventions for text in texts) > 0


def test_a_models_cache_follows_its_rows() -> None:
    """The same logits as from the tokens without a cache; rows swapped, doubled and dropped; prompts padded."""
    model, _ = bundled_model()

    @torch.no_grad()
    def logits(rows: list[list[int]]) -> torch.Tensor:
        return torch.stack([model(input_ids=torch.tensor([row])).logits[0, -1] for row in rows])

    rows, plain = ModelScorer(model), FunctionScorer(logits)
    prompts = [[5, 9, 300, 41], [7], [800, 12]]
    torch.testing.assert_close(rows.start(prompts), plain.start(prompts), atol=1e-3, rtol=0)
    for parents, tokens in [([2, 0, 0, 1], [5, 6, 7, 8]), ([3, 3, 1], [9, 10, 11]), ([0], [12]), ([0, 0], [3, 4])]:
        torch.testing.assert_close(rows.step(parents, tokens), plain.step(parents, tokens), atol=1e-3, rtol=0)
    with pytest.raises(ValueError, match="no tokens"):
        rows.start([[1], []])


def test_the_bundled_model_searches() -> None:
    model, tokenizer = bundled_model()
    vocabulary = vocabulary_of(tokenizer)
    automaton = tokenfst.compile("[A-Z][a-z]{1,9}( [A-Z][a-z]{1,9})?", vocabulary)
    prompts = ["Name: ", "A person of this name lives here: "]
    widths = [beam_search(model, tokenizer, prompts, automaton, max_new_tokens=12, beams=beams) for beams in (1, 8)]
    for narrow, wide in zip(*widths, strict=True):
        assert wide[0].log_probability >= narrow[0].log_probability - 1e-4
        assert all(automaton.accepts(one.tokens) for one in wide)
    sampled = best_of_n(model, tokenizer, prompts, automaton, max_new_tokens=12, n=8, seed=1)
    assert all(automaton.accepts(one.tokens) for found in sampled for one in found)


STACKED = constraints.grammar('root ::= "x" | "(" root ")" | "[" root "]" root')


@pytest.mark.parametrize(
    ("constraint", "options"),
    [
        ("[a-z]{3,}", {}),
        ("[a-z]{1,400}!", {}),
        ("[a-z]+(, [a-z]+)*", {"tokenization": "canonical"}),
        (STACKED, {}),
    ],
    ids=["pattern", "count", "canonical", "stack"],
)
def test_every_kind_of_automaton_is_searched(constraint: Any, options: dict[str, Any]) -> None:
    vocabulary = vocabulary_of(bundled_model()[1])
    automaton, width = tokenfst.compile(constraint, vocabulary, **options), len(vocabulary)
    for limit in (automaton.min_tokens(automaton.start), 9):
        found = beam_search(toy(3, width), vocabulary, [[0], [1]], automaton, max_new_tokens=limit, beams=4, groups=2)
        sampled = best_of_n(toy(3, width), vocabulary, [[0], [1]], automaton, max_new_tokens=limit, n=4, seed=1)
        assert all([*found, *sampled])
        for one in (*found[0], *found[1], *sampled[0], *sampled[1]):
            assert automaton.accepts(one.tokens)
            assert one.tokens[-1] in vocabulary.eos_ids
            assert len(one.tokens) <= limit


def test_a_text_that_becomes_better_with_its_length_is_waited_for() -> None:
    automaton = tokenfst.compile("b{0,3}", LETTERS)

    def logits(rows: list[list[int]]) -> torch.Tensor:
        following = {1: [-99, -1.1, -99, -99, -0.4], 4: [-99, -99, -99, -99, 0]}
        return torch.tensor([following.get(len(row), [-99, 0, -99, -99, -99]) for row in rows]).float()

    found = beam_search(logits, LETTERS, [[0]], automaton, max_new_tokens=4, beams=1, length_penalty=1.0)[0]
    assert [one.text for one in found] == ["bbb"]


def test_a_text_that_a_later_token_rewards_is_waited_for() -> None:
    """Weights below zero may raise a score after the first texts have ended; against all texts within the limit."""
    automaton = tokenfst.compile((parse("b") | parse("a").weighted(-2)).star(), LETTERS)

    def logits(rows: list[list[int]]) -> torch.Tensor:
        following = {1: [0.0, -1.0, -99, -99, 3.0]}
        return torch.tensor([following.get(len(row), [4.0, 0.0, -99, -99, 0.0]) for row in rows])

    def score(tokens: tuple[int, ...]) -> float:
        rows = [logits([[0, *tokens[:length]]])[0].log_softmax(0) for length in range(len(tokens) + 1)]
        total = sum(float(row[token]) for row, token in zip(rows, (*tokens, 4), strict=True))
        return total - automaton.weight(tokens)

    [found] = beam_search(logits, LETTERS, [[0]], automaton, max_new_tokens=5, beams=1)
    texts = [tokens for tokens in language(automaton, 5) if not {2, 3} & {*tokens}]
    best = max(texts, key=score)
    assert (found[0].tokens, found[0].text) == ((*best, 4), "aaaa")
    assert math.isclose(found[0].score, score(best), abs_tol=1e-5)


def test_what_a_group_does_not_keep_is_left_for_the_next() -> None:
    automaton = tokenfst.compile("ab?", LETTERS)

    def logits(rows: list[list[int]]) -> torch.Tensor:
        following = {1: [0.0, -99, -99, -99, -99], 2: [-99, 0.5, -99, -99, 0.0], 3: [0.5, -99, -99, -99, 0.0]}
        return torch.tensor([following[len(row)] for row in rows])

    [found] = beam_search(logits, LETTERS, [[0]], automaton, max_new_tokens=3, beams=2, groups=2)
    assert [(one.text, one.group) for one in found] == [("a", 0), ("ab", 1)]
