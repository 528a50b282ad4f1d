"""Where the sequences of a batch stand."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

# Columns of a stack's entries.
SYMBOL, CONTEXT, COST = range(3)


class Sequences(NamedTuple):
    """Where each sequence of a batch stands; no step writes in place, so to go back is to keep the old ones.

    Attributes:
        slot: `[B]` int64, the automaton of each sequence.
        row: `[B, P, L]` int64, the rows at which it stands; P configurations side by side, those that are not there are
            dead, and so is what is left of the L rows of each.
        counter: `[B, P]` int64, what it has counted.
        height: `[B, P]` int64, how many symbols are on the stack.
        stack: `[B, P, D + 1, 3]` int32, from the lowest symbol up: symbol, and what the stack up to it means for the
            number of tokens that are still needed (context, cost). What lies above the height means nothing.
        overflowed: `[B]` bool, whether more than P configurations were needed; then nothing is allowed.
    """

    slot: Tensor
    row: Tensor
    counter: Tensor
    height: Tensor
    stack: Tensor
    overflowed: Tensor

    def index_select(self, rows: Tensor) -> Sequences:
        """Some of the sequences, any of them any number of times, `[n]` int64."""
        return Sequences(*(part.index_select(0, rows) for part in self))

    def copy_(self, other: Sequences) -> Sequences:
        """Takes over where as many others stand, in place, so that a captured program finds its tensors.

        Returns:
            Itself.
        """
        for part, taken in zip(self, other, strict=True):
            part.copy_(taken)
        return self
