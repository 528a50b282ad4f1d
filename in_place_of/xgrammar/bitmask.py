"""Masks of a batch as packed words, `[B, ceil(V / 32)]` int32, and their application to logits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from decoding.arena.bits import tokens_of_byte, unpacked

bitmask_dtype: Final = torch.int32

_NEVER: Final = float("-inf")


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """Return the shape of the masks of a batch."""
    return batch_size, -(-vocab_size // 32)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Tensor:
    """Return masks on the host that allow every token."""
    return torch.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=bitmask_dtype)


def reset_token_bitmask(bitmask: Tensor) -> None:
    """Allow every token."""
    bitmask.fill_(-1)


def words_of(bitmask: Any) -> npt.NDArray[np.int32]:
    """Return the words of a mask, or of several, as rows that share its memory.

    Raises:
        ValueError: the mask is not int32 on the host, has more than two dimensions, or a row is not contiguous.
    """
    if isinstance(bitmask, Tensor) and bitmask.device.type != "cpu":
        raise ValueError(f"a bit mask is filled on the host, and this one is on {bitmask.device}")
    words: npt.NDArray[np.int32] = bitmask.numpy() if isinstance(bitmask, Tensor) else np.asarray(bitmask)
    if words.dtype != np.int32 or words.ndim not in (1, 2):
        raise ValueError(f"a bit mask is int32 with one dimension or two, not {words.dtype} with {words.ndim}")
    if words.shape[-1] > 1 and words.strides[-1] != words.itemsize:
        raise ValueError("the words of a bit mask lie side by side, and the ones of this mask do not")
    return words if words.ndim == 2 else words[None]


def check_rows(asked: Iterable[int], number: int) -> None:
    """Check that rows are among the first `number`.

    Raises:
        IndexError: a row is not among them.
    """
    for row in asked:
        if not 0 <= row < number:
            raise IndexError(f"row {row} is asked for, and there are {number}")


def apply_token_bitmask_inplace(
    logits: Tensor,
    bitmask: Tensor,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
    backend: str = "auto",
) -> None:
    """Set the logits of masked tokens to minus infinity.

    Args:
        logits: `[B, V]`, or `[V]`, on any device.
        bitmask: `[B, W]` int32, or `[W]`, on the same device.
        vocab_size: the number of logits of a row that may be masked; None for the number of bits of the mask. Further
            logits are unchanged.
        indices: the rows; None for all.
        backend: has no effect.

    Raises:
        ValueError: the devices differ, the mask is not int32, or there is not a mask for each row of logits.
        IndexError: there are no such rows.
    """
    if bitmask.dtype != bitmask_dtype:
        raise ValueError(f"a bit mask is int32, not {bitmask.dtype}")
    if logits.device != bitmask.device:
        raise ValueError(f"logits are on {logits.device}, and the bit mask on {bitmask.device}")
    width = min(logits.shape[-1], 32 * bitmask.shape[-1], logits.shape[-1] if vocab_size is None else vocab_size)
    rows, words = logits.view(-1, logits.shape[-1])[:, :width], bitmask.view(-1, bitmask.shape[-1])
    if indices is None and len(rows) != len(words):
        raise ValueError(f"there are {len(rows)} rows of logits, and {len(words)} masks")
    check_rows(() if indices is None else indices, min(len(rows), len(words)))
    forbidden = ~unpacked(words, width, tokens_of_byte(words.device))
    if indices is None:
        rows.masked_fill_(forbidden, _NEVER)
        return
    for row in indices:
        rows[row].masked_fill_(forbidden[row], _NEVER)
