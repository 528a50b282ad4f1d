"""Sets of characters that pre-tokenizers refer to, each as a table of flags, `[0x110000]` bool.

Categories are those of Python's `unicodedata`. Encoders use tables of their own, of other versions of Unicode. The
tables agree on all characters that are assigned in Python's version (tested with tiktoken and tokenizers). A character
that was assigned later has a category only in the encoder's table, so `settled` leaves it out where categories matter:
a text that contains it is not accepted, because its pieces are unknown.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]

NUM_CODE_POINTS = 0x110000
_SPACES = (*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)


@lru_cache(maxsize=1)
def _categories() -> npt.NDArray[np.uint8]:
    """Return the two letters of the general category of every character, `[0x110000, 2]` uint8."""
    letters = "".join(map(unicodedata.category, map(chr, range(NUM_CODE_POINTS))))
    return np.frombuffer(letters.encode(), np.uint8).reshape(-1, 2)


@lru_cache(maxsize=64)
def category(name: str) -> Flags:
    """Return the characters of a general category such as `Lu`, or of a group such as `L`; none for other names."""
    letters = np.frombuffer(name.encode(), np.uint8)
    found: Flags = (_categories()[:, : len(letters)] == letters).all(axis=1)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=1)
def settled() -> Flags:
    """Return the characters whose category is the same in Python's version of Unicode and in all later ones.

    They include noncharacters, which are never assigned, but no surrogates, which do not occur in text.
    """
    codes = np.arange(NUM_CODE_POINTS)
    never: Flags = ((codes & 0xFFFE) == 0xFFFE) | ((codes >= 0xFDD0) & (codes <= 0xFDEF))
    found: Flags = (~category("Cn") | never) & ~category("Cs")
    return found


def white_space() -> Flags:
    """Return the characters with Unicode's property White_Space, which encoders match with `\\s`."""
    return only(*_SPACES)


def only(*codes: int) -> Flags:
    """Return the set of some code points."""
    found = np.zeros(NUM_CODE_POINTS, np.bool_)
    found[list(codes)] = True
    return found


def either_case(code: int) -> Flags:
    """Return the characters that a code point matches if case is ignored, by simple case folding."""
    folded = chr(code).casefold()
    return only(code, *map(ord, [folded] * (len(folded) == 1)), *_folding().get(folded, []))


def has_several_letters(text: str) -> bool:
    """Return whether a text contains letters for which one character stands if case is ignored, as ß does for ss."""
    return any(len(folded) > 1 and folded in text for folded in _folding())


@lru_cache(maxsize=1)
def _folding() -> dict[str, list[int]]:
    """Return the code points that fold to each text of one character or more, other than this text itself."""
    alike: dict[str, list[int]] = {}
    for code, char in enumerate(map(chr, range(NUM_CODE_POINTS))):
        folded = char.casefold()
        if folded != char:
            alike.setdefault(folded, []).append(code)
    return alike
