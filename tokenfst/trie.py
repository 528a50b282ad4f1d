"""The tries of a vocabulary: tokens sorted by their bytes, laid out so that one forward walk visits them all.

    rank    position of a token in sorted order; tokens with equal bytes are neighbours
    node    a prefix of some token; nodes are in depth-first order, so a subtree is a run of nodes, and its tokens are a
            run of ranks

Tokens that are whole UTF-8 characters have a trie of their own, since below one of its lead bytes every valid
continuation means a whole character, which lets the walk step over characters at a time; the few tokens that begin or
end inside a character have another, whose ranks follow.

A node is one row of 8 words of 4 bytes, half a cache line, because a walk touches a node once and not its neighbours:

    0..3   the ASCII bytes that occur below the node (not its own byte), as 128 bits
    4      the first node after its subtree
    5      the first rank of its subtree: its own tokens are the ranks from here up to the next node's
    6      its byte, plus 256 if some byte of 0x80 or more occurs below it, plus 512 times its depth
    7      the next node in order that has a rare byte or leads to one

Rare bytes are those that quoted text cannot hold as they are: control characters, the quotation mark and the
backslash. A walk whose state loops on all others goes from rare byte to rare byte.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from automata.jit import kernel

Nodes: TypeAlias = npt.NDArray[np.int32]

SKIP, FIRST_RANK, BYTE, NEXT_RARE = 4, 5, 6, 7
NODE_WORDS = 8
HIGH_BYTE_BELOW = 256
DEPTH_SHIFT = 9


def _bits(values: set[int]) -> npt.NDArray[np.int32]:
    words = np.zeros(4, np.uint32)
    for value in values:
        words[value >> 5] |= np.uint32(1) << np.uint32(value & 31)
    return words.view(np.int32)


RARE_BYTES = _bits({*range(0x20), 0x22, 0x5C, 0x7F})


def build_trie(tokens: list[bytes], first_rank: int) -> Nodes:
    """The trie of sorted, non-empty tokens whose first one has rank `first_rank`: `[N + 1, 8]` int32.

    Row 0 is the root, the empty prefix; the last row stands behind all nodes and holds the rank behind all tokens and,
    as its depth, the length of the longest one.
    """
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    data = np.frombuffer(b"".join(tokens) or b"\0", np.uint8)
    offsets = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return _nodes(data, offsets, first_rank)


@kernel
def _common_prefix(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], token: int) -> int:
    """How many bytes a token shares with the one before it."""
    if token == 0:
        return 0
    before, own, end = offsets[token - 1], offsets[token], offsets[token + 1]
    shared = 0
    while before + shared < own and own + shared < end and data[before + shared] == data[own + shared]:
        shared += 1
    return shared


@kernel
def _nodes(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], first_rank: int) -> Nodes:
    num_tokens = len(offsets) - 1
    longest = num_nodes = 1
    for token in range(num_tokens):
        length = offsets[token + 1] - offsets[token]
        num_nodes += length - _common_prefix(data, offsets, token)
        longest = max(longest, length)
    nodes = np.zeros((num_nodes + 1, NODE_WORDS), np.int32)
    nodes[0, FIRST_RANK] = first_rank
    at = 1
    for token in range(num_tokens):
        for place in range(offsets[token] + _common_prefix(data, offsets, token), offsets[token + 1]):
            nodes[at, BYTE] = data[place] | (place - offsets[token] + 1) << DEPTH_SHIFT
            nodes[at, FIRST_RANK] = first_rank + token
            at += 1
    nodes[at, FIRST_RANK] = first_rank + num_tokens
    nodes[at, BYTE] = longest << DEPTH_SHIFT
    _close_subtrees(nodes, longest)
    return nodes


@kernel
def _close_subtrees(nodes: Nodes, longest: int) -> None:
    """Fills in where each subtree ends, which bytes occur in it, and where the next rare byte is."""
    last = len(nodes) - 1
    path = np.zeros(longest + 2, np.int32)
    depth = 0
    for node in range(1, last + 1):
        own = nodes[node, BYTE] >> DEPTH_SHIFT if node < last else 0
        while depth >= own and depth > 0:
            nodes[path[depth], SKIP] = node
            depth -= 1
        depth = own
        path[depth] = node
        byte = nodes[node, BYTE] & 255
        if node < last:
            for above in range(depth):
                if byte < 128:
                    nodes[path[above], byte >> 5] |= np.int32(np.uint32(1) << np.uint32(byte & 31))
                else:
                    nodes[path[above], BYTE] |= HIGH_BYTE_BELOW
    nodes[0, SKIP] = nodes[last, SKIP] = last
    following = last
    for node in range(last, -1, -1):
        nodes[node, NEXT_RARE] = following
        byte = nodes[node, BYTE] & 255
        rare = byte < 128 and (RARE_BYTES[byte >> 5] >> (byte & 31)) & 1 != 0
        for word in range(4):
            rare = rare or nodes[node, word] & RARE_BYTES[word] != 0
        if rare:
            following = node
