"""Find the states that are coaccessible for a simple reason: some text leads from them to an end, whatever symbols are
on the stack (`native/automata/pushdown/coaccessible.h`)."""

from __future__ import annotations

import numpy as np

from automata import _native
from automata.arrays import IntArray, offsets_of
from automata.limits import Work
from automata.pushdown.construction import SymbolsBelow


def doubtful_states(
    moves: IntArray, parent: IntArray, last: IntArray, end: int, below: SymbolsBelow, work: Work
) -> set[int]:
    """Return the states for which no simple reason shows that they are coaccessible.

    Args:
        moves: `[n, 4]`, state, sequences of pops and pushes, and target.
        parent, last: the sequences, as for `StepTable`.
        end: the state after the end of the text.
        below: the symbols that may lie under states and symbols.
        work: the limits, and the means to stop the compilation.
    """
    # Symbols that no step pops need no kind.
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
        offsets_of([len(symbols) for symbols in below.below]),
        np.array([each for symbols in below.below for each in symbols], np.int32),
        work.budget,
    )
    return set(np.flatnonzero(found).tolist())
