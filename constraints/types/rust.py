r"""Translate patterns from the syntax of Pydantic's engine, which is Rust's, to that of ECMA-262.

Classes such as `\w` and `\p{Greek}` are written as ranges of characters. These come from the engine itself, because its
version of Unicode is older than that of `automata.pattern`. Word boundaries are look-around for characters of `\w`,
and names of groups are left out. Flags, operations on sets, sets within sets and repeated quantifiers are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from automata.cache import kept
from automata.errors import PatternError, UnsupportedSchema
from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.pattern import parse

_ESCAPE = r"\\(?:[pP]\{[^}]*\}|[pP].|[xuU]\{[^}]*\}|x..|u.{4}|U.{8}|b\{[^}]*\}|.)"
_SET = rf"\[\^?\]?(?:{_ESCAPE}|[^\]\\])*\]"
_ITEM = re.compile(rf"{_ESCAPE}|{_SET}|\(\?(?::|P?<[^>]+>)?|\{{[^}}]*\}}|.", re.DOTALL)
_SET_ITEM = re.compile(rf"{_ESCAPE}|&&|--|~~|.", re.DOTALL)
_BOUNDS = re.compile(r"\{\d+(?:,\d*)?\}")
_WORD = r"\w"
_BLOCK = 0x800


@kept(1024)
def ecma(pattern: str) -> str:
    """Return the pattern of ECMA-262 that means what a pattern in Rust's syntax means.

    Raises:
        UnsupportedSchema: the engine cannot read the pattern, or it uses a feature that is not translated.
    """
    _tester(pattern)
    translated = "".join(map(_item, _ITEM.findall(pattern)))
    try:
        parse(translated, dialect="ecma", search=True)
    except PatternError as error:
        raise _untranslated(f"the pattern {pattern!r}", error.reason) from error
    return translated


def _untranslated(what: str, reason: str = "not translated from Rust's syntax") -> UnsupportedSchema:
    return UnsupportedSchema(f"{what}: {reason}", keyword="pattern")


def _item(token: str) -> str:
    if token[0] == "\\":
        return _assertion(token) or (f"[{_characters(token)}]" if token[1] in "dDsSwWpP" else _characters(token))
    if token[0] == "[":
        return _set(token)
    if token == "(?":
        raise _untranslated("flags")
    if token[0] == "{" and not _BOUNDS.fullmatch(token):
        raise _untranslated(token)
    if token[:2] == "(?":
        return "(?:"
    return r"[^\n]" if token == "." else token


def _set(token: str) -> str:
    start = "[^" if token.startswith("[^") else "["
    written = [start]
    for number, member in enumerate(_SET_ITEM.findall(token[len(start) : -1])):
        if member in ("[", "&&", "--", "~~"):
            raise _untranslated(f"{member} in a set")
        if member == "]" or (number == 1 and token.startswith("]-", len(start))):
            member = "\\" + member  # a bracket at the start stands for itself, and begins no range
        elif member[0] == "\\":
            member = _characters(member)
        written.append(member)
    return "".join(written) + "]"


def _characters(escape: str) -> str:
    """Return the characters that an escape stands for, as members of a set."""
    letter = escape[1]
    if letter in "dDsSwWpP":
        return "".join(rf"\u{{{low:x}}}-\u{{{high:x}}}" for low, high in members(escape))
    if letter in "xuU":
        return rf"\u{{{escape[2:].strip('{}')}}}"
    if letter == "a":
        return r"\u{7}"
    if letter in "fnrtv" or not letter.isalnum():
        return escape
    raise _untranslated(escape)


def _assertion(escape: str) -> str | None:
    """Return the assertion that an escape stands for; None if it stands for characters."""
    if escape in (r"\A", r"\z"):
        return "^" if escape == r"\A" else "$"
    if escape[1] not in "bB<>":
        return None
    word = f"[{_characters(_WORD)}]"
    after, before, not_after, not_before = f"(?<={word})", f"(?={word})", f"(?<!{word})", f"(?!{word})"
    start, end = not_after + before, after + not_before
    known = {
        r"\b": f"(?:{start}|{end})",
        r"\B": f"(?:{after}{before}|{not_after}{not_before})",
        **dict.fromkeys((r"\<", r"\b{start}"), start),
        **dict.fromkeys((r"\>", r"\b{end}"), end),
        r"\b{start-half}": not_after,
        r"\b{end-half}": not_before,
    }
    return known[escape]


@kept(64)
def members(escape: str) -> Ranges:
    """Return the characters of a class, such as `\\w` or `\\p{Greek}`."""
    inside, outside = _tester(f"^{escape}*$"), _tester(f"^[^{escape}]*$")
    found: list[tuple[int, int]] = []
    waiting = [*_blocks()]
    while waiting:
        text = waiting.pop()
        if inside(text):
            found.append((ord(text[0]), ord(text[-1])))
        elif not outside(text):
            middle = len(text) // 2
            waiting += [text[:middle], text[middle:]]
    return rg.normalize(found)


def _tester(pattern: str) -> Callable[[str], bool]:
    """Return the function that says whether the engine finds a pattern in a text."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python
    except SchemaError as error:
        raise _untranslated(f"the pattern {pattern!r}", str(error).splitlines()[-1]) from None


@cache
def _blocks() -> tuple[str, ...]:
    """Return all characters, in their order, in blocks."""
    starts = [start for low, high in ALL_CHARACTERS for start in range(low, high + 1, _BLOCK)]
    return tuple("".join(map(chr, range(start, start + _BLOCK))) for start in starts)
