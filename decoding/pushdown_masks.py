"""Masks of a pushdown token automaton: one for each set of classes, packed into words once and then only copied.

States differ in what tokens do, and far fewer sets of classes are allowed, so there is a mask for each set:

    set     `[E]`, each state's set of allowed classes
    words   `[A, W]`, each set's mask: bit `i & 31` of word `i >> 5` is token i, as in `tokenfst.masks`

A batch of masks is then a number for each sequence; whatever applies masks may read the words where they lie, and
copying them out is one gather of rows. Where the words of all sets would take more than `WORDS_BYTES`, only the sets
are kept, `[A, K]`, and words are made from them at each step.

Rejected: words made when a state is first met (the host would have to ask the device which states there are).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from decoding.pushdown_rows import Longs
from tokenfst.masks import mask_words

WORDS_BYTES = 1 << 28


class Masks(Protocol):
    """Masks by number, `[B]`, or `[B, P]` for the unions of P of them."""

    def words(self, numbers: Tensor) -> Tensor:
        """Packed masks, `[B, W]` int32."""

    def tokens(self, numbers: Tensor) -> Tensor:
        """Masks, `[B, V]` bool."""


def make_masks(
    sets: Sequence[Longs], token_class: npt.NDArray[np.int64], num_classes: int, device: torch.device
) -> Masks:
    """The masks of sets of classes.

    Args:
        sets: A sets of classes, each ascending.
        token_class: `[V]`, the class of each token.
        num_classes: K.
        device: where the tensors live.
    """
    if len(sets) * -(-len(token_class) // 32) * 4 <= WORDS_BYTES:
        return PackedMasks(sets, token_class, num_classes, device)
    return ClassMasks(sets, token_class, num_classes, device)


class PackedMasks:
    """A table of words, `[A, W]`."""

    def __init__(
        self, sets: Sequence[Longs], token_class: npt.NDArray[np.int64], num_classes: int, device: torch.device
    ) -> None:
        self.width = len(token_class)
        # The tokens of each class are one run of ranks here.
        sizes = np.bincount(token_class, minlength=num_classes).astype(np.int32)
        offsets, bounds = np.arange(num_classes + 1, dtype=np.int32), np.append(0, np.cumsum(sizes)).astype(np.int32)
        token_of_rank = np.argsort(token_class, kind="stable").astype(np.int32)
        bits = np.arange(-(-self.width // 32) * 32) < self.width
        all_words = np.packbits(bits, bitorder="little").view("<i4")
        runs = np.stack([bounds[:-1], bounds[1:]], 1)
        words = np.empty((len(sets), len(all_words)), np.int32)
        for number, classes in enumerate(sets):
            words[number] = mask_words(classes.astype(np.int32), offsets, runs, sizes, token_of_rank, all_words)
        self.table = torch.from_numpy(words).to(device)
        # Eight tokens at a time, each a byte of a long.
        tokens = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        self._tokens_of_byte = torch.from_numpy(tokens.view(np.int64).reshape(-1)).to(device)

    def words(self, numbers: Tensor) -> Tensor:
        """Packed masks, `[B, W]` int32."""
        if numbers.dim() == 1:
            return self.table.index_select(0, numbers)
        first, *others = numbers.unbind(1)
        words = self.table.index_select(0, first)
        for other in others:
            words = words | self.table.index_select(0, other)
        return words

    def tokens(self, numbers: Tensor) -> Tensor:
        """Masks, `[B, V]` bool."""
        words = self.words(numbers)
        tokens = self._tokens_of_byte.index_select(0, words.view(torch.uint8).flatten().int())
        return tokens.view(torch.bool).view(len(words), -1)[:, : self.width]


class ClassMasks:
    """Sets of classes, `[A, K]`, which take little memory whatever the vocabulary."""

    def __init__(
        self, sets: Sequence[Longs], token_class: npt.NDArray[np.int64], num_classes: int, device: torch.device
    ) -> None:
        table = np.zeros((len(sets), num_classes), np.bool_)
        for number, classes in enumerate(sets):
            table[number, classes] = True
        self.table = torch.from_numpy(table).to(device)
        self.token_class = torch.from_numpy(token_class).to(device)
        self._weights = (1 << torch.arange(32, dtype=torch.int64, device=device)).to(torch.int32)

    def words(self, numbers: Tensor) -> Tensor:
        """Packed masks, `[B, W]` int32."""
        tokens = self.tokens(numbers)
        padded = torch.nn.functional.pad(tokens, (0, -tokens.shape[1] % 32)).unflatten(1, (-1, 32))
        words: Tensor = (padded * self._weights).sum(2, dtype=torch.int32)
        return words

    def tokens(self, numbers: Tensor) -> Tensor:
        """Masks, `[B, V]` bool."""
        classes = self.table[numbers]
        classes = classes if numbers.dim() == 1 else classes.any(1)
        return classes.index_select(1, self.token_class)
