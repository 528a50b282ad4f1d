"""All strings besides some: the spellings of everything that is not on a list, from the list at once.

Objects take any name besides those that their schema lists, so there is such a language for nearly every object. It is
the automaton of all spellings, in which the listed strings leave a trace: behind a beginning of a listed string, what
spells one more character of one leads to a state of its own, and everything else leads where it leads after any other
text. So a state is a state of the automaton of all spellings, its *base*, and the few arcs in which it differs.

    all spellings    the automaton that states are based on; its own states come first
    path             beginnings of the last string with the characters that follow them, the deepest last
    tree             the spellings of the characters behind one beginning, byte by byte
    register         finished states by base and different arcs; equal ones are one

Strings come in ascending order, as for lists (`automata.word_list`), and the states of a tree are entered from its
leaves up. So the result is deterministic and minimal, in time linear in the length of the list: two states with one
base differ in finitely many texts only if their different arcs do, and two with different bases differ in infinitely
many.

Rejected: the difference of all strings and the list, spelled as any other language (ten times the time: every state is
looked at with all its million characters).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile import compile_expr
from automata.errors import LimitExceeded
from automata.from_ranges import breadth_first
from automata.jit import kernel
from automata.limits import DEFAULT_LIMITS
from automata.openfst import BoolArray, IntArray
from automata.sparse import HIGH, LOW, REACHED, SparseAutomaton, by_state
from constraints.json_schema.strings.escapes import SHORT
from constraints.json_schema.strings.spelling import spelled

Offsets = npt.NDArray[np.int64]
Path = npt.NDArray[np.uint8]

_QUOTE, _BACKSLASH, _LETTER_U = 0x22, 0x5C, 0x75
# Capital letters, the small letters that are digits, and how far apart they are.
_FIRST_CAPITAL, _FIRST_DIGIT, _LAST_DIGIT, _TO_CAPITAL = 0x41, 0x61, 0x66, 0x20
# The most states that the spellings of one character take, and the most bytes of one.
_ASCII_STATES, _MOST_STATES, _LONGEST = 6, 16, 12
# Columns of edges of the tree: byte, what it leads to, and the next edge of the node. Below zero, what it leads to is
# -2 less a finished state, or -1 for nothing.
_BYTE, _TO, _NEXT = range(3)
_NOTHING = -1
# Places in the counts: edges of the tree, its nodes, finished states, their different arcs, all arcs.
_EDGES, _NODES, _STATES, _DIFFERENT, _ARCS = range(5)
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class _All(NamedTuple):
    """The automaton of all spellings, and its state between two characters."""

    offsets: IntArray
    arcs: IntArray
    final: BoolArray
    between: int


class _Tree(NamedTuple):
    """The tree of one beginning: the base of each node, its first edge, or -1, and the edges `[E, 3]`."""

    base: IntArray
    first: IntArray
    edges: IntArray


class _Register(NamedTuple):
    """Finished states: base and different arcs, where these begin `[N, 3]`; the arcs, byte and target `[D, 2]`; and
    states by their hashes."""

    rows: IntArray
    different: IntArray
    slots: IntArray


def spellings_besides(texts: list[str], *, usual: bool = False) -> ByteAutomaton:
    """The spellings, in quotes, of all strings besides some.

    Args:
        texts: strings that UTF-8 can write.
        usual: only the spellings that programs write (`spelling.spelled`).

    Raises:
        LimitExceeded: the list is too long.
    """
    found, start = _all_spellings(usual)
    if not texts:
        return start
    ascending = sorted(set(texts))
    codes = np.frombuffer("".join(ascending).encode("utf-32-le"), np.int32)
    offsets = np.zeros(len(ascending) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, ascending), np.int64, len(ascending)), out=offsets[1:])
    room = _room(codes)
    # A state takes a row, its different arcs, slots and arcs.
    if 64 * room > DEFAULT_LIMITS.table_bytes:
        raise LimitExceeded(f"all strings besides {len(ascending):,} take more states than can be kept")
    final, begins, arcs = _besides(codes, offsets, room, found)
    return SparseAutomaton(0, final, begins, arcs, np.zeros((len(final), 0), np.int32))


@lru_cache(maxsize=2)
def _all_spellings(usual: bool) -> tuple[_All, ByteAutomaton]:
    automaton = spelled(compile_expr(ex.ANY_TEXT), usual=usual)
    offsets, arcs = by_state(automaton)
    # Kernels are compiled for arrays that may be written to.
    return _All(offsets.copy(), arcs.copy(), automaton.final.copy(), automaton.step(automaton.start, b'"')), automaton


@kernel
def _room(codes: IntArray) -> int:
    """How many states there may be."""
    room = 8
    for code in codes:
        room += _ASCII_STATES if code < 0x80 else _MOST_STATES
    return room


@kernel
def _besides(codes: IntArray, offsets: Offsets, room: int, every: _All) -> tuple[BoolArray, IntArray, IntArray]:
    """The final states, where the arcs of each state begin, and the arcs, of an automaton that starts in state 0.

    Args:
        codes, offsets: the code points of strings, which ascend and differ, and where each begins.
        room: for how many states.
        every: the automaton of all spellings, which starts in state 0.
    """
    num_bases, num_arcs = len(every.final), len(every.arcs)
    num_slots = 64
    while num_slots < 2 * room:
        num_slots *= 2
    register = _Register(
        np.empty((room, 3), np.int32), np.empty((4 * room, 2), np.int32), np.zeros(num_slots, np.int32)
    )
    begins = np.empty(num_bases + room + 1, np.int32)
    begins[: num_bases + 1] = every.offsets
    arcs = np.empty((num_arcs + 16 * room + 64, 3), np.int32)
    arcs[:num_arcs] = every.arcs
    counts = np.zeros(5, np.int64)
    counts[_STATES], counts[_ARCS] = num_bases, num_arcs
    tree = _Tree(np.empty(0, np.int32), np.empty(0, np.int32), np.empty((0, 3), np.int32))
    # Code point and target of what follows the beginnings; where each begins; whether each is a string.
    longest = 0
    for string in range(len(offsets) - 1):
        longest = max(longest, offsets[string + 1] - offsets[string])
    path, first = np.empty((len(codes) + 1, 2), np.int32), np.zeros(longest + 2, np.int32)
    ends = np.zeros(longest + 1, np.bool_)
    depth = 0
    for string in range(len(offsets) - 1):
        own, size = offsets[string], offsets[string + 1] - offsets[string]
        shared = 0
        if string:
            before = offsets[string - 1]
            while shared < min(size, own - before) and codes[before + shared] == codes[own + shared]:
                shared += 1
        while depth > shared:
            tree, arcs, state = _finished(path[first[depth] : first[depth + 1]], ends[depth], every, tree, register,
                                          begins, arcs, counts)  # fmt: skip
            depth -= 1
            path[first[depth + 1] - 1, 1] = state
        while depth < size:
            path[first[depth + 1], 0] = codes[own + depth]
            first[depth + 1] += 1
            depth += 1
            first[depth + 1] = first[depth]
            ends[depth] = False
        ends[depth] = True
    state = 0
    while depth >= 0:
        tree, arcs, state = _finished(path[first[depth] : first[depth + 1]], ends[depth], every, tree, register,
                                      begins, arcs, counts)  # fmt: skip
        depth -= 1
        if depth >= 0:
            path[first[depth + 1] - 1, 1] = state
    # The one arc of the start.
    arcs[begins[0], REACHED] = state
    final = np.zeros(counts[_STATES], np.bool_)
    final[:num_bases] = every.final
    return breadth_first(0, final, begins[: counts[_STATES] + 1], arcs[: counts[_ARCS]])


@kernel
def _finished(
    characters: IntArray,
    is_end: bool,
    every: _All,
    tree: _Tree,
    register: _Register,
    begins: IntArray,
    arcs: IntArray,
    counts: Offsets,
) -> tuple[_Tree, IntArray, int]:
    """The tree and the arcs, with more room if there has to be, and the state of a beginning.

    Args:
        characters: `[n, 2]`, what follows in strings of the list, and the states that it leads to.
        is_end: whether the beginning is such a string itself.
        every, tree, register: see the classes.
        begins: where the arcs of each state begin.
        arcs: all arcs so far.
        counts: how many there are.
    """
    needed = _MOST_STATES * (len(characters) + 1)
    if needed > len(tree.base):
        tree = _Tree(
            np.empty(2 * needed, np.int32), np.empty(2 * needed, np.int32), np.empty((4 * needed, 3), np.int32)
        )
    tree.base[0], tree.first[0] = every.between, -1
    counts[_NODES], counts[_EDGES] = 1, 0
    spelling = np.empty(_LONGEST, np.uint8)
    if is_end:
        spelling[0] = _QUOTE
        _add(spelling, 1, _NOTHING, every, tree, counts)
    for place in range(len(characters)):
        code, leads = characters[place, 0], -2 - characters[place, 1]
        _add(spelling, _literal(code, spelling), leads, every, tree, counts)
        for other, letter in SHORT:
            if other == code:
                spelling[0], spelling[1] = _BACKSLASH, letter
                _add(spelling, 2, leads, every, tree, counts)
        _add(spelling, _digits(code, spelling), leads, every, tree, counts)
    # Nodes come behind those that lead to them.
    state = 0
    for reverse in range(counts[_NODES]):
        node = counts[_NODES] - 1 - reverse
        edge = tree.first[node]
        while edge >= 0:
            if tree.edges[edge, _TO] >= 0:
                tree.edges[edge, _TO] = -2 - tree.first[tree.edges[edge, _TO]]
            edge = tree.edges[edge, _NEXT]
        arcs, state = _entered(node, every, tree, register, begins, arcs, counts)
        # A node that is entered needs no edges any more.
        tree.first[node] = state
    return tree, arcs, state


@kernel
def _literal(code: int, spelling: Path) -> int:
    """Writes a character as it is, and says how long it is."""
    if code < 0x80:
        spelling[0] = code
        return 1
    size = 2 if code < 0x800 else 3 if code < 0x10000 else 4
    for place in range(size - 1, 0, -1):
        spelling[place] = 0x80 | code & 0x3F
        code >>= 6
    spelling[0] = (0xF00 >> size) & 0xFF | code
    return size


@kernel
def _digits(code: int, spelling: Path) -> int:
    """Writes a character as digits, with small letters, and says how long that is."""
    if code >= 0x10000:
        _unit(0xD800 + (code - 0x10000 >> 10), spelling[:6])
        _unit(0xDC00 + (code & 0x3FF), spelling[6:])
        return 12
    _unit(code, spelling)
    return 6


@kernel
def _unit(unit: int, spelling: Path) -> None:
    spelling[0], spelling[1] = _BACKSLASH, _LETTER_U
    for place in range(4):
        digit = unit >> 4 * (3 - place) & 15
        spelling[2 + place] = digit + (0x30 if digit < 10 else 0x57)


@kernel
def _step(every: _All, state: int, byte: int) -> int:
    for arc in range(every.offsets[state], every.offsets[state + 1]):
        if byte <= every.arcs[arc, HIGH]:
            return int(every.arcs[arc, REACHED]) if every.arcs[arc, LOW] <= byte else -1
    return -1


@kernel
def _add(spelling: Path, size: int, leads: int, every: _All, tree: _Tree, counts: Offsets) -> None:
    """Adds to the tree what leads somewhere, if it is a spelling."""
    state = every.between
    for place in range(size):
        state = _step(every, state, spelling[place])
        if state < 0:
            return
    if state != every.between and leads != _NOTHING:
        return
    node, state = 0, every.between
    for place in range(size):
        byte = spelling[place]
        state = _step(every, state, byte)
        before, edge = -1, tree.first[node]
        while edge >= 0 and tree.edges[edge, _BYTE] < byte:
            before, edge = edge, tree.edges[edge, _NEXT]
        if edge < 0 or tree.edges[edge, _BYTE] != byte:
            new = counts[_EDGES]
            counts[_EDGES] += 1
            tree.edges[new, _BYTE], tree.edges[new, _NEXT] = byte, edge
            if before < 0:
                tree.first[node] = new
            else:
                tree.edges[before, _NEXT] = new
            edge = new
            if place + 1 < size:
                tree.edges[edge, _TO] = counts[_NODES]
                tree.base[counts[_NODES]], tree.first[counts[_NODES]] = state, -1
                counts[_NODES] += 1
            else:
                tree.edges[edge, _TO] = leads
        node = tree.edges[edge, _TO]


@kernel
def _entered(
    node: int, every: _All, tree: _Tree, register: _Register, begins: IntArray, arcs: IntArray, counts: Offsets
) -> tuple[IntArray, int]:
    """The arcs, and the state of a node, all of whose edges lead to finished states; an equal one if there is one."""
    rows, different, slots = register.rows, register.different, register.slots
    num_bases, base = len(every.final), tree.base[node]
    begin = counts[_DIFFERENT]
    end = begin + _differences(node, every, tree, different[begin:])
    value = np.uint64(base)
    for at in range(begin, end):
        value = (value ^ np.uint64(different[at, 0] << 24 ^ different[at, 1])) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while slots[slot]:
        known = slots[slot] - 1
        if rows[known, 0] == base and rows[known, 2] - rows[known, 1] == end - begin:
            at, shift = begin, rows[known, 1] - begin
            while at < end and different[at, 0] == different[at + shift, 0] and (
                different[at, 1] == different[at + shift, 1]
            ):  # fmt: skip
                at += 1
            if at == end:
                return arcs, int(num_bases + known)
        slot = (slot + np.uint64(1)) & mask
    state = counts[_STATES]
    row = state - num_bases
    slots[slot] = row + 1
    rows[row, 0], rows[row, 1], rows[row, 2] = base, begin, end
    counts[_DIFFERENT], counts[_STATES] = end, state + 1
    size = counts[_ARCS]
    most = every.offsets[base + 1] - every.offsets[base] + 4 * (end - begin)
    if size + most > len(arcs):
        longer = np.empty((2 * (size + most), 3), np.int32)
        longer[:size] = arcs[:size]
        arcs = longer
    size = _write(base, different[begin:end], every, arcs, size)
    counts[_ARCS] = begins[state + 1] = size
    return arcs, int(state)


@kernel
def _write(base: int, different: IntArray, every: _All, arcs: IntArray, size: int) -> int:
    """Writes the arcs of a state behind the others; returns how many there are then."""
    first, at = size, 0
    for arc in range(every.offsets[base], every.offsets[base + 1]):
        low, high, target = every.arcs[arc, LOW], every.arcs[arc, HIGH], every.arcs[arc, REACHED]
        while at < len(different) and different[at, 0] <= high:
            byte, reached = different[at, 0], different[at, 1]
            if low < byte:
                size = _append(arcs, first, size, low, byte - 1, target)
            if reached >= 0:
                size = _append(arcs, first, size, byte, byte, reached)
            low, at = byte + 1, at + 1
        if low <= high:
            size = _append(arcs, first, size, low, high, target)
    return size


@kernel
def _append(arcs: IntArray, first: int, size: int, low: int, high: int, target: int) -> int:
    """Adds an arc of the state whose arcs begin at `first`, in runs as long as they can be."""
    if size > first and arcs[size - 1, HIGH] + 1 == low and arcs[size - 1, REACHED] == target:
        arcs[size - 1, HIGH] = high
        return size
    arcs[size, LOW], arcs[size, HIGH], arcs[size, REACHED] = low, high, target
    return size + 1


@kernel
def _differences(node: int, every: _All, tree: _Tree, different: IntArray) -> int:
    """Writes the different arcs of a node, by ascending bytes, and says how many there are.

    Digits are written with small letters in the tree; large ones lead where the small ones do, if they lead anywhere.
    """
    size, base = 0, tree.base[node]
    for turn in range(3):
        edge = tree.first[node]
        while edge >= 0:
            byte, reached = tree.edges[edge, _BYTE], -2 - tree.edges[edge, _TO]
            if turn == 1:
                is_digit = _FIRST_DIGIT <= byte <= _LAST_DIGIT and base != every.between
                byte -= _TO_CAPITAL
                taken = is_digit and _step(every, base, byte) >= 0
            else:
                taken = (byte < _FIRST_CAPITAL) == (turn == 0)
            if taken:
                different[size, 0], different[size, 1] = byte, reached
                size += 1
            edge = tree.edges[edge, _NEXT]
    return size
