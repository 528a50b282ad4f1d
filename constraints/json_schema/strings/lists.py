"""Lists: the spellings of all strings on a list, and of all besides those on one, from the list at once.

Objects take any name besides those that their schema lists, so there is such a language for nearly every object. It is
the automaton of all spellings, in which the listed strings leave a trace: behind a beginning of a listed string, what
spells one more character of one leads to a state of its own, and everything else leads where it leads after any other
text. So a state is a state of the automaton of all spellings, its base, and the few edges in which it differs. The
spellings of the listed strings alone are the same states with those edges alone.

    path         beginnings of the last string with the characters that follow them, the deepest last
    tree         the spellings of the characters behind one beginning (`trees`)
    register     finished states by base and edges; equal ones are one

Strings come in ascending order, as in `automata.word_list`, and the states of a tree are entered from its leaves up. So
the result is deterministic and minimal, in time linear in the length of the list: two states with one base differ only
where their edges do, and two with different bases differ in infinitely many texts.

Rejected: an automaton over characters, a difference from all of them, and its spellings as those of any other language
(`spelling`): ten times the time, since every state is looked at with its million characters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile import compile_expr
from automata.errors import LimitExceeded
from automata.transition.from_ranges import breadth_first
from automata.jit import kernel, plain_kernel
from automata.limits import DEFAULT_LIMITS
from automata.arrays import BoolArray, IntArray
from automata.transition.sparse import HIGH, LOW, REACHED, by_state
from constraints.json_schema.strings.spelling import spelled
from constraints.json_schema.strings.trees import (
    MOST_ASCII_NODES,
    MOST_NODES,
    NEXT,
    NODES,
    TO,
    Counts,
    Every,
    Tree,
    add_byte,
    add_character,
    edges_of,
    new_tree,
    plant,
)

# What a state takes at most: its row, slots, edges and arcs.
_STATE_BYTES = 100

_QUOTE = 0x22
# Places in the counts, behind those of a tree: states, edges of finished states, all arcs.
_STATES, _EDGES, _ARCS = range(2, 5)
# The states of the listed strings alone that are there from the first: the start and the end.
_END, _NUM_FIXED = 1, 2
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class _Register(NamedTuple):
    """Finished states: base, and from where to where their edges are, `[N, 3]`; the edges, byte and state, `[E, 2]`;
    states by their hashes; how many states were there from the first; and whether a state reads what its base does
    where it has no edge."""

    rows: IntArray
    edges: IntArray
    slots: IntArray
    num_fixed: int
    besides: bool


def spellings_of(texts: list[str]) -> ByteAutomaton:
    """The spellings, in quotes, of some strings.

    Args:
        texts: strings that UTF-8 can write.

    Raises:
        LimitExceeded: the list is too long.
    """
    return _made(texts, every_spelling(usual=False)[0], besides=False) if texts else compile_expr(ex.EMPTY)


def spellings_besides(texts: list[str], *, usual: bool = False) -> ByteAutomaton:
    """The spellings, in quotes, of all strings besides some.

    Args:
        texts: strings that UTF-8 can write.
        usual: only the spellings that programs write (`spelling.spelled`).

    Raises:
        LimitExceeded: the list is too long.
    """
    every, automaton = every_spelling(usual=usual)
    return _made(texts, every, besides=True) if texts else automaton


@lru_cache(maxsize=2)
def every_spelling(*, usual: bool) -> tuple[Every, ByteAutomaton]:
    """The automaton of all spellings, or of the usual ones; as kernels take it, and as it is."""
    automaton = spelled(compile_expr(ex.ANY_TEXT), usual=usual)
    offsets, arcs = by_state(automaton)
    # Kernels are compiled for arrays that may be written to.
    between = automaton.step(automaton.start, b'"')
    return Every(offsets.copy(), arcs.copy(), automaton.by_byte(), automaton.final.copy(), between), automaton


def _made(texts: list[str], every: Every, *, besides: bool) -> ByteAutomaton:
    ascending = sorted(set(texts))
    text = "".join(ascending)
    num_ascii = len(text.encode("ascii", "ignore"))
    room = MOST_ASCII_NODES * num_ascii + MOST_NODES * (len(text) - num_ascii) + len(every.final) + 2
    if room * _STATE_BYTES > DEFAULT_LIMITS.table_bytes:
        raise LimitExceeded(
            f"the spellings of {len(ascending):,} strings may take more than {DEFAULT_LIMITS.table_bytes:,} bytes "
            "(limit `table_bytes`)"
        )
    offsets = np.array([0, *map(len, ascending)], np.int32).cumsum(dtype=np.int32)
    codes = np.frombuffer(text.encode("utf-32-le") or b"\0\0\0\0", np.int32)
    final, begins, arcs = _written(codes, offsets, room, every, besides)
    return ByteAutomaton.sparse(0, begins, arcs, final)


@kernel
def _written(
    codes: IntArray, offsets: IntArray, room: int, every: Every, besides: bool
) -> tuple[BoolArray, IntArray, IntArray]:
    """The final states, where the arcs of each state begin, and the arcs, of an automaton that starts in state 0.

    Args:
        codes, offsets: the code points of strings, which ascend and differ, and where each begins.
        room: for how many states.
        every: the automaton of all spellings.
        besides: all strings besides these, in place of these.
    """
    arcs, begins = np.empty((16 * room, 3), np.int32), np.zeros(room + 1, np.int32)
    counts = np.zeros(5, np.int64)
    if besides:
        num_fixed, num_arcs = len(every.final), len(every.arcs)
        begins[: num_fixed + 1], arcs[:num_arcs] = every.offsets, every.arcs
    else:
        # The one arc of the start, and no arc of the end.
        num_fixed, num_arcs = _NUM_FIXED, 1
        begins[1] = begins[2] = 1
        arcs[0, LOW] = arcs[0, HIGH] = _QUOTE
    counts[_STATES], counts[_ARCS] = num_fixed, num_arcs
    num_slots = 64
    while num_slots < 2 * room:
        num_slots *= 2
    register = _Register(
        np.empty((room, 3), np.int32), np.empty((4 * room, 2), np.int32), np.zeros(num_slots, np.int32), num_fixed,
        besides,
    )  # fmt: skip
    arcs = _with_strings(codes, offsets, every, register, begins, arcs, counts)
    final = np.zeros(counts[_STATES], np.bool_)
    if besides:
        final[:num_fixed] = every.final
    else:
        final[_END] = True
    return breadth_first(0, final, begins[: counts[_STATES] + 1], arcs[: counts[_ARCS]])


@kernel
def _with_strings(
    codes: IntArray, offsets: IntArray, every: Every, register: _Register, begins: IntArray, arcs: IntArray,
    counts: Counts,
) -> IntArray:  # fmt: skip
    """The arcs with those of all states that strings take, to which the start leads."""
    longest = 0
    for string in range(len(offsets) - 1):
        longest = max(longest, offsets[string + 1] - offsets[string])
    # Code point and state of what follows the beginnings; where each begins; whether each is a string.
    path, first = np.empty((len(codes) + 1, 2), np.int32), np.zeros(longest + 2, np.int32)
    ends, tree = np.zeros(longest + 1, np.bool_), new_tree(1)
    depth, state = 0, 0
    for string in range(len(offsets)):
        # Behind the last string, all that is left of the path is finished.
        is_last = string + 1 == len(offsets)
        own = offsets[string]
        size = 0 if is_last else offsets[string + 1] - own
        shared = -1 if is_last else 0
        if string and not is_last:
            before = offsets[string - 1]
            while shared < min(size, own - before) and codes[before + shared] == codes[own + shared]:
                shared += 1
        while depth > shared:
            characters = path[first[depth] : first[depth + 1]]
            tree, arcs, state = _finished(characters, ends[depth], every, tree, register, begins, arcs, counts)
            if depth:
                path[first[depth] - 1, 1] = state
            depth -= 1
        while depth < size:
            path[first[depth + 1], 0] = codes[own + depth]
            first[depth + 1] += 1
            depth += 1
            first[depth + 1] = first[depth]
            ends[depth] = False
        if not is_last:
            ends[depth] = True
    arcs[begins[0], REACHED] = state
    return arcs


@kernel
def _finished(
    characters: IntArray, is_end: bool, every: Every, tree: Tree, register: _Register, begins: IntArray,
    arcs: IntArray, counts: Counts,
) -> tuple[Tree, IntArray, int]:  # fmt: skip
    """The tree and the arcs, with more room if there has to be, and the state of a beginning.

    Args:
        characters: `[n, 2]`, what follows in strings of the list, and the states that it leads to.
        is_end: whether the beginning is such a string itself.
        every, tree, register: see the classes.
        begins: where the arcs of each state begin.
        arcs: all arcs so far.
        counts: how many there are.
    """
    if MOST_NODES * (len(characters) + 1) > len(tree.base):
        tree = new_tree(2 * len(characters))
    plant(tree, counts, every)
    if is_end:
        add_byte(_QUOTE, -1 if register.besides else _END, tree, counts)
    for place in range(len(characters)):
        add_character(characters[place, 0], characters[place, 1], every, tree, counts)
    # Nodes come behind those that lead to them.
    state = 0
    for reverse in range(counts[NODES]):
        node = counts[NODES] - 1 - reverse
        edge = tree.first[node]
        while edge >= 0:
            if tree.edges[edge, TO] >= 0:
                # In place of its first edge, a node that is entered has its state.
                tree.edges[edge, TO] = -2 - tree.first[tree.edges[edge, TO]]
            edge = tree.edges[edge, NEXT]
        arcs, state = _entered(node, every, tree, register, begins, arcs, counts)
        tree.first[node] = state
    return tree, arcs, state


@kernel
def _entered(
    node: int, every: Every, tree: Tree, register: _Register, begins: IntArray, arcs: IntArray, counts: Counts
) -> tuple[IntArray, int]:
    """The arcs, and the state of a node, all of whose edges lead to states; an equal one if there is one."""
    rows, edges, slots = register.rows, register.edges, register.slots
    base = tree.base[node] if register.besides else -1
    begin = counts[_EDGES]
    end = begin + edges_of(node, every, tree, edges[begin:])
    value = np.uint64(base + 1)
    for at in range(begin, end):
        value = (value ^ np.uint64(edges[at, 0] << 24 ^ edges[at, 1] + 1)) * _HASH_FACTOR
        value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while slots[slot]:
        known = slots[slot] - 1
        if rows[known, 0] == base and rows[known, 2] - rows[known, 1] == end - begin:
            at, shift = begin, rows[known, 1] - begin
            while at < end and edges[at, 0] == edges[at + shift, 0] and edges[at, 1] == edges[at + shift, 1]:
                at += 1
            if at == end:
                return arcs, int(register.num_fixed + known)
        slot = (slot + np.uint64(1)) & mask
    state = counts[_STATES]
    row = state - register.num_fixed
    slots[slot] = row + 1
    rows[row, 0], rows[row, 1], rows[row, 2] = base, begin, end
    counts[_EDGES], counts[_STATES] = end, state + 1
    size = counts[_ARCS]
    most = size + 2 * (end - begin) + (every.offsets[base + 1] - every.offsets[base] if base >= 0 else 0)
    if most > len(arcs):
        longer = np.empty((2 * most, 3), np.int32)
        longer[:size] = arcs[:size]
        arcs = longer
    counts[_ARCS] = begins[state + 1] = _write(base, edges[begin:end], every, arcs, size)
    return arcs, int(state)


@plain_kernel
def _write(base: int, edges: IntArray, every: Every, arcs: IntArray, size: int) -> int:
    """Writes the arcs of a state behind the others; returns how many there are then."""
    first, at = size, 0
    if base < 0:
        for edge in range(len(edges)):
            size = _append(arcs, first, size, edges[edge, 0], edges[edge, 0], edges[edge, 1])
        return size
    for arc in range(every.offsets[base], every.offsets[base + 1]):
        low, high, target = every.arcs[arc, LOW], every.arcs[arc, HIGH], every.arcs[arc, REACHED]
        while at < len(edges) and edges[at, 0] <= high:
            byte, reached = edges[at, 0], edges[at, 1]
            if low < byte:
                size = _append(arcs, first, size, low, byte - 1, target)
            if reached >= 0:
                size = _append(arcs, first, size, byte, byte, reached)
            low, at = byte + 1, at + 1
        if low <= high:
            size = _append(arcs, first, size, low, high, target)
    return size


@plain_kernel
def _append(arcs: IntArray, first: int, size: int, low: int, high: int, target: int) -> int:
    """Adds an arc of the state whose arcs begin at `first`, in runs as long as they can be."""
    if size > first and arcs[size - 1, HIGH] + 1 == low and arcs[size - 1, REACHED] == target:
        arcs[size - 1, HIGH] = high
        return size
    arcs[size, LOW], arcs[size, HIGH], arcs[size, REACHED] = low, high, target
    return size + 1
