"""Spellings of strings, compared with what `json.loads` reads."""

from __future__ import annotations

import itertools
import json

import pytest

from automata.byte_automaton import ByteAutomaton
from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    And,
    Format,
    Formula,
    Not,
    Or,
    Pattern,
    StringIn,
    TextLength,
)
from constraints.json_schema.strings import string_language, string_matches

_WORDS = StringIn(frozenset(["", 'a"', "\\", "é", "😀", "\n", "\x01", "/u"]))
_FORMULAS = [
    TRUE,
    FALSE,
    _WORDS,
    Not(_WORDS),
    Pattern("^[a-zé]+$"),
    Pattern('^"'),
    TextLength(1, 2),
    TextLength(2, None),
    Or(Not(TextLength(1, 2)), Pattern("[😀-😂]")),
    And(Pattern("u"), Not(Pattern("d")), TextLength(0, 3)),
    Format("ipv4"),
]


def _accepts(formula: Formula, text: str) -> bool:
    language = string_language(formula)
    assert isinstance(language, ByteAutomaton)
    return language.accepts(text.encode())


def _expected(formula: Formula, text: str) -> bool:
    """Whether a text is a string in JSON that a formula holds for, halves of surrogate pairs aside."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    if not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value):
        return False
    return string_matches(formula, value)


@pytest.mark.parametrize("formula", _FORMULAS, ids=repr)
def test_all_texts_over_a_small_alphabet(formula: Formula) -> None:
    pieces = ['"', "\\", "/", "u", "0", "6", "1", "d", "D8", "\\ude00", "é", "😀", "\x01", "\x7f", "n", "\\u00"]
    for length in range(5):
        for middle in itertools.product(pieces, repeat=length):
            text = '"' + "".join(middle) + '"'
            assert _accepts(formula, text) == _expected(formula, text), text
            if length < 3:
                assert not _accepts(formula, text[:-1]) or _expected(formula, text[:-1])
