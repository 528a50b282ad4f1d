"""What a pushdown token automaton does, as a step on the accelerator reads it: rows, and a walk to find them.

The nodes that the stack picks along one path of a context tree act together, so a path is unfolded into one row: all
classes that its nodes have edges for, with their moves. Then a step reads one row, and no step puts rows together.

    row         class -> moves, all that is known once the top of the stack has been read; equal rows are one
    inner node  a row with a node of the context tree that has children: where reading may have to go on
    walk        `[rows + inner nodes, S + 1]`: a symbol, or the bottom of the stack (S), leads from an inner node to
                another one or to a row, and rows stay what they are. So every walk is as long as the deepest path.
    level       how many symbols are free above the stack, as far as moves tell that apart
    state       a row at a level: the moves that have room. States are what a batch of sequences carries.

Equal rows are equal futures, whatever state and stack led there, and so are equal states. Two are apart: `DEAD`, where
nothing is allowed, and `ENDED`, after the end of the sequence, which takes any class and stays.

Rejected: gathering the rows of all nodes on a path at each step (as many times the memory traffic as the path is
long); comparing each move's room with the height at each step (four operations where the level is one).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from automata.errors import LimitExceeded
from automata.limits import DEFAULT_LIMITS
from tokenfst.pushdown.tables import PushdownTables

Longs = npt.NDArray[np.int64]

DEAD, ENDED = 0, 1


@dataclass(frozen=True, eq=False, slots=True)
class PushdownRows:
    """Rows and states; S symbols, R rows, T levels, E states, X edges, O outcomes, M moves.

    Attributes:
        walk: `[R + inner nodes, S + 1]`, rows first.
        root: `[Q]`, where the walk of each state of the automaton begins.
        needs: `[T - 1]`, ascending: at level i the first i of these numbers of free symbols are there.
        state_of: `[R, T]`, the state of a row at a level.
        offsets, number, outcome: `[E + 1]`, `[X]`, `[X]`: the classes that each state allows, ascending, and what they
            do. DEAD has none, and ENDED has none here either.
        moves: `[O, W]`, the moves of each outcome, padded with M; where no outcome has two, outcome i is move i.
    """

    walk: Longs
    root: Longs
    needs: Longs
    state_of: Longs
    offsets: Longs
    number: Longs
    outcome: Longs
    moves: Longs

    def classes(self, state: int) -> Longs:
        """The classes that a state allows."""
        return self.number[self.offsets[state] : self.offsets[state + 1]]


def make_rows(tables: PushdownTables) -> PushdownRows:
    """Unfolds the context trees of an automaton.

    Raises:
        LimitExceeded: the rows take more memory than a table may.
    """
    unfolding = _Unfolding(tables)
    unfolding.run()
    rows = unfolding.rows.arrays
    # What has been popped is free again; pushes need room whatever comes later.
    pushed = np.diff(tables.push_offsets)[tables.move_push]
    need = np.maximum(np.maximum(tables.move_room, pushed) - tables.move_pops, 0).astype(np.int64)
    needs, rank = np.unique(need, return_inverse=True)
    states = _Interned()
    state_of = np.full((len(rows), len(needs) + 1), DEAD, np.int64)
    state_of[ENDED] = ENDED
    for number, pairs in enumerate(rows):
        level = rank[pairs % len(need)]
        for least in np.flatnonzero(np.bincount(level)).tolist():
            state_of[number, least + 1 :] = states.number(pairs[level <= least])
    return PushdownRows(*unfolding.tables_of_walk(), needs, state_of, *_outcomes(states.arrays, tables))


def _outcomes(states: list[Longs], tables: PushdownTables) -> tuple[Longs, Longs, Longs, Longs]:
    """Offsets, classes and outcomes of states, and the moves of outcomes."""
    num_moves = len(tables.move_pops)
    pairs = np.concatenate(states)
    sizes = np.array([len(pairs) for pairs in states])
    state, number = np.repeat(np.arange(len(states)), sizes), pairs // num_moves
    is_first = np.append(True, (np.diff(state) != 0) | (np.diff(number) != 0))[: len(pairs)]
    first = np.flatnonzero(is_first)
    place = np.arange(len(pairs)) - np.repeat(first, np.diff(np.append(first, len(pairs))))
    moves = np.full((len(first), int(place.max(initial=0)) + 1), num_moves, np.int64)
    moves[np.cumsum(is_first) - 1, place] = pairs % num_moves
    outcome = moves[:, 0]
    if moves.shape[1] == 1:
        moves = np.arange(num_moves)[:, None]
    else:
        moves, outcome = np.unique(moves, axis=0, return_inverse=True)
    offsets = np.searchsorted(state[first], np.arange(len(states) + 1))
    return offsets, number[first], outcome.reshape(-1), moves


class _Interned:
    """Arrays numbered by content; number 0 is the empty one, and number 1 is kept apart."""

    def __init__(self) -> None:
        self.arrays: list[Longs] = [np.zeros(0, np.int64), np.zeros(0, np.int64)]
        self.nbytes = 0
        self._numbers: dict[bytes, int] = {b"": DEAD}

    def number(self, array: Longs) -> int:
        """The number of an array's content."""
        found = self._numbers.setdefault(array.tobytes(), len(self.arrays))
        if found == len(self.arrays):
            self.arrays.append(array)
            self.nbytes += array.nbytes
            if self.nbytes > DEFAULT_LIMITS.table_bytes:
                raise LimitExceeded(f"the rows of context trees take more than {DEFAULT_LIMITS.table_bytes:,} bytes")
        return found


