"""Masks of rows as chunks: most masks share most of their words, so what is equal is kept once.

A mask is cut into chunks of 2,048 tokens, and a mask is the places of its chunks. Whole chunks of nothing and of
everything are frequent, and rows that allow few tokens have few chunks that are neither.

Rejected: all words of every mask (16 KiB each with 128,000 tokens; a list of 100,000 names has as many masks); runs or
lists of tokens (no fixed number of gathers reads them).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from decoding.arena.layout import CHUNK_WORDS
from decoding.arena.machine import Longs, Machine
from tokenfst.transition.masks import mask_words

CHUNK_TOKENS = 32 * CHUNK_WORDS

Words = npt.NDArray[np.int32]


def num_chunks(width: int) -> int:
    """C, the chunks of a mask over so many tokens."""
    return -(-width // CHUNK_TOKENS)


def mask_chunks(machine: Machine, begin: int, end: int) -> tuple[Longs, Longs, Words, Longs]:
    """The masks of all rows, over the tokens from `begin` to `end`.

    Returns:
        `[E]`, the number of each row's mask; `[A, C]`, the numbers of each mask's chunks; `[.., CHUNK_WORDS]` int32,
        the chunks; `[E]`, the only token of the vocabulary that a row allows, -1 for several, -2 for none.
    """
    write = _Writer(machine, begin, end)
    numbers: dict[bytes, int] = {}
    row_mask, forced = [], []
    masks: list[list[int]] = []
    for row in range(machine.num_rows):
        classes = machine.classes(row).astype(np.int32)
        found = numbers.setdefault(classes.tobytes(), len(masks))
        if found == len(masks):
            masks.append(write.chunks(classes))
        row_mask.append(found)
        forced.append(write.only_token(classes))
    chunks = np.frombuffer(b"".join(write.known), np.int32).reshape(-1, CHUNK_WORDS)
    return np.array(row_mask), np.array(masks).reshape(len(masks), -1), chunks, np.array(forced)


class _Writer:
    """Chunks by content."""

    def __init__(self, machine: Machine, begin: int, end: int) -> None:
        # Chunk 0 is empty, as most are.
        self.known = {bytes(4 * CHUNK_WORDS): 0}
        self.begin, self.width = begin, end - begin
        classes = np.zeros(end, np.int64)
        size = min(end, len(machine.token_class))
        classes[:size] = machine.token_class[:size]
        classes = classes[begin:]
        # The tokens of each class are one run of ranks here.
        self.sizes = np.bincount(classes, minlength=machine.num_classes).astype(np.int32)
        bounds = np.append(0, np.cumsum(self.sizes)).astype(np.int32)
        self.runs = np.stack([bounds[:-1], bounds[1:]], 1)
        self.offsets = np.arange(machine.num_classes + 1, dtype=np.int32)
        self.token_of_rank = np.argsort(classes, kind="stable").astype(np.int32)
        everything = np.arange(num_chunks(self.width) * CHUNK_TOKENS) < self.width
        self.all_words = np.packbits(everything, bitorder="little").view("<i4")
        order = np.argsort(machine.token_class, kind="stable")
        self.class_size = np.bincount(machine.token_class, minlength=machine.num_classes)
        self.first_token = order[np.minimum(np.cumsum(self.class_size) - self.class_size, len(order) - 1)]

    def chunks(self, classes: Words) -> list[int]:
        """The numbers of the chunks of a mask."""
        words = mask_words(classes, self.offsets, self.runs, self.sizes, self.token_of_rank, self.all_words)
        parts = words.reshape(-1, CHUNK_WORDS)
        numbers = [0] * len(parts)
        for place in np.flatnonzero(parts.any(1)).tolist():
            numbers[place] = self.known.setdefault(parts[place].tobytes(), len(self.known))
        return numbers

    def only_token(self, classes: Words) -> int:
        """The only token of some classes; -1 for several, -2 for none."""
        spelled = classes[self.class_size[classes] > 0]
        if len(spelled) == 1 and self.class_size[spelled[0]] == 1:
            return int(self.first_token[spelled[0]])
        return -1 if len(spelled) else -2
