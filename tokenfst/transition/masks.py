"""Masks as packed words: bit `i & 31` of word `i >> 5` is token i, the layout that inference engines share.

A mask is made from classes and not from tokens: the ranks of each class are a few runs, so a mask that allows little
sets the bits of the allowed runs, and one that allows most starts from all tokens and clears the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.jit import kernel, plain_kernel
from tokenfst.transition.loops import Ints
from tokenfst.transition.token_classes import NEVER


class ClassRuns(NamedTuple):
    """The runs of ranks of each class.

    Attributes:
        offsets: `[K + 1]`, where the runs of each class begin in `runs`.
        runs: `[R, 2]`, first rank and one past the last rank, by class.
        sizes: `[K]`, how many tokens each class has.
    """

    offsets: Ints
    runs: Ints
    sizes: Ints


@plain_kernel
def expand_runs(run_end: Ints, run_class: Ints, class_of_rank: npt.NDArray[np.unsignedinteger]) -> None:
    """Writes the class of every rank, `[R]`, and NEVER behind the last."""
    begin = 0
    for run in range(len(run_end)):
        class_of_rank[begin : run_end[run]] = run_class[run]
        begin = run_end[run]
    class_of_rank[begin] = NEVER


@kernel
def group_runs(run_end: Ints, run_class: Ints, num_classes: int) -> ClassRuns:
    """Sorts runs, which cover all ranks in order, by class."""
    offsets, sizes = np.zeros(num_classes + 1, np.int32), np.zeros(num_classes, np.int32)
    for run in range(len(run_class)):
        offsets[run_class[run] + 1] += 1
    for number in range(num_classes):
        offsets[number + 1] += offsets[number]
    place = offsets[:-1].copy()
    runs = np.empty((len(run_class), 2), np.int32)
    begin = 0
    for run in range(len(run_class)):
        number = run_class[run]
        runs[place[number], 0], runs[place[number], 1] = begin, run_end[run]
        place[number] += 1
        sizes[number] += run_end[run] - begin
        begin = run_end[run]
    return ClassRuns(offsets, runs, sizes)


@kernel
def mask_words(allowed: Ints, offsets: Ints, runs: Ints, sizes: Ints, token_of_rank: Ints, all_words: Ints) -> Ints:
    """The mask of the tokens whose class is allowed, `[W]`.

    Args:
        allowed: `[n]`, classes.
        offsets, runs, sizes: the runs of every class (`ClassRuns`, array by array: passing the tuple takes longer).
        token_of_rank: `[R]`.
        all_words: `[W]`, the mask of every token that has a rank.
    """
    count = 0
    for number in allowed:
        count += sizes[number] if number != NEVER else 0
    if 2 * count <= len(token_of_rank):
        words = np.zeros_like(all_words)
        for number in allowed:
            if number != NEVER:
                _flip(words, number, offsets, runs, token_of_rank)
        return words
    words = all_words.copy()
    refused = np.ones(len(sizes), np.bool_)
    for number in allowed:
        refused[number] = number == NEVER
    for number in range(len(sizes)):
        if refused[number]:
            _flip(words, number, offsets, runs, token_of_rank)
    return words


@plain_kernel
def _flip(words: Ints, number: int, offsets: Ints, runs: Ints, token_of_rank: Ints) -> None:
    """Flips the bits of a class."""
    for run in range(offsets[number], offsets[number + 1]):
        for rank in range(runs[run, 0], runs[run, 1]):
            token = token_of_rank[rank]
            words[token >> 5] ^= np.int32(np.uint32(1) << np.uint32(token & 31))
