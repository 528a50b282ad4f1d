"""The least number of tokens to the end of the text, whatever is on the stack.

What a stack means for the distance is a vector: the least number of tokens from each node of the context trees, if
this stack is what lies below. Vectors that differ by a constant are one context, and there are few of them, because
what lies deep in a stack costs the same whatever is done above it:

    across      from node n with symbol X on top, how many tokens until X has been popped and node m is reached; and how
                many until the end of the sequence, if nothing below is needed. The least solution of

                    across[n, X, child[n, X]]  = 0
                    across[n, X, m]           <= 1 + the way from the target of an edge of n over its pushes and over X

                found by iteration from above, as in the saturation of weighted pushdown systems (Reps, Schwoon, Jha,
                Melski: Weighted pushdown systems and their application to interprocedural dataflow analysis, 2005).
    context     the vector of the empty stack, and from any vector v that of the stack with X on it:
                v'[n] = min over m of across[n, X, m] + v[m]; its least entry is taken off and counted apart
    rest        from a move's target, with its pushes on a stack of some context: added to what that context counts,
                the distance after the move

The end of the sequence is reached with an empty stack, or by a move that looks at no symbol.

Contexts are found as they are asked for (`Contexts`), so on the host there is no limit to them; tensors want all of
them at once (`distances`).

Rejected: adding up a cost for each symbol of the stack, which is exact only where no token pops two symbols.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.errors import LimitExceeded
from automata.jit import kernel, plain_kernel
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.transition.loops import Ints

MAX_CONTEXTS = 1 << 12
# More than any distance; two of them still fit.
FAR = 1 << 29
# Values that are looked at together.
_BLOCK = 256


class PushdownDistance(NamedTuple):
    """Distances by context; H contexts, S symbols, M moves, Q states.

    Attributes:
        next: `[H, S]` int32, the context of the stack with one symbol more; context 0 is that of the empty stack.
        cost: `[H, S]` int32, how many tokens are counted for that symbol.
        rest: `[H, M]` int32, how many tokens follow a move onto a stack of a context, beyond those counted for it;
            `FAR` and more where the end cannot be reached.
        first: how many tokens there are from the start.
    """

    next: Ints
    cost: Ints
    rest: Ints
    first: int


def distances(contexts: Contexts) -> PushdownDistance:
    """The distances by all contexts that stacks come to.

    Raises:
        LimitExceeded: they are more than `MAX_CONTEXTS`.
    """
    following: list[list[int]] = []
    cost: list[list[int]] = []
    # There are more of them while they are walked through.
    while len(following) < len(contexts.vectors):
        if len(contexts.vectors) > MAX_CONTEXTS:
            raise LimitExceeded(f"stacks have more than {MAX_CONTEXTS:,} kinds of distances to the end")
        found = contexts.onto_each(len(following))
        following.append([number for number, _ in found])
        cost.append([least for _, least in found])
    shape = (len(following), contexts.ways.tables.num_symbols)
    rest = np.array([contexts.rest(number) for number in range(len(following))], np.int32)
    first = int(contexts.vectors[0][contexts.ways.tables.start])
    return PushdownDistance(
        np.array(following, np.int32).reshape(shape), np.array(cost, np.int32).reshape(shape), rest, first
    )


class Vectors:
    """Vectors of distances, numbered in the order in which they come; those that differ by a constant are one.

    Attributes:
        known: the vectors by number.
    """

    def __init__(self, first: npt.NDArray[np.int32]) -> None:
        self.known = [first]
        self._numbers = {first.tobytes(): 0}

    def number(self, vector: npt.NDArray[np.int32]) -> tuple[int, int]:
        """The number of a vector less its least entry, and that entry; 0 and `FAR` where all of it is far."""
        least = int(vector.min())
        if least >= FAR:
            return 0, FAR
        vector = np.where(vector < FAR, vector - least, FAR).astype(np.int32)
        number = self._numbers.setdefault(vector.tobytes(), len(self.known))
        if number == len(self.known):
            self.known.append(vector)
        return number, least


class Contexts:
    """The contexts of stacks, found as they are asked for.

    Attributes:
        ways: what `across` says.
        vectors: the vector of each context, `[N]`; context 0 is that of the empty stack.
    """

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self._numbered = Vectors(ways.across[:, -1].copy())
        self.vectors = self._numbered.known
        self._onto: dict[tuple[int, int], tuple[int, int]] = {}
        self._rest: dict[int, npt.NDArray[np.int32]] = {}

    @property
    def nbytes(self) -> int:
        """Memory of the vectors, in bytes."""
        return len(self.vectors) * self.vectors[0].nbytes

    def onto(self, context: int, symbol: int) -> tuple[int, int]:
        """The context of a stack with a symbol more, and its cost: 0 and `FAR` where no end can be reached."""
        known = self._onto.get((context, symbol))
        if known is None:
            found = self.ways.onto(self.vectors[context], range(symbol, symbol + 1))[0]
            known = self._onto[context, symbol] = self._numbered.number(found)
        return known

    def onto_each(self, context: int) -> list[tuple[int, int]]:
        """The same for every symbol, which is not kept."""
        found = self.ways.onto(self.vectors[context], range(self.ways.tables.num_symbols))
        return list(map(self._numbered.number, found))

    def rest(self, context: int) -> npt.NDArray[np.int32]:
        """How many tokens follow each move onto a stack of a context, beyond those counted for it, `[M]`."""
        known = self._rest.get(context)
        if known is None:
            nodes, costs, offsets = self.ways.landings
            # Each ends with a place that nothing is reached at.
            behind = np.append(self.vectors[context], FAR)[nodes] + costs
            known = self._rest[context] = np.minimum.reduceat(behind, offsets)[self.ways.push_of_move]
        return known


class Ways:
    """What `across` says; columns are pairs of a symbol and a node that it is popped into, by symbol, and the end."""

    def __init__(self, tables: PushdownTables) -> None:
        self.tables = tables
        pairs = np.stack([tables.move_target, tables.move_push], 1)
        distinct, self.push_of_move = np.unique(pairs, axis=0, return_inverse=True)
        self.push_of_move = self.push_of_move.reshape(-1)
        bounds, symbols = tables.push_offsets, tables.push_symbols
        self.pushes = [(int(target), symbols[bounds[push] : bounds[push + 1]]) for target, push in distinct]
        popped = [np.unique(column[column >= 0]) for column in tables.child.T]
        self.offsets = np.cumsum([0, *map(len, popped)]).astype(np.int32)
        self.nodes = np.concatenate([np.zeros(0, np.int32), *popped]).astype(np.int32)
        edges = np.repeat(np.arange(len(tables.child)), np.diff(tables.row_offsets))
        counts = np.diff(tables.outcome_offsets)[tables.edge_outcome]
        firsts = np.repeat(tables.outcome_offsets[tables.edge_outcome] - np.cumsum(counts) + counts, counts)
        moves = firsts + np.arange(counts.sum())
        # The nodes that have an edge with each push, push by push.
        push, source = np.divmod(
            np.unique(self.push_of_move[moves] * len(tables.child) + np.repeat(edges, counts)), len(tables.child)
        )
        self.across = np.full((len(tables.child), len(self.nodes) + 1), FAR, np.int32)
        self.across[tables.num_states - 1, -1] = 0
        for symbol, column in enumerate(tables.child.T):
            known = np.flatnonzero(column >= 0)
            self.across[known, self.offsets[symbol] + np.searchsorted(popped[symbol], column[known])] = 0
        order = [np.append(target, pushes[::-1]).astype(np.int32) for target, pushes in self.pushes]
        starts = np.cumsum([0, *map(len, order)]).astype(np.int32)
        _saturate(
            self.across,
            self.offsets,
            self.nodes,
            np.concatenate(order),
            starts,
            source.astype(np.int32),
            np.searchsorted(push, np.arange(len(self.pushes) + 1)).astype(np.int32),
        )

    def onto(self, vector: npt.NDArray[np.int32], symbols: range) -> npt.NDArray[np.int32]:
        """The vectors of stacks with each of some symbols more, `[.., N]`."""
        found = np.empty((len(symbols), len(vector)), np.int32)
        _onto(self.across, vector[self.nodes], self.offsets[symbols.start : symbols.stop + 1], found)
        return found

    def over(self, target: int, pushes: Ints) -> tuple[Ints, Ints]:
        """The nodes that are reached once all pushes have been popped, and after how many tokens."""
        nodes, costs = np.array([target], np.int32), np.zeros(1, np.int32)
        for symbol in pushes[::-1].tolist():
            columns = slice(self.offsets[symbol], self.offsets[symbol + 1])
            costs = (self.across[nodes, columns] + costs[:, None]).min(0, initial=FAR)
            nodes = self.nodes[columns]
            nodes, costs = nodes[costs < FAR], costs[costs < FAR]
        return nodes, costs

    @cached_property
    def landings(self) -> tuple[Ints, Ints, Ints]:
        """Where each push leads once all of it has been popped: nodes, costs, and where those of each begin."""
        reached = [self.over(target, pushes) for target, pushes in self.pushes]
        # One more for each: the place behind the last node, for pushes that lead nowhere.
        nodes = [np.append(found, len(self.across)) for found, _ in reached]
        costs = [np.append(cost, 0) for _, cost in reached]
        offsets = np.cumsum([0, *map(len, nodes[:-1])])
        return np.concatenate(nodes), np.concatenate(costs), offsets.astype(np.int32)


@plain_kernel
def _onto(
    across: npt.NDArray[np.int32], behind: npt.NDArray[np.int32], offsets: Ints, found: npt.NDArray[np.int32]
) -> None:
    """The least ways over symbols, `[.., N]`, with what lies behind each column, `[J]`."""
    for node in range(len(across)):
        for number in range(len(found)):
            begin, end = offsets[number], offsets[number + 1]
            found[number, node] = _least(across[node, begin:end], behind[begin:end])


@plain_kernel
def _least(costs: npt.NDArray[np.int32], behind: npt.NDArray[np.int32]) -> int:
    least = np.int32(FAR)
    for place in range(len(costs)):
        least = min(least, np.int32(costs[place] + behind[place]))
    return int(least)


@kernel
def _saturate(
    across: npt.NDArray[np.int32], offsets: Ints, nodes: Ints, steps: Ints, starts: Ints, sources: Ints, firsts: Ints
) -> None:
    """Lowers `across` until nothing changes; only what has been lowered is looked at again, block by block.

    Args:
        across: `[N, J + 1]`, zero where a symbol is popped at once, and FAR elsewhere.
        offsets, nodes: `[S + 1]`, `[J]`: the columns of each symbol, and their nodes.
        steps, starts: `[..]`, `[G + 1]`: each push's target, and its symbols from the top down.
        sources, firsts: `[F]`, `[G + 1]`: the nodes that have an edge with each push, by push.
    """
    counts, blocks = len(starts) - 1, -(-across.shape[1] // _BLOCK)
    # What each push leads to once it has been popped again, and what that took for the nodes of its last step.
    way = np.full((counts, across.shape[1]), FAR, np.int32)
    ends = _ends_of_last_steps(offsets, steps, starts)
    paid = np.full(ends[counts], FAR, np.int32)
    costs, after = np.empty(max(len(nodes), 1), np.int32), np.empty(len(nodes), np.int32)
    fresh, news = np.ones((len(across), blocks), np.bool_), np.ones((len(across), blocks), np.bool_)
    changed, lowered = np.ones(len(across), np.bool_), np.empty((counts, blocks), np.bool_)
    while changed.any():
        # What pushes come to while they are popped again.
        beneath = False
        for node in nodes:
            beneath = beneath or changed[node]
        lowered[:] = False
        for number in range(counts):
            order, before = steps[starts[number] : starts[number + 1]], paid[ends[number] : ends[number + 1]]
            if changed[order[0]] or (beneath and len(order) > 1):
                lowered[number, blocks - 1] = _pop(across, offsets, nodes, order, costs, after, way[number])
                landed = nodes[offsets[order[-1]] :] if len(order) > 1 else order
                _go_on(across, landed, costs, before, changed, fresh, way[number], lowered[number])
        changed[:] = False
        news[:] = False
        for number in range(counts):
            for entry in range(firsts[number], firsts[number + 1] if lowered[number].any() else 0):
                source = sources[entry]
                changed[source] |= _lower_blocks(across[source], way[number], 1, False, lowered[number], news[source])
        fresh, news = news, fresh


@kernel
def _ends_of_last_steps(offsets: Ints, steps: Ints, starts: Ints) -> npt.NDArray[np.int64]:
    """Where the nodes that each push is popped into at last begin, if all lie side by side, `[G + 1]`."""
    ends = np.zeros(len(starts), np.int64)
    for number in range(len(starts) - 1):
        last = steps[starts[number + 1] - 1]
        # Where nothing is pushed it is the target alone.
        size = offsets[last + 1] - offsets[last] if starts[number + 1] > starts[number] + 1 else 1
        ends[number + 1] = ends[number] + size
    return ends


@plain_kernel
def _pop(
    across: npt.NDArray[np.int32], offsets: Ints, nodes: Ints, order: Ints, costs: Ints, after: Ints, way: Ints
) -> bool:
    """What it takes from a target over all symbols, top down, into each node below the last of them.

    Args:
        across, offsets, nodes: as for `_saturate`.
        order: the target, and the symbols.
        costs: where the result goes, in the order of the last symbol's columns.
        after: room for as much.
        way: lowered at its last place, by ways to the end that need nothing below; the result says whether it was.
    """
    found, end = False, len(way) - 1
    costs[0], landed, count = 0, order, 1
    for symbol in order[1:]:
        begin, size = offsets[symbol], offsets[symbol + 1] - offsets[symbol]
        after[:size] = FAR
        for place in range(count):
            if costs[place] < FAR:
                row = across[landed[place]]
                _lower(after[:size], row[begin : begin + size], costs[place])
                found |= _lower(way[end:], row[end:], costs[place])
        landed, count = nodes[begin:], size
        for place in range(size):
            costs[place] = after[place]
    return found


@plain_kernel
def _go_on(
    across: npt.NDArray[np.int32], landed: Ints, costs: Ints, before: Ints, changed: npt.NDArray[np.bool_],
    fresh: npt.NDArray[np.bool_], way: Ints, lowered: npt.NDArray[np.bool_],
) -> None:  # fmt: skip
    """Goes on from where a push has landed: where it costs less than before in all blocks, else in fresh ones."""
    for place in range(len(before)):
        node, cost = landed[place], costs[place]
        is_cheaper = cost < before[place]
        if cost < FAR and (is_cheaper or changed[node]):
            before[place] = cost
            _lower_blocks(way, across[node], cost, is_cheaper, fresh[node], lowered)


@plain_kernel
def _lower_blocks(
    values: npt.NDArray[np.int32], bounds: npt.NDArray[np.int32], more: int, everywhere: bool,
    looked_at: npt.NDArray[np.bool_], lowered: npt.NDArray[np.bool_],
) -> bool:  # fmt: skip
    """Lowers values to bounds and something more, in all blocks or in some; notes and says where there was need to."""
    found = False
    for block in range(len(lowered)):
        if everywhere or looked_at[block]:
            begin, end = _BLOCK * block, min(_BLOCK * block + _BLOCK, len(values))
            if _lower(values[begin:end], bounds[begin:end], more):
                found = lowered[block] = True
    return found


@plain_kernel
def _lower(values: npt.NDArray[np.int32], bounds: npt.NDArray[np.int32], more: int) -> bool:
    """Lowers values to bounds and something more; whether there was need to. Plain loops, sixteen values at a time."""
    most = np.int32(0)
    for place in range(len(values)):
        most = max(most, np.int32(values[place] - np.int32(bounds[place] + more)))
    if most > 0:
        for place in range(len(values)):
            bound = np.int32(bounds[place] + more)
            values[place] = bound if bound < values[place] else values[place]
    return bool(most > 0)