class _Unfolding:
    """Paths of context trees to rows; inner node i is `~i` until the number of rows is known."""

    def __init__(self, tables: PushdownTables) -> None:
        self.tables = tables
        self.own = _pairs(tables)
        self.is_inner = [bool(row.any()) for row in tables.child >= 0]
        self.rows = _Interned()
        self.inner: list[tuple[int, int]] = []
        self.places: dict[tuple[int, int], int] = {}
        self.reached: list[Longs] = []
        self.root: list[int] = []

    def run(self) -> None:
        """Goes down every path."""
        child, roots = self.tables.child, self.tables.num_states
        self.root = [self._enter(DEAD, state) for state in range(roots - 1)] + [ENDED]
        # The list grows while it is walked through.
        for row, node in self.inner:
            reached = np.full(child.shape[1] + 1, row, np.int64)
            for symbol in np.flatnonzero(child[node] >= 0).tolist():
                reached[symbol] = self._enter(row, int(child[node, symbol]))
            self.reached.append(reached)

    def tables_of_walk(self) -> tuple[Longs, Longs]:
        """`walk` and `root`, numbered through."""
        count, columns = len(self.rows.arrays), self.tables.child.shape[1] + 1
        stays = np.repeat(np.arange(count)[:, None], columns, 1)
        walk = np.concatenate([stays, np.array(self.reached, np.int64).reshape(-1, columns)])
        root = np.array(self.root)
        return np.where(walk < 0, count + ~walk, walk), np.where(root < 0, count + ~root, root)

    def _enter(self, row: int, node: int) -> int:
        """Where a path goes that has come to a row and reads on to a node."""
        place = self.places.get((row, node))
        if place is None:
            joined = self.rows.number(self._joined(self.rows.arrays[row], self.own[node]))
            place = joined
            if self.is_inner[node]:
                place = ~len(self.inner)
                self.inner.append((joined, node))
            self.places[row, node] = place
        return place

    def _joined(self, pairs: Longs, others: Longs) -> Longs:
        if len(pairs) == 0 or len(others) == 0:
            return pairs if len(others) == 0 else others
        joined = np.concatenate([pairs, others])
        joined.sort()
        # With parallel configurations a path may have a move twice.
        return np.unique(joined) if self.tables.max_configurations > 1 else joined


def _pairs(tables: PushdownTables) -> list[Longs]:
    """Each node's own pairs, ascending."""
    counts = np.diff(tables.outcome_offsets)[tables.edge_outcome].astype(np.int64)
    ends = np.append(0, np.cumsum(counts))
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    move = np.repeat(tables.outcome_offsets[tables.edge_outcome].astype(np.int64), counts) + within
    pairs = np.repeat(tables.edge_class.astype(np.int64), counts) * len(tables.move_pops) + move
    bounds = ends[tables.row_offsets]
    return [np.unique(pairs[begin:end]) for begin, end in pairwise(bounds.tolist())]
