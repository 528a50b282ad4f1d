"""Where texts can be completed at all, from any state and any stack.

Only a vocabulary that lacks bytes brings it about that some way is not there. Ways are those of
`tokenfst.pushdown.distance`.
"""

from __future__ import annotations

import numpy as np

from tokenfst.pushdown.distance import FAR, Ways
from tokenfst.pushdown.tables import PushdownTables


class Completion:
    """Ways to the end, for some tables."""

    def __init__(self, tables: PushdownTables) -> None:
        self._ways = Ways(tables)

    def ends(self) -> frozenset[int]:
        """The nodes from which there is a way to the end with an empty stack."""
        return frozenset(np.flatnonzero(self._ways.across[:, -1] < FAR).tolist())

    def popped(self, symbol: int) -> list[tuple[int, set[int]]]:
        """The nodes at which a symbol can be popped, each with the nodes that it can be popped to."""
        columns = slice(self._ways.offsets[symbol], self._ways.offsets[symbol + 1])
        reached, nodes = self._ways.across[:, columns] < FAR, self._ways.nodes[columns]
        return [(node, set(nodes[reached[node]].tolist())) for node in np.flatnonzero(reached.any(axis=1)).tolist()]
