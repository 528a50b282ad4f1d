"""Values of items that must differ, as they are read: numbers beside fractions, strings beside `json`."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tokenfst.unique_items.values import Text, may_be, reduced, scalar_value


@settings(max_examples=200, deadline=None)
@given(st.from_regex(r"-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?", fullmatch=True), st.data())
def test_numbers_are_known_by_their_value(text: str, data: Any) -> None:
    other = data.draw(st.from_regex(r"-?(0|[1-9][0-9]{0,2})(\.[0-9]{1,3})?([eE][+-]?[0-9])?", fullmatch=True))
    for near in (other, text + "e0" if "e" not in text.lower() else text, text.replace("e", "E")):
        is_same = Fraction(text) == Fraction(near)
        assert (scalar_value(text.encode()) == scalar_value(near.encode())) == is_same
        value = scalar_value(near.encode())
        if is_same:
            assert all(may_be(text[:end].encode(), value) for end in range(1, len(text) + 1))
        elif any(not may_be(text[:end].encode(), value) for end in range(1, len(text) + 1)):
            assert not may_be(text.encode(), value)  # what is out stays out


def test_numbers_under_way_are_alike_with_many_zeros() -> None:
    assert reduced(b"1." + b"0" * 9, 3) == b"1.000"
    assert reduced(b"1.2", 3) == b"1.2"
    assert reduced(b"0.0e-123", 3) == b"0e-0"
    assert reduced(b"null", 3) == b"null"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=6), st.randoms(use_true_random=False))
def test_strings_are_known_by_their_characters(text: str, dice: random.Random) -> None:
    units = [
        dice.choice([json.dumps(char)[1:-1], json.dumps(char, ensure_ascii=False)[1:-1], escaped(char)])
        for char in text
    ]
    scalar = Text()
    for byte in "".join(units).encode():
        assert scalar.may_be(text)
        scalar = scalar.more(byte)
    assert scalar.value() == text
    assert not scalar.escapes


def escaped(char: str) -> str:
    halves = char.encode("utf-16-be")
    return "".join(f"\\u{halves[at : at + 2].hex()}" for at in range(0, len(halves), 2))


def test_halves_of_surrogate_pairs_stay_what_they_are() -> None:
    for letters, text in {
        b"\\ud83d": "\ud83d",
        b"\\ud83dx": "\ud83dx",
        b"\\ud83d\\n": "\ud83d\n",
        b"\\ud83d\\u0061": "\ud83da",
        b"\\ud83d\\ud83d\\ude00": "\ud83d😀",
        b"\\ude00": "\ude00",
    }.items():
        scalar = Text()
        for byte in letters:
            assert scalar.may_be(text)
            scalar = scalar.more(byte)
        assert scalar.value() == text
