"""Trees: the spellings of a few characters, each with the state that it leads to, byte by byte.

A character is written as it is, by a short escape, or as digits (`spelling`). Which of these there are is what the
automaton of all spellings reads; so a node of a tree has a state of that automaton, its *base*. Digits are in the tree
with small letters; the large ones lead where the small ones do.

    Every     the automaton of all spellings
    Tree      nodes, with edges by ascending bytes; node 0 is where the characters begin
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.jit import kernel, plain_kernel
from automata.arrays import BoolArray, IntArray
from constraints.json_schema.strings.escapes import SHORT

Counts = npt.NDArray[np.int64]
Spelling = npt.NDArray[np.uint8]

# No tree has more nodes than this for each character, or one of ASCII; nor is any spelling longer.
MOST_NODES, MOST_ASCII_NODES, LONGEST = 16, 6, 12
# Columns of edges: byte, what it leads to, and the next edge of the node, or -1. What it leads to is a node, or -2 less
# a state, where -1 is none.
BYTE, TO, NEXT = range(3)
# Places in the counts.
EDGES, NODES = range(2)

_BACKSLASH, _LETTER_U = 0x5C, 0x75
# Capital letters, the small letters that are digits, and how far apart they are.
_FIRST_CAPITAL, _FIRST_DIGIT, _LAST_DIGIT, _TO_CAPITAL = 0x41, 0x61, 0x66, 0x20


class Every(NamedTuple):
    """The automaton of all spellings, which starts in state 0: its arcs by state, its table `[Q, 256]`, its final
    states, and its state between two characters."""

    offsets: IntArray
    arcs: IntArray
    table: IntArray
    final: BoolArray
    between: int


class Tree(NamedTuple):
    """The base of each node, its first edge, or -1, and the edges `[E, 3]`, with room for more; and a place where a
    spelling is written."""

    base: IntArray
    first: IntArray
    edges: IntArray
    spelling: Spelling


@kernel
def new_tree(num_characters: int) -> Tree:
    """Room for the spellings of so many characters."""
    size = MOST_NODES * (num_characters + 1)
    return Tree(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty((2 * size, 3), np.int32),
        np.empty(LONGEST, np.uint8),
    )


@plain_kernel
def plant(tree: Tree, counts: Counts, every: Every) -> None:
    """Begins a tree, in place of the one that there was."""
    tree.base[0], tree.first[0] = every.between, -1
    counts[NODES], counts[EDGES] = 1, 0


@plain_kernel
def add_character(code: int, state: int, every: Every, tree: Tree, counts: Counts) -> None:
    """Adds all spellings of a character, which lead to a state."""
    table, between, base, first, edges = every.table, every.between, tree.base, tree.first, tree.edges
    spelling = tree.spelling
    _add(spelling, _literal(code, spelling), state, table, between, base, first, edges, counts)
    for other, letter in SHORT:
        if other == code:
            spelling[0], spelling[1] = _BACKSLASH, letter
            _add(spelling, 2, state, table, between, base, first, edges, counts)
    _add(spelling, _digits(code, spelling), state, table, between, base, first, edges, counts)


@plain_kernel
def add_byte(byte: int, state: int, tree: Tree, counts: Counts) -> None:
    """Adds a byte to a tree that has no other yet."""
    tree.edges[0, BYTE], tree.edges[0, TO], tree.edges[0, NEXT] = byte, -2 - state, -1
    tree.first[0], counts[EDGES] = 0, 1


@plain_kernel
def _literal(code: int, spelling: Spelling) -> int:
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


@plain_kernel
def _digits(code: int, spelling: Spelling) -> int:
    """Writes a character as digits, with small letters, and says how long that is."""
    if code >= 0x10000:
        _unit(0xD800 + (code - 0x10000 >> 10), spelling[:6])
        _unit(0xDC00 + (code & 0x3FF), spelling[6:])
        return 12
    _unit(code, spelling)
    return 6


@plain_kernel
def _unit(unit: int, spelling: Spelling) -> None:
    spelling[0], spelling[1] = _BACKSLASH, _LETTER_U
    for place in range(4):
        digit = unit >> 4 * (3 - place) & 15
        spelling[2 + place] = digit + (0x30 if digit < 10 else 0x57)


@plain_kernel
def _add(
    spelling: Spelling, size: int, leads: int, table: IntArray, between: int, base: IntArray, first: IntArray,
    edges: IntArray, counts: Counts,
) -> None:  # fmt: skip
    """Adds what leads to a state, if it is a spelling of a character; the arrays are those of the automaton of all
    spellings and of the tree, because a tuple of arrays would have its references counted at every call."""
    state = between
    for place in range(size):
        state = table[state, spelling[place]]
        if state < 0:
            return
    if state != between:
        return
    node = 0
    for place in range(size):
        byte = spelling[place]
        before, edge = -1, first[node]
        while edge >= 0 and edges[edge, BYTE] < byte:
            before, edge = edge, edges[edge, NEXT]
        if edge < 0 or edges[edge, BYTE] != byte:
            new, inner = counts[EDGES], counts[NODES]
            counts[EDGES] += 1
            edges[new, BYTE], edges[new, TO], edges[new, NEXT] = byte, -2 - leads, edge
            if before < 0:
                first[node] = new
            else:
                edges[before, NEXT] = new
            if place + 1 < size:
                edges[new, TO], base[inner], first[inner] = inner, table[base[node], byte], -1
                counts[NODES] += 1
            edge = new
        node = edges[edge, TO]


@plain_kernel
def edges_of(node: int, every: Every, tree: Tree, edges: IntArray) -> int:
    """Writes the edges of a node, all of which lead to states, as bytes, ascending, and states; and says how many there
    are. Large letters are among them where they are read."""
    size, base = 0, tree.base[node]
    for turn in range(3):
        edge = tree.first[node]
        while edge >= 0:
            byte, taken = tree.edges[edge, BYTE], False
            if turn == 1:
                is_digit = _FIRST_DIGIT <= byte <= _LAST_DIGIT and base != every.between
                byte -= _TO_CAPITAL
                taken = is_digit and every.table[base, byte] >= 0
            else:
                taken = (byte < _FIRST_CAPITAL) == (turn == 0)
            if taken:
                edges[size, 0], edges[size, 1] = byte, -2 - tree.edges[edge, TO]
                size += 1
            edge = tree.edges[edge, NEXT]
    return size
