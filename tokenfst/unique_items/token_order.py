"""TokenOrder: the tokens of a vocabulary, sorted by their bytes, so that those with one beginning are neighbors.

order.branch(low, high, prefix)     the tokens of a range that begin with a prefix
order.opening, closing, others      those in which another item may begin, which are few
order.stems                         of those that end a string, those in which no other item ends, by what follows it
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import Final

import numpy as np

from automata.arrays import IntArray
from tokenfst.vocabulary import Vocabulary

# In a token that opens an array, or ends a string, or does neither before the comma.
_OPENS, _CLOSES, _GOES_ON = (re.compile(found, re.DOTALL) for found in (rb"\[.*,", rb'".*,', rb","))
# A token that ends a string, and perhaps what it stands in, and does no more than begin what is behind the comma.
_STEM, _PLAIN = rb'"[ \t\n\r\]}]*,[ \t\n\r\[{]*', rb"[ !#-\[\]-~]*"
_BEGINS_ONE = re.compile(rb'%b(?:(%b")%b|(%b))' % (_PLAIN, _STEM, _PLAIN, _STEM))
IS_PLAIN: Final = re.compile(_PLAIN).fullmatch
# The bytes of ASCII that a string contains as they are.
PLAIN: Final = bytes(byte for byte in range(0x20, 0x7F) if byte not in b'"\\')


class TokenOrder:
    """The tokens of a vocabulary that write bytes, in order.

    Attributes:
        ids: their ids.
        texts: their bytes.
        byte_tokens: by byte, a token that writes just that.
        opening: the places of the tokens that open an array and go on to a second item in it.
        closing: of those that end a string and go on to another item or member.
        others: of those that go on to another item or member.
        stems: by a text from the mark that ends a string to the one that begins the next, or to the end, the places of
            the tokens of `closing` that write it with nothing but `PLAIN` around it.
        closing_more: the others of `closing`.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        ends = set(vocabulary.eos_ids)
        tokens = sorted((text, token) for token, text in enumerate(vocabulary.tokens) if text and token not in ends)
        self.texts = [text for text, _ in tokens]
        self.ids: IntArray = np.array([token for _, token in tokens], np.int32)
        self.byte_tokens = {text[0]: token for text, token in reversed(tokens) if len(text) == 1}
        self.opening, self.closing, self.others = map(self._places, (_OPENS, _CLOSES, _GOES_ON))
        by_stem: dict[bytes, list[int]] = {b"": []}
        for at in self.closing.tolist():
            found = _BEGINS_ONE.fullmatch(self.texts[at])
            by_stem.setdefault(found[found.lastindex or 0] if found else b"", []).append(at)
        self.stems = {stem: np.array(places, np.int32) for stem, places in by_stem.items()}
        self.closing_more = self.stems.pop(b"")

    def _places(self, pattern: re.Pattern[bytes]) -> IntArray:
        return np.array([at for at, text in enumerate(self.texts) if pattern.search(text)], np.int32)

    def branch(self, low: int, high: int, prefix: bytes) -> tuple[int, int]:
        """Return the range of the tokens of a range that begin with a prefix, the last byte of which is not 255."""
        first = bisect_left(self.texts, prefix, low, high)
        return first, bisect_left(self.texts, prefix[:-1] + bytes([prefix[-1] + 1]), first, high)


@lru_cache(maxsize=8)
def token_order(vocabulary: Vocabulary) -> TokenOrder:
    """Return the order of a vocabulary's tokens."""
    return TokenOrder(vocabulary)


ALL_BYTES: Final = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos_ids=[256])
