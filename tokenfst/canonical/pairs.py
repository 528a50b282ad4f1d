"""Which tokens may stand next to each other in what an encoder makes of one piece of text.

A sequence of tokens is what the merges make of its text exactly if each token is what they make of its own bytes, and
each two neighbours are what they make of theirs (Berglund, Martens & van der Merwe 2024): the first merge across a
boundary would happen at that boundary whatever lies further away. So it is enough to know the pairs (u, v) in which
some merge takes an end of u and a beginning of v before merges inside u and v do.

    ends of u          u, its right half, that one's right half, ... down to the last byte; each is there from its own
                       clock to the clock of the token that it is the right half of
    beginnings of v    v, its left half, ... down to the first byte

The merge of x and y to w comes in between if x is an end of u and y a beginning of v, and at the clock of w both are
still there. Clocks are equal only if the same merge happens in two places, of which the left one is first: so inside u
a merge at the clock of w comes before, and inside v after. (Merges that become possible while the clock stands compare
their ranks; `derivations`.)

Left halves make a tree with bytes as roots: y is the parent of all v that it is the left half of. With the children of
each token in descending order of clock, and tokens numbered in depth-first order (`position`), the v of which y is a
beginning that is still there at the clock of w are y and the first of its subtrees: neighbours. So what must not follow
u is a union of intervals of positions, one for each merge whose left part is an end of u; with Tekken's 131,072 tokens
23 on average and 729 at most, before those that overlap are joined.

Rejected: a table of pairs (V x V); trying pairs by running the encoder (exact, and what the tests do).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.transition.grouping import grouped
from automata.jit import kernel
from tokenfst.canonical.derivations import Derivations, Flags, Longs
from tokenfst.transition.loops import Ints


class Pairs(NamedTuple):
    """The tokens that must not follow each token inside a piece.

    Attributes:
        position: `[V]`, the place of each token in depth-first order; tokens that are not made come last.
        token_at: `[V]`, the token at each position.
        offsets: `[V + 1]`, where the intervals of each token begin.
        intervals: `[2, N]`, first positions and those past the last, disjoint and ascending for each token.
    """

    position: Ints
    token_at: Ints
    offsets: Longs
    intervals: Ints


def pairs(derivations: Derivations) -> Pairs:
    """The relation of an encoder's tokens."""
    left, right, rank, clock, made = derivations
    # Siblings by clock, descending; on one clock, first those whose right half is made at that clock as well.
    parent_clock = clock[left]
    late = (clock == parent_clock) & (clock[right] < parent_clock)
    ordered = np.lexsort((-rank.astype(np.int64), late, -clock.astype(np.int64))).astype(np.int32)
    position, token_at, end = _depth_first(left, made, ordered)
    # Merges by left half, in the order in which they leave off as their left half is used up earlier.
    late = clock[right] == parent_clock
    ordered = np.lexsort((rank, late, clock)).astype(np.int32)
    ordered = ordered[left[ordered] >= 0]
    first, by_left = grouped(len(left), left[ordered])
    by_left = ordered[by_left]
    stop = _interval_ends(left, right, rank, clock, position, end, by_left, first)
    offsets, intervals = _intervals(left, right, rank, clock, made, position, first, by_left, stop)
    return Pairs(position, token_at, offsets, intervals)


def compatible(relation: Pairs, left: int, right: int) -> bool:
    """Whether `right` may follow `left` inside a piece."""
    begin, end = relation.offsets[left], relation.offsets[left + 1]
    place = relation.position[right]
    at = begin + int(np.searchsorted(relation.intervals[0, begin:end], place, side="right")) - 1
    return bool(at < begin or place >= relation.intervals[1, at])


