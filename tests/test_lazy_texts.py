"""Texts over sets of characters: masks made from what a vocabulary keeps are those of reading each token."""

from __future__ import annotations

import itertools
import random
from importlib.resources import files
from typing import Any

import kinds
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import complete
from test_lazy import byte_vocabulary, can_be_read, walks

import constraints
import tokenfst
from tokenfst import Vocabulary, from_tekken


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


@pytest.mark.parametrize(("low", "high"), [(0, 40), (3, 36), (35, 36), (36, 36), (1, 9)])
@pytest.mark.parametrize("in_array", [False, True])
def test_counted_characters_are_followed_to_their_bounds(low: int, high: int, in_array: bool) -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [
        text * count + end for text in (b"a", "é".encode()) for count in range(2, 9) for end in (b"", b'"', b'",')
    ]
    vocabulary = Vocabulary([*tokens, b"\\", b"a\\u00", b""], eos_ids=(len(tokens) + 2,))
    string = {"type": "string", "minLength": low, "maxLength": high}
    constraint = constraints.json_schema({"type": "array", "items": string, "maxItems": 2} if in_array else string)
    eager = complete(constraint, vocabulary)
    chained = 0
    # Shorter strings are not counted. Each length is the first one that a mask is made for.
    for begins in {0, low, *range(max(high - 12, 0), high + 1)}:
        lazy = kinds.lazy(constraint, vocabulary)
        for written in (b"a" * length for length in range(begins, min(begins + 12, high) + 1)):
            one, other = eager.start, lazy.start
            for byte in (b'["' if in_array else b'"') + written:
                one, other = eager.advance(one, byte), lazy.advance(other, byte)
            np.testing.assert_array_equal(eager.mask(one), lazy.mask(other), err_msg=str(written))
        chained += lazy.core.mask_counts["chained"]
    assert chained > 0


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "^([a-z]+ ?)*$", "maxLength": 50},
        {"pattern": "^([a-z]+ ?){3,}$", "minLength": 45},
        {"pattern": "^([a-z]+ ?)*$", "minLength": 20, "maxLength": 55},
    ],
    ids=str,
)
def test_bounds_are_met_by_tokens_of_every_length(schema: dict[str, Any]) -> None:
    texts = [(b"a" * 60)[:length] for length in range(2, 45)] + [(b"ab " * 20)[:length] for length in range(2, 45)]
    tokens = [bytes([byte]) for byte in range(256)] + [text + end for text in texts for end in (b"", b'"', b"\\")]
    tokens = list(dict.fromkeys(tokens))
    vocabulary = Vocabulary([*tokens, b""], eos_ids=(len(tokens),))
    constraint = constraints.json_schema({"type": "string", **schema})
    eager, lazy = complete(constraint, vocabulary), kinds.lazy(constraint, vocabulary)
    for text in (b"a" * 55, b"ab " * 18):
        one, other = eager.start, lazy.start
        for byte in b'"' + text:
            np.testing.assert_array_equal(eager.mask(one), lazy.mask(other))
            if not eager.mask(one)[byte]:
                break
            one, other = eager.advance(one, byte), lazy.advance(other, byte)
    assert lazy.core.mask_counts["differing"] > 0


@pytest.mark.parametrize(
    ("schema", "found_by"),
    [
        ({"maxLength": 40}, "chained"),
        ({"pattern": "^[^a]*$"}, "walked"),
        ({"maxProperties": 2}, "looping"),
        ({"pattern": "^[a-z0-9 ]*$"}, "looping"),
        ({"pattern": "^[a-z ]*([A-Z].*)?$"}, "walked"),
        ({"pattern": r"^(\S+\s+){0,99}\S+$"}, "covered"),
    ],
    ids=str,
)
def test_masks_are_the_same_once_texts_have_been_met(schema: dict[str, Any], found_by: str, tekken: Vocabulary) -> None:
    constraint = constraints.json_schema({"type": ["object", "string"], **schema})
    cold = kinds.lazy(constraint, Vocabulary(tekken.tokens, tekken.eos_ids))
    for _ in range(4):
        warm = kinds.lazy(constraint, tekken)
        found = walks(warm, random.Random(str(schema)), 6, 8)
    rng = random.Random(1)
    for tokens in found:
        one, other = cold.start, warm.start
        for token in tokens:
            one, other = cold.advance(one, token), warm.advance(other, token)
        mask = warm.mask(other)
        np.testing.assert_array_equal(cold.mask(one), mask)
        # Refusals take time to explain.
        allowed, refused = np.flatnonzero(mask).tolist(), np.flatnonzero(mask == 0).tolist()
        assert all(can_be_read(warm, other, token) for token in rng.sample(allowed, min(200, len(allowed))))
        assert not any(can_be_read(warm, other, token) for token in rng.sample(refused, 10))
    assert warm.core.mask_counts["walked"] <= cold.core.mask_counts["walked"]
    assert warm.core.mask_counts[found_by] > 0


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "string", "maxLength": 3},
        {"type": "array", "items": {"type": ["string", "null"]}},
        {"properties": {"name": {"type": "string"}, "nab": {}}, "maxProperties": 2},
        {"properties": {"name": {"type": "string"}}, "additionalProperties": False},
        {"additionalProperties": {"enum": ["na", "name", "é"]}},
        {"propertyNames": {"pattern": "^[a-n]*$"}},
    ],
    ids=str,
)
def test_text_that_begins_inside_tokens_is_followed(schema: dict[str, Any]) -> None:
    words = [b"", b"a", b"na", b"nab", b"name", b"names", "é".encode(), b"z1", b",", b" x"]
    ends = [b"", b'"', b'":', b'",', b'"}', b'":"', b"\\", b"\\n", b"\\u00", b"\n", b"\xc3"]
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [opening + word + end for opening in (b'"', b' "', b'{"') for word in words for end in ends if word + end]
    vocabulary = Vocabulary([*tokens, b""], eos_ids=(len(tokens),))
    constraint = constraints.json_schema({"type": ["object", "array", "string"], **schema})
    eager, lazy = complete(constraint, vocabulary), tokenfst.compile(constraint, vocabulary)
    for walk in walks(eager, random.Random(str(schema)), 40, 12):
        one, other = eager.start, lazy.start
        for token in walk:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        np.testing.assert_array_equal(eager.mask(one), lazy.mask(other), err_msg=str(walk))


