"""Checks of automata against what decoders write."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from kinds import complete
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    trainers,
)

from automata import (
    ANY_TEXT,
    difference,
    literal,
)
from tokenfst import TokenAutomaton, Vocabulary


def sequences(tokens: Sequence[int], length: int) -> Iterable[tuple[int, ...]]:
    return (sequence for n in range(length + 1) for sequence in product(tokens, repeat=n))


SPACES = decoders.Replace("▁", " ")


DECODERS: dict[str, Any] = {
    "Llama 2": decoders.Sequence([SPACES, decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
    "Gemma": decoders.Sequence([SPACES, decoders.ByteFallback(), decoders.Fuse()]),
    "strip of nothing": decoders.Sequence([SPACES, decoders.Fuse(), decoders.Strip(" ", 0, 0)]),
    "Metaspace always": decoders.Metaspace("▁", "always"),
    "Metaspace first": decoders.Metaspace("▁", "first"),
    "Metaspace never": decoders.Metaspace("▁", "never"),
    "Metaspace and bytes": decoders.Sequence([decoders.Metaspace(), decoders.ByteFallback(), decoders.Fuse()]),
    "ByteLevel": decoders.ByteLevel(),
    "WordPiece": decoders.WordPiece("##", cleanup=False),
    "WordPiece with clean-up": decoders.WordPiece("##", cleanup=True),
    "WordPiece of another mark": decoders.WordPiece("▁", cleanup=True),
    "WordPiece, then replaced": decoders.Sequence([decoders.WordPiece("##", cleanup=False), SPACES]),
}


def walk(automaton: TokenAutomaton, choose: random.Random, limit: int = 40) -> list[int]:
    """Tokens that the masks allow, chosen at random, so that the text is complete within a limit."""
    state, tokens = automaton.start, list[int]()
    ends = set(automaton.vocabulary.eos_ids)
    while True:
        allowed = np.flatnonzero(automaton.mask(state)).tolist()
        if automaton.is_final(state) and (not set(allowed) - ends or choose.random() < 0.2):
            return tokens
        steps = [(token, automaton.advance(state, token)) for token in choose.choices(allowed, k=20)]
        steps += [(token, automaton.advance(state, token)) for token in allowed[:2000]] if len(tokens) > limit else []
        steps = [(token, target) for token, target in steps if token not in ends]
        if len(tokens) > limit:
            steps = [min(steps, key=lambda step: automaton.min_tokens(step[1]))]
        if steps:
            token, state = choose.choice(steps)
            tokens.append(token)


WALKED = [
    r"hello world",
    r"(?:red|green|blue)(?:, (?:red|green|blue))*\.",
    r"[A-Za-z ]{1,12}",
    r"\d{4}-\d\d-\d\d",
    r"  leading spaces| one|none|",
    r'"[^"\\]*"',
    r"\S.*",
    r" ?[éèü ]{2,6}",
]


def check_walks(vocabulary: Vocabulary, decode: Callable[[list[int]], str], patterns: Iterable[str]) -> None:
    for pattern in patterns:
        automaton = complete(pattern, vocabulary, at_text_start=True)
        for seed in range(8):
            tokens = walk(automaton, random.Random(seed))
            text = decode(tokens)
            assert re.fullmatch(pattern, text), (pattern, tokens, text)
            assert automaton.text(tokens).decode() == text
            assert automaton.accepts(tokens)


def check_encodings(vocabulary: Vocabulary, encode: Callable[[str], list[int]], texts: Iterable[str]) -> None:
    """What the encoder makes of a text is accepted for that text and for no other."""
    for text in texts:
        automaton = complete(literal(text), vocabulary, at_text_start=True)
        assert automaton.accepts(encode(text)), text
        other = complete(difference(ANY_TEXT, literal(text)), vocabulary, at_text_start=True)
        assert not other.accepts(encode(text)), text


def llama_2() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = DECODERS["Llama 2"]
    trainer = trainers.BpeTrainer(vocab_size=300, show_progress=False)
    tokenizer.train_from_iterator(LETTERS * 4, trainer)
    return tokenizer


LETTERS = [
    "hello world, hello! red, green, blue. 1234567890",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ leading spaces one none",
    "abcdefghijklmnopqrstuvwxyz - \" ' éèü",
]
