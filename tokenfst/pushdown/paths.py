"""Paths: the nodes of a context tree that a stack picks, each path made once and known by its object.

Tables share equal nodes, so a node does not tell how it was reached; a path does. There are as many paths as the trees
have nodes before they are shared, and only those are made that some stack has picked. A path keeps what classes do on
it, as far as that has been asked.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, TypeAlias

from tokenfst.pushdown.stack import Stack
from tokenfst.pushdown.tables import PushdownTables

# A state of the tables and a stack.
Configuration: TypeAlias = tuple[int, Stack]
# How many symbols are popped, those pushed, the state that follows, and how much higher than before the stack must be
# allowed to grow.
Move: TypeAlias = tuple[int, tuple[int, ...], int, int]
NEEDED: Final = 3


class ContextPath:
    """The nodes of a path, from a root down.

    Attributes:
        nodes: the nodes.
        longer: the path with one more symbol, None where the tree goes no deeper.
        moves: what classes do on this path.
    """

    __slots__ = ("longer", "moves", "nodes")

    def __init__(self, nodes: tuple[int, ...]) -> None:
        self.nodes = nodes
        self.longer: dict[int, ContextPath | None] = {}
        self.moves: dict[int, tuple[Move, ...]] = {}


class Paths:
    """The paths of some tables, made when first picked; threads may make one twice, and one of them stays."""

    def __init__(self, tables: PushdownTables) -> None:
        self._tables = tables
        self._roots: dict[int, ContextPath] = {}
        self._edge_class = tables.edge_class.data

    def of(self, configuration: Configuration) -> ContextPath:
        """The path that a stack picks."""
        state, stack = configuration
        path = self._roots.get(state)
        if path is None:
            path = self._roots.setdefault(state, ContextPath((state,)))
        while stack is not None:
            try:
                longer = path.longer[stack.symbol]
            except KeyError:
                longer = self._longer(path, stack.symbol)
            if longer is None:
                return path
            path, stack = longer, stack.below
        return path

    def _longer(self, path: ContextPath, symbol: int) -> ContextPath | None:
        node = int(self._tables.child[path.nodes[-1], symbol])
        return path.longer.setdefault(symbol, ContextPath((*path.nodes, node)) if node >= 0 else None)

    def find_moves(self, path: ContextPath, number: int) -> tuple[Move, ...]:
        """What a class does on a path; none where it is not allowed."""
        tables, found = self._tables, list[Move]()
        for node in path.nodes:
            begin, end = int(tables.row_offsets[node]), int(tables.row_offsets[node + 1])
            edge = bisect_left(self._edge_class, number, begin, end)
            if edge < end and self._edge_class[edge] == number:
                outcome = tables.edge_outcome[edge]
                moves = range(tables.outcome_offsets[outcome], tables.outcome_offsets[outcome + 1])
                found += [self._move(move) for move in moves]
        return path.moves.setdefault(number, tuple(found))

    def _move(self, move: int) -> Move:
        tables, push = self._tables, self._tables.move_push[move]
        pushes = tables.push_symbols[tables.push_offsets[push] : tables.push_offsets[push + 1]].tolist()
        pops = int(tables.move_pops[move])
        return pops, tuple(pushes), int(tables.move_target[move]), int(tables.move_room[move]) - pops
