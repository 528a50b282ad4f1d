"""Draws follow the distribution, and depend on the seed and the step alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from decoding.sampling import Noise, Sampling, choose, derived_seed, probabilities


def chi_square(counts: np.ndarray, expected: np.ndarray) -> tuple[float, float]:
    """The statistic, and a bound that it passes once in some 30,000 times (Wilson & Hilferty 1931)."""
    assert not counts[expected == 0].any(), "what is impossible was drawn"
    counts, expected = counts[expected > 0], expected[expected > 0]
    free = len(counts) - 1
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return statistic, free * (1 - 2 / (9 * free) + 4 * math.sqrt(2 / (9 * free))) ** 3


DRAWN = [
    Sampling(temperature=0.7),
    Sampling(top_k=5),
    Sampling(top_p=0.8),
    Sampling(min_p=0.1),
    Sampling(typical_p=0.6),
    Sampling(temperature=1.4, top_k=9, top_p=0.9, min_p=0.03),
]


@pytest.mark.parametrize("sampling", DRAWN, ids=["temperature", "top-k", "top-p", "min-p", "typical", "several"])
@pytest.mark.parametrize("vary", ["seeds", "steps", "stream"])
def test_draws_follow_the_distribution(sampling: Sampling, vary: str) -> None:
    torch.manual_seed(8)
    logits, mask = torch.randn(1, 16) * 1.5, torch.rand(1, 16) < 0.8
    chances = probabilities(logits, mask, sampling)
    number = 20_000
    same, different = torch.full((number,), 11), torch.arange(number)
    if vary == "stream":
        draws = torch.cat([choose(chances, Noise(same[:1]), same[:1], stream) for stream in range(1500)])
    else:
        noise, steps = (Noise(different), same) if vary == "seeds" else (Noise(same), different)
        draws = choose(chances.expand(number, -1), noise, steps)
    counts = torch.bincount(draws, minlength=16).numpy()
    statistic, bound = chi_square(counts, chances[0].double().numpy() * len(draws))
    assert statistic < bound


def test_successive_draws_of_neighbouring_seeds_are_independent() -> None:
    """Pairs of draws, along steps and along seeds, fill the square evenly."""
    seeds, steps = torch.meshgrid(torch.arange(200), torch.arange(200), indexing="ij")
    numbers = Noise(seeds.flatten()).uniform(steps.flatten()).view(200, 200)
    cells = (numbers * 4).long()
    for first, second in [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:]), (cells[:-1, 1:], cells[1:, :-1])]:
        counts = torch.bincount((first * 4 + second).flatten(), minlength=16).numpy()
        statistic, bound = chi_square(counts, np.full(16, counts.sum() / 16))
        assert statistic < bound


def splitmix64(state: int, number: int) -> list[int]:
    """The generator as its authors publish it, on Python's integers."""
    outputs, word = [], (1 << 64) - 1
    for _ in range(number):
        state = (state + 0x9E3779B97F4A7C15) & word
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & word
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & word
        outputs.append(mixed ^ (mixed >> 31))
    return outputs


@given(st.integers(-(1 << 70), 1 << 70), st.integers(0, 1 << 40), st.integers(0, 3))
def test_noise_is_splitmix64(seed: int, step: int, stream: int) -> None:
    word = (1 << 64) - 1
    key = splitmix64(seed & word, 1)[0]
    key = splitmix64((key + stream * 0x9E3779B97F4A7C15) & word, 1)[0]
    key = splitmix64((key + step * 0x9E3779B97F4A7C15) & word, 1)[0]
    halves = [half for output in splitmix64(key, 3) for half in (output & 0xFFFFFFFF, output >> 32)]
    expected = [((half & 0x7FFFFFFF) + 0.5) / 2**31 for half in halves]
    noise = Noise.of([seed])
    uniform = -torch.expm1(-noise.exponential(6, step, stream)[0].double())
    torch.testing.assert_close(uniform, torch.tensor(expected, dtype=torch.float64), rtol=1e-6, atol=0)
    assert torch.equal(noise.exponential(5, step, stream), noise.exponential(6, step, stream)[:, :5])
    assert 0 < noise.uniform(step, stream) < 1


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=5), st.integers(0, 50))
def test_a_draw_depends_on_the_sequence_alone(seeds: list[int], step: int) -> None:
    torch.manual_seed(len(seeds))
    chances = torch.rand(len(seeds), 33)
    noise = Noise.of(seeds)
    together = choose(chances, noise, step)
    for row in range(len(seeds)):
        alone = torch.tensor([row])
        assert choose(chances[alone], Noise(noise.seeds[alone]), step) == together[row]


def test_steps_go_on_and_back() -> None:
    noise, chances = Noise.of([3, 4]), torch.ones(2, 1000)
    first, second = choose(chances, noise, 0), choose(chances, noise, 1)
    assert not (first == second).any()
    assert torch.equal(choose(chances, noise, 0), first)
    assert torch.equal(choose(chances, noise, torch.tensor([1, 1])), second)
    assert torch.equal(choose(chances, noise, torch.tensor([0, 1])), torch.stack([first[0], second[1]]))
    assert not (choose(chances, noise, 0, stream=1) == first).any()


def test_a_draw_names_its_step() -> None:
    draw: Any = choose
    with pytest.raises(TypeError, match="step"):
        draw(torch.ones(1, 9), Noise.of([3]))


def test_given_seeds_leave_torchs_generator_alone() -> None:
    before = torch.random.get_rng_state()
    Noise.of([1, 2])
    assert torch.equal(before, torch.random.get_rng_state())
    assert Noise.of([None]).seeds != Noise.of([None]).seeds
    torch.manual_seed(1)
    first = Noise.of([None, None]).seeds
    torch.manual_seed(1)
    assert torch.equal(first, Noise.of([None, None]).seeds)


def test_derived_seeds_differ() -> None:
    seeds = {derived_seed(seed, number) for seed in range(50) for number in range(50)}
    assert len(seeds) == 2500


def test_a_mask_changes_no_draw_that_it_allows() -> None:
    """The race is coupled: what wins among all tokens wins among the allowed ones."""
    torch.manual_seed(9)
    logits, mask = torch.randn(4000, 40) * 2, torch.rand(4000, 40) < 0.7
    noise = Noise.of(range(4000))
    free = choose(probabilities(logits, None, Sampling()), noise, 0)
    held = choose(probabilities(logits, mask, Sampling()), noise, 0)
    allowed = mask.gather(1, free[:, None])[:, 0]
    assert 0 < int(allowed.sum()) < 4000
    assert torch.equal(free[allowed], held[allowed])
