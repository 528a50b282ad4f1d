"""Machine: the common form of tables for all kinds of automata in the arena.

The state of a sequence is a set of *rows*. A row has the allowed classes and their effects, and is all that a mask
needs. A token's class makes a *move*: it pops and pushes symbols, changes the count, and leads to a *node*. A node
selects its row by one number, the *gauge*. An inner node reads one more symbol from the top of the stack and leads to
another node, which adds a row of its own:

    gauge       the count, for an automaton that counts; or the free room above the stack, because moves need room. A
                node has a row for each interval of the gauge

    of a regular automaton    every state is a node with one row, and no move pops, pushes or counts
    of one with a register    every place is a node, with a row for each interval in which the same guards are open
    of one with a stack       nodes are those of the context trees, with a row for each level of room

So one program serves all kinds. Row 0 and node 0 are dead; row 1 and node 1 are those after the end.

    family      a sequence of rows, each of which allows at least what the rows before it allow, with the same outcomes.
                An edge is stored once for all of them, with its *level*: the position in the family of the first row
                that has it. The rows of a node with a stack are a family, and every other row is a family by itself

Rejected: a program for each kind and a batch sorted by kind (as many launches as kinds, and shapes that change as
sequences come and go).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from decoding.arena.layout import (
    ADDS,
    COUNT,
    CUTS_AT,
    ENDED,
    KEEPS,
    MOVE_SIZE,
    NODE_SIZE,
    NOTHING,
    NUM_CUTS,
    ROWS_AT,
    TARGET,
)
from tokenfst.pushdown.distance import FAR

Longs = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer]


def _no_ints() -> Longs:
    return np.zeros(0, np.int64)


class Rows(NamedTuple):
    """The classes that rows allow, and their outcomes, stored by family; E rows, F families, X edges.

    Attributes:
        offsets: `[F + 1]` int32, where the edges of each family begin.
        edges: `[X, 3]` int32, class, outcome and level; by class within a family.
        first: `[F + 1]` int32, the first row of each family.
    """

    offsets: IntArray
    edges: IntArray
    first: IntArray

    @property
    def num_rows(self) -> int:
        """E, the number of rows."""
        return int(self.first[-1])


def single_rows(offsets: npt.ArrayLike, number: npt.ArrayLike, outcome: npt.ArrayLike) -> Rows:
    """Return rows, each a family by itself.

    Args:
        offsets: `[E + 1]`, where the edges of each row begin.
        number, outcome: `[X]`, the class and the outcome of each edge.
    """
    begins, numbers = np.array(offsets, np.int32), np.array(number, np.int32)
    edges = np.zeros((len(numbers), 3), np.int32)
    edges[:, 0], edges[:, 1] = numbers, outcome
    return Rows(begins, edges, np.arange(len(begins), dtype=np.int32))


@dataclass(frozen=True, eq=False, kw_only=True)
class Machine:
    """The tables; E rows, N nodes, O outcomes, M moves, S symbols, H contexts, R kinds of distances.

    Attributes:
        token_class, num_classes: `[V]`, the class of each token, and K, the number of classes.
        rows: the classes that each row allows, and their outcomes.
        outcomes: `[O, T]`, the moves of each outcome. The second to last outcome leads nowhere; the last is that of the
            end token after the end.
        moves: `[M, 6]` (`layout.POPS` ... `layout.ADDS`); the last two are those of the last two outcomes.
        pushes: `[..]`, symbols from the bottom up.
        nodes: `[N, 4]` (`layout.WALK_AT` ... `layout.NUM_CUTS`).
        walk: `[I, S + 1]`, the node that each inner node leads to, by symbol.
        node_rows, cuts: `[..]`, the rows of nodes, interval by interval, and the cuts between the intervals.
        gauge: the number that selects a node's row (`layout.NOTHING`, `COUNT`, `FREE`).
        depth: the maximum number of symbols on the stack; 0 for no stack.
        first: the node before the first token.
        rest: `[H, R]`, the fewest tokens after a move on a stack of some context, beyond those counted for the stack.
        rest_of: `[M]`, the column of each move.
        next, cost: `[H, S]`, the context of a stack with one symbol more, and the tokens counted for that symbol.
        node_runs, runs: `[N, 2]`, `[.., 2]`: the fewest tokens by count, added to `rest`.
        least: the fewest tokens of a whole text, including the end token.
        row_weights, weight_tokens, weight_costs: `[E, 2]`, `[W]`, `[W]` float32: where the weights of each row begin
            and how many there are; the tokens that do not cost 0, and their costs. Empty without weights.
        is_ambiguous: whether a text may have several configurations.
        reads: the maximum number of symbols that nodes read from the top of the stack.
        longest: the maximum number of symbols that a move pushes.
        parts: the maximum number of rows of a configuration.
        at_once: the maximum number of moves that a class makes from these rows.
    """

    token_class: npt.NDArray[np.integer]
    num_classes: int
    rows: Rows
    outcomes: npt.NDArray[np.integer]
    moves: Longs
    nodes: Longs
    node_rows: Longs
    first: int
    rest: Integers
    rest_of: Integers
    least: int
    pushes: Integers = field(default_factory=_no_ints)
    walk: Longs = field(default_factory=lambda: np.zeros((0, 1), np.int64))
    cuts: Integers = field(default_factory=_no_ints)
    gauge: int = NOTHING
    depth: int = 0
    next: Integers = field(default_factory=lambda: np.zeros((1, 0), np.int64))
    cost: Integers = field(default_factory=lambda: np.zeros((1, 0), np.int64))
    node_runs: Longs = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    runs: Longs = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    row_weights: Longs = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    weight_tokens: Longs = field(default_factory=_no_ints)
    weight_costs: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    is_ambiguous: bool = False
    reads: int = 0
    longest: int = 0
    parts: int = 1
    at_once: int = 1

    @property
    def first_row(self) -> int:
        """The row of the first node, with an empty stack and a count of 0; nodes that follow it would read a symbol."""
        _, rows_at, cuts_at, num_cuts = self.nodes[self.first].tolist()
        gauge = 0 if self.gauge == COUNT else self.depth
        return int(self.node_rows[rows_at + int((self.cuts[cuts_at : cuts_at + num_cuts] <= gauge).sum())])


def leaves(first_row: Longs, first_cut: Longs, num_cuts: Longs) -> Longs:
    """Return nodes that read nothing from the stack, `[N, NODE_SIZE]`."""
    nodes = np.full((len(first_row), NODE_SIZE), -1, np.int64)
    nodes[:, ROWS_AT], nodes[:, CUTS_AT], nodes[:, NUM_CUTS] = first_row, first_cut, num_cuts
    return nodes


def plain_moves(targets: Longs, keeps: Longs | int = 0, adds: Longs | int = 0) -> Longs:
    """Return moves that leave the stack unchanged, followed by the last two of every machine, `[M, MOVE_SIZE]`."""
    moves = np.zeros((len(targets) + 2, MOVE_SIZE), np.int64)
    moves[:-2, TARGET], moves[:-2, KEEPS], moves[:-2, ADDS] = targets, keeps, adds
    moves[-1, TARGET] = ENDED
    return moves


def with_last_two(rest: Integers, rest_of: Integers) -> tuple[Integers, Integers]:
    """Return `rest` and `rest_of` extended by the last two moves, each with a column of its own."""
    columns = rest.shape[1]
    padded: Integers = np.pad(np.minimum(rest, FAR), [(0, 0), (0, 2)], constant_values=FAR)
    padded[:, -1] = 0
    return padded, np.append(rest_of, [columns, columns + 1])
