"""Packed masks in logits, against a loop over tokens; no engine is needed."""

from __future__ import annotations

import random

import pytest
import torch

from serving.packed_masks import all_allowed, apply_
from tokenfst.packed_words import set_tokens

NEVER = float("-inf")


def masks_of(rows: list[set[int]], width: int) -> torch.Tensor:
    masks = all_allowed(len(rows), width)
    masks.zero_()
    for row, tokens in enumerate(rows):
        set_tokens(masks[row].numpy(), tokens, allowed=True)
    return masks


def by_hand(logits: torch.Tensor, rows: list[set[int]]) -> torch.Tensor:
    """The logits of each row where its tokens are allowed, minus infinity elsewhere."""
    found = torch.full_like(logits, NEVER)
    for row, tokens in enumerate(rows):
        for token in tokens:
            found[row, token] = logits[row, token]
    return found


@pytest.mark.parametrize("width", [1, 31, 32, 33, 100, 257])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_masked_tokens_are_minus_infinity(width: int, dtype: torch.dtype) -> None:
    rng = random.Random(width)
    rows = [{token for token in range(width) if rng.random() < 0.3} | {rng.randrange(width)} for _ in range(7)]
    logits = torch.randn(7, width).to(dtype)
    expected = by_hand(logits, rows)
    apply_(logits, masks_of(rows, width))
    assert logits.equal(expected)


def test_all_allowed_changes_nothing() -> None:
    logits = torch.randn(3, 70)
    before = logits.clone()
    apply_(logits, all_allowed(3, 70))
    assert logits.equal(before)
    assert all_allowed(3, 70).shape == (3, 3)


def test_logits_and_masks_of_other_widths() -> None:
    rows = [{1, 40}, {5}]
    masks = masks_of(rows, 64)
    wide = torch.randn(3, 90)
    masks = torch.cat([masks, all_allowed(1, 64)])
    expected = torch.cat([by_hand(wide[:2], rows), wide[2:]])  # a row without a constraint stays as it is
    apply_(wide, masks)
    assert wide.equal(expected)
    narrow = torch.randn(3, 20)
    expected = torch.cat([by_hand(narrow[:2], [{1}, {5}]), narrow[2:]])
    apply_(narrow, masks)
    assert narrow.equal(expected)


def test_a_row_without_any_token_masks_nothing() -> None:
    logits = torch.randn(2, 40)
    before = logits.clone()
    apply_(logits, masks_of([set(), {3}], 40))
    assert logits[0].equal(before[0])
    assert logits[1].isfinite().nonzero().flatten().tolist() == [3]


def test_allowed_tokens_come_back_where_none_is_left() -> None:
    logits = torch.randn(3, 40)
    logits[:, [2, 3]] = NEVER
    expected = by_hand(logits, [set(), {3, 4}, set()])
    expected[0, [2, 3]] = 0.0
    expected[2] = logits[2]
    apply_(logits, torch.cat([masks_of([{2, 3}, {3, 4}], 40), all_allowed(1, 40)]))
    assert logits.equal(expected)


def test_tokens_of_a_row() -> None:
    masks = all_allowed(2, 96)
    set_tokens(masks[1].numpy(), [0, 31, 32, 95, 95], allowed=False)
    assert (masks[0] == -1).all()
    assert [int(word) & 0xFFFFFFFF for word in masks[1]] == [0x7FFFFFFE, 0xFFFFFFFE, 0x7FFFFFFF]
    set_tokens(masks[1].numpy(), [31, 0], allowed=True)
    assert [int(word) & 0xFFFFFFFF for word in masks[1]] == [0xFFFFFFFF, 0xFFFFFFFE, 0x7FFFFFFF]
