"""States behind which quoted text may go on in any way: their masks are those of automata that know all tokens."""

from __future__ import annotations

import json
import random
from importlib.resources import files
from itertools import product

import numpy as np
import pytest
from kinds import complete

import tokenfst
from constraints import json_schema
from tokenfst import Vocabulary, from_tekken
from tokenfst.lazy import LazyTokenAutomaton

PATTERNS = {
    "[0-9]{4}": ["see 1234 there", "12", "😀 äö 99", "no digits at all, however long the text may be"],
    "^(\\S+\\s+){0,40}\\S+$": ["some words of a text", "ein paar Wörter hier", "one\u2003two\u00a0three"],
    "^(\\S+\\s+){0,5}\\S+$": ["few words", "a b c d e", "a  b"],
    "x.{0,12}y": ["x and then y", "yyyy", "x 😀 y"],
    "(ab|é)+c|z{3}": ["ababab", "éééc", "zz zzz"],
    "^[^/].+[^/]$": ["a name without any", "/a", "a/b/c/", "\u2028 and \u2029", "é/ü\u2029"],
    "^(?=.*[A-Z])(?=.*[0-9]).{8,}$": ["a Password of 8", "short", "A1 \u2028", "no digit But Capitals, \u00a0\ufeff"],
    "^[^a-c ].*x.*[^ ]$": ["do not begin with x so", "begin", "é x", "x xx\u2029", "-- x y  "],
    "^([0-9]-[0-9]|[a-z]-[a-z]|[^-~\\]])*-?]?$": ["a-zA0-9", "plain words, 3-4 and é", "x-", "a--b", "\u2028-"],
    "^(en-GB|i-[a-z]+|[A-Za-z]{2,4}(-[0-9A-Za-z]{2,8}){0,9})$": ["en-GB", "de-Latn-DE-1996", "i-klingon", "toolong"],
}


# In the last, every character leads to a state from which most others lead back.
NOT_COVERED = ["^(\\S+\\s+){0,5}\\S+$", "^([0-9]-[0-9]|[a-z]-[a-z]|[^-~\\]])*-?]?$"]


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


@pytest.mark.parametrize("bounds", [{}, {"maxLength": 30}, {"maxLength": 60}, {"minLength": 3}])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_masks_are_those_of_the_eager_automaton(pattern: str, bounds: dict[str, int], tekken: Vocabulary) -> None:
    schema = json_schema({"type": "string", "pattern": pattern, **bounds})
    lazy, eager = tokenfst.compile(schema, tekken), complete(schema, tekken)
    assert isinstance(lazy, LazyTokenAutomaton)
    rng, numbers = random.Random(pattern), {token: number for number, token in enumerate(tekken.tokens)}
    for text in PATTERNS[pattern]:
        left, right = lazy.start, eager.start
        for token in _cut(json.dumps(text, ensure_ascii=False).encode(), numbers, rng):
            mask = eager.mask(right)
            assert np.array_equal(lazy.mask(left), mask), (text, token)
            assert lazy.is_final(left) == eager.is_final(right)
            if not mask[token]:
                break
            left, right = lazy.advance(left, token), eager.advance(right, token)
    if bounds == {"maxLength": 60}:
        assert lazy.core.mask_counts["differing"] > 0
    way = "chained" if pattern.startswith("^(en") else "covered"
    if not bounds and pattern not in NOT_COVERED:
        assert lazy.core.mask_counts[way] > 0


def _cut(text: bytes, numbers: dict[bytes, int], rng: random.Random) -> list[int]:
    """A text in tokens, at each place one of those that fit."""
    tokens, place = list[int](), 0
    while place < len(text):
        fitting = [length for length in range(1, 12) if text[place : place + length] in numbers]
        length = rng.choice(fitting)
        tokens.append(numbers[text[place : place + length]])
        place += length
    return tokens


# Tokens of all that is told apart at the beginning of a text, within it, and at its end.
PIECES = ["a", "e", "i", "x", "/", "-", "0", " ", "é", "\u2028", '"', "\\n"]
BEGINNINGS = [
    "^(e[0-9]|i/|[a-z]{1,4}(-[a-z]{2,8}){0,9})$",
    "^(e|[^/].+[^/ ])$",
    "^(?!.*(ax|e-|00))[^~]*$",
    "^(/[0-9]+|[^/e]{2,30})$",
    "^([0-9]-[0-9]|[a-z]-[a-z]|[^-~])*-?$",
    "^[^e](?!.*-).{3,}x$",
    "^(?!.*a[^\\x00-\\x7F])[^~]*$",
    "^[^/].{6}[^x/].*$",
]


@pytest.mark.parametrize("pattern", BEGINNINGS)
def test_bytes_that_lead_elsewhere_than_the_rest_of_a_text(pattern: str) -> None:
    pieces = [piece.encode() for piece in PIECES]
    tokens = [bytes([byte]) for byte in range(256)] + [one + two for one, two in product(pieces, pieces)]
    tokens += [one + two + three for one, two, three in product(pieces, pieces, pieces)]
    tokens += [b"".join(five) for five in product([b"a", b"x", b"i", "é".encode()], repeat=5)]
    tokens += [b"i" * length + b"x" for length in range(12)]
    tokens = list(dict.fromkeys(tokens))
    vocabulary = Vocabulary([*tokens, b""], eos_ids=(len(tokens),))
    schema, rng = json_schema({"type": "string", "pattern": pattern}), random.Random(pattern)
    eager = complete(schema, vocabulary)
    for _ in range(12):
        lazy = tokenfst.compile(schema, vocabulary)
        left, right = lazy.start, eager.start
        for _ in range(8):
            mask = eager.mask(right)
            np.testing.assert_array_equal(lazy.mask(left), mask)
            going = [int(token) for token in np.flatnonzero(mask) if token < len(tokens) and b'"' not in tokens[token]]
            token = rng.choice(going or [tokens.index(b'"')])
            if not mask[token]:
                break
            left, right = lazy.advance(left, token), eager.advance(right, token)
