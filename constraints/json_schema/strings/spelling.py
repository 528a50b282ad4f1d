"""From an automaton over the characters of strings to one over their spellings in JSON text, including quotes.

By RFC 8259, section 7, a character may be written unescaped unless it is a control character, a quotation mark or a
backslash. Eight characters have short escapes. All characters may be written as `\\u` with four hexadecimal digits in
either case, those above U+FFFF as the two halves of their UTF-16 form (`\\ud83d\\ude00`).

The plain spellings of a character are those that `json.dumps` writes, with or without `ensure_ascii`: the unescaped
character if that is allowed, and an escape if it must have one or is not printable ASCII. The escape is short if there
is a short one, and has lower-case letters. So `s` is never written as `\\u0073`, nor `/` as `\\/`.

The native core adds the escapes to the automaton (`native/constraints/spelling.h`, `escapes.h`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.cache import kept
from automata.errors import LimitExceeded
from automata.expressions import Expr
from automata.limits import current_work
from constraints import _native

# Which spellings of strings and names are allowed: the plain ones, or all that JSON has.
Spellings: TypeAlias = Literal["plain", "all"]

# The encoders of `json.dumps` with `ensure_ascii=False` and without; it would make the former anew for each call.
_ENCODERS: Final = json.JSONEncoder(ensure_ascii=False).encode, json.JSONEncoder().encode
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def spelled(content: ByteAutomaton, *, plain: bool = False) -> ByteAutomaton:
    """Return the automaton of the spellings, in quotes, of the strings that an automaton over UTF-8 accepts.

    Args:
        content: a minimal automaton that accepts nothing but UTF-8; without labels.
        plain: whether only plain spellings are wanted.

    Raises:
        ValueError: the automaton has labels, or accepts a text that is not UTF-8.
        LimitExceeded: the spellings take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    if content.is_empty:
        return content
    try:
        return ByteAutomaton(_native.spelled(content.tables, plain, current_work().budget))
    except LimitExceeded as error:
        raise error.of(f"the spellings of {content.num_states:,} states") from None


def encodable(texts: Iterable[str]) -> list[str]:
    """Return the strings that UTF-8 can encode: those without halves of surrogate pairs."""
    return [text for text in texts if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)]


def plain_spellings(texts: Iterable[str]) -> Expr:
    """Return two plain spellings of each of some strings, in quotes: as `json.dumps` writes it with `ensure_ascii`, and
    without. Strings that UTF-8 cannot encode are left out."""
    return ex.strings([text for kept in encodable(texts) for text in _plainly(kept)])


@kept(65_536)
def plain_name(name: str) -> Expr:
    """Return the plain spellings of a listed name, in quotes. Halves of surrogate pairs, which the keys of a Python
    dict may have, are always escaped."""
    return ex.strings([_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text) for text in _plainly(name)])


def _plainly(text: str) -> list[str]:
    return [encode(text) for encode in _ENCODERS]
