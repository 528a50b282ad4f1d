"""The value so far is that of the longest beginning that json.loads takes once it is closed, for every beginning."""

from __future__ import annotations

import copy
import json
import re
import sys
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from automata import TextNotAllowed
from decoding.writing.partial_json import PartialJson

NOTHING = object()

strings = st.text(st.sampled_from('ab"\\/\n\té😀\u2028{}[],:')) | st.text(max_size=4)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3), max_leaves=8
)


def closed(text: str) -> str:
    """A text with what is open in it closed."""
    brackets, inside, escaped = "", False, False
    for char in text:
        if inside:
            inside = escaped or char != '"'
            escaped = not escaped and char == "\\"
        elif char in "{[":
            brackets = ("}" if char == "{" else "]") + brackets
        elif char in "}]":
            brackets = brackets[1:]
        elif char == '"':
            inside = True
    return text + '"' * inside + brackets


def without_half(text: str) -> str:
    """The text without the first half of a surrogate pair at its end, where that may be followed by the other."""
    for length in range(6, 0, -1):
        tail = text[-length:]
        if len(tail) == length and tail.startswith("\\u") and length == 6:
            slashes = len(text[:-6]) - len(text[:-6].rstrip("\\"))
            if slashes % 2 == 0 and tail[2].lower() == "d" and tail[3].lower() in "89ab":
                return text[:-6]
    return text


def expected(text: str) -> Any:
    """The value so far by definition: the longest beginning that is JSON once it is closed."""
    for length in range(len(text), -1, -1):
        begin = text[:length]
        if closed(begin).startswith(begin + '"'):
            begin = without_half(begin)
        try:
            return json.loads(closed(begin))
        except ValueError:
            continue
    return NOTHING


def same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right)


def so_far(reader: PartialJson) -> Any:
    return reader.value if reader.has_begun else NOTHING


@settings(max_examples=75)
@given(
    values,
    st.sampled_from([None, 1]),
    st.booleans(),
    st.sampled_from([(", ", ": "), (",", ":"), (" ,\n", "\t: ")]),
    st.randoms(use_true_random=False),
)
@example(["\ud83d\ude00", "\ud83d", "\ud83d\ud83dx"], None, True, (",", ":"), None)
@example({"a": 1.5e300, "b": -0.0, "": [[], {}, ""]}, None, True, (",", ":"), None)
def test_every_beginning_has_the_value_of_the_longest_one_that_can_be_closed(
    value: Any, indent: int | None, ascii_only: bool, separators: tuple[str, str], rng: Any
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only, separators=separators)
    reader = PartialJson()
    for at, char in enumerate(text):
        reader.feed(char)
        assert same(so_far(reader), expected(text[: at + 1])), text[: at + 1]
    assert same(reader.finish(), json.loads(text))
    if rng is not None:
        reader, at = PartialJson(), 0
        while at < len(text):
            size = rng.randrange(1, 9)
            reader.feed(text[at : at + size])
            at += size
            assert same(so_far(reader), expected(text[:at]))


def test_names_that_come_twice_are_as_json_loads_has_them() -> None:
    text = '{"a": 1, "b": [2], "a": "three"}'
    reader = PartialJson()
    for at, char in enumerate(text):
        reader.feed(char)
        assert same(so_far(reader), expected(text[: at + 1]))
    assert reader.finish() == json.loads(text)


WRONG = """] | [} | {] | [1,] | {1 | {"a", | {"a" 1 | {"a":} | [1 2 | [01, | [1., | [-] | [tru, | [nul, | [NaN, | 1 2
    "a" " | "\t | "\\x | "\\u12g | "\\u123" | , | : | ["a": | {"a":1 " | {, | [, | 'a' | [1_0, | [+1, | [1e5.2, | ٣"""