@kernel
def _depth_first(left: Ints, made: Flags, ordered: Ints) -> tuple[Ints, Ints, Ints]:
    """Position of every token, token of every position, and one past the last position below each token.

    Args:
        ordered: all tokens, siblings in the order in which they are to come.
    """
    num_tokens = len(left)
    # Children as linked lists, and the nodes to come on a stack: what is pushed last comes first.
    first, following = np.full(num_tokens, -1, np.int32), np.full(num_tokens, -1, np.int32)
    position, token_at = np.full(num_tokens, -1, np.int32), np.empty(num_tokens, np.int32)
    end = np.zeros(num_tokens, np.int32)
    for token in ordered:
        if left[token] >= 0:
            following[token] = first[left[token]]
            first[left[token]] = token
    stack = np.empty(num_tokens + 1, np.int32)
    count = 0
    for root in range(num_tokens):
        if not made[root] or left[root] >= 0:
            continue
        stack[0], size = root, 1
        while size:
            size -= 1
            token = stack[size]
            position[token], token_at[count] = count, token
            count += 1
            child = first[token]
            while child >= 0:
                stack[size] = child
                size += 1
                child = following[child]
    for place in range(count - 1, -1, -1):
        token = token_at[place]
        end[token] = max(end[token], place + 1)
        if left[token] >= 0:
            end[left[token]] = max(end[left[token]], end[token])
    for token in range(num_tokens):
        if not made[token]:
            position[token], token_at[count], end[token] = count, token, count + 1
            count += 1
    return position, token_at, end


@kernel
def _interval_ends(
    left: Ints, right: Ints, rank: Ints, clock: Ints, position: Ints, end: Ints, by_left: Ints, first: Ints
) -> Ints:
    """One past the last position of the tokens that a merge to each token may take its right half from, `[V]`."""
    num_tokens = len(left)
    stop = np.zeros(num_tokens, np.int32)
    for merged in range(num_tokens):
        if left[merged] < 0:
            continue
        part = right[merged]
        stop[merged] = position[part] + 1
        for at in range(first[part], first[part + 1]):
            other = by_left[at]
            tie = clock[other] == clock[merged]
            if tie and clock[merged] == clock[part] and clock[right[other]] < clock[part]:
                keeps = rank[merged] <= rank[other]
            else:
                keeps = tie or clock[other] > clock[merged]
            if keeps:
                stop[merged] = max(stop[merged], end[other])
    return stop


@kernel
def _intervals(
    left: Ints,
    right: Ints,
    rank: Ints,
    clock: Ints,
    made: Flags,
    position: Ints,
    first: Ints,
    by_left: Ints,
    stop: Ints,
) -> tuple[Longs, Ints]:
    """The intervals of all tokens, those that touch joined: offsets `[V + 1]` and bounds `[2, N]`."""
    num_tokens = len(left)
    offsets = np.zeros(num_tokens + 1, np.int64)
    result, count = np.empty((4 * num_tokens + 16, 2), np.int32), 0
    found = np.empty(num_tokens, np.int64)
    for token in range(num_tokens):
        offsets[token] = count
        if not made[token]:
            continue
        size, part, whole = 0, token, -1
        while part >= 0:
            for at in range(first[part], first[part + 1]):
                merged = by_left[at]
                if whole >= 0:
                    tie = clock[merged] == clock[whole] == clock[part] and clock[right[merged]] < clock[part]
                    if not (clock[merged] < clock[whole] or (tie and rank[merged] < rank[whole])):
                        break
                found[size] = np.int64(position[right[merged]]) << 32 | stop[merged]
                size += 1
            whole, part = part, right[part]
        chosen = found[:size]
        chosen.sort()
        begin = count
        for pair in chosen:
            low, high = pair >> 32, pair & 0xFFFFFFFF
            if count > begin and low <= result[count - 1, 1]:
                result[count - 1, 1] = max(result[count - 1, 1], high)
                continue
            if count == len(result):
                grown = np.empty((2 * count, 2), np.int32)
                grown[:count] = result
                result = grown
            result[count, 0], result[count, 1] = low, high
            count += 1
    offsets[num_tokens] = count
    return offsets, result[:count].T.copy()
