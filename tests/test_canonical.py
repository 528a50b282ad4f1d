"""Canonical tokenization against an encoder by definition, exhaustively over small vocabularies.

The encoder cuts a text with the `regex` module and merges pair by pair.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pytest
import regex
from canonical_walks import finish
from tokenizers import Regex, pre_tokenizers

import tokenfst
from automata import EmptyLanguage, UnsupportedTokenizer
from tokenfst import BPE, Vocabulary
from tokenfst.canonical.automaton import CanonicalTokenAutomaton
from tokenfst.canonical.derivations import derive_tokens
from tokenfst.canonical.pairs import neighbour_pairs
from tokenfst.canonical.piece_bytes import spell_pieces
from tokenfst.canonical.pieces import Pieces, build_pieces
from tokenfst.canonical.prepared import prepare
from tokenfst.vocabulary.bpe import GPT2_PATTERN

ANYTHING = r"(.|\n)*"
TEKKEN_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LAZY_PATTERN = r"a+?b|(?:ab|a)(?:a|b)??|\p{L}{2,}?|[\s\S]"
PRE_TOKENIZERS = [None, GPT2_PATTERN, LLAMA3_PATTERN, TEKKEN_PATTERN, LAZY_PATTERN]


# The naive encoder, over small vocabularies


class Toy:
    """A random small vocabulary, and its encoder by definition."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.alphabet = self.random.choice(["ab ", "a \n", "ab", "a1 ", "a' s", "A a", "é ", "a.\n"])
        merges = self.draw()
        self.pattern = self.random.choice(PRE_TOKENIZERS)
        self.whole_pieces = self.random.random() < 0.5
        listed = tuple((self.id[a], self.id[b], self.id[a + b]) for a, b in merges)
        bpe = BPE(listed if self.is_listed else None, self.pattern, self.whole_pieces)
        if self.is_listed:
            self.rank = {(a, b): (place, result) for place, (a, b, result) in enumerate(listed)}
        else:
            spelled = product(self.tokens, repeat=2)
            self.rank = {
                (self.id[a], self.id[b]): (self.id[a + b], self.id[a + b]) for a, b in spelled if a + b in self.id
            }
        ends = [len(self.tokens)] if self.random.random() < 0.7 else []
        self.vocabulary = Vocabulary([*self.tokens, b""], ends, bpe=bpe)

    def draw(self) -> list[tuple[bytes, bytes]]:
        """Draws tokens and merges; some tokens cannot be made, some merges come before those that they need."""
        self.tokens = sorted({bytes([byte]) for byte in self.alphabet.encode()})
        merges: list[tuple[bytes, bytes]] = []
        for _ in range(self.random.randrange(1, 10)):
            pair = self.random.choice(self.tokens), self.random.choice(self.tokens)
            if len(pair[0] + pair[1]) <= 5 and pair not in merges:
                merges.append(pair)
                self.tokens += [pair[0] + pair[1]] * (pair[0] + pair[1] not in self.tokens)
        if self.random.random() < 0.4:
            self.random.shuffle(self.tokens)
            self.random.shuffle(merges)
        self.is_listed = self.random.random() < 0.5
        if not self.is_listed and self.random.random() < 0.4:
            self.tokens = [token for token in self.tokens if len(token) != 2 or self.random.random() < 0.4]
        self.id = {token: number for number, token in enumerate(self.tokens)}
        return merges if self.is_listed else []

    def merged(self, piece: bytes) -> list[int]:
        symbols = [self.id[bytes([byte])] for byte in piece]
        while True:
            found = [(self.rank[pair][0], at) for at, pair in enumerate(pairwise(symbols)) if pair in self.rank]
            if not found:
                return symbols
            at = min(found)[1]
            symbols[at : at + 2] = [self.rank[symbols[at], symbols[at + 1]][1]]

    def encode(self, text: str) -> list[int] | None:
        """The encoder's tokens; None where it lacks one for a byte."""
        cut = [text] * bool(text) if self.pattern is None else regex.findall(self.pattern, text)
        tokens: list[int] = []
        for piece in (piece.encode() for piece in cut):
            if self.whole_pieces and piece in self.id:
                tokens.append(self.id[piece])
            elif all(bytes([byte]) in self.id for byte in piece):
                tokens += self.merged(piece)
            else:
                return None
        return tokens

    def texts(self) -> Iterator[str]:
        length = 8 if len(self.alphabet) == 2 else 6
        for size in range(length + 1):
            yield from map("".join, product(self.alphabet, repeat=size))


