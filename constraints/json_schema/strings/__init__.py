"""Strings: formulas about strings alone become regular languages, as JSON spells them.

    formula  ->  content    an automaton over the characters of the string     content
             ->  spelling   one over all that JSON may write for them          spelling

    string_language(formula)          the spellings, quotes included; `usual=True`: those that programs write
    counted_language(formula)         the same, where many characters are counted and not written out
    usual_spellings(texts)            those of some strings that programs write
    string_matches(formula, text)     whether a formula holds for one string
    string_is_empty(formula)          whether it holds for none
    KNOWN_FORMATS                     the names of formats that mean something

Negation, intersection and exclusion are operations on content, where a string has one form; so a string that is
excluded is excluded in every spelling. A string is a sequence of characters, and not of UTF-16 units as in ECMA-262:
an escape that is half of a surrogate pair alone is in no language here (RFC 8259, section 8.2, calls the behavior of
software that receives such texts unpredictable).
"""

from constraints.json_schema.strings.formats import KNOWN_FORMATS
from constraints.json_schema.strings.language import (
    counted_language,
    string_is_empty,
    string_language,
    string_matches,
    usual_spellings,
)

__all__ = [
    "KNOWN_FORMATS",
    "counted_language",
    "string_is_empty",
    "string_language",
    "string_matches",
    "usual_spellings",
]
