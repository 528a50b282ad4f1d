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

from automata.cache import kept
from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.limits import current_work

_NAME = re.compile(r"[A-Za-z0-9_ =.\-]+")
# The characters that are ignored in a name.
_IGNORED = str.maketrans("", "", " _-")


def property_ranges(name: str) -> Ranges | None:
    """Return the code points with a property, `Letter`, `Lu`, `Greek`, `Script=Greek`, `scx=Grek`, `Emoji` and so on;
    None if there is no such property.

    Raises:
        Cancelled, LimitExceeded: the compilation has to stop.
    """
    import regex

    if not _NAME.fullmatch(name):
        return None
    try:
        return set_ranges(rf"\p{{{name.translate(_IGNORED).lower()}}}")
    except regex.error:
        return None


@kept(256)
def set_ranges(pattern: str) -> Ranges:
    """Return the code points that a one-character pattern of the package `regex` matches.

    Raises: as for `property_ranges`.
    """
    import regex

    current_work().check()
    runs = (match.span() for match in regex.finditer(f"{pattern}+", _every_code_point()))
    return rg.intersect(tuple((start, end - 1) for start, end in runs), ALL_CHARACTERS)


@cache
def _every_code_point() -> str:
    return "".join(map(chr, range(sys.maxunicode + 1)))
