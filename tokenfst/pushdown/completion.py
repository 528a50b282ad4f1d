"""Where texts can be completed, and with how few tokens, from any state and any stack.

A stack is read from the top down, with the cost of every node that each symbol can be popped to: few, for nearly always
one node follows. What is not there has no way to the end, which only a vocabulary that lacks bytes brings about. The
costs are those of `tokenfst.pushdown.distance`.
"""

from __future__ import annotations

import numpy as np

from tokenfst.pushdown.distance import FAR, Ways
from tokenfst.pushdown.stack import Stack, symbols
from tokenfst.pushdown.tables import PushdownTables


class Completion:
    """Ways to the end, for some tables."""

    def __init__(self, tables: PushdownTables) -> None:
        self._ways = Ways(tables)
        self._end_state = tables.num_states - 1

    def least(self, state: int, stack: Stack) -> int:
        """The fewest tokens from a state with a stack to the end, the end token counted; FAR where there is no way."""
        if state == self._end_state:
            return 0
        nodes, costs = self._ways.over(state, np.array(symbols(stack), np.int32))
        return int((costs + self._ways.across[nodes, -1]).min(initial=FAR))

    def ends(self) -> frozenset[int]:
        """The nodes from which there is a way to the end with an empty stack."""
        return frozenset(np.flatnonzero(self._ways.across[:, -1] < FAR).tolist())

    def popped(self, symbol: int) -> list[tuple[int, set[int]]]:
        """The nodes at which a symbol can be popped, each with the nodes that it can be popped to."""
        columns = slice(self._ways.offsets[symbol], self._ways.offsets[symbol + 1])
        reached, nodes = self._ways.across[:, columns] < FAR, self._ways.nodes[columns]
        return [(node, set(nodes[reached[node]].tolist())) for node in np.flatnonzero(reached.any(axis=1)).tolist()]
