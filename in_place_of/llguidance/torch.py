"""Masks as tensors, `[B, ceil(V / 32)]` int32, and their application to logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from torch import Tensor

from in_place_of.absent import missing
from in_place_of.llguidance.matcher import LLExecutor, LLMatcher
from in_place_of.xgrammar.bitmask import allocate_token_bitmask, get_bitmask_shape, words_of
from in_place_of.xgrammar.bitmask import apply_token_bitmask_inplace as _apply

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "consume_token_par",
    "fill_next_token_bitmask",
    "fill_next_token_bitmask_par",
    "get_bitmask_shape",
]

_INSTEAD = {"fill_next_token_bitmask_par_with_draft_tokens": "fill a row after each of the tokens, and take them back"}


def apply_token_bitmask_inplace(logits: Tensor, mask: Tensor) -> None:
    """Set the logits of masked tokens, and of those past the mask, to minus infinity.

    Args:
        logits: `[B, V]` or `[V]`, on any device.
        mask: int32 `[B, W]` or `[W]`, on the same device.

    Raises:
        ValueError: the devices differ, the mask is not int32, or there is not a mask for each row of logits.
    """
    _apply(logits, mask)
    logits[..., 32 * mask.shape[-1] :] = float("-inf")


def fill_next_token_bitmask(interp: LLMatcher, bitmask: Tensor, index: int = 0) -> None:
    """Write the mask of the next token into a row of a tensor on the host."""
    interp.fill(words_of(bitmask)[index])


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int]], bitmask: Tensor
) -> None:
    """Write the mask of each matcher into its row; other rows are unchanged."""
    executor.fill(matchers, words_of(bitmask))


def consume_token_par(executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int]]) -> list[bool]:
    """Continue each text with a token; return whether each token was allowed."""
    return executor.consume_token_par(matchers)


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
