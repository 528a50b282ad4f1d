"""How merges make each token: the tree of its two halves, and when its last merge comes.

A token can be made in only one way. While nothing inside a stretch of bytes has merged with what is outside, the merges
inside are those that the stretch alone would see, because the order of merges in one place does not depend on another.
So a token that comes out of any text is one that merges make of its bytes alone, and by the same merges. What the
encoder does is known when it has been run once over each token:

    left, right   the two tokens that the last merge joins, -1 for a single byte
    rank          the place of the last merge in the encoder's order
    clock         the greatest rank among all merges of the token: when it is made

Merges happen in ascending order of rank, except that one with a low rank may only become possible late: it happens at
once, while the clock stands where it is. In most vocabularies rank and clock are equal; in Llama 3's they differ for
107 tokens.

A token that merges do not make of its own bytes is not `made`; neither is the second of two tokens with equal bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.errors import UnsupportedTokenizer
from automata.jit import kernel, plain_kernel
from tokenfst.bpe import BPE
from tokenfst.transition.loops import Ints
from tokenfst.vocabulary import Vocabulary

Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


class Derivations(NamedTuple):
    """The last merge of every token, `[V]` each; see the module."""

    left: Ints
    right: Ints
    rank: Ints
    clock: Ints
    made: npt.NDArray[np.bool_]


class Encoder(NamedTuple):
    """What merging needs.

    Attributes:
        byte_token: `[256]`, the token of each byte, or -1.
        keys: `[M]`, left times V plus right, ascending.
        ranks: `[M]`, place of the merge in the encoder's order.
        results: `[M]`, the token that the merge makes.
    """

    byte_token: Ints
    keys: Longs
    ranks: Ints
    results: Ints


def derivations(vocabulary: Vocabulary, bpe: BPE) -> Derivations:
    """Runs the encoder's merges over every token.

    Raises:
        UnsupportedTokenizer: the list of merges names a token that emits nothing.
    """
    data, offsets = flat(vocabulary)
    return Derivations(*_derive(data, offsets, *encoder(vocabulary, bpe)))


def flat(vocabulary: Vocabulary) -> tuple[Bytes, Longs]:
    """The bytes of all tokens one after the other, and where each begins, `[V + 1]`."""
    offsets = np.zeros(len(vocabulary) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, vocabulary.tokens), np.int64, len(vocabulary)), out=offsets[1:])
    return np.frombuffer(b"".join(vocabulary.tokens) + b"\0", np.uint8), offsets


def encoder(vocabulary: Vocabulary, bpe: BPE) -> Encoder:
    """The merges of a vocabulary, in order of the tokens that they join; raises as `derivations`."""
    byte_token = np.full(256, -1, np.int32)
    for token_id in range(len(vocabulary) - 1, -1, -1):
        if len(vocabulary.tokens[token_id]) == 1:
            byte_token[vocabulary.tokens[token_id][0]] = token_id
    if bpe.merges is None:
        left, right, result = _pairs_that_spell(*flat(vocabulary))
        rank = result
    else:
        left, right, result = _listed(vocabulary, bpe.merges)
        rank = np.arange(len(result), dtype=np.int32)
    keys = left.astype(np.int64) * len(vocabulary) + right
    order = np.argsort(keys, kind="stable")
    # Of a pair that is listed twice, the last counts, as in a dictionary.
    last = order[np.append(keys[order][1:] != keys[order][:-1], True)] if len(order) else order
    return Encoder(byte_token, keys[last], rank[last], result[last])


def _listed(vocabulary: Vocabulary, merges: tuple[tuple[int, int, int], ...]) -> tuple[Ints, Ints, Ints]:
    tokens = vocabulary.tokens
    for place, (left, right, result) in enumerate(merges):
        if not tokens[left] or not tokens[right] or tokens[result] != tokens[left] + tokens[right]:
            raise UnsupportedTokenizer(
                f"merge {place} makes token {result} ({tokens[result]!r}) of token {left} ({tokens[left]!r}) and token "
                f"{right} ({tokens[right]!r}); where one of them emits nothing, texts cannot be cut as the encoder does"
            )
    table = np.array(merges, np.int32).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


@plain_kernel
def _hash(data: Bytes, begin: int, end: int) -> int:
    value = np.uint64(end - begin)
    for at in range(begin, end):
        value = (value ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        value ^= value >> np.uint64(29)
    return int(value & np.uint64(0x7FFFFFFFFFFFFFFF))


@plain_kernel
def _slot(data: Bytes, offsets: Longs, slots: Ints, begin: int, end: int) -> int:
    """The slot of the token whose bytes lie between two places, or the free one where it would be."""
    slot = _hash(data, begin, end) & (len(slots) - 1)
    while slots[slot] >= 0:
        token = slots[slot]
        if offsets[token + 1] - offsets[token] == end - begin:
            at, own = begin, offsets[token]
            while at < end and data[at] == data[own]:
                at, own = at + 1, own + 1
            if at == end:
                break
        slot = (slot + 1) & (len(slots) - 1)
    return int(slot)


@kernel
def _pairs_that_spell(data: Bytes, offsets: Longs) -> tuple[Ints, Ints, Ints]:
    """All pairs of tokens that spell a token, and it."""
    num_tokens = len(offsets) - 1
    size = 1
    while size < 4 * num_tokens:
        size *= 2
    slots = np.full(size, -1, np.int32)
    for token in range(num_tokens):
        if offsets[token + 1] > offsets[token]:
            slot = _slot(data, offsets, slots, offsets[token], offsets[token + 1])
            if slots[slot] < 0:
                slots[slot] = token
    pairs, count = np.empty((1024, 3), np.int32), 0
    for token in range(num_tokens):
        begin, end = offsets[token], offsets[token + 1]
        if end == begin or slots[_slot(data, offsets, slots, begin, end)] != token:
            continue
        for middle in range(begin + 1, end):
            left = slots[_slot(data, offsets, slots, begin, middle)]
            if left < 0:
                continue
            right = slots[_slot(data, offsets, slots, middle, end)]
            if right < 0:
                continue
            if count == len(pairs):
                grown = np.empty((2 * count, 3), np.int32)
                grown[:count] = pairs
                pairs = grown
            pairs[count, 0], pairs[count, 1], pairs[count, 2] = left, right, token
            count += 1
    return pairs[:count, 0].copy(), pairs[:count, 1].copy(), pairs[:count, 2].copy()


@plain_kernel
def find_merge(keys: Longs, wanted: int) -> int:
    """The place of a key, or -1."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == wanted else -1


