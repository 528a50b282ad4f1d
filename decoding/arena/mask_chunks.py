"""Masks of rows as chunks: most masks share most of their words, so equal chunks are stored once.

A mask is divided into chunks of 2,048 tokens, and is stored as the places of its chunks. Many chunks allow no token or
all tokens, and rows that allow few tokens have few other chunks. The native core makes the chunks
(`native/decoding/row_masks.h`).
"""

from __future__ import annotations

import numpy as np

from automata.arrays import IntArray
from automata.limits import Work, current_work
from decoding import _native
from decoding.arena.layout import CHUNK_WORDS
from decoding.arena.machine import Machine

CHUNK_TOKENS = 32 * CHUNK_WORDS


def num_chunks(width: int) -> int:
    """Return C, the number of chunks of a mask over `width` tokens."""
    return -(-width // CHUNK_TOKENS)


def mask_chunks(
    machine: Machine, begin: int, end: int, work: Work | None = None
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the masks of all rows, over the tokens from `begin` to `end`.

    Returns:
        `[E]`, the number of each row's mask; `[A, C]`, the numbers of each mask's chunks; `[.., CHUNK_WORDS]`, the
        chunks; `[E]`, the only token of the vocabulary that a row allows, or `SEVERAL_ALLOWED` or `NOTHING_ALLOWED`
        (`decoding.arena.layout`).

    Raises:
        LimitExceeded: the masks take too much memory.
    """
    classes = machine.token_class.astype(np.int32, copy=False)
    return _native.row_masks(*machine.rows, classes, machine.num_classes, begin, end, current_work(work).budget)
