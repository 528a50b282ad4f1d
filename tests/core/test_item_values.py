"""Values of items that must differ, as they are read: numbers beside fractions, strings beside `json`."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tokenfst._native import ItemScalar, ItemValue


def number(text: str) -> ItemScalar:
    return ItemScalar.plain(text.encode())


def string(text: str) -> ItemValue:
    return ItemScalar.string().read(json.dumps(text)[1:-1].encode()).value()


@settings(max_examples=100, deadline=None)
@given(st.from_regex(r"-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?", fullmatch=True), st.data())
def test_numbers_are_known_by_their_value(text: str, data: Any) -> None:
    other = data.draw(st.from_regex(r"-?(0|[1-9][0-9]{0,2})(\.[0-9]{1,3})?([eE][+-]?[0-9])?", fullmatch=True))
    for near in (other, text + "e0" if "e" not in text.lower() else text, text.replace("e", "E")):
        is_same = Fraction(text) == Fraction(near)
        value = number(near).value()
        assert (number(text).value() == value) == is_same
        assert (hash(number(text).value()) == hash(value)) == is_same
        beginnings = [number(text[:end]).may_be(value) for end in range(1, len(text) + 1)]
        if is_same:
            assert all(beginnings)
        assert beginnings == sorted(beginnings, reverse=True)  # what is out stays out


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=6), st.randoms(use_true_random=False))
def test_strings_are_known_by_their_characters(text: str, dice: random.Random) -> None:
    units = [
        dice.choice([json.dumps(char)[1:-1], json.dumps(char, ensure_ascii=False)[1:-1], escaped(char)])
        for char in text
    ]
    scalar = ItemScalar.string()
    for byte in "".join(units).encode():
        assert scalar.may_be(string(text))
        scalar = scalar.read(bytes([byte]))
    assert scalar.value() == string(text)
    assert scalar.value().text == text.encode()
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
        scalar = ItemScalar.string()
        for byte in letters:
            assert scalar.may_be(string(text))
            scalar = scalar.read(bytes([byte]))
        assert scalar.value().text == text.encode("utf-8", "surrogatepass")


@settings(max_examples=60, deadline=None)
@given(
    st.integers(-(10**30), 10**30),
    st.integers(-(10**30), 10**30) | st.sampled_from([0, 1, -1, 9, 10, -10, 10**29]),
    st.integers(0, 4),
)
def test_exponents_are_whole_numbers_of_any_size(exponent: int, other: int, num_zeros: int) -> None:
    zeros = "0" * num_zeros
    shifted = number(f"1{zeros}e{exponent - num_zeros}").value()
    assert shifted == number(f"1e{exponent}").value() == number(f"0.{zeros}1e{exponent + num_zeros + 1}").value()
    assert (shifted == number(f"1e{other}").value()) == (exponent == other)
    assert all(number(f"1{zeros}e{exponent - num_zeros}"[:end]).may_be(shifted) for end in range(1, 4))
