"""States that lead on to the end of a text for a reason that is simple to find.

They are found by `native/automata/pushdown/coaccessible.h`.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.limits import Work
from automata.pushdown.construction import SymbolsBelow


def doubtful_states(
    moves: IntArray, parent: IntArray, last: IntArray, end: int, below: SymbolsBelow, work: Work
) -> set[int]:
    """The states that have no simple reason to be completed whatever lies under them.

    Args:
        moves: `[n, 4]`, state, sequences of pops and pushes, and target.
        parent, last: the sequences, as of `PushdownAutomaton`.
        end: the state behind the end of the text.
        below: what may lie under states and symbols.
        work: how the compilation is stopped.
    """
    # What lies under symbols that no step pops is never asked.
    num_symbols = max([len(below.symbol_kind), *(symbols[-1] + 1 for symbols in below.below if symbols)])
    symbol_kind = np.zeros(num_symbols, np.int32)
    symbol_kind[: len(below.symbol_kind)] = below.symbol_kind
    found = _native.possibly_dead_states(
        moves,
        parent,
        last,
        end,
        np.array(below.state_kind, np.int32),
        symbol_kind,
        np.array([0, *accumulate(map(len, below.below))], np.int32),
        np.array([each for symbols in below.below for each in symbols], np.int32),
        work.budget,
    )
    return set(np.flatnonzero(found).tolist())
