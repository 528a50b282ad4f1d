"""The states inside of escapes: from runs of code points to the state behind a backslash.

Sixteen neighbours in a row of runs are what the last hexadecimal digit tells apart: one node. Runs of such nodes are
again cut by sixteen, and so on up to the first digit. A node is known by its arcs, so equal ones are one state, within
one automaton. Code points above U+FFFF are two groups of ten bits: the lower ones give nodes behind `\\ud83d`, of which
there are runs again, which stand among the others where the digits are d8 to db.

    Nodes     arcs `[N, 4]` over byte ranges; where the arcs of each node lie; nodes by their hashes; how many arcs
              there are, the next node's number, the first one's, and whether only usual spellings are wanted

Usual spellings have no escape where none is needed in ASCII, small letters as digits, and a slash as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.jit import kernel, plain_kernel
from automata.arrays import IntArray
from constraints.json_schema.strings.runs import FIRST, LAST, TARGET, add_run, cut_run, value_at

# More than the arcs and nodes that one more run can take.
ROOM = 256

Counts = npt.NDArray[np.int64]
# Places in `counts`.
_ARCS, _NEXT, _FIRST_NODE, _USUAL = range(4)
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
# A code point and the letter of its short escape.
SHORT = (
    (0x22, 0x22),
    (0x2F, 0x2F),
    (0x5C, 0x5C),
    (0x08, 0x62),
    (0x0C, 0x66),
    (0x0A, 0x6E),
    (0x0D, 0x72),
    (0x09, 0x74),
)
_SLASH = 0x2F
# What usual spellings write as digits: control characters without a short escape, and all beyond ASCII.
_USUAL_DIGITS = ((0x00, 0x07), (0x0B, 0x0B), (0x0E, 0x1F), (0x7F, 0x10FFFF))


class Nodes(NamedTuple):
    """Arcs and nodes, with room for more."""

    ranges: IntArray
    rows: IntArray
    slots: IntArray
    counts: Counts


@plain_kernel
def add_arc(ranges: IntArray, counts: Counts, source: int, low: int, high: int, target: int) -> None:
    """Adds an arc over a run of bytes."""
    at = counts[_ARCS]
    ranges[at, 0], ranges[at, 1], ranges[at, 2], ranges[at, 3] = source, low, high, target
    counts[_ARCS] = at + 1


@kernel
def with_room(nodes: Nodes, size: int) -> Nodes:
    """The nodes with room for so many more, and for so many more arcs."""
    num_arcs, num_nodes = nodes.counts[_ARCS], nodes.counts[_NEXT] - nodes.counts[_FIRST_NODE]
    ranges, rows, slots = nodes.ranges, nodes.rows, nodes.slots
    if num_arcs + size > len(ranges):
        ranges = np.empty((2 * (num_arcs + size), 4), np.int32)
        ranges[:num_arcs] = nodes.ranges[:num_arcs]
    if num_nodes + size > len(rows):
        rows = np.empty((2 * (num_nodes + size), 2), np.int32)
        rows[:num_nodes] = nodes.rows[:num_nodes]
        num_slots = len(slots)
        while num_slots < 2 * len(rows):
            num_slots *= 2
        slots = np.full(num_slots, -1, np.int32)
        for node in range(num_nodes):
            slots[_slot(ranges, rows, slots, rows[node, 0], rows[node, 1])] = node
    return Nodes(ranges, rows, slots, nodes.counts)


@plain_kernel
def _slot(ranges: IntArray, rows: IntArray, slots: IntArray, begin: int, end: int) -> int:
    """Where the node with the arcs from `begin` to `end` is, or is to be."""
    value = np.uint64(end - begin)
    for arc in range(begin, end):
        value = (value ^ np.uint64(ranges[arc, 1] << 8 ^ ranges[arc, 2])) * _HASH_FACTOR
        value = (value ^ value >> np.uint64(29) ^ np.uint64(ranges[arc, 3])) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while slots[slot] >= 0:
        known = slots[slot]
        shift, size = rows[known, 0] - begin, rows[known, 1] - rows[known, 0]
        if size == end - begin:
            arc = begin
            while arc < end and (
                ranges[arc, 1] == ranges[arc + shift, 1]
                and ranges[arc, 2] == ranges[arc + shift, 2]
                and ranges[arc, 3] == ranges[arc + shift, 3]
            ):
                arc += 1
            if arc == end:
                break
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@plain_kernel
def _node(begin: int, ranges: IntArray, rows: IntArray, slots: IntArray, counts: Counts) -> int:
    """The node with the arcs added from `begin` on, whose source is the number of the next node; an equal one takes its
    place."""
    slot = _slot(ranges, rows, slots, begin, counts[_ARCS])
    if slots[slot] >= 0:
        counts[_ARCS] = begin
        return int(slots[slot] + counts[_FIRST_NODE])
    node = counts[_NEXT] - counts[_FIRST_NODE]
    slots[slot], rows[node, 0], rows[node, 1] = node, begin, counts[_ARCS]
    counts[_NEXT] += 1
    return int(counts[_NEXT] - 1)


@plain_kernel
def _add_digits(ranges: IntArray, counts: Counts, low: int, high: int, target: int) -> None:
    """Adds the arcs of the next node over hexadecimal digits of these values."""
    source = counts[_NEXT]
    if low < 10:
        add_arc(ranges, counts, source, 0x30 + low, 0x30 + min(high, 9), target)
    if high >= 10:
        low = max(low, 10)
        if not counts[_USUAL]:
            add_arc(ranges, counts, source, 0x37 + low, 0x37 + high, target)
        add_arc(ranges, counts, source, 0x57 + low, 0x57 + high, target)


@kernel
def _by_digit(
    runs: IntArray, size: int, first: int, ranges: IntArray, rows: IntArray, slots: IntArray, counts: Counts
) -> IntArray:
    """The runs of the nodes that tell apart `size` neighbours each by a digit, which is `first` for the first one."""
    found, num_found = np.empty((2 * len(runs) + 2, 3), np.int32), 0
    run = 0
    low = runs[0, FIRST] if len(runs) else 0
    while run < len(runs):
        block, last_block = low // size, low // size
        begin = counts[_ARCS]
        if low == block * size and runs[run, LAST] >= low + size - 1:
            last_block = (runs[run, LAST] + 1) // size - 1
            _add_digits(ranges, counts, first, first + size - 1, runs[run, TARGET])
            low = (last_block + 1) * size
        else:
            while run < len(runs) and low < (block + 1) * size:
                high = min(runs[run, LAST], (block + 1) * size - 1)
                _add_digits(ranges, counts, first + low - block * size, first + high - block * size, runs[run, TARGET])
                low = high + 1
                if low > runs[run, LAST]:
                    run += 1
                    low = runs[run, FIRST] if run < len(runs) else low
        node = _node(begin, ranges, rows, slots, counts)
        found, num_found = add_run(found, num_found, block, last_block, node)
        if run < len(runs) and low > runs[run, LAST]:
            run += 1
            low = runs[run, FIRST] if run < len(runs) else low
    return found[:num_found]


@plain_kernel
def _behind_byte(byte: int, target: int, ranges: IntArray, rows: IntArray, slots: IntArray, counts: Counts) -> int:
    """The node that leads to a state by one byte, or by that letter in either case if it is a digit."""
    begin = counts[_ARCS]
    if byte == 0x64:
        _add_digits(ranges, counts, 13, 13, target)
    else:
        add_arc(ranges, counts, counts[_NEXT], byte, byte, target)
    return _node(begin, ranges, rows, slots, counts)


@kernel
def _halves(runs: IntArray, ranges: IntArray, rows: IntArray, slots: IntArray, counts: Counts) -> IntArray:
    """From the runs of code points above U+FFFF, less that, to runs of the first two digits of their first halves."""
    runs = _by_digit(runs, 16, 0, ranges, rows, slots, counts)
    runs = _by_digit(runs, 16, 0, ranges, rows, slots, counts)
    runs = _by_digit(runs, 4, 12, ranges, rows, slots, counts)
    for run in range(len(runs)):
        for byte in (0x64, 0x75, 0x5C):
            runs[run, TARGET] = _behind_byte(byte, runs[run, TARGET], ranges, rows, slots, counts)
    runs = _by_digit(runs, 16, 0, ranges, rows, slots, counts)
    return _by_digit(runs, 16, 0, ranges, rows, slots, counts)


@kernel
def _with_halves(
    units: IntArray, runs: IntArray, ranges: IntArray, rows: IntArray, slots: IntArray, counts: Counts
) -> IntArray:
    """The runs of first two digits, with those of characters above U+FFFF."""
    halves = _halves(cut_run(runs, 0x10000, 0x10FFFF), ranges, rows, slots, counts)
    merged, count = np.empty((len(units) + len(halves) + 1, 3), np.int32), 0
    for run in range(len(units)):
        if units[run, FIRST] < 0xD8:
            merged, count = add_run(merged, count, units[run, FIRST], units[run, LAST], units[run, TARGET])
    for run in range(len(halves)):
        merged, count = add_run(merged, count, 0xD8 + halves[run, FIRST], 0xD8 + halves[run, LAST], halves[run, TARGET])
    for run in range(len(units)):
        if units[run, FIRST] > 0xD8:
            merged, count = add_run(merged, count, units[run, FIRST], units[run, LAST], units[run, TARGET])
    return merged[:count]


@kernel
def _with_digits(runs: IntArray, usual: bool) -> IntArray:
    """The runs of the code points that are written as digits."""
    if not usual:
        return runs
    kept, count = np.empty((len(runs) + 4, 3), np.int32), 0
    for first, last in _USUAL_DIGITS:
        for run in range(len(runs)):
            low, high = max(runs[run, FIRST], first), min(runs[run, LAST], last)
            if low <= high:
                kept, count = add_run(kept, count, low, high, runs[run, TARGET])
    return kept[:count]


@kernel
def escapes(runs: IntArray, ranges: IntArray, rows: IntArray, slots: IntArray, counts: Counts) -> int:
    """The state behind the backslash of the escapes of a boundary state, -1 where there are none.

    Args:
        runs: what the code points lead to; at least one, and no surrogates.
        ranges, rows, slots, counts: the nodes, with room for `ROOM * (R + 1)` more.
    """
    usual = counts[_USUAL] != 0
    digits = _with_digits(runs, usual)
    first = -1
    if len(digits):
        units = cut_run(digits, 0, 0xFFFF)
        units = _by_digit(units, 16, 0, ranges, rows, slots, counts)
        units = _by_digit(units, 16, 0, ranges, rows, slots, counts)
        if digits[-1, LAST] > 0xFFFF:
            units = _with_halves(units, digits, ranges, rows, slots, counts)
        units = _by_digit(units, 16, 0, ranges, rows, slots, counts)
        first = _by_digit(units, 16, 0, ranges, rows, slots, counts)[0, TARGET]
    begin = counts[_ARCS]
    for code, letter in SHORT:
        target = value_at(runs, code)
        if target >= 0 and not (usual and code == _SLASH):
            add_arc(ranges, counts, counts[_NEXT], letter, letter, target)
    if first >= 0:
        add_arc(ranges, counts, counts[_NEXT], 0x75, 0x75, first)
    return _node(begin, ranges, rows, slots, counts) if counts[_ARCS] > begin else -1
