"""Masks as bits, and as booleans.

packed      `[B, V]` bool -> `[B, ceil(V / 32)]` int32: bit `i & 31` of word `i >> 5` is token i
unpacked    the inverse
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor


def packed(tokens: Tensor) -> Tensor:
    """Return the bits of masks, `[B, V]` bool, as words, `[B, W]` int32."""
    padded = torch.nn.functional.pad(tokens, (0, -tokens.shape[1] % 32)).unflatten(1, (-1, 32))
    weights = (1 << torch.arange(32, dtype=torch.int64, device=tokens.device)).to(torch.int32)
    words: Tensor = (padded * weights).sum(2, dtype=torch.int32)
    return words


@cache
def tokens_of_byte(device: torch.device) -> Tensor:
    """Return the table for `unpacked`, `[256]` int64: for each byte the flags of its eight tokens, as eight bytes."""
    bits = torch.arange(256, device=device)[:, None] >> torch.arange(8, device=device) & 1
    return bits.to(torch.uint8).view(torch.int64).flatten()


def unpacked(words: Tensor, width: int, by_byte: Tensor) -> Tensor:
    """Return the bits of words, `[B, W]` int32, as bool, `[B, width]`."""
    if torch.compiler.is_compiling():
        # The compiler fuses this arithmetic with whatever reads the mask; as separate steps it would be slow.
        bits = words[:, :, None] >> torch.arange(32, dtype=torch.int32, device=words.device) & 1
        return bits.flatten(1)[:, :width] != 0
    tokens = by_byte.index_select(0, words.contiguous().view(-1).view(torch.uint8).int())
    return tokens.view(torch.bool).view(len(words), 32 * words.shape[1])[:, :width]
