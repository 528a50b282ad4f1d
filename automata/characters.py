"""Named character classes and case, as sets of code points: what `\\d \\w \\s` and the flag `i` mean.

By default `\\d \\w \\s` are ASCII. Under the flag `u` they are what Python's `re` means by them for text: decimal
digits; letters, numbers and the underscore; white space. Case-insensitive matching takes two characters as equal
when their lower or upper cases are, transitively, which is how `re` matches text; under the flag `a` only ASCII
letters have case.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache

from automata import ranges as rg
from automata.ranges import Ranges

ASCII_CLASSES: Mapping[str, Ranges] = {
    "d": ((0x30, 0x39),),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "s": ((0x09, 0x0D), (0x20, 0x20)),
}

_UNICODE_MEMBER: Mapping[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "w": lambda c: c.isalnum() or c == "_",
    "s": str.isspace,
}

# No character above this has case: the last cased block of Unicode is Adlam, which ends at U+1E943.
_LAST_CASED = 0x1E943


@cache
def unicode_class(name: str) -> Ranges:
    """The code points of `\\d`, `\\w` or `\\s` over all of Unicode (the version that this Python knows)."""
    member = _UNICODE_MEMBER[name]
    found = rg.from_sorted(code for code in range(sys.maxunicode + 1) if member(chr(code)))
    return rg.intersect(found, rg.ALL_CHARACTERS)


@cache
def _case_classes(ascii_only: bool) -> Mapping[int, frozenset[int]]:
    """For every character that has case, all that are equal to it but for case, itself included."""
    classes: dict[str, set[str]] = {}
    for code in range(0x80 if ascii_only else _LAST_CASED + 1):
        char = chr(code)
        # Only U+0130 has a lower case of two characters; the first one, a plain i, is its simple lower case.
        names = {char, char.lower()[0], char.upper()}
        if len(names) > 1:
            merged = set().union(*(classes.get(name, {name}) for name in names))
            classes.update(dict.fromkeys(merged, merged))
    return {
        ord(char): frozenset(ord(other) for other in members if len(other) == 1)
        for char, members in classes.items()
        if len(char) == 1
    }


def ignore_case(ranges: Ranges, *, ascii_only: bool) -> Ranges:
    """The set with every character's other cases added."""
    added = [
        (other, other)
        for code, members in _case_classes(ascii_only).items()
        if _contains(ranges, code)
        for other in members
    ]
    return rg.normalize([*ranges, *added])


def _contains(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)
