"""Masks as packed words: bit `i & 31` of word `i >> 5` is token i."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from automata.arrays import IntArray


def set_tokens(words: IntArray, tokens: Iterable[int], *, allowed: bool) -> None:
    """Allow or forbid some tokens in a mask, int32 `[W]`."""
    bits = words.view(np.uint32)
    for token in tokens:
        bit = np.uint32(1 << (token & 31))
        bits[token >> 5] = bits[token >> 5] | bit if allowed else bits[token >> 5] & ~bit


def set_only(words: IntArray, mask: IntArray) -> None:
    """Copy a mask into a wider one, int32 `[W]`, which forbids all further tokens."""
    words[: len(mask)] = mask
    words[len(mask) :] = 0
