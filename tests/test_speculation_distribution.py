"""Whoever proposes, texts are distributed as plain constrained sampling writes them: chi-square against all texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from toy_models import LETTERS, PROMPT, Table, chance, written

import tokenfst
from decoding.sampling import Sampling
from decoding.speculation import (
    CountModel,
    DraftModel,
    ForcedText,
    ForcedTokens,
    Proposer,
    Statistics,
    Tree,
    decode_speculatively,
)
from tokenfst.token_automaton import TokenAutomaton

PATTERN, LIMIT, DRAWS = "(ab|b)*(a|cc)b?", 6, 600
MODEL = Table(seed=4)
# The chance that a right implementation fails one of these tests, for a fixed seed of all draws.
UNLIKELY = 1e-3

SAMPLINGS = [
    Sampling(),
    Sampling(temperature=0.5),
    Sampling(temperature=2),
    Sampling(top_k=2),
    Sampling(top_p=0.7),
    Sampling(temperature=1.3, min_p=0.2),
    Sampling(repetition_penalty=1.5, presence_penalty=0.5, frequency_penalty=0.3),
]


class Guess:
    """Proposes all tokens that are allowed, two levels of them, in an order of its own."""

    forwards = 0

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        for tree in trees:
            for leaf in tree.leaves():
                if tree.depth(leaf) < 2:
                    for token in reversed(range(len(LETTERS))):
                        tree.add(leaf, token)

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        pass


def encode(text: str) -> list[int]:
    """Longest tokens first."""
    tokens, rest = list[int](), text.encode()
    while rest:
        token = max((t for t in LETTERS.tokens if t and rest.startswith(t)), key=len)
        tokens.append(LETTERS.tokens.index(token))
        rest = rest[len(token) :]
    return tokens


def counted(automaton: TokenAutomaton, threshold: float) -> CountModel:
    model = CountModel(automaton, threshold=threshold)
    model.learn(
        decode_speculatively(
            MODEL, [PROMPT] * 20, automaton, sampling=samplings(Sampling(), 20, 7000), max_new_tokens=20
        ).tokens
    )
    return model


def samplings(sampling: Sampling, number: int, first: int = 0) -> list[Sampling]:
    settings = {name: getattr(sampling, name) for name in sampling.__dataclass_fields__ if name != "seed"}
    return [Sampling(**settings, seed=first + seed) for seed in range(number)]


def draft(*widths: int, width: int = len(LETTERS)) -> Callable[[TokenAutomaton], list[Proposer]]:
    return lambda _: [DraftModel(Table(seed=5, width=width), widths)]


PROPOSERS: dict[str, Callable[[TokenAutomaton], list[Proposer]]] = {
    "none": lambda automaton: [],
    "forced": lambda automaton: [ForcedTokens(), ForcedText(encode)],
    "counts, a chain": lambda automaton: [CountModel(automaton, threshold=0.51)],
    "counts, a tree": lambda automaton: [counted(automaton, 0.1)],
    "guesses": lambda automaton: [Guess()],
}
DRAFTS: dict[str, Callable[[TokenAutomaton], list[Proposer]]] = {
    "draft, a chain": draft(1, 1, 1),
    "draft, a tree": draft(3, 2),
    "draft, narrow logits": draft(2, 1, width=len(LETTERS)),
    "draft, wide logits": draft(2, 1, 1, width=12),
    "all": lambda automaton: [ForcedTokens(), counted(automaton, 0.6), *draft(2, 2, 1)(automaton)],
}


# Every sampler with a draft, every proposer with some sampler.
PAIRS = [(sampling, f"draft, a {'chain' if number % 2 else 'tree'}") for number, sampling in enumerate(SAMPLINGS)]
PAIRS += [(SAMPLINGS[number], name) for number, name in enumerate(PROPOSERS)]
PAIRS += [(SAMPLINGS[0], "draft, narrow logits"), (SAMPLINGS[0], "draft, wide logits"), (SAMPLINGS[4], "all")]


@pytest.mark.parametrize(("sampling", "name"), PAIRS, ids=[f"{name}-{SAMPLINGS.index(s)}" for s, name in PAIRS])
def test_what_is_drawn_is_distributed_as_plain_sampling(sampling: Sampling, name: str) -> None:
    automaton = tokenfst.compile(PATTERN, LETTERS)
    proposers = {**PROPOSERS, **DRAFTS}[name](automaton)
    each = samplings(sampling, DRAWS)
    result = decode_speculatively(MODEL, [PROMPT] * DRAWS, automaton, proposers, sampling=each, max_new_tokens=LIMIT)
    counts = Counter(map(tuple, result.tokens))
    assert chance(counts, written(MODEL, PATTERN, sampling, LIMIT)) > UNLIKELY
    assert_saves(result.statistics, name)


def assert_saves(statistics: Statistics, name: str) -> None:
    assert (statistics.rounds < statistics.tokens) == (name != "none")
    assert (statistics.draft_forwards > 0) == (name in DRAFTS)
    assert statistics.accepted <= statistics.proposed


@pytest.mark.parametrize("name", sorted(PROPOSERS))
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=range(len(SAMPLINGS)))
def test_without_a_draft_each_text_is_the_same(sampling: Sampling, name: str) -> None:
    automaton = tokenfst.compile(PATTERN, LETTERS)
    each = samplings(sampling, 30)
    plain = decode_speculatively(MODEL, [PROMPT] * 30, automaton, sampling=each, max_new_tokens=LIMIT)
    result = decode_speculatively(
        MODEL, [PROMPT] * 30, automaton, PROPOSERS[name](automaton), sampling=each, max_new_tokens=LIMIT
    )
    assert result.tokens == plain.tokens


@pytest.mark.parametrize("name", sorted({**PROPOSERS, **DRAFTS}))
def test_greedy_texts_are_the_same_with_any_proposer(name: str) -> None:
    automaton = tokenfst.compile(PATTERN, LETTERS)
    greedy = Sampling(temperature=0)
    for seed in range(8):
        model = Table(seed=seed)
        plain = decode_speculatively(model, [PROMPT], automaton, sampling=greedy, max_new_tokens=LIMIT)
        proposers = {**PROPOSERS, **DRAFTS}[name](automaton)
        assert (
            decode_speculatively(model, [PROMPT], automaton, proposers, sampling=greedy, max_new_tokens=LIMIT).tokens
            == plain.tokens
        )


@pytest.mark.parametrize("name", ["none", "counts, a tree", "draft, a tree"])
def test_a_text_does_not_depend_on_those_written_with_it(name: str) -> None:
    automaton = tokenfst.compile(PATTERN, LETTERS)
    make = {**PROPOSERS, **DRAFTS}[name]
    each = samplings(Sampling(), 12)
    together = decode_speculatively(
        MODEL, [PROMPT] * 12, automaton, make(automaton), sampling=each, max_new_tokens=LIMIT
    )
    for number, sampling in enumerate(each):
        alone = decode_speculatively(
            MODEL, [PROMPT], automaton, make(automaton), sampling=sampling, max_new_tokens=LIMIT
        )
        # What has been learned differs, and changes nothing.
        assert alone.tokens[0] == together.tokens[number]


@pytest.mark.parametrize("name", ["none", "counts, a tree", "guesses", "forced"])
@pytest.mark.parametrize("sampling", [SAMPLINGS[0], SAMPLINGS[1], SAMPLINGS[6], Sampling(temperature=0)], ids=str)
def test_opportunistic_masking_writes_the_same(sampling: Sampling, name: str) -> None:
    automaton = tokenfst.compile(PATTERN, LETTERS)
    each = samplings(sampling, 60)
    plain = decode_speculatively(MODEL, [PROMPT] * 60, automaton, sampling=each, max_new_tokens=LIMIT)
    result = decode_speculatively(
        MODEL,
        [PROMPT] * 60,
        automaton,
        PROPOSERS[name](automaton),
        sampling=each,
        max_new_tokens=LIMIT,
        opportunistic=True,
    )
    assert result.tokens == plain.tokens
    if name == "none":
        assert 0 < result.statistics.masks < plain.statistics.masks


def test_opportunistic_masking_is_not_offered_with_truncation() -> None:
    automaton = tokenfst.compile(PATTERN, LETTERS)
    for sampling in (Sampling(top_k=2), Sampling(top_p=0.9), Sampling(min_p=0.1), Sampling(typical_p=0.9)):
        with pytest.raises(ValueError, match="truncation"):
            decode_speculatively(MODEL, [PROMPT], automaton, sampling=sampling, opportunistic=True)


def test_opportunistic_masking_with_a_draft_is_distributed_the_same() -> None:
    automaton = tokenfst.compile(PATTERN, LETTERS)
    each, proposers = samplings(Sampling(), DRAWS), DRAFTS["draft, a tree"](automaton)
    result = decode_speculatively(
        MODEL, [PROMPT] * DRAWS, automaton, proposers, sampling=each, max_new_tokens=LIMIT, opportunistic=True
    )
    assert chance(Counter(map(tuple, result.tokens)), written(MODEL, PATTERN, Sampling(), LIMIT)) > UNLIKELY
