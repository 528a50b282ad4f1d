"""Numbers grouped by a key, in one counting pass: how flat arrays of arcs become rows."""

from __future__ import annotations

import numpy as np

from automata.arrays import IntArray
from automata.jit import kernel


@kernel
def grouped(num_keys: int, key: IntArray) -> tuple[IntArray, IntArray]:
    """Where the group of each key begins, `[K + 1]`, and the places of all elements by group, in order, `[A]`.

    Args:
        num_keys: K; keys are below it.
        key: `[A]`, the key of each element.
    """
    offsets = np.zeros(num_keys + 1, np.int32)
    for place in range(len(key)):
        offsets[key[place] + 1] += 1
    for number in range(num_keys):
        offsets[number + 1] += offsets[number]
    free = offsets[:-1].copy()
    order = np.empty(len(key), np.int32)
    for place in range(len(key)):
        order[free[key[place]]] = place
        free[key[place]] += 1
    return offsets, order
