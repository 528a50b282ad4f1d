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
def _categories() -> npt.NDArray[np.str_]:
    return np.array([unicodedata.category(chr(code)) for code in range(NUM_CODE_POINTS)])


@lru_cache(maxsize=64)
def category(name: str) -> Flags:
    """The characters of a general category, `Lu`, or of a group of them, `L`; none for a name that is not one."""
    found = np.zeros(NUM_CODE_POINTS, np.bool_)
    found[:] = np.char.startswith(_categories(), name)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=1)
def settled() -> Flags:
    """The characters that have the same category in every version from Python's on.

    Surrogates are not characters of text. Non-characters will never be assigned.
    """
    codes = np.arange(NUM_CODE_POINTS)
    never = ((codes & 0xFFFE) == 0xFFFE) | ((codes >= 0xFDD0) & (codes <= 0xFDEF))
    return (~category("Cn") | never) & ~category("Cs")


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
    return only(*_folded_alike().get(chr(code).casefold(), [code]))


@lru_cache(maxsize=1)
def _folded_alike() -> dict[str, list[int]]:
    """The characters that fold to one character, by it."""
    alike: dict[str, list[int]] = {}
    for code in range(NUM_CODE_POINTS):
        folded = chr(code).casefold()
        if len(folded) == 1:
            alike.setdefault(folded, []).append(code)
    return alike
