"""Text: the part of a vocabulary that many constraints treat alike, found once for all of them.

Let S be some ASCII bytes, and maybe every character beyond ASCII. A state that loops on S, whatever its stack is,
allows every token over S; and what it does to a token that only begins with some of S is what it does to the *rest*,
behind the longest beginning over S. So for each set S that constraints have, the vocabulary keeps

    words    the mask of all tokens over S, those that end inside a character beyond ASCII included
    rests    the trie of the rests of all other tokens that begin with some of S: for what stands in quotes, some
             thousand tokens with a few hundred rests, such as `",` and `"}`

The row of a state that loops is then the words, and a few hundred tokens found by a walk that looks at a few hundred
nodes. llguidance's slices are the words alone, with a walk over whatever tokens they do not hold.

Where lengths are limited, each character of S leads to another state, as far as the chain of them goes. The words are
then those of the tokens that are not longer than that, and there is a trie of rests for each number of characters
before them, walked from the state that so many lead to.

Sets are prepared when they are met for the third time, except for what quoted text holds: some milliseconds each. Where
very many tokens have a rest, as of a set without spaces, a walk over the rests is no shorter than one over everything,
and there is nothing to prepare.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from automata.arrays import ByteArray
from automata.jit import kernel
from tokenfst.transition.loops import AFTER_CONTINUATION, AFTER_LEAD, NEXT_HIGH, NEXT_LOW, WHOLE, Ints
from tokenfst.transition.trie import CHILDREN, Nodes, build_trie

# More tokens with a rest than this, and there is no short cut.
_MOST_BEGUN = 1 << 13


class Text:
    """What a vocabulary keeps for one set of characters.

    Attributes:
        key: `[5]`, the ASCII bytes as bits, and whether characters beyond ASCII are in the set.
        words: `[W]` int32, the mask of all tokens over the set.
    """

    def __init__(self, key: Ints, tokens: tuple[bytes, ...], data: ByteArray, offsets: Ints) -> None:
        """Finds them.

        Args:
            key: see the class.
            tokens, data, offsets: the tokens' bytes, one by one and one after the other.
        """
        self.key = key
        self._tokens = tokens
        self._cut, self._length, self._whole = _cuts(key, data, offsets)
        self.words = _packed(self._whole)
        self._begun = np.flatnonzero((self._cut >= 0) & ~self._whole)
        self._up_to: dict[int, Ints] = {}
        self._beyond: dict[int, tuple[Nodes, Ints]] = {}

    @property
    def is_short_cut(self) -> bool:
        """Whether the rests are so few that walking over them saves anything."""
        return len(self._begun) <= _MOST_BEGUN

    def _trie(self, begun: npt.NDArray[np.int64], first_rank: int) -> tuple[Nodes, Ints]:
        """The trie of the rests of some tokens, and the token of each rank."""
        rests = sorted([(self._tokens[token][self._cut[token] :], token) for token in begun.tolist()])
        nodes = build_trie([rest for rest, _ in rests], first_rank)
        return nodes, np.array([token for _, token in rests], np.int32)

    @cached_property
    def rests(self) -> tuple[Nodes, Ints, Ints]:
        """The trie of the rests, the token of each of its ranks, and its root, `[1]`."""
        return _read_only(*self._trie(self._begun, 0), np.zeros(1, np.int32))

    @cached_property
    def longest(self) -> int:
        """How many characters the longest beginning over the set has, of any token."""
        return int(self._length.max())

    def up_to(self, length: int) -> Ints:
        """The mask of the tokens over the set of at most so many characters, `[W]`."""
        if length >= self.longest:
            return self.words
        words = self._up_to.get(length)
        if words is None:
            words = self._up_to[length] = _packed(self._whole & (self._length <= length))
        return words

    def beyond(self, length: int) -> tuple[Nodes, Ints]:
        """The trie of the tokens that begin with a character of the set, but for those of up to so many of them; and
        the token of each rank."""
        found = self._beyond.get(length)
        if found is None:
            others = np.flatnonzero((self._cut >= 0) & ~(self._whole & (self._length <= length)))
            tokens = sorted([(self._tokens[token], token) for token in others.tolist()])
            nodes, ranks = (
                build_trie([text for text, _ in tokens], 0),
                np.array([token for _, token in tokens], np.int32),
            )
            found = self._beyond[length] = _read_only(nodes, ranks, ranks)[:2]
        return found

    @cached_property
    def by_length(self) -> tuple[Nodes, Ints, Ints]:
        """The rests by how many characters are before them: one array of tries `[N, 8]`, the token of each rank, and
        the root of the trie for each number of characters, from 0 to `longest`."""
        tries, tokens, roots = list[Nodes](), list[Ints](), list[int]()
        size = ranks = 0
        lengths = self._length[self._begun]
        for length in range(self.longest + 1):
            nodes, token_of_rest = self._trie(self._begun[lengths == length], ranks)
            nodes[:, CHILDREN] += np.where(nodes[:, CHILDREN] > 0, size, 0).astype(np.int32)
            tries.append(nodes)
            tokens.append(token_of_rest)
            roots.append(size)
            size, ranks = size + len(nodes), ranks + len(token_of_rest)
        return _read_only(np.concatenate(tries), np.concatenate(tokens), np.array(roots, np.int32))


def _read_only(nodes: Nodes, token_of_rest: Ints, roots: Ints) -> tuple[Nodes, Ints, Ints]:
    """The same, as the vocabulary's tries are, so that kernels are compiled for one kind of array."""
    for array in (nodes, token_of_rest):
        array.setflags(write=False)
    return nodes, token_of_rest, roots


def _packed(members: npt.NDArray[np.bool_]) -> Ints:
    """A mask as words."""
    bits: npt.NDArray[np.bool_] = np.zeros(-(-len(members) // 32) * 32, np.bool_)
    bits[: len(members)] = members
    words = np.packbits(bits, bitorder="little").view(np.int32)
    words.setflags(write=False)
    return words


@kernel
def _cuts(key: Ints, data: ByteArray, offsets: Ints) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """How many bytes of each token are over the set, how many characters, and whether all of it is.

    A character that a token ends inside of is counted in tokens all of which are over the set. No bytes are -1 for
    tokens that begin with another ASCII byte, or any other byte where characters beyond ASCII are not in the set, and
    for those without bytes: they have no rest.
    """
    num_tokens = len(offsets) - 1
    cut, whole = np.full(num_tokens, -1, np.int32), np.zeros(num_tokens, np.bool_)
    length = np.zeros(num_tokens, np.int32)
    for token in range(num_tokens):
        begin, end = offsets[token], offsets[token + 1]
        place, done, pending = begin, begin, WHOLE
        while place < end:
            byte = data[place]
            if pending != WHOLE:
                if byte < NEXT_LOW[pending] or byte > NEXT_HIGH[pending]:
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
                length[token] += 1
        whole[token] = place == end and begin < end
        length[token] += place == end and done < end
        if done > begin or (begin < end and data[begin] >= 128 and key[4]):
            cut[token] = done - begin
    return cut, length, whole