@kernel
def _derive(
    data: Bytes, offsets: Longs, byte_token: Ints, keys: Longs, ranks: Ints, results: Ints
) -> tuple[Ints, Ints, Ints, Ints, npt.NDArray[np.bool_]]:
    num_tokens = len(offsets) - 1
    left, right = np.full(num_tokens, -1, np.int32), np.full(num_tokens, -1, np.int32)
    rank, clock = np.full(num_tokens, -1, np.int32), np.full(num_tokens, -1, np.int32)
    made = np.zeros(num_tokens, np.bool_)
    longest = 1
    for token in range(num_tokens):
        longest = max(longest, offsets[token + 1] - offsets[token])
    symbols, merges = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for token in range(num_tokens):
        size = offsets[token + 1] - offsets[token]
        if size == 0:
            continue
        spelled = True
        for at in range(size):
            symbols[at] = byte_token[data[offsets[token] + at]]
            spelled = spelled and symbols[at] >= 0
        if not spelled:
            continue
        for at in range(size - 1):
            merges[at] = find_merge(keys, symbols[at] * np.int64(num_tokens) + symbols[at + 1])
        latest = -1
        while size > 1:
            best = -1
            for at in range(size - 1):
                if merges[at] >= 0 and (best < 0 or ranks[merges[at]] < ranks[merges[best]]):
                    best = at
            if best < 0:
                break
            merge = merges[best]
            latest = max(latest, ranks[merge])
            left[token], right[token], rank[token] = symbols[best], symbols[best + 1], ranks[merge]
            symbols[best] = results[merge]
            size -= 1
            for at in range(best + 1, size):
                symbols[at] = symbols[at + 1]
                merges[at] = merges[at + 1]
            if best > 0:
                merges[best - 1] = find_merge(keys, symbols[best - 1] * np.int64(num_tokens) + symbols[best])
            if best < size - 1:
                merges[best] = find_merge(keys, symbols[best] * np.int64(num_tokens) + symbols[best + 1])
        made[token] = size == 1 and symbols[0] == token
        clock[token] = latest
        if not made[token]:
            left[token] = right[token] = rank[token] = clock[token] = -1
    return left, right, rank, clock, made
