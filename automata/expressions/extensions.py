"""Ready-made languages: the extensions of Koo, Liu & He 2024, Table 1, as expressions.

    quoted_text                 a string in double quotes with backslash escapes
    unquoted_text               a plain YAML scalar on one line
    text_until                  any text up to the first place where a stop phrase ends
    substring_of                any substring of a text, of whole characters or of whole words
    delimited_list              items of one kind with a delimiter between them
    delimited_subsequence_of    some items of a list, in order, with a delimiter between them
    token                       one token of a named set, whatever text it writes
    text_token, paragraph_token, image      the sets that the paper names

In patterns they are groups with names in capitals, `(?P<TEXT_UNTIL>\\n\\n)` (`automata.pattern`). Strings given to them
are literal text. All but the last two rows are languages of text like any other, and cross token boundaries wherever a
vocabulary puts them. The last two are labels (`automata.expressions.Label`): symbols that stand for whole tokens, and
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
    literal,
    repeat,
)
from automata.expressions.nodes import Label, Substring

TEXT_TOKEN, PARAGRAPH_TOKEN, IMAGE = NAMED_TOKENS = ("TEXT_TOKEN", "PARAGRAPH_TOKEN", "IMAGE")

# YAML 1.2.2, productions [1] to [34]: what prints, without line breaks, the byte order mark and white space.
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
    """Return a string in double quotes with backslash escapes: exactly the strings of JSON (RFC 8259, section 7)."""
    plain = char_set('"\\', (0, 0x1F), negated=True)
    hexadecimal = char_set((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))
    escape = "\\" + (char_set('"\\/bfnrt') | concat("u", repeat(hexadecimal, 4, 4)))
    return '"' + (plain | escape).star() + '"'


@cache
def unquoted_text() -> Expr:
    """Return a plain YAML scalar on one line, as the value of a key or an item of a list without brackets (YAML 1.2.2,
    production [133], `ns-plain-one-line` in the context `flow-out`), with spaces as the only blanks: readers differ
    about tabs."""
    visible = char_set(*_YAML_VISIBLE)
    line = visible + ((visible | " ").star() + visible).optional()
    begins = ((visible - char_set(_YAML_INDICATORS)) | char_set("-?:") + visible) + ANY_TEXT
    colon = ANY_TEXT + ":" + (" " + ANY_TEXT).optional()
    comment = ANY_TEXT + " #" + ANY_TEXT
    return (line & begins) - (colon | comment)


def text_until(stop: Expr | str) -> Expr:
    """Return any text that ends in `stop` and in which no occurrence of `stop` ends earlier."""
    ends = ANY_TEXT + stop
    return ends - (ends + ANY_CHAR + ANY_TEXT)


def substring_of(text: str, *, words: bool = False) -> Expr:
    """Return any substring of a text, the empty one included; compiling it takes time and memory linear in the text.

    Args:
        text: the text; substrings begin and end between its characters.
        words: whether they may also cut no word in two: runs of letters, numbers and marks of any script and the
            underscore are words.
    """
    return Substring(text, words) if text else EPSILON


def delimited_list(item: Expr | str, delimiter: Expr | str) -> Expr:
    """Return one item or more, with the delimiter between them."""
    return concat(item, repeat(concat(delimiter, item), 0))


def delimited_subsequence_of(items: Sequence[Expr | str], delimiter: Expr | str) -> Expr:
    """Return at least one of the items, each at most once and in the order of the list, with the delimiter between
    them.

    The expression has n log n items: a subsequence begins in the first half, and then some of the second half may
    follow, or it lies in the second half.

    Raises:
        ValueError: no items.
    """
    if not items:
        raise ValueError("a subsequence needs at least one item")
    if len(items) == 1:
        return literal(items[0]) if isinstance(items[0], str) else items[0]
    middle = len(items) // 2
    first, second = items[:middle], items[middle:]
    more = [repeat(concat(delimiter, item), 0, 1) for item in second]
    return alternation(
        concat(delimited_subsequence_of(first, delimiter), *more), delimited_subsequence_of(second, delimiter)
    )


def token(name: str) -> Expr:
    """Return one token of a set that the vocabulary, or the caller of the compilation, knows by this name: a special
    token by its own name, such as `<tool_call>`, or one of several."""
    return Label(name)


def text_token() -> Expr:
    """Return one token that writes text: one or more whole characters."""
    return Label(TEXT_TOKEN)


def paragraph_token() -> Expr:
    """Return one token that writes text without a line break."""
    return Label(PARAGRAPH_TOKEN)


def image() -> Expr:
    """Return one image token, of a model that writes images; the caller of the compilation says which tokens these
    are."""
    return Label(IMAGE)
