"""UnderSymbols: which symbols may be directly below which on a stack.

There may be a hundred thousand symbols, but few different answers, because the symbols below depend only on the rule
that was called. So symbols are grouped into kinds, and each kind has one list of the symbols that may be below it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from automata.arrays import IntArray, offsets_of


@dataclass(frozen=True, eq=False, slots=True)
class UnderSymbols:
    """Pairs of symbols; `pairs[i, j]` says whether symbol j may lie directly under symbol i.

    Attributes:
        kind: `[S]` int32, below K.
        offsets, symbols: `[K + 1]` and `[N]` int32: the symbols that may lie under kind k are those from `offsets[k]`
            to `offsets[k + 1]`, ascending.
    """

    kind: IntArray
    offsets: IntArray
    symbols: IntArray

    def __getitem__(self, pair: tuple[int, int]) -> bool:
        upper, lower = pair
        kind = self.kind[upper]
        below = self.symbols[self.offsets[kind] : self.offsets[kind + 1]]
        place = int(np.searchsorted(below, lower))
        return place < len(below) and int(below[place]) == lower


def by_rules(caller: IntArray, callee: IntArray) -> UnderSymbols:
    """Return which symbols may lie under which if symbols are calls: one lies under another if it called the rule in
    which the other is pushed.

    Args:
        caller, callee: `[S]` each, the rule in which each symbol was pushed, and the rule that was called.
    """
    num_rules = int(max(caller.max(initial=-1), callee.max(initial=-1))) + 1
    offsets = offsets_of(np.bincount(callee, minlength=num_rules))
    return UnderSymbols(caller, offsets, np.argsort(callee, kind="stable").astype(np.int32))
