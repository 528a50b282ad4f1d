"""Strings as Python's source spells them (Language Reference, section 2.4.1).

A string stands between single or double quotes, on one line. Each of its characters is written in one of these ways,
so that counting what is written counts code points, as `len` does:

    itself                              except the quote, the backslash and control characters
    \\\\ \\' \\" \\n \\r \\t \\a \\b \\f \\v
    \\x41 \\u0041 \\U00000041             hexadecimal digits in either case; lone surrogates, too

So everything that `repr` writes is allowed. Prefixes, triple quotes, octal escapes and names of characters are not.

The texts of a pattern are spelled character by character (`spelled`): the pattern becomes an automaton, which resolves
anchors and look-around, and then an expression, in which each character is replaced by its spellings. Strings that are
read back are checked by the same automaton, so that a pattern has one meaning: that of `re` if `re` has compiled it,
otherwise that of Pydantic's engine, as in `Field`, `StringConstraints` and `typed`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeAlias

from automata.algebra.elimination import to_expr
from automata.byte_automaton import ByteAutomaton
from automata.cache import kept
from automata.compile.compiler import compile_expr
from automata.errors import UnsupportedSchema
from automata.expressions import (
    EPSILON,
    Alternation,
    CharSet,
    Concatenation,
    Expr,
    Repetition,
    alternation,
    char_ranges,
    char_set,
    concat,
    intersection,
    repeat,
)
from automata.expressions import ranges as rg
from automata.expressions.nodes import Literal as LiteralNode
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.pattern import parse
from constraints.types.rust import ecma
from constraints.types.shapes import ANY_SIZE, Pattern, Size

Quote: TypeAlias = Literal["'", '"']
QUOTES: tuple[Quote, ...] = ("'", '"')
_SHORT = {"\\": "\\", "'": "'", '"': '"', "\n": "n", "\r": "r", "\t": "t", "\a": "a", "\b": "b", "\f": "f", "\v": "v"}
_CONTROLS: Ranges = ((0x00, 0x1F), (0x7F, 0x7F))
_WITH_SURROGATES: Ranges = ((0, 0x10FFFF),)


@cache
def text(size: Size = ANY_SIZE, patterns: tuple[Pattern, ...] = ()) -> Expr:
    """Return the strings whose length is within bounds and whose texts every pattern allows.

    Raises:
        PatternError, UnsupportedSchema: see `language`.
        LimitExceeded: the automaton of a pattern is too large.
    """
    each = []
    for quote in QUOTES:
        inner = repeat(_character(_WITH_SURROGATES, quote), size.low, size.high)
        for pattern in patterns:
            inner = intersection(spelled(to_expr(_automaton(pattern)), quote), inner)
        each.append(concat(quote, inner, quote))
    return alternation(*each)


def matches(pattern: Pattern, value: str) -> bool:
    """Return whether a pattern allows a text."""
    return _automaton(pattern).accepts(value.encode(errors="surrogatepass"))


def language(pattern: Pattern) -> Expr:
    """Return the texts that a pattern allows.

    Raises:
        PatternError: a compiled pattern is not regular; see `automata.pattern.parse`.
        UnsupportedSchema: a pattern of Pydantic's engine is not supported.
    """
    if isinstance(pattern, Expr):
        return pattern
    if isinstance(pattern, re.Pattern):
        return parse(pattern, search=True)
    return parse(ecma(pattern), dialect="ecma", search=True)


@kept(256)
def _automaton(pattern: Pattern) -> ByteAutomaton:
    return compile_expr(language(pattern))


def constant(value: str) -> Expr:
    """Return one string in single or double quotes, with its characters written as `repr` writes them."""
    return alternation(*[f"{quote}{_escaped(value, quote)}{quote}" for quote in QUOTES])


def _escaped(value: str, quote: Quote) -> str:
    written = {"'": "'", '"': '"', quote: "\\" + quote}
    return "".join([written.get(character) or repr(character)[1:-1] for character in value])


def spelled(expr: Expr, quote: Quote) -> Expr:
    """Return all spellings of the texts of an expression.

    Raises:
        UnsupportedSchema: it is made of more than characters, concatenation, alternatives and repetition.
    """
    match expr:
        case LiteralNode(value):
            return concat(*[_character(((ord(each), ord(each)),), quote) for each in value.decode()])
        case CharSet(ranges):
            return _character(ranges, quote)
        case Concatenation(parts):
            return concat(*[spelled(part, quote) for part in parts])
        case Alternation(parts):
            return alternation(*[spelled(part, quote) for part in parts])
        case Repetition(inner, low, high):
            return repeat(spelled(inner, quote), low, high)
    raise UnsupportedSchema(f"what is not text cannot be spelled as a string: {expr}", keyword="pattern")


@cache
def _character(ranges: Ranges, quote: Quote) -> Expr:
    """Return the spellings of one character from a set of code points, which may include surrogates."""
    special = rg.normalize([*_CONTROLS, (ord(quote), ord(quote)), (0x5C, 0x5C)])
    raw = rg.intersect(rg.subtract(ranges, special), ALL_CHARACTERS)
    short = [
        letter for character, letter in _SHORT.items() if rg.intersect(ranges, ((ord(character), ord(character)),))
    ]
    escapes = [
        char_set("".join(short)),
        concat("x", hexadecimal(rg.intersect(ranges, ((0, 0xFF),)), 2)),
        concat("u", hexadecimal(rg.intersect(ranges, ((0, 0xFFFF),)), 4)),
        concat("U", hexadecimal(ranges, 8)),
    ]
    return alternation(char_ranges(raw), concat("\\", alternation(*escapes)))


def hexadecimal(ranges: Ranges, width: int) -> Expr:
    """Return the numbers in some ranges, written in `width` hexadecimal digits of either case."""
    return alternation(*[_between(low, high, width) for low, high in ranges])


@cache
def _between(low: int, high: int, width: int) -> Expr:
    if width == 0:
        return EPSILON
    unit = 16 ** (width - 1)
    if low == 0 and high == 16**width - 1:
        return repeat(_digits(0, 15), width, width)
    first, last = low // unit, high // unit
    if first == last:
        return concat(_digits(first, first), _between(low % unit, high % unit, width - 1))
    found = []
    if low % unit:
        found.append(concat(_digits(first, first), _between(low % unit, unit - 1, width - 1)))
        first += 1
    if high % unit != unit - 1:
        found.append(concat(_digits(last, last), _between(0, high % unit, width - 1)))
        last -= 1
    if first <= last:
        found.append(concat(_digits(first, last), _between(0, unit - 1, width - 1)))
    return alternation(*found)


def _digits(first: int, last: int) -> Expr:
    digits = "0123456789abcdef"[first : last + 1]
    return char_set(digits + digits.upper())
