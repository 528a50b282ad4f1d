"""From automata that count to machines (`decoding.arena.machine`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from decoding.arena.layout import COUNT, DEAD, ENDED
from decoding.arena.machine import Longs, Machine, leaves, plain_moves, single_rows, with_last_two
from tokenfst.counted.automaton import CountedTokenAutomaton
from tokenfst.finite.classes import END
from tokenfst.finite.transitions import Counted
from tokenfst.pushdown.distance import FAR


def of_counted(automaton: CountedTokenAutomaton) -> Machine:
    """Return the machine of an automaton that counts.

    Place q is node q + 2, with a row for each interval of counts in which the same guards are open.
    """
    made = _rows_by_interval(automaton.transitions)
    moves, outcome = np.unique(made.edges[:, 2:], axis=0, return_inverse=True)
    sizes = np.array([len(each) for each in made.rows])
    num_cuts = np.array([len(each) for each in made.cuts])
    nodes = leaves(np.cumsum(sizes) - sizes, np.cumsum(num_cuts) - num_cuts, num_cuts)
    node_runs, runs = _runs(automaton, len(nodes))
    # Only the runs have the number of tokens that follow.
    rest, rest_of = with_last_two(np.zeros((1, 1), np.int64), np.zeros(len(moves), np.int64))
    source, number = made.edges[:, 0], made.edges[:, 1]
    return Machine(
        token_class=automaton.token_class,
        num_classes=automaton.num_classes,
        rows=single_rows(np.searchsorted(source, np.arange(sizes.sum() + 1)), number, outcome.reshape(-1)),
        outcomes=np.arange(len(moves) + 2)[:, None],
        moves=plain_moves(*moves.T),
        nodes=nodes,
        node_rows=np.concatenate(made.rows),
        cuts=np.concatenate(made.cuts),
        gauge=COUNT,
        first=automaton.start + 2,
        rest=rest,
        rest_of=rest_of,
        node_runs=node_runs,
        runs=runs,
        least=automaton.min_tokens(automaton.start),
    )


class _Intervals(NamedTuple):
    """The rows of nodes, one for each interval of counts.

    Attributes:
        rows: the rows of each node.
        cuts: the counts at which the row of each node changes.
        edges: `[n, 5]`, the row, the class, the node after it, and how it changes the count (`KEEPS`, `ADDS`).
    """

    rows: list[list[int]]
    cuts: list[Longs]
    edges: Longs


def _rows_by_interval(form: Counted) -> _Intervals:
    """Return the rows of all places, each with the edges whose guards are open there."""
    none = np.zeros(0, np.int64)
    rows, cuts, edges = [[DEAD], [ENDED]], [none, none], [(ENDED, END, ENDED, 0, 0)]
    num_rows = 2
    for place in range(form.num_control_states - 1):
        own = slice(int(form.row_offsets[place]), int(form.row_offsets[place + 1]))
        low, high = form.low[own], form.high[own]
        begins = np.unique(np.concatenate([[0], low, high + 1]))
        begins = begins[begins <= form.max_register]
        for row, begin in enumerate(begins.tolist(), num_rows):
            open_edges = np.flatnonzero((low <= begin) & (begin <= high)) + own.start
            edges += [(row, int(form.edge_class[edge]), *_change(form, edge)) for edge in open_edges.tolist()]
        rows.append(list(range(num_rows, num_rows + len(begins))))
        cuts.append(begins[1:])
        num_rows += len(begins)
    return _Intervals(rows, cuts, np.array(edges, np.int64))


def _change(form: Counted, edge: int) -> tuple[int, int, int]:
    """Return the node after an edge, and how the edge changes the count."""
    target, action = int(form.edge_target[edge]), int(form.action[edge])
    if target == form.num_control_states - 1:
        return ENDED, 0, 0
    return target + 2, *((1, action) if action >= 0 else (0, ~action))


def _runs(automaton: CountedTokenAutomaton, num_nodes: int) -> tuple[Longs, Longs]:
    """Return `node_runs` and `runs`: the fewest tokens by count, from each place except the one after the end."""
    form, steps = automaton.transitions, automaton.min_tokens_runs
    values = form.max_register + 1
    place, begin = steps.key // values, steps.key % values
    kept = place < form.num_control_states - 1
    node_runs = np.zeros((num_nodes, 2), np.int64)
    node_runs[2:, 0] = np.searchsorted(place, np.arange(form.num_control_states - 1))
    node_runs[2:, 1] = np.bincount(place[kept], minlength=form.num_control_states - 1)
    return node_runs, np.stack([begin, np.minimum(steps.value, FAR)], 1)[kept]
