"""Combs: sparse rows that share one table, so that a look-up takes one access (row displacement).

The rows of a family share one base. The entry for class k is at base + k, together with the number of the first row
that has it: an entry is valid for a row only if it names this row or an earlier row of the same family.
`native/decoding/comb.h` places the families.
"""

from __future__ import annotations

from automata.arrays import IntArray
from automata.limits import Work, current_work
from decoding import _native
from decoding.arena.machine import Rows


def comb(rows: Rows, num_classes: int, work: Work | None = None) -> tuple[IntArray, IntArray]:
    """Return the comb of sparse rows.

    Args:
        rows: the rows.
        num_classes: K.
        work: the compilation that this is part of.

    Returns:
        `[E, 2]`, where the family of each row begins, and its first row; and `[.., 2]`, row and outcome, -1 for none,
        with room for K classes after every base.

    Raises:
        LimitExceeded: the table takes too much memory.
    """
    return _native.comb(*rows, num_classes, current_work(work).budget)
