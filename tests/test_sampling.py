"""The distribution that is sampled from equals a renormalization by hand, and draws follow it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from decoding.sampling import NOTHING, History, Noise, Sampling, Samplings, choose, probabilities

# Borders of truncation that are nearer than this may fall on either side in float32.
NEAR = 1e-4


class Borderline(Exception):
    """Rounding decides: the example says nothing."""


def by_hand(
    logits: list[float], mask: list[bool] | None, sampling: Sampling, written: list[int], prompt: list[int]
) -> list[float]:
    """The definition, one token at a time, in double precision."""
    scores = dict(enumerate(logits))
    for token in scores:
        if token in written or token in prompt:
            positive = scores[token] > 0
            scores[token] *= 1 / sampling.repetition_penalty if positive else sampling.repetition_penalty
        scores[token] -= sampling.frequency_penalty * written.count(token)
        scores[token] -= sampling.presence_penalty * (token in written)
    scores = {token: score for token, score in scores.items() if mask is None or mask[token]}
    if sampling.temperature == 0:
        best = max(scores, key=lambda token: (scores[token], -token))
        return [float(token == best) for token in range(len(logits))]
    top = max(scores.values())
    weights = {token: math.exp((score - top) / sampling.temperature) for token, score in scores.items()}
    chances = renormalized(weights)
    for keep in (top_k, top_p, min_p, typical):
        chances = renormalized(keep(chances, sampling))
    return [chances.get(token, 0.0) for token in range(len(logits))]


def renormalized(weights: dict[int, float]) -> dict[int, float]:
    total = math.fsum(weights.values())
    return {token: weight / total for token, weight in weights.items()}


def ranked(chances: dict[int, float]) -> list[int]:
    """Likeliest first; equals that rounding tells apart are equals."""
    return sorted(chances, key=lambda token: (-round(chances[token], 9), token))


def until(tokens: list[int], chances: dict[int, float], mass: float) -> dict[int, float]:
    kept, total = {}, 0.0
    for token in tokens:
        if abs(total - mass) < NEAR and mass < 1:
            raise Borderline
        if total >= mass and mass < 1:
            break
        kept[token] = chances[token]
        total += chances[token]
    return kept


def top_k(chances: dict[int, float], sampling: Sampling) -> dict[int, float]:
    return {token: chances[token] for token in ranked(chances)[: sampling.top_k]}


def top_p(chances: dict[int, float], sampling: Sampling) -> dict[int, float]:
    return until(ranked(chances), chances, sampling.top_p)


def min_p(chances: dict[int, float], sampling: Sampling) -> dict[int, float]:
    best = max(chances.values())
    for chance in chances.values():
        if 0 < abs(chance / best - sampling.min_p) < NEAR:
            raise Borderline
    return {token: chance for token, chance in chances.items() if chance / best >= sampling.min_p}


def typical(chances: dict[int, float], sampling: Sampling) -> dict[int, float]:
    entropy = -math.fsum(chance * math.log(chance) for chance in chances.values())
    away = {token: abs(-math.log(chance) - entropy) for token, chance in chances.items()}
    order = sorted(away, key=lambda token: (round(away[token], 9), token))
    for first, second in itertools.pairwise(order):
        same = abs(chances[first] - chances[second]) < 1e-12
        if away[second] - away[first] < NEAR and not same and sampling.typical_p < 1:
            raise Borderline
    return until(order, chances, sampling.typical_p)


FRACTIONS = st.sampled_from([0.05, 0.31, 0.5, 0.77, 0.93, 1.0])


SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.3, 1.0, 1.0, 2.5]),
    top_k=st.none() | st.integers(1, 9),
    top_p=FRACTIONS,
    min_p=st.sampled_from([0.0, 0.0, 0.07, 0.4, 1.0]),
    typical_p=FRACTIONS | st.just(1.0),
    repetition_penalty=st.sampled_from([1.0, 1.0, 0.7, 1.8]),
    presence_penalty=st.sampled_from([0.0, 0.0, 1.1, -0.6]),
    frequency_penalty=st.sampled_from([0.0, 0.0, 0.45]),
)


# Few values, so that tokens are often equally likely.
LOGITS = st.sampled_from([-3.25, -1.0, 0.0, 0.5, 1.75, 2.0, 4.0])


@st.composite
def rows(draw: st.DrawFn, width: int) -> tuple[list[float], list[bool], Sampling, list[int], list[int]]:
    logits = draw(st.lists(LOGITS, min_size=width, max_size=width))
    mask = draw(st.lists(st.booleans(), min_size=width, max_size=width))
    mask[draw(st.integers(0, width - 1))] = True
    tokens = st.lists(st.integers(0, width - 1), max_size=4)
    return logits, mask, draw(SAMPLINGS), draw(tokens), draw(tokens)


def padded(lists: list[list[int]]) -> torch.Tensor:
    return torch.tensor([row + [-1] * (5 - len(row)) for row in lists])


@settings(max_examples=75)
@given(st.integers(1, 8).flatmap(lambda width: st.lists(rows(width), min_size=1, max_size=4)))
def test_a_batch_of_settings_equals_the_definition(batch: list[Any]) -> None:
    logits, masks, samplings, written, prompts = (list(column) for column in zip(*batch, strict=True))
    try:
        expected = [by_hand(*row) for row in batch]
    except Borderline:
        assume(False)
    given_logits, given_masks = torch.tensor(logits), torch.tensor(masks)
    history = History(padded(written), padded(prompts))
    for every in (False, True):
        columns = Samplings.of(samplings, every=every)
        together = probabilities(given_logits, given_masks, columns, history)
        torch.testing.assert_close(together, torch.tensor(expected), atol=2e-6, rtol=0)
    for row, sampling in enumerate(samplings):
        one = slice(row, row + 1)
        own = History(history.written[one], padded(prompts)[one])
        alone = probabilities(given_logits[one], given_masks[one], sampling, own)
        torch.testing.assert_close(alone, together[one], atol=1e-7, rtol=0)


@pytest.mark.parametrize(
    ("sampling", "warper"),
    [
        (Sampling(temperature=0.6), TemperatureLogitsWarper(0.6)),
        (Sampling(top_k=7), TopKLogitsWarper(7)),
        (Sampling(top_p=0.8), TopPLogitsWarper(0.8)),
        (Sampling(min_p=0.05), MinPLogitsWarper(0.05)),
        (Sampling(typical_p=0.7), TypicalLogitsWarper(0.7)),
        (
            Sampling(temperature=1.7, top_k=30, top_p=0.9, min_p=0.02, typical_p=0.8),
            LogitsProcessorList(
                [
                    TemperatureLogitsWarper(1.7),
                    TopKLogitsWarper(30),
                    TopPLogitsWarper(0.9),
                    MinPLogitsWarper(0.02),
                    TypicalLogitsWarper(0.8),
                ]
            ),
        ),
    ],
    ids=["temperature", "top-k", "top-p", "min-p", "typical", "all"],
)
def test_it_is_what_transformers_samples_from(sampling: Sampling, warper: Any) -> None:
    torch.manual_seed(4)
    logits, mask = torch.randn(32, 200) * 3, torch.rand(32, 200) < 0.6
    ids = torch.zeros(32, 1, dtype=torch.int64)
    expected = warper(ids, logits.masked_fill(~mask, -torch.inf)).softmax(1)
    torch.testing.assert_close(probabilities(logits, mask, sampling), expected, atol=1e-6, rtol=0)
    # Beside a sequence that has other settings, too.
    mixed = Samplings.of([*[sampling] * 31, Sampling()])
    torch.testing.assert_close(probabilities(logits, mask, mixed)[:31], expected[:31], atol=1e-6, rtol=0)


def test_what_is_very_unlikely_is_kept_where_nothing_is_cut() -> None:
    logits = torch.tensor([[0.0, -40.0], [0.0, -40.0]])
    mixed = Samplings.of([Sampling(), Sampling(top_p=0.9, typical_p=0.9)])
    assert (probabilities(logits, None, mixed) > 0).tolist() == [[True, True], [True, False]]


def test_repetition_penalty_is_the_one_of_transformers() -> None:
    torch.manual_seed(5)
    logits, ids = torch.randn(8, 50), torch.randint(50, (8, 12))
    expected = RepetitionPenaltyLogitsProcessor(1.3)(ids, logits).softmax(1)
    for history in (History(ids), History(ids[:, 5:], ids[:, :5])):
        result = probabilities(logits, None, Sampling(repetition_penalty=1.3), history)
        torch.testing.assert_close(result, expected, atol=1e-6, rtol=0)


def test_tokens_that_a_model_only_reads_have_no_penalty() -> None:
    """Prompts may hold tokens past the logits, such as those of images."""
    torch.manual_seed(5)
    logits, written, prompt = torch.randn(8, 50), torch.randint(50, (8, 6)), torch.randint(100, (8, 12))
    sampling = Sampling(repetition_penalty=1.3, presence_penalty=0.2)
    known = History(written, prompt.masked_fill(prompt >= 50, -1))
    result = probabilities(logits, None, sampling, History(written, prompt))
    assert torch.equal(result, probabilities(logits, None, sampling, known))


def test_penalties_look_back_on_what_was_put() -> None:
    history, logits = History.blank(2, 4, torch.tensor([[3], [-1]])), torch.zeros(2, 4)
    sampling = Sampling(frequency_penalty=math.log(2), repetition_penalty=3.0)
    history.put(0, torch.tensor([1, 2]))
    history.put(torch.tensor([1, 1]), torch.tensor([1, 0]))
    expected = torch.tensor([[1, 0.25, 1, 1], [0.5, 1, 0.5, 1]])
    result = probabilities(logits, None, sampling, history)
    torch.testing.assert_close(result, expected / expected.sum(1, keepdim=True))
    history.put(1, torch.tensor([-1, -1]))
    expected = torch.tensor([[1, 0.5, 1, 1], [1, 1, 0.5, 1]])
    result = probabilities(logits, None, sampling, history)
    torch.testing.assert_close(result, expected / expected.sum(1, keepdim=True))


@pytest.mark.parametrize(
    "sampling",
    [Sampling(top_k=1), Sampling(top_p=1e-6), Sampling(min_p=1.0), Sampling(typical_p=1e-6), Sampling(temperature=0)],
    ids=["top-k", "top-p", "min-p", "typical", "greedy"],
)
def test_truncation_comes_after_the_mask(sampling: Sampling) -> None:
    """The handbook's rule: the top of what is allowed, though the model's own top is elsewhere."""
    logits = torch.tensor([[9.0, 8.0, 1.0, 7.0, -2.0]])
    mask = torch.tensor([[False, False, True, False, True]])
    result = probabilities(logits, mask, sampling)
    assert result.sum() == 1
    assert result[0, 2] == 1


def test_penalties_come_before_the_mask_and_the_shift() -> None:
    """Dividing a logit depends on where its zero is: 4 / 2 = 2 makes two tokens equal, and no shifted logit would."""
    logits, mask = torch.tensor([[9.0, 4.0, 2.0]]), torch.tensor([[False, True, True]])
    result = probabilities(logits, mask, Sampling(repetition_penalty=2.0), History(torch.tensor([[1]])))
    torch.testing.assert_close(result, torch.tensor([[0, 0.5, 0.5]]))


def test_equals_at_the_border_go_by_their_ids() -> None:
    logits = torch.tensor([[1.0, 2.0, 1.0, 1.0, 1.0]])
    kept = probabilities(logits, None, Sampling(top_k=3)) > 0
    assert kept.tolist() == [[True, True, True, False, False]]
    assert probabilities(torch.zeros(1, 4), None, Sampling(temperature=0)).tolist() == [[1, 0, 0, 0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_computed_in_float32(dtype: torch.dtype) -> None:
    torch.manual_seed(6)
    logits, mask = (torch.randn(4, 300) * 20).to(dtype), torch.rand(4, 300) < 0.5
    sampling = Sampling(temperature=0.01, top_p=0.99)
    result = probabilities(logits, mask, sampling)
    assert result.dtype == torch.float32
    torch.testing.assert_close(result, probabilities(logits.float(), mask, sampling))


LARGEST = torch.finfo(torch.float32).max


EXTREMES = st.sampled_from([-math.inf, math.inf, math.nan, -LARGEST, LARGEST, 0.0, 1.0, 1e-40, -70000.0])


EVERY_SETTING = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 1e-45, 1e-30, 1.0, 1e30]),
    top_k=st.none() | st.integers(1, 8),
    top_p=st.sampled_from([1e-30, 0.5, 1.0]),
    min_p=st.sampled_from([0.0, 1e-30, 1.0]),
    typical_p=st.sampled_from([1e-30, 0.5, 1.0]),
    repetition_penalty=st.sampled_from([1e-30, 1.0, 1e30]),
    frequency_penalty=st.sampled_from([-1e30, 0.0, 1e30]),
)


@settings(max_examples=75)
@given(
    st.lists(EXTREMES, min_size=6, max_size=6),
    st.none() | st.lists(st.booleans(), min_size=6, max_size=6),
    EVERY_SETTING,
    st.none() | st.just(4),
)
def test_rows_are_distributions_over_what_is_allowed_or_nothing(
    logits: list[float], mask: list[bool] | None, sampling: Sampling, end_token: int | None
) -> None:
    given_mask = None if mask is None else torch.tensor([mask])
    history = History(torch.tensor([[0, 0, 3, -1]]))
    result = probabilities(torch.tensor([logits]), given_mask, sampling, history, end_token=end_token)[0]
    token = int(choose(result[None], Noise.of([1]), 0)[0])
    assert not result.isnan().any()
    possible = any(logit > -math.inf for logit in logits) if mask is None else any(mask)
    if possible:
        assert math.isclose(result.sum(), 1, rel_tol=1e-5)
        assert mask is None or not result[~torch.tensor(mask)].any()
        assert result[token] > 0
    elif end_token is not None:
        assert result.tolist() == [0, 0, 0, 0, 1, 0]
        assert token == 4
    else:
        assert not result.any()
        assert token == NOTHING


def test_what_the_model_rules_out_is_still_allowed_where_nothing_else_is() -> None:
    logits, mask = torch.tensor([[0.0, -math.inf, -math.inf]]), torch.tensor([[False, True, True]])
    assert probabilities(logits, mask, Sampling()).tolist() == [[0, 0.5, 0.5]]
    assert probabilities(logits, ~mask, Sampling()).tolist() == [[1, 0, 0]]


def test_a_mask_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\(1, 3\), and the logits have \(1, 4\)"):
        probabilities(torch.zeros(1, 4), torch.ones(1, 3, dtype=torch.bool), Sampling())


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"temperature": 1e39},
        {"top_k": 0},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"min_p": -0.1},
        {"typical_p": 0.0},
        {"repetition_penalty": 0.0},
        {"repetition_penalty": 1e-46},
        {"repetition_penalty": 1e39},
        {"presence_penalty": -1e39},
        {"presence_penalty": math.inf},
        {"frequency_penalty": math.nan},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Sampling(**wrong)


def test_top_k_is_an_integer_of_any_size() -> None:
    top_k: Any = 2.5
    with pytest.raises(TypeError, match=r"top_k is a number of tokens, not 2\.5"):
        Sampling(top_k=top_k)
    logits = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    every = Samplings.of([Sampling(top_k=1 << 70), Sampling(top_k=1)])
    assert (probabilities(logits, None, every) > 0).tolist() == [[True, True], [True, False]]


@pytest.mark.parametrize("name", ["top_p", "typical_p"])
def test_a_share_below_what_float32_tells_from_zero_keeps_one_token(name: str) -> None:
    share: dict[str, Any] = {name: 1e-46}
    logits, least = torch.tensor([[2.0, 0.0, -1.0]]), Sampling(**share)
    for columns in least, Samplings.of([least], every=True):
        result = probabilities(logits, None, columns)
        assert sorted(result[0].tolist()) == [0, 0, 1]


def test_sampling_is_one_graph() -> None:
    batch = Samplings.of(
        [Sampling(), Sampling(temperature=0), Sampling(top_k=4, typical_p=0.9), Sampling(top_p=0.6, min_p=0.01)]
    )
    step = sampling_step(batch)
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=False)
    history, noise = History.blank(4, 6), Noise.of([1, 2, 3, 4])
    for number in range(3):
        logits = torch.randn(4, 50, generator=torch.Generator().manual_seed(number))
        mask = logits < 1
        steps = torch.full((4,), number)
        expected = step(logits, mask, history, noise, steps)
        torch.testing.assert_close(compiled(logits, mask, history, noise, steps), expected)
        history.put(number, expected)


def sampling_step(batch: Samplings) -> Callable[..., torch.Tensor]:
    def step(
        logits: torch.Tensor, mask: torch.Tensor, history: History, noise: Noise, steps: torch.Tensor
    ) -> torch.Tensor:
        return choose(probabilities(logits, mask, batch, history, end_token=0), noise, steps)

    return step


def test_plain_settings_are_one_graph() -> None:
    def step(logits: torch.Tensor, seeds: torch.Tensor) -> torch.Tensor:
        chances = probabilities(logits, logits < 1, Sampling(temperature=0.8, top_k=5))
        return choose(chances, Noise(seeds), seeds)

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=False)
    logits, seeds = torch.randn(3, 40, generator=torch.Generator().manual_seed(0)), torch.arange(3)
    assert torch.equal(step(logits, seeds), compiled(logits, seeds))
