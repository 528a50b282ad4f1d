"""Which tokens may bring a run where, and how many more tokens it takes from there to the end of the text.

A run is in a state m of the product and was brought there by a token u. It goes on by any token if a piece ends here,
and otherwise by tokens that may follow u. So whether it can be completed depends on u, but only if a piece that ends
here completes nothing. The least numbers of tokens are found from the ends of texts backwards, a token at a time:

    a state is `free` at d   its text may end, or after a boundary some token leads to a run with d - 1 to go: then
                             every run in it has at most d to go, whatever u is
    a run (m, u) has d       m is free at d, or some token that may follow u leads to a run with d - 1 to go

The runs that tokens of one class bring to one state are a cell. A cell keeps a number for each token.

When all is found, classes are split until every edge leads all tokens of its class to runs with the same number of
tokens to go; edges whose runs have no end go. What is left never leads into a dead end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.errors import LimitExceeded
from automata.transition.grouping import grouped
from automata.jit import kernel, plain_kernel
from automata.limits import Flag, Work
from tokenfst.canonical.derivations import Flags, Longs
from tokenfst.canonical.edges import Edges
from tokenfst.canonical.pairs import Pairs
from tokenfst.canonical.product import Product
from tokenfst.transition.loops import Ints

NO_END = np.iinfo(np.int32).max


class LiveEdges(NamedTuple):
    """Edges that lead to an end, in order of their sources and then of their classes.

    Attributes:
        offsets: `[M + 1]`, where the edges of each state begin.
        number: `[E]`, classes, from 0 up.
        target: `[E]`.
        least: `[E]`, how many tokens there are to go behind the edge, at least.
        class_of: `[V]`, the class of each token, -1 for those in none.
        num_classes: K.
        start: how many tokens the shortest text takes, `NO_END` where there is none.
    """

    offsets: Ints
    number: Ints
    target: Ints
    least: Ints
    class_of: Ints
    num_classes: int
    start: int


def live_edges(edges: Edges, product: Product, pairs: Pairs, closing: int, work: Work) -> LiveEdges:
    """The edges that lead to an end.

    Args:
        edges: all edges.
        product: their states.
        pairs: which tokens may be neighbours.
        closing: the number of tokens where the text may end: 1 with an end token, 0 without.
        work: the limits, and how the compilation is stopped.

    Raises:
        LimitExceeded: the runs take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    num_classes = len(edges.member_offsets) - 1
    key = edges.target.astype(np.int64) * num_classes + edges.number
    cells, cell_of_edge = np.unique(key, return_inverse=True)
    cell_class, cell_state = (cells % num_classes).astype(np.int32), (cells // num_classes).astype(np.int32)
    sizes = np.diff(edges.member_offsets)[cell_class]
    begin = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    if 4 * begin[-1] > work.limits.table_bytes:
        raise LimitExceeded(
            f"the runs of all tokens take {4 * begin[-1]:,} bytes, more than {work.limits.table_bytes:,} "
            "(limit `table_bytes`)"
        )
    source = np.repeat(np.arange(len(edges.offsets) - 1, dtype=np.int32), np.diff(edges.offsets))
    least, start = _least(
        edges.offsets,
        source,
        cell_of_edge.reshape(-1).astype(np.int32),
        cell_class,
        cell_state,
        begin,
        edges.member_offsets,
        edges.members,
        product.split,
        product.automaton.final,
        pairs.position,
        pairs.offsets,
        pairs.intervals,
        closing,
        work.stop,
    )
    work.check()
    return _split_classes(edges, source, cell_of_edge.reshape(-1), cell_class, begin, least, len(pairs.position), start)


@plain_kernel
def _follows(position: int, intervals: Ints, begin: int, end: int) -> bool:
    """Whether a position is in none of the intervals from `begin` to `end`."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if intervals[0, middle] <= position:
            low = middle + 1
        else:
            high = middle
    return low == begin or position >= intervals[1, low - 1]


@plain_kernel
def _first_at_least(positions: Ints, size: int, bound: int, low: int) -> int:
    high = size
    while low < high:
        middle = (low + high) >> 1
        if positions[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low


@plain_kernel
def _any_follows(positions: Ints, size: int, intervals: Ints, begin: int, end: int) -> bool:
    """Whether one of some ascending positions is in none of the intervals from `begin` to `end`."""
    at = 0
    for number in range(begin, end):
        below = _first_at_least(positions, size, intervals[0, number], at)
        if below > at:
            return True
        at = _first_at_least(positions, size, intervals[1, number], at)
    return at < size


@kernel
def _least(
    offsets: Ints,
    source: Ints,
    cell_of_edge: Ints,
    cell_class: Ints,
    cell_state: Ints,
    begin: Longs,
    member_offsets: Ints,
    members: Ints,
    split: Ints,
    final: Flags,
    position: Ints,
    pair_offsets: Longs,
    intervals: Ints,
    closing: int,
    stop: Flag,
) -> tuple[Ints, int]:
    """The least number of tokens for each token of each cell, and for the start."""
    num_states, num_cells = len(split), len(cell_class)
    free = np.full(num_states, NO_END, np.int32)
    least = np.full(begin[-1], NO_END, np.int32)
    cell_offsets, by_state = grouped(num_states, cell_state)
    edge_offsets, by_cell = grouped(num_cells, cell_of_edge)
    # States by the state after their split.
    has_split = np.flatnonzero(split >= 0).astype(np.int32)
    split_offsets, by_split = grouped(num_states, split[has_split])
    newly_free = np.flatnonzero(final).astype(np.int32)
    free[newly_free] = closing
    changed, is_changed = np.empty(num_cells, np.int32), np.full(num_cells, -1, np.int32)
    dirty, is_dirty = np.empty(num_states, np.int32), np.full(num_states, -1, np.int32)
    next_free = np.empty(num_states, np.int32)
    positions = np.empty(len(members) + 1, np.int32)
    num_dirty, done = 0, closing
    while (len(newly_free) or num_dirty) and not stop[0]:
        num_changed = 0
        for state in newly_free:
            for at in range(cell_offsets[state], cell_offsets[state + 1]):
                cell, news = by_state[at], False
                for place in range(begin[cell], begin[cell + 1]):
                    if least[place] == NO_END:
                        least[place] = done
                        news = True
                if news:
                    is_changed[cell] = done
                    changed[num_changed] = cell
                    num_changed += 1
        for number in range(num_dirty):
            state = dirty[number]
            if free[state] <= done or stop[0]:
                continue
            size = 0
            for edge in range(offsets[state], offsets[state + 1]):
                cell = cell_of_edge[edge]
                # A cell that changes in this round too has `is_changed` at `done` but tokens at `done - 1`.
                if is_changed[cell] >= done - 1:
                    first = member_offsets[cell_class[cell]]
                    for place in range(begin[cell], begin[cell + 1]):
                        if least[place] == done - 1:
                            positions[size] = position[members[first + place - begin[cell]]]
                            size += 1
            if size == 0:
                continue
            is_sorted = False
            for at in range(cell_offsets[state], cell_offsets[state + 1]):
                cell, news = by_state[at], False
                first = member_offsets[cell_class[cell]]
                for place in range(begin[cell], begin[cell + 1]):
                    if least[place] == NO_END:
                        token = members[first + place - begin[cell]]
                        first_pair, last_pair = pair_offsets[token], pair_offsets[token + 1]
                        # Nearly always one of a few will do.
                        found, probe = False, 0
                        while probe < 8 and not found:
                            found = _follows(positions[probe * size >> 3], intervals, first_pair, last_pair)
                            probe += 1
                        if not found and not is_sorted:
                            positions[:size].sort()
                            is_sorted = True
                        if found or _any_follows(positions, size, intervals, first_pair, last_pair):
                            least[place] = done
                            news = True
                if news and is_changed[cell] != done:
                    is_changed[cell] = done
                    changed[num_changed] = cell
                    num_changed += 1
        # What changed has consequences one token earlier.
        num_free, num_dirty = 0, 0
        for number in range(num_changed):
            cell = changed[number]
            for at in range(edge_offsets[cell], edge_offsets[cell + 1]):
                state = source[by_cell[at]]
                for place in range(split_offsets[state], split_offsets[state + 1]):
                    before = has_split[by_split[place]]
                    if free[before] == NO_END:
                        free[before] = done + 1
                        next_free[num_free] = before
                        num_free += 1
                if is_dirty[state] != done + 1 and cell_offsets[state + 1] > cell_offsets[state]:
                    is_dirty[state] = done + 1
                    dirty[num_dirty] = state
                    num_dirty += 1
        newly_free = next_free[:num_free].copy()
        done += 1
    return least, int(free[0])


def _split_classes(
    edges: Edges,
    source: Ints,
    cell_of_edge: Ints,
    cell_class: Ints,
    begin: Longs,
    least: Ints,
    num_tokens: int,
    start: int,
) -> LiveEdges:
    """Splits classes by the numbers of their tokens, and leaves out what has no end."""
    if len(cell_class):
        uneven = np.maximum.reduceat(least, begin[:-1]) != np.minimum.reduceat(least, begin[:-1])
    else:
        uneven = np.zeros(0, np.bool_)
    # What tells the tokens of a class apart, and the groups of tokens that nothing does.
    group = np.zeros(len(edges.members), np.int64)
    for cell in np.flatnonzero(uneven).tolist():
        own = slice(edges.member_offsets[cell_class[cell]], edges.member_offsets[cell_class[cell] + 1])
        both = group[own] << 32 | least[begin[cell] : begin[cell + 1]]
        group[own] = np.unique(both, return_inverse=True)[1].reshape(-1)
    old_class = np.repeat(np.arange(len(edges.member_offsets) - 1), np.diff(edges.member_offsets))
    groups, first, class_of_member = np.unique(old_class << 32 | group, return_index=True, return_inverse=True)
    new_offsets = np.searchsorted(groups >> 32, np.arange(len(edges.member_offsets)))
    # Every edge once for each group of its class.
    copies = np.diff(new_offsets)[edges.number]
    edge = np.repeat(np.arange(len(source)), copies)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(copies) - copies, copies)
    number = new_offsets[edges.number[edge]] + within
    place = begin[cell_of_edge[edge]] + first[number] - edges.member_offsets[edges.number[edge]]
    kept = least[place] != NO_END
    edge, number, place = edge[kept], number[kept], place[kept]
    class_of = np.full(num_tokens, -1, np.int32)
    class_of[edges.members] = class_of_member.reshape(-1)
    offsets, _ = grouped(len(edges.offsets) - 1, source[edge])
    return LiveEdges(offsets, number.astype(np.int32), edges.target[edge], least[place], class_of, len(groups), start)
