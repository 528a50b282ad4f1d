"""The fewest tokens to the end of the text, from any state and any stack.

The nodes of the context trees are the states of a plainer automaton: one that pops one symbol at a time, going from a
node to a child, and otherwise goes from a node to a state, pushing, which is a token. Costs are found in ascending
order, as Dijkstra's algorithm does (Knuth 1977, A generalization of Dijkstra's algorithm):

    popped(n, X) -> m    the fewest tokens from node n with symbol X on top to node m, where X has been popped
    level(n) -> m        the same with nothing popped: what was pushed on the way is gone again
    ends(n)              the fewest tokens from node n to the end, with an empty stack

From there a stack is read from the top down, with the cost of every node that each symbol can be popped at: few, for
nearly always one node follows. What is not there has no way to the end, which only a vocabulary that lacks bytes brings
about.

This is saturation (Bouajjani, Esparza & Maler 1997, Reachability analysis of pushdown automata) with costs (Reps,
Schwoon, Jha & Melski 2005, Weighted pushdown systems).

Rejected: a cost for each state and each symbol, to be added up. A token may end several rules at once, so costs do not
add.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np

from automata.limits import Work
from tokenfst.pushdown.stack import Stack
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.token_classes import END

# Costs by node.
Costs: TypeAlias = dict[int, int]

# What waits on the heap, behind its cost: what a symbol is popped to (node, symbol, node reached), or what is left of
# the symbols that a move has pushed (move, how many, node reached).
_POPPED, _UNWOUND = range(2)


class Completion:
    """The fewest tokens to the end, for some tables.

    Attributes:
        popped: `popped(n, X)` by node and symbol, to each node m.
        ends: `ends(n)` by node.
    """

    def __init__(self, tables: PushdownTables, has_end: bool, work: Work) -> None:
        """Finds all costs.

        Args:
            tables: the tables.
            has_end: whether the vocabulary has end tokens, which count; without them a text is complete where it may
                end.
            work: how the search is stopped.
        """
        self.popped: dict[tuple[int, int], Costs] = defaultdict(dict)
        # By the node reached, the nodes that reach it with nothing popped.
        self._level: dict[int, Costs] = defaultdict(dict)
        # By node and symbol, what wants it popped there: a move, how many symbols are left, and the cost so far.
        self._waiting: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
        self._heap: list[tuple[int, int, int, int, int]] = []
        # The least cost put on the heap for a symbol popped.
        self._hoped: dict[tuple[int, int, int], int] = {}
        self._symbols = range(tables.num_symbols)
        # Target and pushes of each move, and the nodes that it is made from.
        self._moves = _moves(tables)
        self._pushes = list(self._moves)
        self._find(tables, work)
        self.ends = self._find_ends(tables, int(has_end))

    def least(self, state: int, stack: Stack) -> int | None:
        """The fewest tokens from a state with a stack, None where there is no way to the end."""
        costs: Costs = {state: 0}
        while stack is not None:
            after: Costs = {}
            for node, cost in costs.items():
                for reached, spent in self.popped.get((node, stack.symbol), {}).items():
                    after[reached] = min(after.get(reached, cost + spent), cost + spent)
            costs, stack = after, stack.below
        return min((cost + self.ends[node] for node, cost in costs.items() if node in self.ends), default=None)

    def _find(self, tables: PushdownTables, work: Work) -> None:
        heap = self._heap
        for node, symbol in np.argwhere(tables.child >= 0).tolist():
            self._hope(0, node, symbol, int(tables.child[node, symbol]))
        for move, (target, symbols) in enumerate(self._pushes):
            heappush(heap, (0, _UNWOUND, move, len(symbols), target))
        unwound: set[tuple[int, int, int]] = set()
        while heap:
            work.check()
            cost, kind, first, second, node = heappop(heap)
            if kind == _POPPED:
                self._add_popped(cost, first, second, node)
            elif (first, second, node) not in unwound:
                unwound.add((first, second, node))
                self._unwind(cost, first, second, node)

    def _add_popped(self, cost: int, node: int, symbol: int, reached: int) -> None:
        known = self.popped[node, symbol]
        if reached in known:
            return
        known[reached] = cost
        for before, spent in self._level[node].items():
            self._hope(cost + spent, before, symbol, reached)
        for move, left, spent in self._waiting[node, symbol]:
            heappush(self._heap, (cost + spent, _UNWOUND, move, left - 1, reached))

    def _hope(self, cost: int, node: int, symbol: int, reached: int) -> None:
        """Puts on the heap what a symbol may be popped to, unless it is known or hoped for at this cost."""
        if cost < self._hoped.get((node, symbol, reached), cost + 1):
            self._hoped[node, symbol, reached] = cost
            heappush(self._heap, (cost, _POPPED, node, symbol, reached))

    def _unwind(self, cost: int, move: int, left: int, node: int) -> None:
        if left:
            symbol = self._pushes[move][1][left - 1]
            self._waiting[node, symbol].append((move, left, cost))
            for reached, spent in self.popped.get((node, symbol), {}).items():
                heappush(self._heap, (cost + spent, _UNWOUND, move, left - 1, reached))
            return
        for source in self._moves[self._pushes[move]]:
            if source not in self._level[node]:
                # The move itself is a token.
                self._level[node][source] = cost + 1
                for symbol in self._symbols:
                    for reached, spent in self.popped.get((node, symbol), {}).items():
                        self._hope(cost + 1 + spent, source, symbol, reached)

    def _find_ends(self, tables: PushdownTables, end_cost: int) -> Costs:
        owner = np.repeat(np.arange(len(tables.child)), np.diff(tables.row_offsets))
        heap = [(end_cost, node) for node in owner[tables.edge_class == END].tolist() if node != tables.num_states - 1]
        heap.append((0, tables.num_states - 1))
        heap.sort()
        ends: Costs = {}
        while heap:
            cost, node = heappop(heap)
            if node not in ends:
                ends[node] = cost
                for before, spent in self._level[node].items():
                    heappush(heap, (cost + spent, before))
        return ends


def _moves(tables: PushdownTables) -> dict[tuple[int, tuple[int, ...]], list[int]]:
    """By target and pushes, the nodes that tokens move from."""
    owner = np.repeat(np.arange(len(tables.child)), np.diff(tables.row_offsets))
    counts = np.diff(tables.outcome_offsets)[tables.edge_outcome]
    first = tables.outcome_offsets[tables.edge_outcome]
    move = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    is_token = np.repeat(tables.edge_class != END, counts)
    columns = np.repeat(owner, counts)[is_token], tables.move_target[move[is_token]], tables.move_push[move[is_token]]
    found: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for node, target, push in np.unique(np.stack(columns, axis=1), axis=0).tolist():
        symbols = tables.push_symbols[tables.push_offsets[push] : tables.push_offsets[push + 1]]
        found.setdefault((target, tuple(symbols.tolist())), []).append(node)
    return found
