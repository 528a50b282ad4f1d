"""Token classes of a large sparse automaton: the composition with memory and time that grow with the edges.

The result is that of `tokenfst.token_classes`, whose walk looks a step up in a row of all byte classes for each
function, and starts from a table of all states. An automaton of a million names has a million states and nearly no
loops, so here the vocabulary's trie is walked with the function of the prefix itself, without a memory of steps:

    segment    (source, target) pairs of one trie node, sources ascending, on a stack; the node's children get theirs
               in one pass over it, by the arcs of each target
    class      the pairs of a node that has tokens, kept once, found again by their hash

Work is the number of pairs of all visited nodes, about three for each edge of the token automaton, plus the arcs that
lead nowhere in the trie; memory is the edges, each class once, plus the pairs along one path.

Rejected: a walk from every state along its own arcs (each step waits for the one before it, where neighbouring pairs
of a segment are independent); edges sorted by token afterwards (twice the memory).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from automata.errors import LimitExceeded
from automata.jit import kernel, plain_kernel
from automata.limits import Flag, Work
from automata.transition.sparse import HIGH, LOW, REACHED
from tokenfst.transition.functions import SOURCE_SHIFT, TARGET, Pairs
from tokenfst.transition.loops import Ints
from tokenfst.transition.token_classes import FIRST_CLASS, NEVER, TokenClasses
from tokenfst.transition.trie import BYTE, CHILDREN, COUNT_SHIFT, END_RANK, FIRST_RANK, Nodes
from tokenfst.vocabulary import Vocabulary

# Memory of an edge: source, class and target.
_EDGE_BYTES = 12
# A state that reads more than this many bytes is taken for free text, where nearly every token is allowed.
_WIDE = 64
# With more edges than this out of such states, functions that many states share are worth their table.
_MAX_WIDE_EDGES = 1 << 24

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
# How many pairs, classes and runs there are.
_PAIRS, _CLASSES, _RUNS = range(3)


def is_list_like(automaton: ByteAutomaton, vocabulary: Vocabulary) -> bool:
    """Whether the walk here is the better one: where few states allow nearly every token."""
    read = np.append(0, np.cumsum(automaton.arcs[:, HIGH] - automaton.arcs[:, LOW] + 1, dtype=np.int64))
    wide = int((np.diff(read[automaton.offsets]) > _WIDE).sum())
    return wide * len(vocabulary.token_of_rank) <= _MAX_WIDE_EDGES


def relation_classes(automaton: ByteAutomaton, vocabulary: Vocabulary, work: Work) -> TokenClasses:
    """Sorts the tokens of a vocabulary into classes; see `tokenfst.token_classes.token_classes`."""
    max_bytes = work.limits.table_bytes
    classes = _walk(
        vocabulary.whole_trie,
        vocabulary.partial_trie,
        automaton.offsets,
        automaton.arcs,
        len(vocabulary.token_of_rank),
        max_bytes // _EDGE_BYTES,
        work.stop,
    )
    work.check()
    if classes.num_classes < 0:
        raise LimitExceeded(
            f"the edges of {automaton.num_states:,} states take more than {max_bytes:,} bytes (limit `table_bytes`)"
        )
    return classes


@kernel
def _walk(
    whole: Nodes, partial: Nodes, offsets: Ints, arcs: Ints, num_ranks: int, max_edges: int, stop: Flag
) -> TokenClasses:
    """Walks both tries, with -1 classes where it was stopped."""
    num_states = len(offsets) - 1
    pairs, begins = np.empty(4 * num_states + 1024, np.int64), np.zeros(1025, np.int64)
    slots, hashes = np.full(4096, -1, np.int32), np.empty(1024, np.uint64)
    runs = np.empty((2 * num_ranks + 1, 2), np.int32)
    counts = np.array([0, 0, 0], np.int64)
    # For each byte the place of its child among the children of a node, -1 for none; and their numbers of pairs.
    child_of, child_bytes, size = np.full(256, -1, np.int32), np.empty(256, np.int32), np.zeros(257, np.int64)
    stack, work = np.empty((1024, 3), np.int64), np.empty(4 * num_states + 1024, np.int64)
    for nodes in (whole, partial):
        for state in range(num_states):
            work[state] = state << SOURCE_SHIFT | state
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, num_states
        depth = 1
        while depth:
            depth -= 1
            node, begin, end = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            children = nodes[node, CHILDREN]
            own_end = nodes[children, FIRST_RANK] if children else nodes[node, END_RANK]
            if nodes[node, FIRST_RANK] < own_end:
                if counts[_CLASSES] + 1 >= len(begins):
                    begins, hashes, slots = _more_classes(begins, hashes, counts[_CLASSES])
                if counts[_PAIRS] + end - begin > max_edges or stop[0]:
                    none = np.zeros(0, np.int32)
                    return TokenClasses(none, none, -1, none, none, none)
                if counts[_PAIRS] + end - begin > len(pairs):
                    pairs = _grown(pairs, counts[_PAIRS], counts[_PAIRS] + end - begin)
                number = _class_of(work, begin, end, pairs, begins, hashes, slots, counts)
                _add_run(runs, counts, nodes[node, FIRST_RANK], own_end, number)
            if not children:
                continue
            num_children = nodes[node, BYTE] >> COUNT_SHIFT
            for child in range(num_children):
                child_bytes[child] = nodes[children + child, BYTE] & 255
                child_of[child_bytes[child]] = child
                size[child] = 0
            _count(work, begin, end, offsets, arcs, child_of, child_bytes, num_children, size)
            # The first child's pairs lie on top, since it is visited first.
            free = end
            for child in range(num_children - 1, -1, -1):
                count, size[child] = size[child], free
                if count:
                    if depth + 1 >= len(stack):
                        stack = _more_rows(stack)
                    stack[depth, 0], stack[depth, 1], stack[depth, 2] = children + child, free, free + count
                    depth += 1
                    free += count
            if free > len(work):
                work = _grown(work, end, free)
            _fill(work, begin, end, offsets, arcs, child_of, child_bytes, num_children, size)
            for child in range(num_children):
                child_of[child_bytes[child]] = -1
    num_runs = counts[_RUNS]
    if num_runs == 0 or runs[num_runs - 1, 0] < num_ranks:
        runs[num_runs, 0], runs[num_runs, 1] = num_ranks, NEVER
        num_runs += 1
    num_classes = counts[_CLASSES] + FIRST_CLASS
    source, number_of, target = _edges(pairs, begins, counts[_CLASSES])
    return TokenClasses(runs[:num_runs, 0].copy(), runs[:num_runs, 1].copy(), num_classes, source, number_of, target)


@kernel
def _count(
    work: Pairs,
    begin: int,
    end: int,
    offsets: Ints,
    arcs: Ints,
    child_of: Ints,
    child_bytes: Ints,
    num_children: int,
    size: Pairs,
) -> None:
    """Counts the pairs of each child of a node whose own are those from `begin` to `end`."""
    for pair in range(begin, end):
        state = work[pair] & TARGET
        for arc in range(offsets[state], offsets[state + 1]):
            low, high = arcs[arc, LOW], arcs[arc, HIGH]
            if low == high:
                if child_of[low] >= 0:
                    size[child_of[low]] += 1
            else:
                child = np.searchsorted(child_bytes[:num_children], low)
                while child < num_children and child_bytes[child] <= high:
                    size[child] += 1
                    child += 1


@kernel
def _fill(
    work: Pairs,
    begin: int,
    end: int,
    offsets: Ints,
    arcs: Ints,
    child_of: Ints,
    child_bytes: Ints,
    num_children: int,
    free: Pairs,
) -> None:
    """Writes the pairs of each child from its place in `free` on."""
    for pair in range(begin, end):
        state, source = work[pair] & TARGET, work[pair] & ~TARGET
        for arc in range(offsets[state], offsets[state + 1]):
            low, high = arcs[arc, LOW], arcs[arc, HIGH]
            both = source | arcs[arc, REACHED]
            if low == high:
                child = child_of[low]
                if child >= 0:
                    work[free[child]] = both
                    free[child] += 1
            else:
                child = np.searchsorted(child_bytes[:num_children], low)
                while child < num_children and child_bytes[child] <= high:
                    work[free[child]] = both
                    free[child] += 1
                    child += 1


@plain_kernel
def _class_of(
    work: Pairs,
    begin: int,
    end: int,
    pairs: Pairs,
    begins: Pairs,
    hashes: npt.NDArray[np.uint64],
    slots: Ints,
    counts: Pairs,
) -> int:
    """The class with the pairs of `work` from `begin` to `end`; they are kept if it is new."""
    value, size = np.uint64(end - begin), end - begin
    for pair in range(begin, end):
        value = (value ^ np.uint64(work[pair])) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while slots[slot] >= 0:
        known = slots[slot]
        if hashes[known] == value and begins[known + 1] - begins[known] == size:
            at = 0
            while at < size and pairs[begins[known] + at] == work[begin + at]:
                at += 1
            if at == size:
                return int(known + FIRST_CLASS)
        slot = (slot + np.uint64(1)) & mask
    number, used = counts[_CLASSES], counts[_PAIRS]
    slots[slot], hashes[number] = number, value
    for at in range(size):
        pairs[used + at] = work[begin + at]
    counts[_CLASSES], counts[_PAIRS] = number + 1, used + size
    begins[number + 1] = used + size
    return int(number + FIRST_CLASS)


@plain_kernel
def _add_run(runs: Ints, counts: Pairs, first: int, stop: int, number: int) -> None:
    """Gives the ranks from `first` up to `stop` a class, and NEVER to those that were left out before them."""
    num_runs = counts[_RUNS]
    if (runs[num_runs - 1, 0] if num_runs else 0) < first:
        runs[num_runs, 0], runs[num_runs, 1] = first, NEVER
        num_runs += 1
    if num_runs and runs[num_runs - 1, 1] == number:
        num_runs -= 1
    runs[num_runs, 0], runs[num_runs, 1] = stop, number
    counts[_RUNS] = num_runs + 1


@kernel
def _grown(pairs: Pairs, used: int, needed: int) -> Pairs:
    """The first `used` pairs, with room for `needed` and more."""
    grown = np.empty(needed + needed // 2, np.int64)
    grown[:used] = pairs[:used]
    return grown


@kernel
def _more_rows(rows: Pairs) -> Pairs:
    grown = np.empty((2 * len(rows), rows.shape[1]), np.int64)
    grown[: len(rows)] = rows
    return grown


@kernel
def _more_classes(
    begins: Pairs, hashes: npt.NDArray[np.uint64], count: int
) -> tuple[Pairs, npt.NDArray[np.uint64], Ints]:
    """Twice the room for classes, with their hashes entered anew."""
    capacity = 2 * len(hashes)
    more_begins, more_hashes = np.zeros(capacity + 1, np.int64), np.empty(capacity, np.uint64)
    more_begins[: count + 1], more_hashes[:count] = begins[: count + 1], hashes[:count]
    slots, mask = np.full(4 * capacity, -1, np.int32), np.uint64(4 * capacity - 1)
    for number in range(count):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number
    return more_begins, more_hashes, slots


@kernel
def _edges(pairs: Pairs, begins: Pairs, num_classes: int) -> tuple[Ints, Ints, Ints]:
    """Source, class and target of every pair, `[E]` each."""
    edges = np.empty((3, begins[num_classes]), np.int32)
    for number in range(num_classes):
        for pair in range(begins[number], begins[number + 1]):
            edges[0, pair], edges[1, pair] = pairs[pair] >> SOURCE_SHIFT, FIRST_CLASS + number
            edges[2, pair] = pairs[pair] & TARGET
    return edges[0], edges[1], edges[2]
