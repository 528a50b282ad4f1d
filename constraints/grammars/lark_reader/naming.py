"""The names that Lark gives to literals in rules. If two words are alike in everything else, the name decides.

    lark_names    the name of each literal

A string has a name if it is one of some marks, or if it could be an identifier, unless another terminal has this name.
All other literals are numbered in the order of the text, and so are ignored words without a name.

Lark numbers the literals of a rule from the innermost to the outermost; here only their order in the text matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from constraints.grammars.lark_reader.literals import Terminal

# Lark 1.2, `lark.load_grammar`.
_MARKS: Final = {
    ".": "DOT",
    ",": "COMMA",
    ":": "COLON",
    ";": "SEMICOLON",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "/": "SLASH",
    "\\": "BACKSLASH",
    "|": "VBAR",
    "?": "QMARK",
    "!": "BANG",
    "@": "AT",
    "#": "HASH",
    "$": "DOLLAR",
    "%": "PERCENT",
    "^": "CIRCUMFLEX",
    "&": "AMPERSAND",
    "_": "UNDERSCORE",
    "<": "LESSTHAN",
    ">": "MORETHAN",
    "=": "EQUAL",
    '"': "DBLQUOTE",
    "'": "QUOTE",
    "`": "BACKQUOTE",
    "~": "TILDE",
    "(": "LPAR",
    ")": "RPAR",
    "{": "LBRACE",
    "}": "RBRACE",
    "[": "LSQB",
    "]": "RSQB",
    "\n": "NEWLINE",
    "\r\n": "CRLF",
    "\t": "TAB",
    " ": "SPACE",
}


def lark_names(literals: Mapping[str, Terminal], ignored: Iterable[str], defined: Iterable[str]) -> dict[str, str]:
    """Return the name of each literal.

    Args:
        literals: the literals by their names in this reader, in the order of the text.
        ignored: the names in this reader of the words that are ignored, in the order of the text.
        defined: the names of the terminals that the grammar defines.
    """
    taken = set(defined)
    names = {name: f"__IGNORE_{place}" for place, name in enumerate(ignored) if name not in taken}
    count = 0
    for own, terminal in literals.items():
        if own in names:
            continue
        name = _of_string(terminal.key[1]) if terminal.key is not None and terminal.is_string else ""
        if not name or name in taken:
            name, count = f"__ANON_{count}", count + 1
        taken.add(name)
        names[own] = name
    return names


def _of_string(text: str) -> str:
    """Return the name that a string would have; "" for none."""
    return _MARKS.get(text) or (text.upper() if text.isidentifier() else "")
