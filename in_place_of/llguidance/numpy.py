"""Masks as arrays, `[B, ceil(V / 32)]` int32, and their application to logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from in_place_of.absent import missing
from in_place_of.llguidance.matcher import LLExecutor, LLMatcher
from in_place_of.xgrammar.bitmask import words_of

_INSTEAD = {"fill_next_token_bitmask_par_with_draft_tokens": "fill a row after each of the tokens, and take them back"}


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """Return the shape of the masks of a batch."""
    return batch_size, -(-vocab_size // 32)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> npt.NDArray[np.int32]:
    """Return masks that allow every token."""
    return np.full(get_bitmask_shape(batch_size, vocab_size), -1, np.int32)


def apply_token_bitmask_inplace(logits: npt.NDArray[np.float32], mask: npt.NDArray[np.int32]) -> None:
    """Set the logits of masked tokens, and of those past the mask, to minus infinity.

    Args:
        logits: `[B, V]` or `[V]`.
        mask: int32 `[B, W]` or `[W]`.

    Raises:
        ValueError: the numbers of masks and of rows of logits differ.
    """
    rows, words = np.atleast_2d(logits), np.ascontiguousarray(np.atleast_2d(mask))
    if len(rows) != len(words):
        raise ValueError(f"there are {len(rows)} rows of logits, and {len(words)} masks")
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=rows.shape[1], bitorder="little")
    rows[bits == 0] = -np.inf


def fill_next_token_bitmask(interp: LLMatcher, bitmask: npt.NDArray[np.int32], index: int = 0) -> None:
    """Write the mask of the next token into a row."""
    interp.fill(words_of(bitmask)[index])


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int]], bitmask: npt.NDArray[np.int32]
) -> None:
    """Write the mask of each matcher into its row; other rows are unchanged."""
    executor.fill(matchers, words_of(bitmask))


def consume_token_par(executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int]]) -> list[bool]:
    """Continue each text with a token; return whether each token was allowed."""
    return executor.consume_token_par(matchers)


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
