"""Packed masks as tensors: bit `i & 31` of word `i >> 5` of a row is token i.

    all_allowed     masks that allow everything
    apply_          writes them into logits, on any device
    set_tokens      allows or masks some tokens in a row

A row in which nothing is allowed has a meaning of its own. Its automaton exceeded its limits, and whatever is written
will be refused. So it masks nothing in logits, where no token would be left to be drawn.

Rejected: the engines' own kernels, each of which is for some devices; they leave rows without any token as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import torch
from torch import Tensor

from decoding.arena.bits import tokens_of_byte, unpacked
from tokenfst import packed_words

_NEVER = float("-inf")


def all_allowed(rows: int, width: int) -> Tensor:
    """Return masks that allow `width` tokens, `[rows, W]` int32 on the host; pinned where there is a CUDA device."""
    return torch.full((rows, -(-width // 32)), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())


def apply_(logits: Tensor, masks: Tensor) -> None:
    """Write minus infinity over the logits of masked tokens; nothing waits for a device.

    Where that leaves a row without any token, the allowed ones come back with a logit of 0. An engine forbids the end
    of a text that has fewer tokens than a request wants at least; where nothing but the end may come, it would draw any
    token of the vocabulary.

    Args:
        logits: `[B, V]`; tokens past the masks are masked where anything is.
        masks: `[B, W]` int32, on the same device.
    """
    width = min(logits.shape[1], 32 * masks.shape[1])
    if width < logits.shape[1]:
        logits[:, width:].masked_fill_((masks != -1).any(1, keepdim=True), _NEVER)
    covered = logits[:, :width]
    allowed = unpacked(masks, width, _tokens_of_byte(logits.device)) | (masks == 0).all(1, keepdim=True)
    lost = ~(allowed & (covered > _NEVER)).any(1, keepdim=True)
    covered.masked_fill_(allowed & lost, 0.0)
    covered.masked_fill_(~allowed, _NEVER)


def set_tokens(masks: Tensor, row: int, tokens: Iterable[int], *, allowed: bool) -> None:
    """Allow or mask some tokens in a row of masks on the host."""
    packed_words.set_tokens(masks[row].numpy(), tokens, allowed=allowed)


@cache
def _tokens_of_byte(device: torch.device) -> Tensor:
    return tokens_of_byte(device)
