"""The terminals of Lark's library `common`: the same words, with other patterns.

Lark writes some of them with lazy quantifiers and look-behind, so that the end of a word depends on the order in which
its engine tries alternatives. Here the words are the same, and the end of each is unambiguous. `length` is that of
Lark's pattern: among words of equal rank, Lark prefers the terminal with the longer pattern, and so does `terminals`.
"""

from __future__ import annotations

from typing import NamedTuple

_INT = "[0-9]+"
_EXP = f"[eE][+-]?{_INT}"
_DECIMAL = rf"(?:{_INT}\.[0-9]*|\.{_INT})"
_FLOAT = f"(?:{_INT}{_EXP}|{_DECIMAL}(?:{_EXP})?)"
_NUMBER = f"(?:{_FLOAT}|{_INT})"


class CommonTerminal(NamedTuple):
    """A terminal of the library."""

    pattern: str
    length: int


COMMON = {
    "DIGIT": CommonTerminal("[0-9]", 5),
    "HEXDIGIT": CommonTerminal("[0-9A-Fa-f]", 21),
    "INT": CommonTerminal(_INT, 10),
    "SIGNED_INT": CommonTerminal(f"[+-]?{_INT}", 24),
    "DECIMAL": CommonTerminal(_DECIMAL, 44),
    "_EXP": CommonTerminal(_EXP, 31),
    "FLOAT": CommonTerminal(_FLOAT, 126),
    "SIGNED_FLOAT": CommonTerminal(f"[+-]?{_FLOAT}", 140),
    "NUMBER": CommonTerminal(_NUMBER, 141),
    "SIGNED_NUMBER": CommonTerminal(f"[+-]?{_NUMBER}", 155),
    "_STRING_INNER": CommonTerminal(".*?", 3),
    "_STRING_ESC_INNER": CommonTerminal(r".*?(?<!\\)(\\\\)*?", 18),
    "ESCAPED_STRING": CommonTerminal(r'"(?:[^"\\\n]|\\.)*"', 20),
    "LCASE_LETTER": CommonTerminal("[a-z]", 5),
    "UCASE_LETTER": CommonTerminal("[A-Z]", 5),
    "LETTER": CommonTerminal("[A-Za-z]", 15),
    "WORD": CommonTerminal("[A-Za-z]+", 20),
    "CNAME": CommonTerminal("[A-Za-z_][A-Za-z0-9_]*", 53),
    "WS_INLINE": CommonTerminal(r"[ \t]+", 13),
    "WS": CommonTerminal(r"[ \t\f\r\n]+", 12),
    "CR": CommonTerminal(r"\r", 1),
    "LF": CommonTerminal(r"\n", 1),
    "NEWLINE": CommonTerminal(r"(?:\r?\n)+", 12),
    "SH_COMMENT": CommonTerminal(r"#[^\n]*", 6),
    "CPP_COMMENT": CommonTerminal(r"//[^\n]*", 9),
    "C_COMMENT": CommonTerminal(r"/\*(?:[^*]|\*+[^*/])*\*+/", 13),
    "SQL_COMMENT": CommonTerminal(r"--[^\n]*", 7),
}
