"""The differences between the two dialects of `name ::= ...` grammars.

    GBNF    llama.cpp's: a line end ends a rule; `.` is any character; `<name>` and `<[7]>` are tokens
    EBNF    XGrammar's and W3C's (XML 1.0, section 6) together: a rule ends where the next begins; both kinds of quotes;
            `#x41` is a character, `A - B` is A without B, and `/* */` is a comment as `# ` is

Syntax that only one of XGrammar's and W3C's EBNF has is read as in that one. If they contradict each other, XGrammar's
applies: a backslash escapes, in strings and in sets (W3C's EBNF has no escapes). The exception is `#x` before
hexadecimal digits, which is W3C's character even where XGrammar would read a comment, or three members of a set.

Rejected: W3C's EBNF as a third dialect (only the escapes would differ).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_CONTROLS = {"n": 0x0A, "r": 0x0D, "t": 0x09}


@dataclass(frozen=True, eq=False, slots=True)
class BnfDialect:
    """The syntax of a dialect.

    Attributes:
        title: its name, for errors.
        name: a rule's name, as a regular expression.
        quotes: the quotes between which strings stand.
        comment: a comment, as a regular expression.
        before_assign: what may stand between a rule's name and `::=`, as a regular expression.
        line_ends_rule: whether a line end outside of parentheses ends a rule, unless it stands after `::=` or `|`.
        line_ends_in_text: whether strings and sets may contain line ends.
        escapes: the code point of each one-letter escape.
        hex_escapes: by the letter of each hexadecimal escape, the number of its digits, as a quantifier.
        kinds: the kinds of symbols that only this dialect has, as regular expressions, including those that cannot be
            honoured (`scanner.NOT_SUPPORTED`).
        w3c_characters: whether `#x41` is a character, in sets too.
        empty_set_is_any: whether `[^]` is any character.
    """

    title: str
    name: str
    quotes: str
    comment: str
    before_assign: str
    line_ends_rule: bool
    line_ends_in_text: bool
    escapes: Mapping[str, int]
    hex_escapes: Mapping[str, str]
    kinds: Mapping[str, str]
    w3c_characters: bool = False
    empty_set_is_any: bool = False


GBNF = BnfDialect(
    title="GBNF",
    name=r"-*[A-Za-z0-9_][A-Za-z0-9_-]*",
    quotes='"',
    comment=r"#[^\r\n]*",
    before_assign=r"[ \t]*",
    line_ends_rule=True,
    line_ends_in_text=True,
    escapes=_CONTROLS | {mark: ord(mark) for mark in '\\"[]-'},
    hex_escapes={"x": "{2}", "u": "{4}", "U": "{8}"},
    kinds={
        "any": r"\.",
        "token": r"!?<(?:\[[0-9]+\]|[^\[>\r\n][^>\r\n]*)>",
        "open_token": "[<!]",
    },
)

_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*"
_COMMENT = r"/\*(?s:.*?)\*/|#(?!x[0-9A-Fa-f]+(?![A-Za-z0-9_.-]))[^\r\n]*"
_BEFORE_ASSIGN = rf"(?:[ \t\r\n]|{_COMMENT})*+"

EBNF = BnfDialect(
    title="EBNF",
    name=_NAME,
    quotes="\"'",
    comment=_COMMENT,
    before_assign=_BEFORE_ASSIGN,
    line_ends_rule=False,
    line_ends_in_text=False,
    escapes=_CONTROLS
    | {"a": 0x07, "b": 0x08, "f": 0x0C, "v": 0x0B, "0": 0x00, "e": 0x1B}
    | {mark: ord(mark) for mark in "\\\"'?/^$.*+()[]{}|-"},
    hex_escapes={"x": "+", "u": "{4}", "U": "{8}"},
    kinds={
        "annotation": r"\[[ \t]*(?:wfc|WFC|vc|VC):[ \t]",
        "production_number": rf"\[[0-9]+[a-z]?\](?=[ \t]*{_NAME}{_BEFORE_ASSIGN}::=)",
        "options": rf"{_NAME}\[[^\]\r\n]*\]{_BEFORE_ASSIGN}::=",
        "macro": r"(?:TagDispatch|TokenTagDispatch|ExcludeToken|Token|Regex|Substring)(?=[ \t\r\n]*\()",
        "lookahead": r"\(=",
        "character": "#x[0-9A-Fa-f]+",
        "minus": "-",
        "open_comment": r"/\*",
    },
    w3c_characters=True,
    empty_set_is_any=True,
)
