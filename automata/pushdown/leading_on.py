"""States that lead on to the end of a text for a reason that is simple to find.

They are found by `native/automata/pushdown/leading_on.h`.

Move            a step without its column
SymbolsBelow    by kind of a state or a symbol, the symbols that may lie directly under it
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.limits import Work
from automata.pushdown.places import Stack
from automata.pushdown.steps import Sequences

# State, pops, pushes, target.
Move = tuple[int, Stack, Stack, int]


@dataclass(frozen=True, slots=True)
class SymbolsBelow:
    """Which symbols may lie directly under states and symbols; none where only the empty stack does.

    Attributes:
        of_state: the kind of each state.
        of_symbol: the kind of each symbol.
        below: the symbols by kind.
    """

    of_state: Sequence[Hashable]
    of_symbol: Mapping[int, Hashable]
    below: Mapping[Hashable, Sequence[int]]

    def tops(self) -> list[Sequence[int]]:
        """By state, the symbols that may lie under it."""
        return [self.below[kind] for kind in self.of_state]

    def under(self) -> dict[int, Sequence[int]]:
        """By symbol, those that may lie directly under it."""
        return {symbol: self.below[kind] for symbol, kind in self.of_symbol.items()}


def doubtful_states(moves: IntArray, sequences: Sequences, end: int, below: SymbolsBelow, work: Work) -> set[int]:
    """The states that have no simple reason to be completed whatever lies under them.

    Args:
        moves: `[n, 4]`, state, sequences of pops and pushes, and target.
        sequences: the sequences.
        end: the state behind the end of the text.
        below: what may lie under states and symbols.
        work: how the compilation is stopped.
    """
    # Symbols that no step pops or pushes may lie under others as well.
    number = dict(sequences.symbol)
    lists = [sorted(number.setdefault(each, len(number)) for each in symbols) for symbols in below.below.values()]
    kind = {key: place for place, key in enumerate(below.below)}
    symbol_kind = [kind[below.of_symbol[symbol]] for symbol in sequences.symbol]
    # What lies under those is never asked.
    symbol_kind += [0] * (len(number) - len(symbol_kind))
    found = _native.doubtful_states(
        moves,
        np.array(sequences.parent, np.int32),
        np.array(sequences.last, np.int32),
        end,
        np.array([kind[key] for key in below.of_state], np.int32),
        np.array(symbol_kind, np.int32),
        np.array([0, *accumulate(map(len, lists))], np.int32),
        np.array([each for symbols in lists for each in symbols], np.int32),
        work.budget,
    )
    return set(np.flatnonzero(found).tolist())
