"""The states of the sequences of a batch."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

# Columns of a stack's entries, and how many there are.
SYMBOL, CONTEXT, COST = range(3)
STACK_ENTRY_SIZE = 3


class Sequences(NamedTuple):
    """The states of the sequences of a batch. A step makes new ones, so keeping the old ones is enough to undo it.

    Attributes:
        slot: `[B]` int64, the automaton of each sequence.
        row: `[B, P, L]` int64, the rows of the automaton's tables that apply; P configurations, each with up to L rows.
            Missing configurations and rows are dead.
        counter: `[B, P]` int64, the count of an automaton that counts.
        height: `[B, P]` int64, the number of symbols on the stack.
        stack: `[B, P, D + 1, 3]` int32, from the lowest symbol up: the symbol, and the context and cost of the stack up
            to it, which tell how many tokens are still needed. Entries above the height have no meaning.
        overflowed: `[B]` bool, whether more than P configurations were needed; then nothing is allowed.
    """

    slot: Tensor
    row: Tensor
    counter: Tensor
    height: Tensor
    stack: Tensor
    overflowed: Tensor

    def index_select(self, rows: Tensor) -> Sequences:
        """Return the sequences at some places of the batch, `[n]` int64; places may repeat."""
        return Sequences(*(part.index_select(0, rows) for part in self))

    def copy_(self, other: Sequences) -> Sequences:
        """Overwrite these states in place with those of the same number of other sequences, so that a captured program
        keeps its tensors.

        Returns:
            These sequences.
        """
        for part, taken in zip(self, other, strict=True):
            part.copy_(taken)
        return self
