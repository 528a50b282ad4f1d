"""The NFA of all substrings of a text, of size linear in the text, from its suffix automaton
(`native/automata/suffix_automaton.h`).

    chunk     a part that a substring may not cut: a character, or a word

A substring is text, so it begins and ends between characters. With `words` it also does not cut a word in two: neither
of its ends is between two word characters, which are letters, numbers and marks of any script and the underscore. So a
chunk is a run of word characters or one other character, and the substrings of `new York` are `new`, ` `, `York`,
`new `, ` York`, `new York` and the empty text.

Rejected: bytes as chunks, without the transitions that begin inside a character (correct and simpler, but not for
words); a union of all suffixes (quadratic).
"""

from __future__ import annotations

import unicodedata

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.compile.nfa import NfaBuilder
from automata.errors import LimitExceeded
from automata.limits import Work


def substring_fragment(text: str, words: bool, work: Work) -> NfaBuilder:
    """Build the NFA of the substrings of a text.

    Raises:
        LimitExceeded: the text is so long that the construction takes too much memory or time.
        Cancelled: the compilation was cancelled.
        UnicodeEncodeError: the text has a lone surrogate, which UTF-8 cannot encode.
    """
    data = text.encode()
    numbers, chunks = _words(text) if words else _characters(text)
    try:
        num_states, ranges, epsilon = _native.substrings(data, chunks, numbers, work.budget)
    except LimitExceeded as error:
        raise error.of(f"the automaton of the substrings of a text of {len(data):,} bytes") from None
    fragment = NfaBuilder(num_states=0)
    fragment.copy_arcs(num_states, ranges, epsilon)
    return fragment


def _characters(text: str) -> tuple[IntArray, IntArray]:
    """Return the number of each character `[N]`, and the place and length in bytes of each different one `[K, 2]`."""
    code = np.frombuffer(text.encode("utf-32-le"), np.int32)
    _, first, chunk = np.unique(code, return_index=True, return_inverse=True)
    size = 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000)
    begin = np.cumsum(size) - size
    return chunk.reshape(-1).astype(np.int32), np.stack([begin[first], size[first]], axis=1).astype(np.int32)


def _words(text: str) -> tuple[IntArray, IntArray]:
    """Return the number of each word or other character `[N]`, and the place and length in bytes of each different one
    `[K, 2]`."""
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
    return np.array(chunk, np.int32), np.stack([begin, size], axis=1).astype(np.int32).reshape(-1, 2)
