"""The automaton of all substrings of a text, linear in the text: the suffix automaton, spelled out in bytes.

    chunk              what a substring does not cut: a character, or a word
    suffix automaton   over chunks; a state is the set of places where a string of chunks ends in the text (Blumer,
                       Blumer, Haussler, Ehrenfeucht, Chen & Seiferas 1985): at most 2 N states and 3 N transitions for
                       N chunks, built chunk by chunk
    spelled            all transitions into a state read one chunk, whose bytes are one chain in front of the state

All states are final, the first one too: the empty string is a substring. Chunks that begin with the same bytes make
the spelled automaton non-deterministic, a little, so it is determinized and minimized like everything else.

A substring is text, so it begins and ends between characters. By words it also cuts no word in two: neither of its ends
lies between two word characters, which are letters, numbers and marks of any script and the underscore. So a chunk is
a run of word characters or one other character, and `new York` has the substrings `new`, ` `, `York`, `new `, ` York`
and `new York`, and the empty one.

Rejected: bytes as chunks, without the transitions that begin inside a character (right and simpler, but not for words);
a union of all suffixes (quadratic).
"""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from automata.errors import LimitExceeded
from automata.jit import kernel
from automata.limits import Flag, Work
from automata.openfst import IntArray

# What the constructions take for each byte of a text, about.
_MEMORY_OF_BYTE = 400

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
# The end, which is state 1 of what is laid out.
_END = 1


def substring_arcs(text: str, words: bool, work: Work) -> tuple[int, IntArray, IntArray]:
    """The number of states, the arcs `[A, 4]` and the epsilon arcs `[N, 2]` of an automaton from state 0 to state 1.

    An arc is source, lowest byte, highest byte and target.

    Raises:
        LimitExceeded: the text is so long that the construction takes too much memory, or too long.
        Cancelled: the compilation was cancelled.
        UnicodeEncodeError: text with a lone surrogate, which UTF-8 cannot write.
    """
    data = np.frombuffer(text.encode(), np.uint8)
    needed = _MEMORY_OF_BYTE * len(data)
    if needed > work.limits.table_bytes:
        raise LimitExceeded(
            f"the substrings of a text of {len(data):,} bytes take some {needed:,} bytes, more than "
            f"{work.limits.table_bytes:,} (limit `table_bytes`)"
        )
    chunk, begin, size = _words(text) if words else _characters(text)
    automaton = _suffix_automaton(chunk, work.stop)
    work.check()
    return _spelled(data, begin, size, *automaton)


def _characters(text: str) -> tuple[IntArray, IntArray, IntArray]:
    """The number of each character `[N]`, and where a character lies in the bytes and how long it is, `[K]` each."""
    code = np.frombuffer(text.encode("utf-32-le"), np.int32)
    _, first, chunk = np.unique(code, return_index=True, return_inverse=True)
    size = 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000)
    begin = np.cumsum(size) - size
    return chunk.reshape(-1).astype(np.int32), begin[first].astype(np.int32), size[first].astype(np.int32)


