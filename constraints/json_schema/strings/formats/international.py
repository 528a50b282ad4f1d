"""International host names: idn-hostname is that of RFC 5890, section 2.3.2.3, with the labels of RFC 5891, section
4.2, the characters and their context of RFC 5892, and the Bidi rule of RFC 5893, section 2.

All of it is regular except for the length of a label, which is that of its encoding in Punycode. Here a label has at
most `MAX_ENCODED` characters. Whichever they are, they take no more than 63 in Punycode: a longer encoding takes
greater differences between code points, and the code points below U+10000 are few.

So that the automaton is small, a name with a label beyond ASCII has three labels at most, labels in Punycode are left
out, and labels have letters and digits of the scripts below, none of which ever combine, so that all are in
Normalization Form C. Names with letters written from right to left have only such labels, and labels in ASCII that
begin with a letter.
"""

from __future__ import annotations

import unicodedata

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.expressions import Expr
from automata.expressions import ranges as rg
from automata.expressions.ranges import Ranges
from automata.pattern import parse
from constraints.json_schema.strings.formats.hostnames import ascii_label, hostname

MAX_ENCODED = 14
_MAX_LABELS = 3
_SEPARATOR = ex.char_set(".\u3002\uff0e\uff61")

_JOINERS, _VIRAMA = ex.char_set("\u200c\u200d"), ex.literal("\u094d")
_KANA_AND_HAN: Ranges = ((0x3007, 0x3007), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FFF))
# The blocks whose small letters are taken: Latin (three blocks) and Cyrillic (two).
_SMALL_LETTERS = ((0xDF, 0x17F), (0x1E00, 0x1EFF), (0x430, 0x52F))
_GREEK_BLOCK = (0x370, 0x3FF)
# Letters of that block that are of another script.
_COPTIC: Ranges = ((0x3E2, 0x3EF),)
# Small letters that RFC 5892, section 2.6, takes although another rule would not.
_TAKEN = ((0xDF, 0xDF), (0x3C2, 0x3C2))
# Other letters and digits written from left to right, and signs, which begin no label.
_LEFT_TO_RIGHT: Ranges = (
    *((0x904, 0x928), (0x92A, 0x930), (0x932, 0x933), (0x935, 0x939), (0x93D, 0x93D), (0x966, 0x96F)),  # Devanagari
    *((0xE01, 0xE30), (0xE32, 0xE32), (0xE40, 0xE46), (0xE50, 0xE59)),  # Thai
    (0xF0B, 0xF0B),  # Tibetan
    *_KANA_AND_HAN,
    (0xAC00, 0xD7A3),  # Hangul
)
_EXTENDED_DIGITS: Ranges = ((0x6F0, 0x6F9),)
_SIGNS: Ranges = ((0x900, 0x903), (0x93E, 0x94C))
_HEBREW: Ranges = ((0x5D0, 0x5EA),)
_ARABIC: Ranges = ((0x620, 0x63F), (0x641, 0x64A), (0x671, 0x674), (0x679, 0x6D3), (0x6FA, 0x6FF))
# Letters that join the next one, and letters that join the one before (Unicode's ArabicShaping.txt).
_JOINS_NEXT: Ranges = ((0x626, 0x626), (0x628, 0x628), (0x62A, 0x62E), (0x633, 0x63F), (0x641, 0x647), (0x649, 0x64A))
_JOINS_PREVIOUS: Ranges = ((0x622, 0x63F), (0x641, 0x64A))

_NOT_RESERVED = ~parse("(?s:..--.*|-.*|.*-)")


def idn_hostname() -> ByteAutomaton:
    in_ascii = hostname() - parse(r"(?:.*\.)?..--.*")
    return in_ascii | compile_expr(names(_SEPARATOR))


def idn_hostname_at_most() -> Expr:
    """Return all international host names, and more: in ASCII only letters, digits, hyphens and dots."""
    return ex.repeat(ex.char_set((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), "-.", (0x80, 0x10FFFF)), 1)


def names(separator: Expr) -> Expr:
    """Return the names that have few labels, in ASCII or beyond it, with a separator between them."""
    ways = ascii_label() | _left_to_right(), ascii_label("A-Za-z") | _right_to_left()
    return ex.alternation(*[label + (separator + label).repeat(0, _MAX_LABELS - 1) for label in ways])


def _small_letters(first: int, last: int) -> Ranges:
    """Return the small letters of a block that normalization leaves as they are (RFC 5892, sections 2.1 and 2.2)."""

    def is_stable(character: str) -> bool:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
        return folded == character and unicodedata.category(character) in ("Ll", "Lo")

    stable = rg.from_sorted(code for code in range(first, last + 1) if is_stable(chr(code)))
    return rg.normalize([*stable, *rg.intersect(_TAKEN, ((first, last),))])


def _encoded(label: Expr) -> Expr:
    """Return the labels that are short, not reserved, and not in ASCII."""
    return label & ex.repeat(ex.ANY_CHAR, 1, MAX_ENCODED) & _NOT_RESERVED & parse("[^\\x00-\\x7f]", search=True)


def _left_to_right() -> Expr:
    """Return the labels without letters written from right to left; the Bidi rule says nothing about names of such
    labels alone.

    In context: a middle dot between two letters l, a Greek numeral sign before a Greek letter, joiners after a virama,
    and a Katakana middle dot where there is Kana or Han.
    """
    greek = _small_letters(*_GREEK_BLOCK)
    letters = [part for block in _SMALL_LETTERS for part in _small_letters(*block)]
    plain = ex.char_set((0x30, 0x39), (0x61, 0x7A), "-", *_EXTENDED_DIGITS, *letters, *greek, *_LEFT_TO_RIGHT)
    catalan, numeral = "l" + parse("(?:\u00b7l)+"), "\u0375" + ex.char_set(*rg.subtract(greek, _COPTIC))
    begins = plain | catalan | numeral
    unit = begins | ex.char_set(*_SIGNS) | _VIRAMA + _JOINERS.optional()
    dotted = ex.alternation(begins, "\u30fb") + (unit | "\u30fb").star()
    east_asian = dotted & ex.concat(ex.ANY_TEXT, ex.char_set(*_KANA_AND_HAN), ex.ANY_TEXT)
    return _encoded(begins + unit.star() | east_asian)


def _right_to_left() -> Expr:
    """Return the labels that begin with a letter written from right to left (RFC 5893, section 2: rules 1 to 4).

    In context: Geresh and Gershayim after a Hebrew letter, and a non-joiner between Arabic letters that would join.
    """
    letter = ex.char_set(*_HEBREW, *_ARABIC)
    hebrew = ex.char_set(*_HEBREW) + ex.char_set("\u05f3\u05f4").optional()
    arabic = ex.char_set(*_JOINS_NEXT) + "\u200c" + ex.char_set(*_JOINS_PREVIOUS)
    words = letter | hebrew | arabic
    ways = [
        words + (words | ex.char_set("-", *digits)).star()
        for digits in (((0x30, 0x39), *_EXTENDED_DIGITS), ((0x660, 0x669),))
    ]
    return _encoded(ex.alternation(*ways))
