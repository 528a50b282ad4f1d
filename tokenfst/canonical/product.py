"""The bytes of a constraint together with the pieces of a pre-tokenizer: one automaton that reads both at once.

    (q, p, t)   a state of the constraint, a state of the pieces, and a node of the trie of whole pieces
    split       the state after deciding that a piece ends here: (q, p', root)

The trie holds the tokens that an encoder finds only by looking a whole piece up, since merges do not make them
(`BPE.whole_pieces`). A piece that spells such a token is that token and must not be written otherwise. So where the
bytes since the last boundary spell one, the piece cannot end; but each such state has a second one in which it must,
and to that one leads the token itself (`whole`). Other states have the node 0, and without such tokens all have.

A label of the constraint stands for tokens that write nothing. An encoder cuts the text on either side of one by
itself, so it may be taken where a text may end, and a new text begins behind it.

A product has states that no end can be reached from, when a decision about pieces goes against the constraint: they are
taken out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.distance import distances
from automata.errors import EmptyLanguage, LimitExceeded
from automata.jit import kernel, plain_kernel
from automata.limits import Flag, Work
from tokenfst.canonical.derivations import Flags, Longs
from tokenfst.canonical.piece_bytes import PieceBytes
from tokenfst.transition.loops import Ints

# Nodes of every trie: no whole piece begins like this; nothing has been read since the boundary.
OUT, ROOT = 0, 1


class WholePieces(NamedTuple):
    """The tokens that only whole pieces are, as a trie of T nodes.

    Attributes:
        byte_class: `[256]`, below C.
        next: `[T, C]`, the node below, or `OUT`.
        spells: `[T]`, whether the node is a token.
        tokens: `[N]`, the tokens.
    """

    byte_class: Ints
    next: Ints
    spells: Flags
    tokens: Ints


class Product(NamedTuple):
    """The product: M states.

    Attributes:
        automaton: over bytes; its final states are those where the text may end.
        split: `[M]`, the state after deciding that a piece ends here, or -1.
        begins: `[M]`, whether that decision has just been taken.
        whole: `[M]`, the second state of one whose piece spells a whole token, or -1.
        by_label: `[M, L]`, the state behind each label of the constraint, or -1.
    """

    automaton: ByteAutomaton
    split: Ints
    begins: Flags
    whole: Ints
    by_label: Ints


def product(automaton: ByteAutomaton, pieces: PieceBytes, words: WholePieces, work: Work) -> Product:
    """Multiplies a constraint with an automaton of pieces.

    Raises:
        EmptyLanguage: the encoder is never given a text of the language.
        LimitExceeded: too many states, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    columns = np.column_stack([automaton.byte_class.astype(np.int32), pieces.byte_class, words.byte_class])
    columns, byte_class = np.unique(columns, axis=0, return_inverse=True)
    if len(columns) == 256:  # a class number must fit a byte, and does
        byte_class = np.arange(256)
        columns = np.column_stack([automaton.byte_class.astype(np.int32), pieces.byte_class, words.byte_class])
    max_states = min(work.limits.states, work.limits.table_bytes // (4 * len(columns)))
    table, final, split, begins, whole, by_label = _explore(
        automaton.start,
        automaton.next,
        automaton.final,
        pieces.next,
        pieces.split,
        pieces.final,
        words.next,
        words.spells,
        columns.astype(np.int32),
        automaton.by_label,
        max_states,
        work.stop,
    )
    work.check()
    if len(final) > max_states:
        raise LimitExceeded(
            f"the constraint and the pre-tokenizer together have more than {max_states:,} states, "
            "as many as the limits `states` and `table_bytes` allow"
        )
    live = _live(table, final, np.column_stack([split, whole, by_label]))
    if not live[0]:
        raise EmptyLanguage("the constraint allows no text that the tokenizer's encoder could be given")
    number = np.append((np.cumsum(live) - 1).astype(np.int32), np.int32(-1))
    number[:-1][~live] = -1
    bytes_of = byte_class.reshape(-1).astype(np.uint8)
    no_labels = np.zeros((int(live.sum()), 0), np.int32)
    trimmed = ByteAutomaton.dense(0, bytes_of, number[table[live]], final[live])
    return Product(trimmed, number[split[live]], begins[live], number[whole[live]], number[by_label[live]])


def _live(table: Ints, final: Flags, others: Ints) -> Flags:
    """The states that lead to an end, by bytes or otherwise."""
    source, column = np.nonzero(table >= 0)
    targets = [table[source, column]]
    sources = [source.astype(np.int32)]
    for other in others.T:
        sources.append(np.flatnonzero(other >= 0).astype(np.int32))
        targets.append(other[other >= 0])
    return distances(np.concatenate(sources), np.concatenate(targets), final) >= 0


@plain_kernel
def _number_of(keys: Longs, slots: Ints, key: int, count: int) -> int:
    """The number of a key; `count` if it is new, and then it is put in."""
    mask = np.uint64(len(slots) - 1)
    value = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = (value ^ (value >> np.uint64(31))) & mask
    while slots[slot] >= 0:
        if keys[slots[slot]] == key:
            return int(slots[slot])
        slot = (slot + np.uint64(1)) & mask
    slots[slot] = count
    keys[count] = key
    return int(count)


@kernel
def _explore(
    start: int,
    delta: Ints,
    ends: Flags,
    pieces: Ints,
    piece_split: Ints,
    piece_ends: Flags,
    trie: Ints,
    spells: Flags,
    columns: Ints,
    labels: Ints,
    max_states: int,
    stop: Flag,
) -> tuple[Ints, Flags, Ints, Flags, Ints, Ints]:
    """All states that can be reached, in order of discovery: next `[M, C]`, final, split, begins, whole, by label."""
    num_pieces, num_nodes = np.int64(len(pieces)), np.int64(len(trie) + 1)
    root = np.int64(ROOT if len(trie) > 1 else OUT)
    second = np.int64(len(trie))  # the node of second states
    capacity = 1024
    keys, slots = np.empty(capacity, np.int64), np.full(4 * capacity, -1, np.int32)
    table = np.full((capacity, len(columns)), -1, np.int32)
    num_labels = labels.shape[1]
    others = np.full((capacity, 2 + num_labels), -1, np.int32)
    flags = np.zeros((capacity, 2), np.bool_)
    count = 1
    _number_of(keys, slots, int(start * num_pieces * num_nodes), 0)
    state = 0
    while state < count <= max_states and not stop[0]:
        if count + len(columns) + 2 + num_labels > capacity:
            capacity = 2 * (count + len(columns) + 2 + num_labels)
            old_keys, old_table, old_others, old_flags = keys, table, others, flags
            size = 4096
            while size < 4 * capacity:
                size *= 2
            keys, slots = np.empty(capacity, np.int64), np.full(size, -1, np.int32)
            for known in range(count):
                _number_of(keys, slots, old_keys[known], known)
            table = np.full((capacity, len(columns)), -1, np.int32)
            table[:count] = old_table[:count]
            others = np.full((capacity, 2 + num_labels), -1, np.int32)
            others[:count] = old_others[:count]
            flags = np.zeros((capacity, 2), np.bool_)
            flags[:count] = old_flags[:count]
        key = keys[state]
        node, place, outer = key % num_nodes, key // num_nodes % num_pieces, key // num_nodes // num_pieces
        final = ends[outer] and piece_ends[place]
        if node != second and spells[node]:
            if piece_ends[place] or piece_split[place] >= 0:
                # Only the token itself may end the piece.
                found = _number_of(keys, slots, (outer * num_pieces + place) * num_nodes + second, count)
                count += found == count
                others[state, 1] = found
        else:
            flags[state, 0] = final
            for label in range(num_labels):
                if piece_ends[place] and labels[outer, label] >= 0:
                    found = _number_of(keys, slots, labels[outer, label] * num_pieces * num_nodes, count)
                    count += found == count
                    others[state, 2 + label] = found
            if piece_split[place] >= 0:
                beginning = (outer * num_pieces + piece_split[place]) * num_nodes + root
                found = _number_of(keys, slots, beginning, count)
                count += found == count
                others[state, 0] = found
                flags[found, 1] = True
        if node != second:
            for column in range(len(columns)):
                q, p = delta[outer, columns[column, 0]], pieces[place, columns[column, 1]]
                if q >= 0 and p >= 0:
                    below = (np.int64(q) * num_pieces + p) * num_nodes + trie[node, columns[column, 2]]
                    found = _number_of(keys, slots, below, count)
                    count += found == count
                    table[state, column] = found
        state += 1
    return (
        table[:count],
        flags[:count, 0].copy(),
        others[:count, 0].copy(),
        flags[:count, 1].copy(),
        others[:count, 1].copy(),
        others[:count, 2:].copy(),
    )