def _words(text: str) -> tuple[IntArray, IntArray, IntArray]:
    """The number of each word or other character `[N]`, and where it lies in the bytes and how long it is, `[K]`."""
    is_word = {char: char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M" for char in set(text)}
    inside = np.fromiter((is_word[char] for char in text), np.bool_, len(text))
    ends = np.append(np.flatnonzero(~(inside[1:] & inside[:-1])) + 1, len(text)).tolist()
    known: dict[str, int] = {}
    chunk: list[int] = []
    begin: list[int] = []
    size: list[int] = []
    start = place = 0
    for end in ends:
        piece = text[start:end]
        length = len(piece) if piece.isascii() else len(piece.encode())
        number = known.setdefault(piece, len(known))
        if number == len(begin):
            begin.append(place)
            size.append(length)
        chunk.append(number)
        start, place = end, place + length
    return np.array(chunk, np.int32), np.array(begin, np.int32), np.array(size, np.int32)


@kernel
def _transition(state: int, symbol: int, edges: IntArray, slots: IntArray) -> tuple[int, np.uint64]:
    """The edge of a state with a symbol, or -1, and the slot where it is or would be."""
    value = (np.uint64(state) << np.uint64(32) ^ np.uint64(symbol)) * _HASH_FACTOR
    value ^= value >> np.uint64(29)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while slots[slot] >= 0 and (edges[slots[slot], 0] != state or edges[slots[slot], 1] != symbol):
        slot = (slot + np.uint64(1)) & mask
    return slots[slot], slot


@kernel
def _suffix_automaton(symbols: IntArray, stop: Flag) -> tuple[IntArray, IntArray]:
    """The symbol that leads into each state `[Q]`, nothing that counts for the first, and the edges `[E, 3]`: source,
    symbol and target; they mean nothing if the flag `stop` is set."""
    max_states = 2 * len(symbols) + 1
    # Longest string and suffix link of each state; the first of its edges, which are linked by their last column.
    longest, link = np.zeros(max_states, np.int32), np.full(max_states, -1, np.int32)
    into, head = np.zeros(max_states, np.int32), np.full(max_states, -1, np.int32)
    edges = np.empty((3 * len(symbols) + 1, 4), np.int32)
    num_slots = 16
    while num_slots < 6 * len(symbols):
        num_slots *= 2
    slots = np.full(num_slots, -1, np.int32)
    num_states, num_edges, last = 1, 0, 0
    for symbol in symbols:
        if stop[0]:
            break
        new = num_states
        num_states += 1
        longest[new], into[new] = longest[last] + 1, symbol
        state = last
        edge, slot = _transition(state, symbol, edges, slots)
        while edge < 0:
            slots[slot] = num_edges
            edges[num_edges, 0], edges[num_edges, 1], edges[num_edges, 2] = state, symbol, new
            edges[num_edges, 3], head[state] = head[state], num_edges
            num_edges += 1
            state = link[state]
            if state < 0:
                break
            edge, slot = _transition(state, symbol, edges, slots)
        link[new] = 0
        if state >= 0:
            other = edges[edge, 2]
            if longest[other] > longest[state] + 1:
                clone = num_states
                num_states += 1
                longest[clone], into[clone], link[clone] = longest[state] + 1, symbol, link[other]
                copied = head[other]
                while copied >= 0:
                    _, slot = _transition(clone, edges[copied, 1], edges, slots)
                    slots[slot] = num_edges
                    edges[num_edges, 0], edges[num_edges, 1] = clone, edges[copied, 1]
                    edges[num_edges, 2], edges[num_edges, 3] = edges[copied, 2], head[clone]
                    head[clone] = num_edges
                    num_edges += 1
                    copied = edges[copied, 3]
                while state >= 0:
                    edge, _ = _transition(state, symbol, edges, slots)
                    if edge < 0 or edges[edge, 2] != other:
                        break
                    edges[edge, 2] = clone
                    state = link[state]
                link[other] = other = clone
            link[new] = other
        last = new
    return into[:num_states].copy(), edges[:num_edges]


@kernel
def _spelled(
    data: npt.NDArray[np.uint8], begin: IntArray, size: IntArray, into: IntArray, edges: IntArray
) -> tuple[int, IntArray, IntArray]:
    """What `substring_arcs` returns: in front of each state a chain for its chunk, less the first byte, and for each
    edge an arc to the chain by the first byte."""
    num_states = len(into)
    # State 0 stays, state 1 is the end, the others follow, then the chains. `entry` is where a chain begins.
    entry = np.zeros(num_states, np.int32)
    free, num_arcs = num_states + 1, len(edges)
    for state in range(1, num_states):
        length = size[into[state]]
        entry[state] = free if length > 1 else state + 1
        free += length - 1
        num_arcs += length - 1
    arcs, epsilon = np.empty((num_arcs, 4), np.int32), np.full((num_states, 2), _END, np.int32)
    at = 0
    for edge in range(len(edges)):
        source, target = edges[edge, 0], edges[edge, 2]
        arcs[at, 0] = source + 1 if source else 0
        arcs[at, 1] = arcs[at, 2] = data[begin[into[target]]]
        arcs[at, 3] = entry[target]
        at += 1
    epsilon[0, 0] = 0
    for state in range(1, num_states):
        epsilon[state, 0] = state + 1
        chunk = into[state]
        for place in range(1, size[chunk]):
            source = entry[state] + place - 1
            arcs[at, 0] = source
            arcs[at, 1] = arcs[at, 2] = data[begin[chunk] + place]
            arcs[at, 3] = source + 1 if place + 1 < size[chunk] else state + 1
            at += 1
    return free, arcs, epsilon
