"""TokensByBytes: the tokens of a vocabulary by the bytes that they write."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from automata.cache import kept_while_alive
from tokenfst.vocabulary import Vocabulary


class TokensByBytes:
    """The tokens that write something, in the order of their bytes.

    Attributes:
        longest: the number of bytes that the longest token writes.
        first: by bytes, one of the tokens that write them.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        order = sorted(range(len(vocabulary)), key=vocabulary.tokens.__getitem__)
        self._ids = [token for token in order if vocabulary.tokens[token]]
        self._texts = [vocabulary.tokens[token] for token in self._ids]
        self.longest = max(map(len, self._texts), default=0)
        self.first = dict(zip(reversed(self._texts), reversed(self._ids), strict=True))

    def ids(self, text: bytes) -> Sequence[int]:
        """Return the tokens that write exactly these bytes."""
        begin = bisect_left(self._texts, text)
        end = begin
        while end < len(self._texts) and self._texts[end] == text:
            end += 1
        return self._ids[begin:end]

    def beginning_with(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the tokens that begin with these bytes, and the bytes that follow."""
        for at in range(bisect_left(self._texts, text), len(self._texts)):
            if not self._texts[at].startswith(text):
                return
            yield self._ids[at], self._texts[at][len(text) :]


@kept_while_alive
def tokens_by_bytes(vocabulary: Vocabulary) -> TokensByBytes:
    """Return the tokens of a vocabulary, sorted once."""
    return TokensByBytes(vocabulary)
