"""Strings: formulas about strings alone become regular languages, as JSON spells them.

    content, formats       a formula  ->  an automaton over the characters of the strings
    spelling, lists        ->  an automaton over their spellings in JSON text
    lengths                the same for bounded lengths, laid out directly or counted
    language               the functions of this package

    string_language(formula)          the spellings, including quotes; `plain=True`: only the plain ones
    counted_language(formula)         the same, with many characters counted instead of written out
    counted_content(formula)          the strings themselves, not spelled in JSON, with many characters counted
    string_matches(formula, text)     whether a formula holds for a string
    string_is_empty(formula)          whether it holds for no string

Negation, intersection and exclusion are operations on content, where a string has one form, so an excluded string is
excluded in every spelling. A string is a sequence of characters, and not of UTF-16 units as in ECMA-262: an escape for
half of a surrogate pair alone is in no language of a formula (RFC 8259, section 8.2, calls the behaviour of software
that receives such texts unpredictable).
"""

from constraints.json_schema.strings.content import string_matches
from constraints.json_schema.strings.formats import KNOWN_FORMATS
from constraints.json_schema.strings.language import counted_language, string_is_empty, string_language
from constraints.json_schema.strings.spelling import Spellings, plain_spellings

__all__ = [
    "KNOWN_FORMATS",
    "Spellings",
    "counted_language",
    "plain_spellings",
    "string_is_empty",
    "string_language",
    "string_matches",
]
