"""Ready-made languages: the extensions of Koo, Liu & He 2024, Table 1, as expressions.

    quoted_text                 a string in double quotes with backslash escapes
    unquoted_text               a plain YAML scalar on one line
    text_until                  any text up to the end of the first occurrence of a stop phrase
    substring_of                any substring of a text, of whole characters or of whole words
    delimited_list              items of one kind with a delimiter between them
    delimited_subsequence_of    some items of a list, in order, with a delimiter between them
    token                       one token of a named set, whatever text it writes
    text_token, paragraph_token, image      the sets that the paper names

In patterns they are groups with names in capitals, such as `(?P<TEXT_UNTIL>\\n\\n)` (`automata.pattern`). String
arguments are literal text. All rows but the last two are ordinary languages of text, and token boundaries may fall
anywhere in them. The last two rows are labels (`automata.expressions.Label`): symbols that stand for whole tokens, and
become sets of token ids when an automaton is compiled over a vocabulary (`tokenfst.finite.terminals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from automata.expressions.base import Expr
from automata.expressions.constructors import (
    ANY_CHAR,
    ANY_TEXT,
    EPSILON,
    alternation,
    char_set,
    concat,
    repeat,
)
from automata.expressions.nodes import Label, Substring

TEXT_TOKEN, PARAGRAPH_TOKEN, IMAGE = NAMED_TOKENS = ("TEXT_TOKEN", "PARAGRAPH_TOKEN", "IMAGE")

# YAML 1.2.2, productions [1] to [34]: printable characters without line breaks, the byte order mark and whitespace.
_YAML_VISIBLE = (
    (0x21, 0x7E),
    (0x85, 0x85),
    (0xA0, 0xD7FF),
    (0xE000, 0xFEFE),
    (0xFF00, 0xFFFD),
    (0x10000, 0x10FFFF),
)
_YAML_INDICATORS = ",[]{}#&*!|>'\"%@`-?:"


@cache
def quoted_text() -> Expr:
    """Return strings in double quotes with backslash escapes: exactly the strings of JSON (RFC 8259, section 7)."""
    plain = char_set('"\\', (0, 0x1F), negated=True)
    hexadecimal = char_set((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))
    escape = "\\" + (char_set('"\\/bfnrt') | concat("u", repeat(hexadecimal, 4, 4)))
    return '"' + (plain | escape).star() + '"'


@cache
def unquoted_text() -> Expr:
    """Return plain YAML scalars on one line, such as the value of a key or an item of a list without brackets (YAML
    1.2.2, production [133], `ns-plain-one-line` in the context `flow-out`). The only whitespace allowed is spaces,
    because YAML readers differ in how they treat tabs."""
    visible = char_set(*_YAML_VISIBLE)
    line = visible + ((visible | " ").star() + visible).optional()
    begins = ((visible - char_set(_YAML_INDICATORS)) | char_set("-?:") + visible) + ANY_TEXT
    colon = ANY_TEXT + ":" + (" " + ANY_TEXT).optional()
    comment = ANY_TEXT + " #" + ANY_TEXT
    return (line & begins) - (colon | comment)


def text_until(stop: Expr | str) -> Expr:
    """Return all texts that end with `stop` and in which no occurrence of `stop` ends earlier."""
    ends = concat(ANY_TEXT, stop)
    return ends - (ends + ANY_CHAR + ANY_TEXT)


def substring_of(text: str, *, words: bool = False) -> Expr:
    """Return all substrings of a text, including the empty one. Compilation takes time and memory linear in the length
    of the text.

    Args:
        text: the text; substrings begin and end between its characters.
        words: whether to leave out substrings that cut a word in two. A word is a run of letters, numbers and marks of
            any script, and underscores.

    Raises:
        TypeError: `text` is not a text.
    """
    if not isinstance(text, str):
        raise TypeError(f"substrings are those of a text, not {text!r}")
    return Substring(text, words) if text else EPSILON


def delimited_list(item: Expr | str, delimiter: Expr | str) -> Expr:
    """Return lists of one or more items, with the delimiter between them."""
    return concat(item, repeat(concat(delimiter, item), 0))


def delimited_subsequence_of(items: Sequence[Expr | str], delimiter: Expr | str) -> Expr:
    """Return lists of at least one of the items, each at most once and in the given order, with the delimiter between
    them.

    The expression has n log n items: a subsequence either begins in the first half, with or without items of the second
    half after it, or lies in the second half.

    Raises:
        TypeError: `items` is not a list.
        ValueError: there are no items.
    """
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise TypeError(f"a subsequence is one of a list of items, not {items!r}")
    if not items:
        raise ValueError("a subsequence needs at least one item")
    if len(items) == 1:
        return concat(items[0])
    middle = len(items) // 2
    first, second = items[:middle], items[middle:]
    more = [repeat(concat(delimiter, item), 0, 1) for item in second]
    return alternation(
        concat(delimited_subsequence_of(first, delimiter), *more), delimited_subsequence_of(second, delimiter)
    )


def token(name: str) -> Expr:
    """Return one token of the set with this name, which the vocabulary or the caller of the compilation defines. The
    name of a special token, such as `<tool_call>`, stands for that token.

    Raises:
        TypeError: the name is not a text.
        ValueError: the name is empty.
    """
    if not isinstance(name, str):
        raise TypeError(f"a token is given by its name, not {name!r}")
    if not name:
        raise ValueError("the name of a token is not empty")
    return Label(name)


def text_token() -> Expr:
    """Return one token that writes text: one or more whole characters."""
    return Label(TEXT_TOKEN)


def paragraph_token() -> Expr:
    """Return one token that writes text without a line break."""
    return Label(PARAGRAPH_TOKEN)


def image() -> Expr:
    """Return one image token of a model that writes images; the caller of the compilation says which tokens are image
    tokens."""
    return Label(IMAGE)
