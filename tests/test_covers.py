"""States behind which quoted text may go on in any way: their masks are those of automata that know all tokens."""

from __future__ import annotations

import json
import random
from importlib.resources import files

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
    "^(en-GB|i-[a-z]+|[A-Za-z]{2,4}(-[0-9A-Za-z]{2,8}){0,9})$": ["en-GB", "de-Latn-DE-1996", "i-klingon", "toolong"],
}


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
    if not bounds and pattern != "^(\\S+\\s+){0,5}\\S+$":
        assert lazy.core.mask_counts["chained" if pattern.startswith("^(en") else "covered"] > 0


def _cut(text: bytes, numbers: dict[bytes, int], rng: random.Random) -> list[int]:
    """A text in tokens, at each place one of those that fit."""
    tokens, place = list[int](), 0
    while place < len(text):
        fitting = [length for length in range(1, 12) if text[place : place + length] in numbers]
        length = rng.choice(fitting)
        tokens.append(numbers[text[place : place + length]])
        place += length
    return tokens