@pytest.mark.parametrize("text", re.split(r" \| |\n    ", WRONG))
def test_what_begins_no_text_is_refused(text: str) -> None:
    def feed(pieces: list[str]) -> None:
        reader = PartialJson()
        for piece in pieces:
            reader.feed(piece)

    for pieces in ([text], list(text)):
        with pytest.raises(TextNotAllowed) as caught:
            feed(pieces)
        assert text.startswith(caught.value.text)


@pytest.mark.parametrize("text", ["", " ", "[", '{"a"', '"a', "tru", "-", "1.", "[1"])
def test_what_is_not_whole_has_no_final_value(text: str) -> None:
    reader = PartialJson()
    reader.feed(text)
    with pytest.raises(TextNotAllowed, match=r"not complete|is not a value"):
        reader.finish()


def test_whatever_is_fed_is_refused_exactly_if_no_text_begins_so() -> None:
    """All texts of up to 4 characters: what is taken whole is what json.loads takes."""
    for first in _texts('{}[]",:1-a\\', 4):
        reader = PartialJson()
        try:
            reader.feed(first)
            found = reader.finish()
        except TextNotAllowed:
            found = NOTHING
        try:
            wanted = json.loads(first)
        except ValueError:
            wanted = NOTHING
        assert same(found, wanted) or wanted is found, first


def _texts(alphabet: str, length: int) -> list[str]:
    found, level = [""], [""]
    for _ in range(length):
        level = [text + char for text in level for char in alphabet]
        found += level
    return found


def test_values_grow_in_place_and_nesting_has_no_limit() -> None:
    reader = PartialJson()
    value = reader.feed('{"a": [1')
    kept = copy.deepcopy(value)
    assert reader.feed("2, 3]") is value
    assert (kept, value) == ({"a": [1]}, {"a": [12, 3]})
    deep = 5 * sys.getrecursionlimit()
    reader = PartialJson()
    reader.feed("[" * deep)
    reader.feed("]" * deep)
    inner, depth = reader.finish(), 0
    while inner:
        inner, depth = inner[0], depth + 1
    assert depth == deep - 1


def test_numbers_that_python_does_not_read_are_refused() -> None:
    digits = "1" * (sys.get_int_max_str_digits() + 1)
    whole, part, fraction = PartialJson(), PartialJson(), PartialJson()
    whole.feed(digits)
    with pytest.raises(TextNotAllowed, match="digits"):
        whole.finish()
    part.feed("[")
    part.feed(digits)
    with pytest.raises(TextNotAllowed, match="digits"):
        part.feed(",")
    for text in (digits, "e-", str(len(digits))):
        fraction.feed(text)
    assert fraction.finish() == json.loads(f"{digits}e-{len(digits)}")


def pointed(value: Any, pointer: str = "") -> list[tuple[str, str]]:
    """A value as JSON in parts, each with the pointer of the value that the text is in after any character of it."""
    if isinstance(value, dict | list):
        opens, closes = "{}" if isinstance(value, dict) else "[]"
        found, first = [(opens, pointer)], True
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            inner = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
            if isinstance(value, dict):
                # After the closing quotation mark the value has to come, and so it has after a comma in an array.
                found += [("" if first else ",", pointer), (json.dumps(key)[:-1], pointer), ('":', inner)]
            else:
                found.append(("" if first else ",", inner))
            found += pointed(item, inner)
            first = False
        # The container is over, and so is its value: what follows is outside of it.
        return [*found, (closes, pointer.rpartition("/")[0])]
    text = json.dumps(value)
    # A string is over with its last quotation mark, a word with what follows it.
    return [(text[:-1], pointer), (text[-1], pointer.rpartition("/")[0] if isinstance(value, str) else pointer)]


names = st.text('ab~/"é', max_size=3)


@given(st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=8))
def test_pointers_name_the_value_that_the_text_is_in(value: Any) -> None:
    reader = PartialJson()
    for text, pointer in pointed(value):
        for char in text:
            reader.feed(char)
            assert reader.pointer == pointer
