"""Masks as packed words: bit `i & 31` of word `i >> 5` is token i."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

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


def tokens_in(words: IntArray, places: npt.NDArray[np.intp]) -> Iterator[int]:
    """Yield the tokens that a mask allows, int32 `[W]`, in ascending order.

    Args:
        words: the mask.
        places: the places of its words that are not 0.
    """
    for place, signed in zip(places.tolist(), words[places].tolist(), strict=True):
        word = signed & 0xFFFFFFFF
        while word:
            lowest = word & -word
            yield place * 32 + lowest.bit_length() - 1
            word ^= lowest
