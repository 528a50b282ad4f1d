"""Machine: the tables that every kind of automaton becomes in the arena.

The state of a sequence is a set of *rows*. A row holds the classes that are allowed and what they do, and is all that a
mask needs. A token's class makes a *move*: it pops and pushes symbols, changes the count, and leads to a *node*. A node
finds its row by one number, the *gauge*. An inner node reads one more symbol from the top of the stack and leads to
another node, which adds a row of its own:

    gauge       the count, for an automaton that counts; or the free room above the stack, since moves need room. A node
                has a row for each interval of the gauge

    of a regular automaton    every state is a node with one row, and no move pops, pushes or counts
    of one with a register    every place is a node, with a row for each interval in which the same guards are open
    of one with a stack       nodes are those of the context trees, with a row for each level of room

So one program serves all kinds. Row and node 0 are dead, row and node 1 are those after the end.

Rejected: a program for each kind and a batch sorted by kind (as many launches as kinds, and shapes that change as
sequences come and go).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from decoding.arena.layout import ADDS, CUTS_AT, ENDED, FAR, KEEPS, NOTHING, NUM_CUTS, ROWS_AT, TARGET

Longs = npt.NDArray[np.int64]


def _no_ints() -> Longs:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Machine:
    """The tables; E rows, N nodes, X edges, O outcomes, M moves, S symbols, H contexts.

    Attributes:
        token_class, num_classes: `[V]` and K.
        offsets, number, outcome: `[E + 1]`, `[X]`, `[X]`: the classes that each row allows, ascending, and what
            they do.
        outcomes: `[O, T]`, the moves of each outcome; the last two outcomes are none, and what the end token does
            behind the end.
        moves: `[M, 6]`, likewise (`layout.POPS` ... `layout.ADDS`).
        pushes: `[..]`, symbols from the bottom up.
        nodes: `[N, 4]` (`layout.WALK_AT` ... `layout.NUM_CUTS`).
        walk: `[I, S + 1]`.
        node_rows, cuts: `[..]`.
        gauge: what cuts are about (`layout.NOTHING`, `COUNT`, `FREE`).
        depth: the most symbols on the stack; 0 for none.
        first: the node before the first token.
        rest: `[H, M]`, the fewest tokens after a move on a stack of some context, beyond those counted for the stack.
        next, cost: `[H, S]`, the context of a stack with one symbol more, and what is counted for it.
        node_runs, runs: `[N, 2]`, `[.., 2]`: the fewest tokens by count, added to `rest`.
        least: the fewest tokens of a whole text, the end token counted.
        row_weights, weight_tokens, weight_costs: `[E, 2]`, `[W]`, `[W]` float32: where the weights of each row begin
            and how many there are; the tokens that do not cost 0, and their costs. Empty without weights.
        is_ambiguous: whether a text may have several configurations.
        reads: how many symbols are read at most.
        longest: how many are pushed at most.
        parts: how many rows a sequence stands at, at most.
        at_once: how many moves a class makes from them, at most.
    """

    token_class: npt.NDArray[np.integer]
    num_classes: int
    offsets: Longs
    number: Longs
    outcome: Longs
    outcomes: Longs
    moves: Longs
    nodes: Longs
    node_rows: Longs
    first: int
    rest: Longs
    least: int
    pushes: Longs = field(default_factory=_no_ints)
    walk: Longs = field(default_factory=lambda: np.zeros((0, 1), np.int64))
    cuts: Longs = field(default_factory=_no_ints)
    gauge: int = NOTHING
    depth: int = 0
    next: Longs = field(default_factory=lambda: np.zeros((1, 0), np.int64))
    cost: Longs = field(default_factory=lambda: np.zeros((1, 0), np.int64))
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
    def num_rows(self) -> int:
        """E."""
        return len(self.offsets) - 1

    @property
    def rows(self) -> tuple[Longs, Longs, Longs]:
        """`offsets`, `number` and `outcome` as the native core takes them."""
        offsets, number, outcome = map(np.ascontiguousarray, (self.offsets, self.number, self.outcome))
        return offsets, number, outcome


def leaves(first_row: Longs, first_cut: Longs, num_cuts: Longs) -> Longs:
    """Return nodes that read nothing from the stack, `[N, 4]`."""
    nodes = np.full((len(first_row), 4), -1, np.int64)
    nodes[:, ROWS_AT], nodes[:, CUTS_AT], nodes[:, NUM_CUTS] = first_row, first_cut, num_cuts
    return nodes


def plain_moves(targets: Longs, keeps: Longs | int = 0, adds: Longs | int = 0) -> Longs:
    """Return moves that leave the stack alone, followed by the last two, `[M, 6]`."""
    moves = np.zeros((len(targets) + 2, 6), np.int64)
    moves[:-2, TARGET], moves[:-2, KEEPS], moves[:-2, ADDS] = targets, keeps, adds
    moves[-1, TARGET] = ENDED
    return moves


def with_last_two(rest: Longs) -> Longs:
    """`rest` with the last two moves."""
    rest = np.pad(np.minimum(rest, FAR), [(0, 0), (0, 2)], constant_values=FAR)
    rest[:, -1] = 0
    return rest
