"""Sets of characters by their Unicode properties: the meaning of `\\p{...}`.

The data come from the package `regex` (which transformers also needs), once for each set. It has all general
categories, scripts, script extensions, blocks and binary properties, and accepts names as Unicode Standard Annex 44
requires: ignoring case, spaces, hyphens and underscores. It is imported when the first property is used.

Rejected: Python's `unicodedata`, which has only general categories; tables of our own, 40 KB that would become
outdated.
"""

from __future__ import annotations

import re
import sys
from functools import cache

from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS, Ranges

_NAME = re.compile(r"[A-Za-z0-9_ =.\-]+")


def property_ranges(name: str) -> Ranges | None:
    """Return the code points with a property, `Letter`, `Lu`, `Greek`, `Script=Greek`, `scx=Grek`, `Emoji` and so on;
    None if there is no such property."""
    import regex

    if not _NAME.fullmatch(name):
        return None
    try:
        return set_ranges(rf"\p{{{name}}}")
    except regex.error:
        return None


@cache
def set_ranges(pattern: str) -> Ranges:
    """Return the code points that a one-character pattern of the package `regex` matches."""
    import regex

    runs = (match.span() for match in regex.finditer(f"{pattern}+", _every_code_point()))
    return rg.intersect(tuple((start, end - 1) for start, end in runs), ALL_CHARACTERS)


@cache
def _every_code_point() -> str:
    return "".join(map(chr, range(sys.maxunicode + 1)))
