"""Combs: sparse rows laid over each other in one table, so that a look-up is one place whatever the row.

Row r begins at base[r], and its entry for class k lies at base[r] + k, with the row's number beside it: an entry counts
if it names the row. Rows are laid first fit, those with most entries first, so that small rows fill the gaps of large
ones (Tarjan and Yao: Storing a sparse table, 1979). Where that would take no less than a table with a column for each
class, rows lie side by side.

Rejected: edges by state and binary search (a dozen look-ups for one); hashing (no less memory, and collisions).
"""

from __future__ import annotations

import numpy as np

from automata.jit import kernel
from decoding.arena.machine import Longs

# Tables up to this many entries are written out.
_DENSE_ENTRIES = 1 << 14
# A row that fits at none of so many places goes behind all others.
_MOST_TRIES = 512


def comb(offsets: Longs, number: Longs, value: Longs, num_classes: int) -> tuple[Longs, Longs]:
    """The comb of sparse rows.

    Args:
        offsets, number, value: `[E + 1]`, `[X]`, `[X]`: each row's classes, ascending, and values.
        num_classes: K.

    Returns:
        `[E]`, where rows begin, and `[.., 2]`, row and value, -1 for none; with room for K classes behind every base.
    """
    num_rows = len(offsets) - 1
    if num_rows * num_classes <= _DENSE_ENTRIES:
        base = np.arange(num_rows) * num_classes
    else:
        order = np.argsort(-np.diff(offsets), kind="stable")
        base = _first_fit(offsets, number, order, num_classes)
    table = np.full((int(base.max(initial=0)) + num_classes, 2), -1, np.int64)
    row = np.repeat(np.arange(num_rows), np.diff(offsets))
    place = base[row] + number
    table[place, 0], table[place, 1] = row, value
    return base, table


@kernel
def _first_fit(offsets: Longs, number: Longs, order: Longs, num_classes: int) -> Longs:
    base = np.zeros(len(order), np.int64)
    taken = np.zeros(len(number) + num_classes * 2, np.bool_)
    first_free, top = 0, 0
    for row in order:
        begin, end = offsets[row], offsets[row + 1]
        if begin == end:
            continue
        at, tries = max(first_free - number[begin], 0), 0
        while True:
            fits = True
            for edge in range(begin, end):
                place = at + number[edge]
                if place < len(taken) and taken[place]:
                    fits = False
                    break
            if fits:
                break
            tries += 1
            at = at + 1 if tries < _MOST_TRIES else max(top - number[begin], 0)
        base[row] = at
        if at + number[end - 1] >= len(taken):
            wider = np.zeros(2 * (at + num_classes), np.bool_)
            wider[: len(taken)] = taken
            taken = wider
        for edge in range(begin, end):
            taken[at + number[edge]] = True
        top = max(top, at + number[end - 1] + 1)
        while first_free < len(taken) and taken[first_free]:
            first_free += 1
    return base
