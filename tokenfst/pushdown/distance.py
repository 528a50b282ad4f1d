"""The least number of tokens to the end of the text, whatever is on the stack.

What a stack means for the distance is a context (`native/tokenfst/pushdown/distance.h`): a vector, the least number of
tokens from each node of the context trees if this stack is what lies below; what lies deep in a stack costs the same
whatever is done above it, so there are few of them. On the host contexts are found as they are asked for, and there is
no limit to them; tensors want all of them at once.
"""

from __future__ import annotations

from typing import NamedTuple

from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.limits import DEFAULT_LIMITS, Work
from tokenfst import _native
from tokenfst._native import PushdownTables, StackDistance

# Contexts that tensors may have.
MAX_CONTEXTS = 1 << 12
# Bytes of contexts on the host, before all are forgotten and found anew.
MAX_BYTES = 1 << 26
# More than any distance; two of them still fit.
UNREACHABLE = 1 << 29


class PushdownDistance(NamedTuple):
    """Distances by context; H contexts, S symbols, M moves, Q states.

    Attributes:
        next: `[H, S]` int32, the context of the stack with one symbol more; context 0 is that of the empty stack.
        cost: `[H, S]` int32, how many tokens are counted for that symbol.
        rest: `[H, M]` int32, how many tokens follow a move onto a stack of a context, beyond those counted for it;
            `UNREACHABLE` and more where the end cannot be reached.
        first: how many tokens there are from the start.
    """

    next: IntArray
    cost: IntArray
    rest: IntArray
    first: int


def stack_distance(tables: PushdownTables, max_bytes: int = DEFAULT_LIMITS.memory) -> StackDistance:
    """The distances of some tables, which are found when they are first asked for, in so many bytes."""
    return StackDistance(tables, max_bytes, MAX_BYTES)


def distances(distance: StackDistance) -> PushdownDistance:
    """The distances by all contexts that stacks come to.

    Raises:
        LimitExceeded: they are more than `MAX_CONTEXTS`, or take too much memory.
    """
    found = distance.by_context(MAX_CONTEXTS)
    if found is None:
        raise LimitExceeded(f"stacks have more than {MAX_CONTEXTS:,} kinds of distances to the end")
    return PushdownDistance(*found)


class PopDistances:
    """How many tokens it takes from a node until a symbol has been popped, written out; to look at, and to test.

    Attributes:
        tables: the tables.
        across: `[N, J + 1]` int32, by node; columns are pairs of a symbol and a node that it is popped into, by symbol,
            and the last one is the end of the sequence, if nothing below is needed.
        nodes: `[J]`, the nodes of the columns.
        offsets: `[S + 1]`, where the columns of each symbol begin.
    """

    def __init__(self, tables: PushdownTables, work: Work | None = None) -> None:
        """Find them.

        Raises:
            LimitExceeded, Cancelled: as of any compilation.
        """
        self.tables = tables
        self.across, self.nodes, self.offsets = _native.pop_distances(tables, (work or Work()).budget)
