"""Sets of characters as pre-tokenizers name them, each a table `[0x110000]` of flags.

Categories are those of Python's `unicodedata`. Encoders bring tables of their own, of other versions of Unicode; for
the characters that are assigned in Python's version they agree, category for category (tested with tiktoken's and
tokenizers'). A character that is assigned later has a category there and none here, so where categories matter it is
left out (`settled`): a text with it is not accepted, rather than cut by guess."""

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
    """The two letters of the general category of every character, `[0x110000, 2]`."""
    letters = "".join(map(unicodedata.category, map(chr, range(NUM_CODE_POINTS))))
    return np.frombuffer(letters.encode(), np.uint8).reshape(-1, 2)


@lru_cache(maxsize=64)
def category(name: str) -> Flags:
    """The characters of a general category, `Lu`, or of a group of them, `L`; none for a name that is not one."""
    letters = np.frombuffer(name.encode(), np.uint8)
    found: Flags = (_categories()[:, : len(letters)] == letters).all(axis=1)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=1)
def settled() -> Flags:
    """The characters that have the same category in every version from Python's on.

    Surrogates are not characters of text. Non-characters will never be assigned.
    """
    codes = np.arange(NUM_CODE_POINTS)
    never: Flags = ((codes & 0xFFFE) == 0xFFFE) | ((codes >= 0xFDD0) & (codes <= 0xFDEF))
    found: Flags = (~category("Cn") | never) & ~category("Cs")
    return found


def white_space() -> Flags:
    """Unicode's White_Space, which is `\\s` to encoders."""
    return only(*_SPACES)


def only(*codes: int) -> Flags:
    """A few characters."""
    found = np.zeros(NUM_CODE_POINTS, np.bool_)
    found[list(codes)] = True
    return found


def either_case(code: int) -> Flags:
    """The characters that a character matches where case does not matter, by simple folding."""
    folded = chr(code).casefold()
    return only(code, *map(ord, [folded] * (len(folded) == 1)), *_folding().get(folded, []))


@lru_cache(maxsize=1)
def _folding() -> dict[str, list[int]]:
    """The characters that fold to another one, by that."""
    alike: dict[str, list[int]] = {}
    for code, char in enumerate(map(chr, range(NUM_CODE_POINTS))):
        folded = char.casefold()
        if folded != char:
            alike.setdefault(folded, []).append(code)
    return alike