@pytest.mark.parametrize(
    ("schema", "found_by"),
    [
        # Most tokens begin with a space, with which nothing may begin.
        ({"pattern": r"^\S.*$"}, "differing"),
        ({"pattern": r"^[a-f].*$"}, "differing"),
        # What may follow any 32, 24, 16, 12 or 8 characters; a loop needs a long cover.
        ({"pattern": r"^(\S+\s+){0,99}\S+$"}, "covered"),
        ({"pattern": r"^(\S+\s+){0,14}\S+$"}, "covered"),
        ({"pattern": r"^(\S+\s+){0,9}\S+$"}, "covered"),
        ({"pattern": r"^(\S+\s+){0,4}\S+$"}, "looping"),
        ({"pattern": "a[ab]{10}a"}, "covered"),
        # Bounds that only long tokens reach.
        ({"pattern": r"^(\S+\s+){0,9}\S+$", "maxLength": 60}, "differing"),
        ({"pattern": r"^(\S+\s+){0,9}\S+$", "minLength": 40, "maxLength": 90}, "differing"),
        ({"pattern": r"^(\S+ )*\S+$", "minLength": 60}, "differing"),
        ({"pattern": "^([a-z]+ ?)*$", "maxLength": 50}, "differing"),
        ({"pattern": "a[ab]{6}a"}, "covered"),
        # Chains of characters that come to a loop.
        ({"minLength": 1, "maxLength": 400}, "chained"),
        ({"minLength": 30, "maxLength": 400}, "chained"),
        ({"minLength": 3}, "chained"),
        ({"pattern": "^[a-z][a-z ][a-z0-9 ]+$"}, "differing"),
        ({"pattern": "^[a-z][a-z ]{3}[a-z0-9 ]+$"}, "chained"),
        # Each byte is a class of its own.
        ({"anyOf": [{"enum": list('abcdefghijklmnopqrstuvwxyz 0123456789"')}, {"pattern": "^[a-z ]+$"}]}, "looping"),
        # Loops over characters beyond ASCII that lead elsewhere than others.
        ({"patternProperties": {r"\w": {"type": "null"}}}, "differing"),
    ],
    ids=str,
)
def test_texts_of_many_tokens_are_those_of_complete_tables(schema: dict[str, Any], found_by: str) -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b" " + bytes(word) for word in itertools.product(b"abcdefghijkl", repeat=3)]
    long = [begin + b"ab" * count for begin in (b"", b" ", b"ab a") for count in (1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 25)]
    tokens += [
        text + end for text in long for end in (b"", b'"', b'",', b"\\", b" x", "\u00e9".encode(), b"\n", b"\xc3")
    ]
    tokens += ["\u00e9\u00e9".encode(), "\u4e2d\u6587".encode(), "\u00e9a".encode(), b'": ', b'":null']
    tokens = list(dict.fromkeys(tokens))
    vocabulary = Vocabulary([*tokens, b""], eos_ids=(len(tokens),))
    constraint = constraints.json_schema({"type": ["object", "string"], **schema})
    eager, lazy = complete(constraint, vocabulary), kinds.lazy(constraint, vocabulary)
    for walk in walks(eager, random.Random(str(schema)), 40, 20):
        one, other = eager.start, lazy.start
        for token in walk:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        np.testing.assert_array_equal(eager.mask(one), lazy.mask(other), err_msg=str(walk))
    assert lazy.core.mask_counts[found_by] > 0


