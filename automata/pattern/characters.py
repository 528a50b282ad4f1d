"""Named character classes and case, as sets of code points: what `\\d \\w \\s` and the flag `i` mean.

By default, `\\d \\w \\s` are ASCII. Under the flag `u` they have the meaning that they have for text in Python's `re`:
decimal digits; letters, numbers and the underscore; whitespace. Likewise, the POSIX classes are ASCII or, under the
flag `u`, those that Unicode Technical Standard 18 (annex C) recommends.

There are three ways to compare two characters while ignoring case:

    PYTHON_CASE     their lower or upper cases are equal, transitively, as `re` matches text
    ASCII_CASE      the same among ASCII letters (the flag a)
    SIMPLE_CASE     their simple case foldings are equal, as in ECMA-262

The data are those of the running Python's `unicodedata`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache

from automata.expressions import ranges as rg
from automata.expressions.ranges import Ranges
from automata.pattern import unicode_properties

PYTHON_CASE, ASCII_CASE, SIMPLE_CASE = range(3)

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
    """Return the code points of `\\d`, `\\w` or `\\s` over all of Unicode (the version that this Python knows)."""
    member = _UNICODE_MEMBER[name]
    found = rg.from_sorted(code for code in range(sys.maxunicode + 1) if member(chr(code)))
    return rg.intersect(found, rg.ALL_CHARACTERS)


# Simple foldings that came with Unicode 15.1, which this Python may not know.
_LATER_FOLDINGS = {"\u1fd3": "\u0390", "\u1fe3": "\u03b0", "\ufb05": "\ufb06"}

_ASCII_POSIX: Mapping[str, Ranges] = {
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "digit": ((0x30, 0x39),),
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "upper": ((0x41, 0x5A),),
    "lower": ((0x61, 0x7A),),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "graph": ((0x21, 0x7E),),
    "print": ((0x20, 0x7E),),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
    "word": ASCII_CLASSES["w"],
}


def posix_class(name: str, unicode: bool) -> Ranges | None:
    """Return the code points of a POSIX class; None if there is no class with this name."""
    if name not in _ASCII_POSIX:
        return None
    return unicode_properties.set_ranges(f"[[:{name}:]]") if unicode else _ASCII_POSIX[name]


def _names(char: str, case: int) -> set[str]:
    """Return the names of a character in a comparison: characters that share a name are equal, transitively."""
    if case == SIMPLE_CASE:
        folded = _LATER_FOLDINGS.get(char, char.casefold())
        # Where the full folding has several characters, the simple one is the lower case, if that is one character.
        return {char, folded if len(folded) == 1 else char.lower() if len(char.lower()) == 1 else char}
    # Only U+0130 has a lower case of two characters; the first one, a plain i, is its simple lower case.
    return {char, char.lower()[0], char.upper()}


@cache
def _case_classes(case: int) -> Mapping[int, frozenset[int]]:
    """Return, for every character that has case, all characters that equal it if case is ignored, itself included."""
    classes: dict[str, set[str]] = {}
    for code in range(0x80 if case == ASCII_CASE else _LAST_CASED + 1):
        names = _names(chr(code), case)
        if len(names) > 1:
            merged = set().union(*(classes.get(name, {name}) for name in names))
            classes.update(dict.fromkeys(merged, merged))
    return {
        ord(char): frozenset(ord(other) for other in members if len(other) == 1)
        for char, members in classes.items()
        if len(char) == 1
    }


@cache
def _cased(case: int) -> Ranges:
    return rg.from_sorted(sorted(_case_classes(case)))


def ignore_case(ranges: Ranges, case: int) -> Ranges:
    """Return the set with every character's other cases added."""
    classes = _case_classes(case)
    if sum(high - low + 1 for low, high in ranges) > len(classes):
        ranges_of_cased = rg.intersect(ranges, _cased(case))
    else:
        ranges_of_cased = ranges
    cased = [code for low, high in ranges_of_cased for code in range(low, high + 1) if code in classes]
    added = [(other, other) for code in cased for other in classes[code]]
    return rg.normalize([*ranges, *added]) if added else ranges
