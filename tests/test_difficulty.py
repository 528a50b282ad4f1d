"""Measures of a constraint's difficulty against sums by hand."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.difficulty import Difficulty, measures

ROWS = st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=2, max_size=7)


def entropy(weights: list[int]) -> float:
    return -sum(weight / sum(weights) * math.log2(weight / sum(weights)) for weight in weights)


@settings(max_examples=40)
@given(ROWS, st.floats(-50, 50))
def test_measures_equal_sums_by_hand(row: list[tuple[int, bool]], shift: float) -> None:
    weights, mask = [weight for weight, _ in row], [allowed for _, allowed in row]
    kept = [weight for weight, allowed in row if allowed]
    logits = torch.tensor([weights]).double().log() + shift
    step = measures(logits, torch.tensor([mask]))
    total = sum(weights)
    assert float(step.removed) == pytest.approx(1 - sum(kept) / total, abs=1e-5)
    assert float(step.entropy_before) == pytest.approx(entropy(weights), abs=1e-4)
    assert float(step.entropy_after) == pytest.approx(entropy(kept) if kept else 0, abs=1e-4)
    assert float(step.surprise) == pytest.approx(-math.log2(sum(kept) / total) if kept else math.inf, abs=1e-4)
    assert bool(step.intervened) == (not mask[weights.index(max(weights))])
    for token, allowed in enumerate(mask):
        assert bool(measures(logits, torch.tensor([mask]), torch.tensor([token])).intervened) == (not allowed)


def test_the_handbooks_examples() -> None:
    """An easy constraint removes 25% of the mass, a hard one 85%: difficulty scores of 0.33 and 5.67."""
    difficulty = Difficulty()
    mask = torch.tensor([[True, False], [True, False]])
    difficulty.add(torch.tensor([[0.75, 0.25], [0.15, 0.85]]).log(), mask)
    easy, hard = difficulty.texts()
    assert easy.odds == pytest.approx([0.25 / 0.75], abs=1e-5)
    assert hard.odds == pytest.approx([0.85 / 0.15], abs=1e-4)
    assert (easy.interventions, hard.interventions) == (0, 1)


def test_texts_are_told_apart_and_summed() -> None:
    difficulty, logits = Difficulty(), torch.zeros(3, 4)
    mask = torch.tensor([[True] * 4, [True, True, False, False], [False, True, False, False]])
    difficulty.add(logits, mask)
    difficulty.add(logits, mask, texts=torch.tensor([1, -1, 0]), wanted=torch.tensor([0, 0, 1]))
    difficulty.add(logits[:1], mask[1:2], texts=torch.tensor([0]), wanted=torch.tensor([3]))
    first, second, third = difficulty.texts()
    assert first.removed == pytest.approx([0, 0.75, 0.5])
    assert first.surprise == pytest.approx([0, 2, 1])
    assert first.entropy_before == pytest.approx([2, 2, 2])
    assert first.entropy_after == pytest.approx([2, 0, 1])
    assert first.intervened == (False, False, True)
    assert first.interventions == 1
    assert first.total_surprise == pytest.approx(3)
    assert first.mean_removed == pytest.approx(1.25 / 3)
    assert second.removed == pytest.approx([0.5, 0])
    assert third.intervened == (True,)
    assert Difficulty().texts() == []


def test_extremes_are_numbers() -> None:
    logits = torch.tensor([[0.0, -200.0, -math.inf], [0.0, -math.inf, -math.inf]], dtype=torch.float16)
    step = measures(logits, torch.tensor([[False, True, True], [False, True, True]]))
    assert step.removed.tolist() == [1, 1]
    assert step.surprise.tolist() == [pytest.approx(200 / math.log(2), rel=1e-5), math.inf]
    assert step.entropy_after.tolist() == [0, 0]
    nothing = measures(torch.full((1, 2), -math.inf), torch.tensor([[True, False]]), torch.tensor([-1]))
    assert [float(measure) for measure in nothing] == [0, math.inf, 0, 0, 0]
    everything = measures(logits, torch.ones(2, 3, dtype=torch.bool))
    assert everything.removed.tolist() == [0, 0]
    assert everything.surprise.tolist() == [0, 0]


def test_measures_are_one_graph() -> None:
    logits = torch.randn(3, 9, generator=torch.Generator().manual_seed(0))
    compiled = torch.compile(measures, fullgraph=True, backend="aot_eager", dynamic=False)
    for own, expected in zip(compiled(logits, logits > 0), measures(logits, logits > 0), strict=True):
        torch.testing.assert_close(own, expected)
