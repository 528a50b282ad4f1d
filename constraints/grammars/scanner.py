"""The symbols of a grammar with rules `name ::= ...`, in order.

    scan_bnf    a text -> its symbols, with the kind and the place of each

A rule's name together with the `::=` after it is one symbol, of kind "head": the meaning of a name depends on the text
after it, and with such symbols the reader needs no look-ahead. Strings and sets are one symbol each, with their quotes
and brackets. A character that cannot begin a symbol gets a kind that describes the mistake; the reader, which knows the
rule, raises the error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from constraints.grammars.dialects import BnfDialect

# Error messages for syntax that is not supported, and for mistakes, by the kind of the symbol.
NOT_SUPPORTED = {
    "lookahead": "an assertion about what follows a rule is not supported: write it into the rules that call this one",
    "macro": 'XGrammar\'s macros are not supported; if this is the name of a rule, pass syntax="gbnf"',
    "options": "options of rules are not supported",
    "annotation": "a constraint in prose cannot be read; if this is a set of characters, put the colon first",
}
MISTAKES = {
    "open_comment": "a comment is opened and never closed",
    "open_string": "a string is opened and never closed",
    "open_set": "a set of characters is opened and never closed",
    "open_token": "a token is written <name> or <[id]>, with ! before it for all others",
    "brace": "bounds are written {m}, {m,}, {,n} or {m,n}",
    "unknown": "no symbol begins with this character",
}


class BnfSymbol(NamedTuple):
    """A symbol: its kind, its text and its position."""

    kind: str
    text: str
    position: int


def scan_bnf(text: str, dialect: BnfDialect) -> Iterator[BnfSymbol]:
    """Yield the symbols of a text; the last one is of kind "end"."""
    # The last kind takes any character, so that one match begins where the one before ends.
    for found in _pattern(dialect).finditer(text):
        kind = found.lastgroup
        if kind is not None and kind != "space":
            yield BnfSymbol(kind, found[0], found.start())
    yield BnfSymbol("end", "", len(text))


@cache
def _pattern(dialect: BnfDialect) -> re.Pattern[str]:
    """Return the pattern of one symbol of a dialect, with a group for each kind; the first kind that matches counts."""
    space = rf"(?:[ \t\r\n]|{dialect.comment})*+"
    inside = r"(?s:\\.)" if dialect.line_ends_in_text else r"\\[^\r\n]"
    line_end = "" if dialect.line_ends_in_text else r"\r\n"
    strings = [f"{mark}(?:[^{mark}\\\\{line_end}]|{inside})*+{mark}" for mark in dialect.quotes]
    kinds = {
        "space": rf"[ \t]+|{dialect.comment}",
        "line_end": r"\r\n?|\n",
        **dialect.kinds,
        "head": rf"{dialect.name}{dialect.before_assign}::=",
        "name": dialect.name,
        "string": "|".join(strings),
        "set": rf"\[(?:[^\]\\{line_end}]|{inside})*+\]",
        "bar": r"\|",
        "open": r"\(",
        "close": r"\)",
        "quantifier": "[*+?]",
        "bounds": (rf"\{{{space}(?:[0-9]+{space}(?:,{space}(?:(?:[0-9]+|-1){space})?)?|,{space}[0-9]+{space})\}}"),
        "open_string": f"[{dialect.quotes}]",
        "open_set": r"\[",
        "brace": r"\{",
        "unknown": "(?s:.)",
    }
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items()))
