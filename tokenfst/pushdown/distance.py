"""The least number of tokens to the end of the text, for any stack.

The distance depends on the stack only through its context (`native/tokenfst/pushdown/distance.h`): the vector of the
least numbers of tokens from each node of the context trees if this stack lies below. The lower part of a stack costs
the same whatever happens above it, and its costs are subtracted, so usually there are few contexts. There may be
infinitely many, for example with two recursive rules whose returns take different numbers of tokens. On the host,
contexts are computed when they are needed, without a limit. Tensors need all of them in advance; if there are more than
`MAX_CONTEXTS`, none are made, and the text is followed on the host.
"""

from __future__ import annotations

from typing import NamedTuple

from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.limits import DEFAULT_LIMITS
from tokenfst._native import PushdownTables, StackDistance

# The greatest number of contexts for tensors.
MAX_CONTEXTS = 1 << 12
# The greatest size of the contexts on the host, in bytes; a full cache is emptied.
MAX_BYTES = 1 << 26
# More than any number of tokens; the sum of three such numbers still fits into 32 bits.
FAR = 1 << 29


class PushdownDistance(NamedTuple):
    """Distances for H contexts, S symbols and M moves with R kinds of distances, in tokens.

    Attributes:
        next: `[H, S]` int32, the context after a symbol is pushed; context 0 is that of the empty stack.
        cost: `[H, S]` int32, the cost of this symbol.
        rest: `[H, R]` int32, the distance after a kind of move onto a stack with this context, without the costs of
            its symbols; `FAR` if the end cannot be reached.
        rest_of: `[M]` int32, the column of each move in `rest`.
        first: the distance from the start.
    """

    next: IntArray
    cost: IntArray
    rest: IntArray
    rest_of: IntArray
    first: int


def stack_distance(tables: PushdownTables, max_bytes: int = DEFAULT_LIMITS.memory) -> StackDistance:
    """Return the distances of an automaton, which are computed on first use.

    Args:
        tables: the tables of the automaton.
        max_bytes: the memory that the computation may take, in bytes.
    """
    return StackDistance(tables, max_bytes, MAX_BYTES)


def distances(distance: StackDistance) -> PushdownDistance:
    """Return the distances for all contexts of stacks.

    Raises:
        LimitExceeded: there are more than `MAX_CONTEXTS`, or they take too much memory.
    """
    found = distance.by_context(MAX_CONTEXTS)
    if found is None:
        raise LimitExceeded(f"stacks have more than {MAX_CONTEXTS:,} kinds of distances to the end")
    return PushdownDistance(*found)