# Characters that `.` and `\s` treat apart, others next to them, and some that share bytes with them.
APART = "".join(
    chr(code)
    for code in (
        *(0x84, 0x85, 0xA0, 0xC5, 0x1680, 0x1681, 0x2000, 0x2027, 0x2028, 0x2029, 0x202F, 0x2030, 0x205F, 0x3000),
        *(0x3001, 0xFEFF, 0xFF00, 0xE028, 0x20028),
    )
)
# All that are written in two bytes of which the second is 0x85.
SAME_SECOND_BYTE = "".join(chr(0x85 + 64 * number) for number in range(30))


@pytest.mark.parametrize(
    "left_out",
    [
        "\u2028\u2029\n\r",
        "\u2028",
        "\u00a0",
        "\u00c5",
        "\u1681",
        "\u2000-\u202f",
        "\ue028",
        r"\s",
        r"\w",
        SAME_SECOND_BYTE,
        "",
        "\u3000\ufeff",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("repeated", ["*", "{0,9}", "{20,}"])
def test_kinds_of_characters_are_told_apart(left_out: str, repeated: str) -> None:
    rng = random.Random(left_out)
    tokens = [bytes([byte]) for byte in range(256)]
    for char in APART:
        encoded = char.encode()
        tokens += [encoded, b"a" + encoded, encoded + b"a", encoded + rng.choice(APART).encode(), b'a"' + encoded]
        tokens += [encoded[:2], b"ab" + encoded[:2], encoded[1:] + b"c", encoded[:1] + b'"']
    tokens = list(dict.fromkeys(tokens))
    vocabulary = Vocabulary([*tokens, b""], eos_ids=(len(tokens),))
    for _ in range(4):
        automaton: Any = tokenfst.compile(f'"[^"{left_out}]{repeated}"(,.*)?', vocabulary)
        found = walks(automaton, rng, 8, 8)
    for walk in found:
        state: Any = automaton.start
        for token in walk:
            state = automaton.advance(state, token)
        read = [can_be_read(automaton, state, token) for token in range(len(vocabulary))]
        np.testing.assert_array_equal(automaton.mask(state), read)
    if repeated == "*" and left_out in ("\u00a0", "\u2028"):
        assert automaton.core.mask_counts["looping" if left_out == "\u00a0" else "covered"] > 0


# What may follow single characters: some more, or an end at once.
AFTER = ["-[a-m]", "-[n-z]", "-.", '"', "[-z]+!", "é", "\\\\", ""]


@given(st.data())
@settings(max_examples=75, deadline=None)
def test_text_is_read_whole_though_some_of_its_characters_may_begin_more(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from("abzA0é "), min_size=1, max_size=4, unique=True))
    parts = [f"{char}({data.draw(st.sampled_from(AFTER))})?" for char in chosen]
    stopping = data.draw(st.sampled_from(["-", "-z", '-"', '-"\\\\']))
    pattern = f'({"|".join([f"[^{stopping}{chr(39).join(chosen)}]", *parts])})*("(,.*)?)?'
    rng = random.Random(pattern)
    vocabulary = byte_vocabulary(rng, 'abzA0 -"\\né,'.encode(), 300)
    automaton = tokenfst.compile(pattern, vocabulary)
    for walk in walks(automaton, rng, 4, 5):
        state: Any = automaton.start
        for token in walk:
            state = automaton.advance(state, token)
        read = [can_be_read(automaton, state, token) for token in range(len(vocabulary))]
        np.testing.assert_array_equal(automaton.mask(state), read, err_msg=pattern)


def test_text_in_a_set_of_a_regular_expression_is_not_walked_over(tekken: Vocabulary) -> None:
    automaton = kinds.lazy(constraints.json_schema({"type": "string", "format": "regex"}), tekken)
    state: Any = automaton.start
    for byte in b'"[a':
        state = automaton.advance(state, tekken.tokens.index(bytes([byte])))
    mask = automaton.mask(state)
    assert automaton.core.mask_counts["looping"] == 1
    assert automaton.core.mask_counts["walked"] == 0
    allowed, refused = np.flatnonzero(mask).tolist(), np.flatnonzero(mask == 0).tolist()
    rng = random.Random(2)
    assert all(can_be_read(automaton, state, token) for token in rng.sample(allowed, 2000))
    assert not any(can_be_read(automaton, state, token) for token in rng.sample(refused, 500))


def test_more_sets_of_characters_than_are_kept() -> None:
    letters = [chr(letter) for letter in range(ord("!"), ord("~")) if chr(letter) not in r"\[]^-&~|"]
    vocabulary = byte_vocabulary(random.Random(8), "".join(letters).encode(), 400)
    last = vocabulary.tokens.index(letters[-1].encode())
    for number in range(1, 1100):
        # The letters of the bits of the number, and all but the first ones.
        own = [letter for bit, letter in enumerate(letters) if bit > 10 or number >> bit & 1]
        lazy = tokenfst.compile(f"[{''.join(own)}]+", vocabulary)
        allowed = lazy.mask(lazy.advance(lazy.start, last))
        if number % 50 == 0 or number > 1080:
            eager = lazy.complete()
            np.testing.assert_array_equal(allowed, eager.mask(eager.advance(eager.start, last)))
