"""The rows of an automaton with a stack: what each node of its context trees allows by itself.

A stack picks one path down a context tree, and the nodes along it act together. Each node has rows of its own, and a
step puts together those of a path (`decoding.arena.program`): equal subtrees are one node, so there are few nodes and
there may be millions of paths.

    row         class -> moves: a node's own edges, those whose moves have room; equal rows are one
    cuts        of a node: from how many free symbols above the stack on it has another row
    parts       how many nodes of one path have rows, at most
    at once     how many moves a class makes from all rows of a path, at most

Rejected: a row for each path, so that a step reads one (over three million paths for SQL and 128,000 tokens, and 105 MB
for C where nodes take 7); comparing each move's room with the height at each step (masks would still need the rows).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from decoding.arena.layout import DEAD, ENDED
from decoding.arena.machine import Longs
from tokenfst.pushdown.tables import PushdownTables


@dataclass(frozen=True, eq=False, slots=True)
class PushdownRows:
    """Rows of nodes; N nodes, E rows, X edges, O outcomes, M moves.

    Attributes:
        rows_at, cuts_at, num_cuts: `[N]`: where the rows and the cuts of a node begin, and how many cuts it has.
        node_rows: `[..]`, rows; a node has one more than cuts.
        cuts: `[..]`, ascending for each node.
        offsets, number, outcome: `[E + 1]`, `[X]`, `[X]`: the classes that each row allows, ascending, and what they
            do. `DEAD` has none, and `ENDED` has none here either.
        outcomes: `[O, T]`, the moves of each outcome, padded with M; where no outcome has two, outcome i is move i.
        parts: how many rows a path has, at most.
        at_once: how many moves a class makes from one path, at most.
    """

    rows_at: Longs
    cuts_at: Longs
    num_cuts: Longs
    node_rows: Longs
    cuts: Longs
    offsets: Longs
    number: Longs
    outcome: Longs
    outcomes: Longs
    parts: int
    at_once: int


def make_rows(tables: PushdownTables) -> PushdownRows:
    """Return the rows of all nodes of an automaton."""
    # What has been popped is free again; pushes need room whatever comes later.
    pushed = np.diff(tables.push_offsets)[tables.move_push]
    need = np.maximum(np.maximum(tables.move_room, pushed) - tables.move_pops, 0).astype(np.int64)
    rows, own = _Interned(), _pairs(tables)
    node_rows: list[int] = []
    cuts: list[int] = []
    num_cuts = []
    for pairs in own:
        needs = need[pairs % len(need)]
        steps = sorted(set(needs[needs > 0].tolist()))
        node_rows += [rows.number(pairs[needs <= step]) for step in [0, *steps]]
        cuts += steps
        num_cuts.append(len(steps))
    each = np.array(num_cuts, np.int64)
    cuts_at = np.cumsum(each) - each
    is_full = np.array([len(pairs) > 0 for pairs in own], np.int64)
    return PushdownRows(
        cuts_at + np.arange(len(own)),
        cuts_at,
        each,
        np.array(node_rows, np.int64),
        np.array(cuts, np.int64),
        *_outcomes(rows.arrays, tables),
        parts=_most_on_a_path(tables, is_full),
        at_once=_most_on_a_path(tables, _most_moves(tables)) if tables.max_configurations > 1 else 1,
    )


def _pairs(tables: PushdownTables) -> list[Longs]:
    """Return each node's own edges, as pairs of class and move in one number, ascending."""
    counts = np.diff(tables.outcome_offsets)[tables.edge_outcome].astype(np.int64)
    ends = np.append(0, np.cumsum(counts))
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    move = np.repeat(tables.outcome_offsets[tables.edge_outcome].astype(np.int64), counts) + within
    pairs = np.repeat(tables.edge_class.astype(np.int64), counts) * len(tables.move_pops) + move
    bounds = ends[tables.row_offsets]
    return [np.unique(pairs[begin:end]) for begin, end in pairwise(bounds.tolist())]


def _most_moves(tables: PushdownTables) -> Longs:
    """Return the most moves that a class makes from each node by itself, `[N]`."""
    counts = np.diff(tables.outcome_offsets)[tables.edge_outcome].astype(np.int64)
    return np.array([counts[begin:end].max(initial=0) for begin, end in pairwise(tables.row_offsets.tolist())])


def _most_on_a_path(tables: PushdownTables, weights: Longs) -> int:
    """Return the most that the nodes of one path weigh together, and 1 at least."""
    below = weights
    for _ in range(tables.max_pops):
        children = np.where(tables.child >= 0, below[tables.child], 0)
        below = weights + children.max(1, initial=0)
    return max(int(below[: tables.num_states].max()), 1)


def _outcomes(rows: list[Longs], tables: PushdownTables) -> tuple[Longs, Longs, Longs, Longs]:
    """Return offsets, classes and outcomes of rows, and the moves of outcomes."""
    num_moves = len(tables.move_pops)
    pairs = np.concatenate(rows)
    sizes = np.array([len(pairs) for pairs in rows])
    row, number = np.repeat(np.arange(len(rows)), sizes), pairs // num_moves
    is_first = np.append(True, (np.diff(row) != 0) | (np.diff(number) != 0))[: len(pairs)]
    first = np.flatnonzero(is_first)
    place = np.arange(len(pairs)) - np.repeat(first, np.diff(np.append(first, len(pairs))))
    moves = np.full((len(first), int(place.max(initial=0)) + 1), num_moves, np.int64)
    moves[np.cumsum(is_first) - 1, place] = pairs % num_moves
    outcome = moves[:, 0]
    if moves.shape[1] == 1:
        moves = np.arange(num_moves)[:, None]
    else:
        moves, outcome = np.unique(moves, axis=0, return_inverse=True)
    offsets = np.searchsorted(row[first], np.arange(len(rows) + 1))
    return offsets, number[first], outcome.reshape(-1), moves


class _Interned:
    """Arrays numbered by content; number 0 is the empty one, and number 1 is kept apart."""

    def __init__(self) -> None:
        self.arrays: list[Longs] = [np.zeros(0, np.int64)] * (ENDED + 1)
        self._numbers: dict[bytes, int] = {b"": DEAD}

    def number(self, array: Longs) -> int:
        """Return the number of an array's content."""
        found = self._numbers.setdefault(array.tobytes(), len(self.arrays))
        if found == len(self.arrays):
            self.arrays.append(array)
        return found
