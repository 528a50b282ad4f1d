"""The sequences of a trie."""

from __future__ import annotations

import numpy as np

from automata.arrays import IntArray
from automata.jit import kernel


@kernel
def sequences(parent: IntArray, symbol: IntArray) -> tuple[IntArray, IntArray]:
    """Where each sequence of a trie begins, `[P + 1]`, and the symbols of them all."""
    begin = np.zeros(len(parent) + 1, np.int32)
    for sequence in range(len(parent)):
        at, size = sequence, 0
        while at:
            at, size = parent[at], size + 1
        begin[sequence + 1] = begin[sequence] + size
    symbols = np.empty(begin[-1], np.int32)
    for sequence in range(len(parent)):
        at, place = sequence, begin[sequence + 1]
        while at:
            place -= 1
            symbols[place] = symbol[at]
            at = parent[at]
    return begin, symbols
