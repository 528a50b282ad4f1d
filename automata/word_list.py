"""The minimal automaton of a finite list of strings, built string by string and never larger than it ends up.

Strings come in ascending order (Daciuk, Mihov, Watson & Watson, "Incremental construction of minimal acyclic
finite-state automata", Computational Linguistics 26, 2000, algorithm 1). Only the states along the last string can
still change, so when the next one leaves that path, the states below the common prefix are finished from the end
backwards: each is looked up in the register by its arcs, which lead to finished states, and an equal one takes its
place, or it enters the register itself.

    path       the arcs of the states along the last string, one state's behind the other's, the deepest last
    register   finished states with their arcs, hashed

Time and memory are linear: each byte of the list is one arc of the path at most, and the register holds the minimal
automaton alone. A union of literals takes a state for each byte and a determinization and minimization of them all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from automata.determinize import DONE, STOPPED, TOO_MUCH_MEMORY, Transitions
from automata.jit import kernel, plain_kernel
from automata.limits import Flag
from automata.openfst import BoolArray, IntArray
from automata.tabulate import DENSE_BYTES, Tables, no_tables, tabulate

# What path and register take for each prefix of a string, at most: some of it is never touched.
_PREFIX_BYTES = 40

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]


def word_list(strings: tuple[bytes, ...], max_bytes: int, stop: Flag) -> tuple[int, Tables]:
    """The tables of some strings, which ascend and differ.

    Args:
        strings: the list.
        max_bytes: where to stop, for the memory of path and register together.
        stop: `[1]`, looked at for every string.

    Returns:
        DONE, or why it was stopped; and the tables.
    """
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=offsets[1:])
    data = np.frombuffer(b"".join(strings) or b"\0", np.uint8)
    return _word_list(data, offsets, max_bytes, DENSE_BYTES, stop)


@kernel
def _word_list(data: Bytes, offsets: Offsets, max_bytes: int, dense_bytes: int, stop: Flag) -> tuple[int, Tables]:
    shared, num_prefixes = _shared_prefixes(data, offsets)
    if num_prefixes * _PREFIX_BYTES > max_bytes:
        return TOO_MUCH_MEMORY, no_tables()
    start, minimal = _incremental(data, offsets, shared, num_prefixes, stop)
    if stop[0]:
        return STOPPED, no_tables()
    interval = np.zeros(256, np.int32)
    occurs = np.zeros(257, np.bool_)
    for byte in data[: offsets[-1]]:
        occurs[byte] = True
    for byte in range(1, 256):
        interval[byte] = interval[byte - 1] + (occurs[byte] or occurs[byte - 1])
    for arc in range(len(minimal.symbol)):
        minimal.symbol[arc] = interval[minimal.symbol[arc]]
    return DONE, tabulate(start, minimal, interval, 0, dense_bytes)


@kernel
def _shared_prefixes(data: Bytes, offsets: Offsets) -> tuple[IntArray, int]:
    """How long a prefix each string shares with the one before it, and how many different prefixes there are."""
    shared = np.zeros(len(offsets) - 1, np.int32)
    count = 1 + offsets[-1]
    for string in range(1, len(offsets) - 1):
        before, own, size = offsets[string - 1], offsets[string], 0
        while before + size < own and own + size < offsets[string + 1] and data[before + size] == data[own + size]:
            size += 1
        shared[string] = size
        count -= size
    return shared, int(count)


@kernel
def _incremental(
    data: Bytes, offsets: Offsets, shared: IntArray, num_prefixes: int, stop: Flag
) -> tuple[int, Transitions]:
    """The start state and the minimal automaton, whose symbols are bytes, of at least one string."""
    num_strings = len(offsets) - 1
    longest = 0
    for string in range(num_strings):
        longest = max(longest, offsets[string + 1] - offsets[string])
    # No more states or arcs than prefixes: memory beyond what is used stays untouched.
    final, begins = np.empty(num_prefixes, np.bool_), np.zeros(num_prefixes + 1, np.int32)
    arcs = np.empty((num_prefixes, 2), np.int32)
    num_slots = 16
    while num_slots < 2 * num_prefixes:
        num_slots *= 2
    slots = np.zeros(num_slots, np.int32)  # the number of a state plus one, 0 for none
    counts = np.zeros(2, np.int32)
    # Byte and target of the path's arcs; where each of its states begins; whether each is final.
    path, first, ends = (
        np.empty((num_prefixes, 2), np.int32),
        np.zeros(longest + 2, np.int32),
        np.zeros(longest + 1, np.bool_),
    )
    depth = 0
    for string in range(num_strings):
        if stop[0]:
            break
        while depth > shared[string]:
            state = _register(path, first[depth], first[depth + 1], ends[depth], final, begins, arcs, slots, counts)
            depth -= 1
            path[first[depth + 1] - 1, 1] = state
        own = offsets[string]
        while own + depth < offsets[string + 1]:
            path[first[depth + 1], 0] = data[own + depth]
            first[depth + 1] += 1
            depth += 1
            first[depth + 1] = first[depth]
            ends[depth] = False
        ends[depth] = True
    while depth > 0:
        state = _register(path, first[depth], first[depth + 1], ends[depth], final, begins, arcs, slots, counts)
        depth -= 1
        path[first[depth + 1] - 1, 1] = state
    start = _register(path, first[0], first[1], ends[0], final, begins, arcs, slots, counts)
    source = np.empty(counts[1], np.int32)
    for state in range(counts[0]):
        source[begins[state] : begins[state + 1]] = state
    kept = arcs[: counts[1]]
    return start, Transitions(final[: counts[0]].copy(), source, kept[:, 0].copy(), kept[:, 1].copy())


@plain_kernel
def _register(
    path: IntArray,
    begin: int,
    end: int,
    is_final: bool,
    final: BoolArray,
    begins: IntArray,
    arcs: IntArray,
    slots: IntArray,
    counts: IntArray,
) -> int:
    """The number of the finished state with the arcs of the path from `begin` to `end`, entered if it is new."""
    value = np.uint64(is_final)
    for arc in range(begin, end):
        value = (value ^ np.uint64(path[arc, 0] << 32 ^ path[arc, 1])) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    size = end - begin
    while slots[slot] > 0:
        known = slots[slot] - 1
        if final[known] == is_final and begins[known + 1] - begins[known] == size:
            at = 0
            while (
                at < size
                and arcs[begins[known] + at, 0] == path[begin + at, 0]
                and arcs[begins[known] + at, 1] == path[begin + at, 1]
            ):
                at += 1
            if at == size:
                return int(known)
        slot = (slot + np.uint64(1)) & mask
    state, free = counts[0], counts[1]
    slots[slot] = state + 1
    final[state] = is_final
    for at in range(size):
        for column in range(arcs.shape[1]):
            arcs[free + at, column] = path[begin + at, column]
    counts[0], counts[1] = state + 1, free + size
    begins[state + 1] = free + size
    return int(state)
