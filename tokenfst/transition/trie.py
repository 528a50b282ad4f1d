"""The tries of a vocabulary: tokens sorted by their bytes, laid out so that a walk reads siblings one after the other.

    rank    position of a token in sorted order; tokens with equal bytes are neighbours
    node    a prefix of some token; the tokens below it are a run of ranks, and its own tokens are the first of them

Tokens that are whole UTF-8 characters have a trie of their own, since below one of its lead bytes every valid
continuation means a whole character, which lets the walk step over characters at a time; the few tokens that begin or
end inside a character have another, whose ranks follow.

A node is one row of 8 words of 4 bytes, half a cache line:

    0..3   the ASCII bytes that occur below the node (not its own byte), as 128 bits
    4      the first of its children, which are neighbours in ascending order of their bytes; 0 for none
    5      the first rank of its subtree: its own tokens are the ranks from here up to its first child's
    6      one past the last rank of its subtree
    7      its byte, plus 256 if some byte of 0x80 or more occurs below it, plus 512 times the number of its children

A walk looks at many nodes without entering their subtrees, and fetching them is most of what it does, so siblings lie
side by side. (Nodes in depth-first order, each sibling behind a whole subtree, took the walk half as long again.)
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from automata.jit import kernel, plain_kernel

Nodes: TypeAlias = npt.NDArray[np.int32]

CHILDREN, FIRST_RANK, END_RANK, BYTE = range(4, 8)
NODE_WORDS = 8
HIGH_BYTE_BELOW = 256
COUNT_SHIFT = 9


def build_trie(tokens: list[bytes], first_rank: int) -> Nodes:
    """The trie of sorted, non-empty tokens whose first one has rank `first_rank`: `[N, 8]` int32.

    Row 0 is the root, the empty prefix; children come after their parents.
    """
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    data = np.frombuffer(b"".join(tokens) or b"\0", np.uint8)
    offsets = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    nodes = _nodes(data, offsets)
    nodes[:, FIRST_RANK : END_RANK + 1] += first_rank
    return nodes


@plain_kernel
def _num_prefixes(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> int:
    """How many different prefixes the tokens have, the empty one included."""
    count = 1 + offsets[-1]
    for token in range(1, len(offsets) - 1):
        before, own, end = offsets[token - 1], offsets[token], offsets[token + 1]
        shared = 0
        while before + shared < own and own + shared < end and data[before + shared] == data[own + shared]:
            shared += 1
        count -= shared
    return int(count)


@kernel
def _nodes(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Nodes:
    num_nodes = _num_prefixes(data, offsets)
    nodes = np.zeros((num_nodes, NODE_WORDS), np.int32)
    parent, depth = np.zeros(num_nodes, np.int32), np.zeros(num_nodes, np.int32)
    nodes[0, END_RANK] = len(offsets) - 1
    open_nodes = np.zeros(num_nodes, np.int32)
    num_open, free = 1, 1
    while num_open:
        num_open -= 1
        node = open_nodes[num_open]
        rank, end = nodes[node, FIRST_RANK], nodes[node, END_RANK]
        while rank < end and offsets[rank + 1] - offsets[rank] == depth[node]:
            rank += 1
        first = free
        while rank < end:
            byte = data[offsets[rank] + depth[node]]
            nodes[free, FIRST_RANK], nodes[free, BYTE] = rank, byte
            while rank < end and data[offsets[rank] + depth[node]] == byte:
                rank += 1
            nodes[free, END_RANK] = rank
            parent[free], depth[free] = node, depth[node] + 1
            free += 1
        if free > first:
            nodes[node, CHILDREN] = first
            nodes[node, BYTE] |= (free - first) << COUNT_SHIFT
        # The first child is next, so that a subtree's blocks are neighbours as well.
        for child in range(free - 1, first - 1, -1):
            open_nodes[num_open] = child
            num_open += 1
    _gather_bytes(nodes, parent)
    return nodes


@plain_kernel
def _gather_bytes(nodes: Nodes, parent: npt.NDArray[np.int32]) -> None:
    """Fills in which bytes occur below each node."""
    for node in range(len(nodes) - 1, 0, -1):
        above, byte = parent[node], nodes[node, BYTE] & 255
        for word in range(4):
            nodes[above, word] |= nodes[node, word]
        nodes[above, BYTE] |= nodes[node, BYTE] & HIGH_BYTE_BELOW
        if byte < 128:
            nodes[above, byte >> 5] |= np.int32(np.uint32(1) << np.uint32(byte & 31))
        else:
            nodes[above, BYTE] |= HIGH_BYTE_BELOW
