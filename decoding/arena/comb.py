"""Combs: sparse rows that share one table, so that a look-up takes one access (row displacement).

Row r begins at base[r], and its entry for class k lies at base[r] + k together with the number of its row: an entry
counts only if it names the row. `native/decoding/comb.h` places the rows.
"""

from __future__ import annotations

from automata.arrays import IntArray
from automata.limits import Work, current_work
from decoding import _native
from decoding.arena.machine import Longs


def comb(
    offsets: Longs, number: Longs, outcome: Longs, num_classes: int, work: Work | None = None
) -> tuple[IntArray, IntArray]:
    """Return the comb of sparse rows.

    Args:
        offsets, number, outcome: `[E + 1]`, `[X]`, `[X]`: each row's classes, ascending, and what they do.
        num_classes: K.
        work: the compilation that it is part of.

    Returns:
        `[E]`, where rows begin, and `[.., 2]`, row and outcome, -1 for none; with room for K classes after every base.

    Raises:
        LimitExceeded: the table takes too much memory.
    """
    return _native.comb(offsets, number, outcome, num_classes, current_work(work).budget)