@pytest.mark.parametrize("seeds", [range(150), range(150, 300)])
def test_pairs_are_those_that_the_encoder_leaves_alone(seeds: range) -> None:
    late = 0
    for seed in seeds:
        toy = Toy(seed)
        assert isinstance(toy.vocabulary.bpe, BPE)
        made = derive_tokens(toy.vocabulary, toy.vocabulary.bpe)
        relation = neighbour_pairs(made)
        late += bool((made.clock != made.rank).any())
        for token in toy.tokens:
            assert made.made[toy.id[token]] == (toy.merged(token) == [toy.id[token]])
        canonical = [number for number in range(len(toy.tokens)) if made.made[number]]
        for left, right in product(canonical, repeat=2):
            expected = toy.merged(toy.tokens[left] + toy.tokens[right]) == [left, right]
            assert relation.may_follow(left, right) == expected, (seed, left, right)
        for few in product(canonical, repeat=3):
            expected = toy.merged(b"".join(toy.tokens[number] for number in few)) == list(few)
            assert all(relation.may_follow(*pair) for pair in pairwise(few)) == expected, (seed, few)
    assert late > 10  # merges that become possible late are among them


def decided_pieces(automaton: Pieces, text: str) -> list[list[str]]:
    """The pieces of a text, for each row of decisions that the automaton accepts."""
    runs: set[tuple[int, tuple[int, ...]]] = {(0, ())}
    for place, char in enumerate(text):
        kind = automaton.kind[ord(char)]
        decided = runs | {(int(automaton.split[state]), (*begins, place)) for state, begins in runs}
        runs = {(int(automaton.next[state, kind]), begins) for state, begins in decided if state >= 0}
        runs = {run for run in runs if run[0] >= 0}
    accepted = [begins for state, begins in runs if automaton.final[state]]
    return [[text[at:end] for at, end in pairwise((*begins, len(text)))] for begins in accepted]


