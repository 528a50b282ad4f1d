"""Patterns over all of Unicode mean what they mean to Python's `re`."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pattern_cases import CHARACTERS, CLASSES, by_length, compiled, in_utf8

from automata import parse


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [(".", 0), ("(?s).", re.DOTALL), ('[^"]', 0), (r"[^\x00-\x1f\\é-€]", 0), (r"[\ud7ff\ue000\U00010000]", 0)]
    + [(f"(?u){letter}", 0) for letter in CLASSES]
    + [(letter, re.ASCII) for letter in CLASSES]
    + [(wide, 0) for wide in ("[a-\U0001f600]", "[\x00-\U0010ffff]", "[^a-\ue000]", r"(?i)[^a-z]", r"(?i)[α-ω]")]
    + [(rf"[^\w{extra}]", re.ASCII) for extra in ("", "é", r"\s")],
)
def test_one_character_patterns_over_all_characters(pattern: str, flags: int) -> None:
    automaton = compiled(pattern)
    match = re.compile(pattern.replace("(?u)", ""), flags).fullmatch
    expected = [char for char in CHARACTERS if match(char)]
    assert all(automaton.accepts(char.encode()) for char in expected)
    # Exactly those: as many byte strings of each length, so no malformed or overlong form and no surrogate.
    assert in_utf8(automaton) == by_length(expected)


def test_all_characters_that_have_case() -> None:
    cased = [c for c in CHARACTERS if c.lower() != c or c.upper() != c or c.casefold() != c]
    everything = "".join(cased)
    for char in cased:
        expected = re.findall(re.escape(char), everything, re.IGNORECASE)
        automaton = compiled(f"(?i){re.escape(char)}")
        assert all(automaton.accepts(other.encode()) for other in expected), char
        assert sum(in_utf8(automaton)) == len(expected), char


def test_a_character_without_case_is_only_itself() -> None:
    caseless = [c for c in CHARACTERS if c.lower() == c == c.upper() and c.casefold() == c]
    for char in random.Random(0).sample(caseless, 500):
        assert parse(f"(?i){re.escape(char)}") == parse(re.escape(char))


@pytest.mark.parametrize(
    "malformed",
    [
        b"\x80",
        b"\xbf",
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xc2",
        b"\xc2A",
        b"\xc2\xc2",
        b"\xe0\x80\x80",
        b"\xe0\x9f\xbf",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xf0\x80\x80\x80",
        b"\xf0\x8f\xbf\xbf",
        b"\xf0\x9f\x98",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xff",
        b"\xfe",
        b"\xf8\x88\x80\x80\x80",
    ],
)
@pytest.mark.parametrize("pattern", [r"(?s).", r"(?s).*", '[^"]*', r"(?u)[\w\W]+", "(?P<NOT>a)", "(?P<NOT>(?s:.)*b)"])
def test_malformed_utf8_is_never_accepted(pattern: str, malformed: bytes) -> None:
    automaton = compiled(pattern)
    for text in (malformed, b"a" + malformed, malformed + b"a", "é".encode() + malformed):
        assert not automaton.accepts(text)


@given(st.binary(max_size=6))
def test_any_text_is_exactly_what_decodes(data: bytes) -> None:
    try:
        data.decode()
        is_text = True
    except UnicodeDecodeError:
        is_text = False
    assert compiled("(?s).*").accepts(data) == is_text
