"""The rows of an automaton with a stack: the tokens that each node of its context trees allows by itself.

A stack selects one path down a context tree, and the nodes along the path act together. Each node has rows of its own,
one for each level of free room above the stack, and a step combines those of a path (`decoding.arena.program`). The
native core makes the rows (`native/decoding/pushdown_rows.h`).
"""

from __future__ import annotations

from typing import NamedTuple

from automata.arrays import IntArray
from automata.limits import Work, current_work
from decoding import _native
from decoding.arena.machine import Rows
from tokenfst.pushdown.tables import PushdownTables


class PushdownRows(NamedTuple):
    """Rows of nodes; N nodes, O outcomes, M moves.

    Attributes:
        rows_at, cuts_at, num_cuts: `[N]` int32: where the rows and the cuts of a node begin, and how many cuts it has.
        node_rows: `[..]` int32, the rows of each node, one more than it has cuts.
        cuts: `[..]` int32, ascending for each node: the numbers of free symbols at which its row changes.
        rows: the rows. Row `ENDED` allows the end token, with outcome O + 1.
        outcomes: `[O, T]` int32, the moves of each outcome, padded with M; where no outcome has two, outcome i is move
            i.
        parts: the maximum number of rows of a path.
        at_once: the maximum number of moves that a class makes from one path.
    """

    rows_at: IntArray
    cuts_at: IntArray
    num_cuts: IntArray
    node_rows: IntArray
    cuts: IntArray
    rows: Rows
    outcomes: IntArray
    parts: int
    at_once: int


def pushdown_rows(tables: PushdownTables, work: Work | None = None) -> PushdownRows:
    """Return the rows of all nodes of an automaton.

    Raises:
        LimitExceeded: they take too much memory, or the time is up.
    """
    made = _native.pushdown_rows(tables, current_work(work).budget)
    rows_at, cuts_at, num_cuts, node_rows, cuts, offsets, edges, first, outcomes, parts, at_once = made
    rows = Rows(offsets, edges, first)
    return PushdownRows(rows_at, cuts_at, num_cuts, node_rows, cuts, rows, outcomes, parts, at_once)
