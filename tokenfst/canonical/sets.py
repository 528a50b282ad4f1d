"""From runs to states: the subset construction, with two targets for each class.

What a text has been cut into so far may leave several runs of the product, since whether a piece ended may not be
known yet; of the tokenizations of a text only one is completed by any of them. A state is the set of runs that are
left. A token continues those that end a piece before it, and if it may follow the last token also those that do not:

    apart    the state that a class leads to if only runs with a boundary before it go on, or -1
    any      the state that it leads to if all go on, or -1

Runs are few: two, with the pre-tokenizers in use, while spaces are written.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.transition.determinize import Sets, find, with_room
from automata.errors import LimitExceeded
from automata.jit import kernel
from automata.limits import Flag, Work
from tokenfst.canonical.liveness import NO_END, LiveEdges
from tokenfst.canonical.product import Product
from tokenfst.transition.loops import Ints


class Rows(NamedTuple):
    """The states, of which 0 is the start, and their edges.

    Attributes:
        offsets: `[S + 1]`, where the edges of each state begin.
        number: `[E]`, classes, ascending within a state.
        targets: `[2, E]`, the states apart and any, or -1.
        least: `[2, E]`, how many tokens there are to go behind them, at least; `NO_END` where there is no target.
        final: `[S]`, whether the text may end.
    """

    offsets: Ints
    number: Ints
    targets: Ints
    least: Ints
    final: npt.NDArray[np.bool_]


def rows(edges: LiveEdges, product: Product, work: Work) -> Rows:
    """The states and their edges.

    Raises:
        LimitExceeded: too many states, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    found = _subsets(
        edges.offsets,
        edges.number,
        edges.target,
        edges.least,
        edges.num_classes,
        product.split,
        product.automaton.final,
        work.limits.states,
        work.stop,
    )
    work.check()
    if len(found[4]) > work.limits.states:
        raise LimitExceeded(f"the canonical automaton has more than {work.limits.states:,} states (limit `states`)")
    return Rows(*found)


@kernel
def _subsets(
    offsets: Ints,
    number: Ints,
    target: Ints,
    least: Ints,
    num_classes: int,
    split: Ints,
    final: npt.NDArray[np.bool_],
    max_states: int,
    stop: Flag,
) -> tuple[Ints, Ints, Ints, Ints, npt.NDArray[np.bool_]]:
    """See `Rows`."""
    set_offset, members, slots = np.zeros(129, np.int32), np.zeros(1024, np.int32), np.full(512, -1, np.int32)
    count, set_offset[1] = 1, 1
    find(set_offset, members, slots, 0, 1)
    ends = np.zeros(128, np.bool_)
    row_offsets = np.zeros(129, np.int32)
    made, num_made = np.empty((5, 1024), np.int32), 0
    # The edges of each class, as linked lists that are emptied as they are read; those apart before the others.
    first, touched = np.full(num_classes, -1, np.int32), np.empty(num_classes, np.int32)
    link = np.empty((2, 1024), np.int32)
    # The number of each set of one, which most are.
    single = np.full(len(split), -1, np.int32)
    state = 0
    while state < count <= max_states and not stop[0]:
        if state >= len(ends):
            ends = np.concatenate((ends, np.zeros_like(ends)))
            row_offsets = np.concatenate((row_offsets, np.zeros_like(row_offsets)))
        begin, end = set_offset[state], set_offset[state + 1]
        num_links, num_touched = 0, 0
        # Pushed first are the edges inside a piece, so that those behind a boundary are read first.
        for apart in range(2):
            for at in range(begin, end):
                member = members[at]
                if apart:
                    member = split[member]
                    if member < 0:
                        continue
                elif final[member]:
                    ends[state] = True
                size = offsets[member + 1] - offsets[member]
                if num_links + size > link.shape[1]:
                    grown = np.empty((2, 2 * (num_links + size)), np.int32)
                    grown[:, :num_links] = link[:, :num_links]
                    link = grown
                for edge in range(offsets[member], offsets[member + 1]):
                    if first[number[edge]] < 0:
                        touched[num_touched] = number[edge]
                        num_touched += 1
                    # The lowest bit tells the two kinds apart.
                    link[0, num_links], link[1, num_links] = 2 * edge + apart, first[number[edge]]
                    first[number[edge]] = num_links
                    num_links += 1
        touched[:num_touched].sort()
        if num_made + num_touched > made.shape[1]:
            wider = np.empty((5, 2 * (num_made + num_touched)), np.int32)
            wider[:, :num_made] = made[:, :num_made]
            made = wider
        for place in range(num_touched):
            symbol = touched[place]
            at = first[symbol]
            first[symbol] = -1
            made[0, num_made] = symbol
            shortest, size = NO_END, 0
            for kind in range(2):
                wanted = 1 - kind
                if count + 2 >= len(set_offset) or set_offset[count] + num_links > len(members):
                    set_offset, members, slots = with_room(Sets(set_offset, members, slots), count, num_links)
                start, before = set_offset[count], size
                if kind and size:
                    known = set_offset[made[1, num_made]]
                    for shift in range(size):
                        members[start + shift] = members[known + shift]
                while at >= 0 and link[0, at] & 1 == wanted:
                    edge = link[0, at] >> 1
                    shortest = min(shortest, least[edge])
                    fresh = True
                    for shift in range(size):
                        if members[start + shift] == target[edge]:
                            fresh = False
                            break
                    if fresh:
                        members[start + size] = target[edge]
                        size += 1
                    at = link[1, at]
                made[3 + kind, num_made] = shortest
                if size == before:  # nothing, or nothing besides
                    made[1 + kind, num_made] = made[1, num_made] if kind else -1
                    continue
                if size == 1 and single[members[start]] >= 0:
                    made[1 + kind, num_made] = single[members[start]]
                    continue
                members[start : start + size].sort()
                made[1 + kind, num_made] = found = find(set_offset, members, slots, count, start + size)
                if size == 1:
                    single[members[start]] = found
                if found == count:
                    count += 1
                    set_offset[count] = start + size
            num_made += 1
        state += 1
        row_offsets[state] = num_made
    return (
        row_offsets[: state + 1].copy(),
        made[0, :num_made].copy(),
        made[1:3, :num_made].copy(),
        made[3:5, :num_made].copy(),
        ends[:state].copy(),
    )
