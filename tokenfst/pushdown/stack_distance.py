"""StackDistance: how many tokens there are to the end from a state with a stack, and behind each class it allows.

The context of a stack is that of the stack below its topmost symbol and one step more (`tokenfst.pushdown.distance`),
and each cell of a stack keeps its own. So a state that is one token further costs one or two steps, however high the
stack is. What lies below the symbols that a path looks at adds the same to all that the path allows, so distances
behind classes are kept by path and context, less what is counted there.

Where contexts come to take more than `MAX_BYTES`, all are forgotten, and found anew as they are asked for: cells know
by `_age` that what they keep is of another time.
"""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import NamedTuple

import numpy as np

from tokenfst.kept import Kept
from tokenfst.transition.loops import Ints
from tokenfst.pushdown.distance import FAR, Contexts, PushdownDistance, Ways, distances
from tokenfst.pushdown.paths import Configuration, ContextPath
from tokenfst.pushdown.stack import Cell, Stack
from tokenfst.pushdown.tables import PushdownTables

MAX_BYTES = 1 << 26
_MAX_BEHIND = 1 << 12


class Behind(NamedTuple):
    """The distances behind the classes that a path allows, where some context lies below the path.

    Attributes:
        key: tells path and context apart from all others.
        classes: `[n]`; a class comes several times where several nodes of the path have it.
        least: `[n]`, the least number of tokens to the end behind each, less what is counted for the stack below.
        levels: the different numbers among them, ascending; those without an end are left out.
    """

    key: tuple[ContextPath, int]
    classes: Ints
    least: Ints
    levels: list[int]


class StackDistance:
    """The distances of some tables; safe to share between threads, and made when first asked for."""

    def __init__(self, tables: PushdownTables) -> None:
        self._tables = tables
        self._lock = RLock()
        self._behind: Kept[tuple[ContextPath, int], Behind] = Kept(_MAX_BEHIND)
        self._age = object()

    @cached_property
    def _ways(self) -> Ways:
        return Ways(self._tables)

    @cached_property
    def _contexts(self) -> Contexts:
        return Contexts(self._ways)

    @cached_property
    def by_context(self) -> PushdownDistance:
        """The distances by all contexts that stacks come to.

        Raises:
            LimitExceeded: as `tokenfst.pushdown.distance.distances`.
        """
        return distances(Contexts(self._ways))

    def least(self, configuration: Configuration) -> int:
        """The fewest tokens from a state with a stack to the end, the end token counted; FAR where there is no way."""
        state, stack = configuration
        with self._lock:
            context, cost = self._of(stack)
            return min(int(self._contexts.vectors[context][state]) + cost, FAR)

    def behind(self, path: ContextPath, stack: Stack) -> tuple[Behind, int]:
        """The distances behind the classes that a path allows, and what is to be added to them for a stack."""
        with self._lock:
            self._of(stack)
            depths = [stack]
            for _ in path.nodes[1:]:
                # The path says that the symbols are there.
                depths.append(depths[-1].below)  # type: ignore[union-attr]
            context, cost = self._of(depths[-1])
            found = self._behind.get((path, context))
            if found is None:
                key = path, context
                found = self._behind.keep(key, self._found(key, [self._of(below) for below in depths]))
            return found, cost

    def _of(self, stack: Stack) -> tuple[int, int]:
        """The context of a stack, and what is counted for all of it."""
        if stack is None:
            return 0, 0
        if stack.noted[0] is self._age:
            return stack.noted[1:]
        if self._contexts.nbytes > MAX_BYTES:
            self._forget()
        unknown = list[Cell]()
        cell: Stack = stack
        while cell is not None and cell.noted[0] is not self._age:
            unknown.append(cell)
            cell = cell.below
        context, cost = cell.noted[1:] if cell is not None else (0, 0)
        for above in reversed(unknown):
            context, more = self._contexts.onto(context, above.symbol)
            cost = min(cost + more, FAR)
            above.noted = self._age, context, cost
        return context, cost

    def _forget(self) -> None:
        self._age = object()
        self._contexts = Contexts(self._ways)
        self._behind.clear()

    def _found(self, key: tuple[ContextPath, int], depths: list[tuple[int, int]]) -> Behind:
        """Adds up what lies behind the edges of a path, given the context and cost of the stack at each depth."""
        tables = self._tables
        nodes = np.array(key[0].nodes)
        edges = np.concatenate([np.arange(tables.row_offsets[node], tables.row_offsets[node + 1]) for node in nodes])
        outcomes = tables.edge_outcome[edges]
        counts = tables.outcome_offsets[outcomes + 1] - tables.outcome_offsets[outcomes]
        bounds = np.cumsum(counts) - counts
        moves = np.arange(counts.sum()) + np.repeat(tables.outcome_offsets[outcomes] - bounds, counts)
        rests = np.stack([self._contexts.rest(context) for context, _ in depths])
        costs = np.array([cost - depths[-1][1] for _, cost in depths])
        pops = tables.move_pops[moves]
        least = rests[pops, moves] + costs[pops]
        if len(edges):
            least = np.minimum.reduceat(least, bounds)
        levels = np.unique(least[least < FAR]).tolist()
        return Behind(key, tables.edge_class[edges], least.astype(np.int32), levels)
