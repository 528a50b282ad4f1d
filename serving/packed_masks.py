"""Packed masks as tensors: bit `i & 31` of word `i >> 5` of a row is token i.

    all_allowed     returns masks that allow everything
    apply_          applies masks to logits, on any device

A row in which nothing is allowed has a special meaning: its automaton exceeded its limits, and any written token will
be refused. So such a row masks nothing in logits, because otherwise there would be no token to draw.

Rejected: the engines' own kernels, each of which supports only some devices, and rows without any token not at all.
"""

from __future__ import annotations

import torch
from torch import Tensor

from decoding.arena.bits import tokens_of_byte, unpacked

_NEVER = float("-inf")


def all_allowed(rows: int, width: int) -> Tensor:
    """Return masks that allow `width` tokens, `[rows, W]` int32 on the host; pinned if there is a CUDA device."""
    return torch.full((rows, -(-width // 32)), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())


def apply_(logits: Tensor, masks: Tensor) -> None:
    """Set the logits of masked tokens to minus infinity; nothing waits for a device.

    If no token of a row is left, the allowed tokens get a logit of 0. For example, an engine forbids the end of a text
    that has fewer tokens than the request's minimum; if only the end may come, the engine would otherwise draw any
    token of the vocabulary.

    Args:
        logits: `[B, V]`; tokens past the masks are masked, except in rows whose masks allow all tokens.
        masks: `[B, W]` int32, on the same device.
    """
    width = min(logits.shape[1], 32 * masks.shape[1])
    if width < logits.shape[1]:
        logits[:, width:].masked_fill_((masks != -1).any(1, keepdim=True), _NEVER)
    covered = logits[:, :width]
    allowed = unpacked(masks, width, tokens_of_byte(logits.device)) | (masks == 0).all(1, keepdim=True)
    lost = ~(allowed & (covered > _NEVER)).any(1, keepdim=True)
    covered.masked_fill_(allowed & lost, 0.0)
    covered.masked_fill_(~allowed, _NEVER)