@pytest.mark.parametrize("pattern", PRE_TOKENIZERS, ids=["one piece", "GPT-2", "Llama 3", "Tekken", "lazy"])
def test_pieces_end_where_the_regular_expression_says(pattern: str | None) -> None:
    automaton, matcher = build_pieces(pattern), regex.compile(pattern or r"[\s\S]+")
    alphabet = "aA5 '\n/.s\u0301中"
    generator = random.Random(0)
    texts = ["".join(some) for size in range(1, 4) for some in product(alphabet, repeat=size)]
    texts += ["".join(generator.choices(alphabet + "    \n\ttRreElLſ\u00a0éb", k=9)) for _ in range(1500)]
    for text in texts:
        # Exactly one row of decisions is left.
        assert decided_pieces(automaton, text) == [matcher.findall(text)], text


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        (r"(?i:aa?(?!S))|[\s\S]", ["a", "a", "s"]),  # case is ignored in a look-ahead as well
        (r"aa?(?!S)|[\s\S]", ["aa", "s"]),
        (r"[a\-]+|[\s\S]", ["a-a", "b"]),
        (r"[a-]+|[\s\S]", ["a-a", "b"]),
        (r"(?i:[sdmt]|ll|[s]t|s+t)|[\s\S]", ["LL", "s", "t", "ſ"]),
    ],
)
def test_pieces_are_those_of_tokenizers(pattern: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    assert [piece for piece, _ in pre_tokenizers.Split(Regex(pattern), "isolated").pre_tokenize_str(text)] == pieces
    assert decided_pieces(build_pieces(pattern), text) == [pieces]


def test_characters_are_spelled_in_utf8() -> None:
    automaton = build_pieces(TEKKEN_PATTERN)
    spelled = spell_pieces(automaton)

    def read(state: int, text: bytes) -> int:
        for byte in text:
            state = int(spelled.next[state, spelled.byte_class[byte]]) if state >= 0 else -1
        return state

    generator = random.Random(0)
    codes = [generator.randrange(limit) for limit in (0x80, 0x800, 0x10000, 0x110000) for _ in range(300)]
    for code in codes:
        if not 0xD800 <= code < 0xE000:
            state, kind = generator.randrange(len(automaton.final)), automaton.kind[code]
            assert read(state, chr(code).encode()) == (automaton.next[state, kind] if kind >= 0 else -1)
    for wrong in (b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xff"):
        assert all(read(state, wrong) == -1 for state in range(len(automaton.final)))


TOY_CONSTRAINTS = [
    *(ANYTHING, "[ab ]{0,4}", "(a|b|ab)* ?a", r"a{3}|b{4}|\s+a", "aba|abab b", r"( |\n)*", "[a-z]{4}", r"\s{2,5}b?"),
    *("(é|e| )*", "a+1|1+a"),
]


class Language(NamedTuple):
    """A constraint over a toy vocabulary: its automaton, None for an empty one, and its tokenizations by definition."""

    toy: Toy
    pattern: str
    automaton: CanonicalTokenAutomaton | None
    tokenizations: set[tuple[int, ...]]


def language(seed: int) -> Language:
    toy = Toy(seed)
    pattern = toy.random.choice(TOY_CONSTRAINTS)
    encoded = [toy.encode(text) for text in toy.texts() if re.fullmatch(pattern, text)]
    try:
        automaton: Any = tokenfst.compile(pattern, toy.vocabulary, tokenization="canonical")
    except EmptyLanguage:
        automaton = None
    return Language(toy, pattern, automaton, {tuple(tokens) for tokens in encoded if tokens is not None})


@pytest.mark.parametrize("seeds", [range(70), range(70, 140)])
def test_all_sequences_over_small_vocabularies(seeds: range) -> None:
    """Accepted exactly if the encoder makes them of their text and the text is in the language."""
    whole = 0
    for seed in seeds:
        toy, _, automaton, tokenizations = language(seed)
        if automaton is None:
            assert not tokenizations
            continue
        whole += len(prepare(toy.vocabulary).words.tokens) > 0
        assert all(automaton.accepts(tokens) for tokens in tokenizations), seed
        shortest = min(map(len, tokenizations)) + bool(toy.vocabulary.eos_ids)
        assert automaton.min_tokens(automaton.start) == shortest, seed
        longest = max(map(len, toy.texts()))
        for size in range(5):
            for tokens in product(range(len(toy.tokens)), repeat=size) if len(toy.tokens) ** size < 5000 else ():
                if len(toy.vocabulary.detokenize(tokens)) <= longest:
                    assert automaton.accepts(tokens) == (tokens in tokenizations), (seed, tokens)
    assert whole > 3  # tokens that only whole pieces are, too


@pytest.mark.parametrize("seeds", [range(200, 260), range(260, 320)])
def test_masks_never_lead_into_a_dead_end(seeds: range) -> None:
    """What a mask allows can be completed, in as many tokens as promised, to what the encoder makes of the text."""
    for seed in seeds:
        toy, pattern, automaton, tokenizations = language(seed)
        following: dict[tuple[int, ...], set[int]] = {}
        for tokens in tokenizations:
            for size, token in enumerate(tokens):
                following.setdefault(tokens[:size], set()).add(token)
        for begin, expected in list(following.items())[:40]:
            assert automaton is not None
            state = automaton.start
            for token in begin:
                state = automaton.advance(state, token)
            assert automaton.is_final(state) == (begin in tokenizations)
            allowed = set(np.flatnonzero(automaton.mask(state)).tolist())
            ends = set(toy.vocabulary.eos_ids) if automaton.is_final(state) else set()
            assert allowed >= expected | ends
            for token in allowed - set(toy.vocabulary.eos_ids):
                written = [*begin, token, *finish(automaton, automaton.advance(state, token), toy.random)]
                text = toy.vocabulary.detokenize(written).decode()
                assert toy.encode(text) == written, (seed, written)
                assert re.fullmatch(pattern, text)


# What is not modelled


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"\p{L}++|[\s\S]", "possessive"),
        (r"\p{L}+|\d", "escape"),
        (r"[a-z]+|[\s\S]", "range"),
        (r"a(?=b)|[\s\S]", "extension"),
        (r"a(?!b)c|[\s\S]", "not at the end"),
        (r"a*|[\s\S]", "may be empty"),
        (r"(a*)*b|[\s\S]", "may be empty"),
        (r"\p{Greek}|[\s\S]", "not a general category"),
        (r"^a|[\s\S]", "expected"),
        (r"\p{L}+| +", "leave out"),
        (r"a)|[\s\S]", "nothing opens"),
        (r"(a|[\s\S]", "nothing closes"),
        # Engines read these in different ways, and ranges between escapes are ranges.
        (r"[\t-\r]|[\s\S]", "range"),
        (r"[a~~b]|[\s\S]", "operation"),
        (r"[]a]|[\s\S]", "begins with its end"),
        (r"a{2}?|[\s\S]", r"\{2\}\?, which is optional in tokenizers"),
        (r"a{3,1}|[\s\S]", "more than its greatest number"),
        (r"\<a|[\s\S]", "escape"),
        (r"(?i:\p{Lu})|[\s\S]", "category where case is ignored"),
        (r"(?i:[\p{Lu}'])|[\s\S]", "category where case is ignored"),
        (r"(?i:'st)|[\s\S]", "stands for several letters"),
        (r"(?i:a(?:s)s)|[\s\S]", "stands for several letters"),
        (r"(?i:[aß])|[\s\S]", "stands for several letters"),
    ],
)
def test_patterns_that_are_not_modelled(pattern: str, reason: str) -> None:
    with pytest.raises(UnsupportedTokenizer, match=reason):
        build_pieces(pattern)
