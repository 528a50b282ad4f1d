"""Text: the part of a vocabulary that many constraints treat alike, found once for all of them.

Let S be some ASCII bytes, and maybe every character beyond ASCII. A state that loops on S, whatever its stack is,
allows every token over S; and what it does to a token that only begins with some of S is what it does to the *rest*,
behind the longest beginning over S. So for each set S that constraints have, the vocabulary keeps

    words    the mask of all tokens over S, those that end inside a character beyond ASCII included
    rests    the trie of the rests of all other tokens that begin with some of S: for what stands in quotes, some
             thousand tokens with a few hundred rests, such as `",` and `"}`

A row is then the words, and a few hundred tokens found by a walk that looks at a few hundred nodes. llguidance's slices
are the words alone, with a walk over whatever tokens they do not hold.

Sets are prepared when they are met for the third time, except for what quoted text holds: some milliseconds each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.byte_automaton import ByteArray
from automata.jit import kernel
from tokenfst.loops import AFTER_CONTINUATION, AFTER_LEAD, WHOLE, Ints
from tokenfst.trie import Nodes, build_trie

# What is pending inside of a character narrows the byte that comes next.
_LOW = np.array([0x80, 0xA0, 0x80, 0x80, 0x90, 0x80, 0x80], np.int32)
_HIGH = np.array([0xBF, 0xBF, 0xBF, 0x9F, 0xBF, 0xBF, 0x8F], np.int32)


class Text(NamedTuple):
    """What a vocabulary keeps for one set of characters.

    Attributes:
        words: `[W]` int32, the mask of all tokens over the set.
        rests: the trie of what follows in the other tokens that begin with some of it.
        token_of_rest: the token of each of its ranks.
    """

    words: Ints
    rests: Nodes
    token_of_rest: Ints


def make_text(key: Ints, tokens: tuple[bytes, ...], data: ByteArray, offsets: Ints, num_words: int) -> Text:
    """What is kept for a set.

    Args:
        key: `[5]`, the ASCII bytes as bits, and whether characters beyond ASCII are in the set.
        tokens, data, offsets: the tokens' bytes, one by one and one after the other.
        num_words: W.
    """
    cut, whole = _cuts(key, data, offsets)
    bits: npt.NDArray[np.uint8] = np.zeros(32 * num_words, np.uint8)
    bits[: len(whole)] = whole
    words = np.packbits(bits, bitorder="little").view(np.int32)
    words.setflags(write=False)
    begun = np.flatnonzero((cut >= 0) & ~whole).tolist()
    rests = sorted([(tokens[token][cut[token] :], token) for token in begun])
    nodes = build_trie([rest for rest, _ in rests], 0)
    return Text(words, nodes, np.array([token for _, token in rests], np.int32))


@kernel
def _cuts(key: Ints, data: ByteArray, offsets: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """How many bytes of each token are over the set, and whether all of it is.

    -1 for tokens that begin with another ASCII byte, or any other byte where characters beyond ASCII are not in the
    set, and for those without bytes: they have no rest.
    """
    num_tokens = len(offsets) - 1
    cut, whole = np.full(num_tokens, -1, np.int32), np.zeros(num_tokens, np.bool_)
    for token in range(num_tokens):
        begin, end = offsets[token], offsets[token + 1]
        place, done, pending = begin, begin, WHOLE
        while place < end:
            byte = data[place]
            if pending != WHOLE:
                if byte < _LOW[pending] or byte > _HIGH[pending]:
                    break
                pending = AFTER_CONTINUATION[pending]
            elif byte < 128:
                if not key[byte >> 5] >> (byte & 31) & 1:
                    break
            else:
                pending = AFTER_LEAD[byte]
                if not key[4] or pending == WHOLE:
                    break
            place += 1
            if pending == WHOLE:
                done = place
        whole[token] = place == end and begin < end
        if done > begin or (begin < end and data[begin] >= 128 and key[4]):
            cut[token] = done - begin
    return cut, whole
