"""Canonical tokenization against real encoders: every text as they cut it, and no other tokenization."""

from __future__ import annotations

import base64
import json
import random
import re
import unicodedata
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from canonical_walks import finish
from encoder_cases import ANYTHING, Real, bundled, source_texts, tekken, trained
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import tokenfst
from automata import (
    EmptyLanguage,
    UnsupportedTokenizer,
    VocabularyError,
    WeightedLanguage,
    concat,
    parse,
)
from automata.expressions import extensions
from automata.queries import random_strings
from constraints.paper import PATTERNS, SAMPLES
from tokenfst import NotBPE, Vocabulary, from_tiktoken, from_transformers
from tokenfst.vocabulary.bpe import BPE, GPT2_PATTERN


@cache
def mixed_texts() -> list[str]:
    """More than a million bytes: source code, every assigned character, numbers, JSON, whitespace, contractions."""
    generator = random.Random(0)
    every = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cs", "Cn")]
    every = [char for char in every if unicodedata.category(char) != "Co"] + every[-100:]
    generator.shuffle(every)
    surrounded = [generator.choice(["a", "A", "1", " ", "\n", ".", "'", ""]) + char for char in every]
    values = [
        generator.choice([generator.random() * 10 ** generator.randrange(9), "\u4e2d\u2028x ", None])
        for _ in range(5000)
    ]
    pool = " " * 8 + "\n\n\t\r\u00a0\u3000aB1.'/-\u0301"
    return [
        *source_texts(420_000),
        *("".join(surrounded[at : at + 40]) for at in range(0, len(surrounded), 40)),
        json.dumps(values, indent=1),
        json.dumps(values, ensure_ascii=False),
        *("".join(generator.choices(pool, k=60)) for _ in range(1500)),
        *(
            "".join(generator.choices(["I'm", "we'LL", "'ſ", " 's", "don't", " ", "x'd1'", "''ve"], k=30))
            for _ in range(200)
        ),
    ]


@pytest.fixture(scope="module", params=[tekken, trained, bundled], ids=lambda make: make.__name__)
def real(request: pytest.FixtureRequest) -> Real:
    found: Real = request.param()
    return found


@pytest.fixture(scope="module")
def mistral() -> Real:
    return tekken()


def test_every_text_is_accepted_as_the_encoder_cuts_it(real: Real) -> None:
    automaton = tokenfst.compile(ANYTHING, real.vocabulary, tokenization="canonical")
    texts = [text[at : at + 3000] for text in mixed_texts() for at in range(0, len(text), 3000)]
    assert sum(len(text.encode()) for text in texts) > 1_000_000
    for text in texts:
        assert automaton.accepts(real.encode(text)), text


def test_other_tokenizations_are_refused(real: Real) -> None:
    automaton = tokenfst.compile(ANYTHING, real.vocabulary, tokenization="canonical")
    token_of = {token: number for number, token in enumerate(real.vocabulary.tokens) if token}
    generator = random.Random(1)
    refused = 0
    for text in generator.choices(source_texts(200_000), k=600) + generator.choices(mixed_texts(), k=300):
        begin = generator.randrange(len(text))
        tokens = real.encode(text[begin : begin + 20])
        # One token is written in two others, or two tokens in one or two others, in each way.
        at, size = generator.randrange(len(tokens)), generator.choice([1, 2])
        spelled = real.vocabulary.detokenize(tokens[at : at + size])
        for cut in range(len(spelled)):
            other = [token_of.get(part, -1) for part in (spelled[:cut], spelled[cut:]) if part]
            changed = [*tokens[:at], *other, *tokens[at + size :]]
            if -1 not in other and changed != tokens:
                assert not automaton.accepts(changed), (text, changed)
                refused += 1
    assert refused > 100


@pytest.mark.parametrize("name", PATTERNS)
def test_texts_of_constraints_are_accepted_as_the_encoder_cuts_them(name: str, real: Real) -> None:
    """And at each step the mask allows the encoder's token."""
    automaton = tokenfst.compile(PATTERNS[name], real.vocabulary, tokenization="canonical")
    texts = [SAMPLES[name].encode(), *random_strings(parse(PATTERNS[name]), 12, seed=3, max_length=40)]
    known = [text.decode() for text in texts if all(unicodedata.category(char) != "Cn" for char in text.decode())]
    assert known
    for text in known:
        tokens, state = real.encode(text), automaton.start
        for token in tokens:
            assert automaton.mask(state)[token], (text, token)
            state = automaton.advance(state, token)
        assert automaton.is_final(state)
        assert len(tokens) + bool(real.vocabulary.eos_ids) >= automaton.min_tokens(automaton.start)


@pytest.mark.parametrize("name", PATTERNS)
def test_what_masks_allow_is_what_the_encoder_writes(name: str, real: Real) -> None:
    automaton: Any = tokenfst.compile(PATTERNS[name], real.vocabulary, tokenization="canonical")
    for seed in range(5):
        generator, state, tokens = random.Random(seed), automaton.start, list[int]()
        for _ in range(generator.randrange(1, 9)):
            allowed = np.flatnonzero(automaton.mask(state))
            token = int(generator.choice(allowed))
            if token in real.vocabulary.eos_ids:
                break
            tokens.append(token)
            state = automaton.advance(state, token)
        tokens += finish(automaton, state, generator)
        text = real.vocabulary.detokenize(tokens).decode()
        assert re.fullmatch(PATTERNS[name], text, re.ASCII)
        assert real.encode(text) == tokens, text
        assert automaton.accepts([*tokens, real.vocabulary.eos_ids[0]])


def test_fixed_words_have_one_tokenization(mistral: Real) -> None:
    """Prefixes of a word that no further token may follow are not allowed, though any tokenization allows them."""
    words = ["tokenization", "internationalization", "1234567", "don't   stop\n\n now"]
    automaton = tokenfst.compile("|".join(words), mistral.vocabulary, tokenization="canonical")
    for word in words:
        begin: list[int] = []
        for token in mistral.encode(word):
            state = automaton.start
            for earlier in begin:
                state = automaton.advance(state, earlier)
            spelled = mistral.vocabulary.detokenize(begin).decode("utf-8")
            first = [mistral.encode(other) for other in words if other.startswith(spelled)]
            expected = {other[len(begin)] for other in first if other[: len(begin)] == begin}
            assert set(np.flatnonzero(automaton.mask(state)).tolist()) == expected
            begin.append(token)


def test_characters_of_later_versions_of_unicode_are_left_out(mistral: Real) -> None:
    unassigned = next(chr(c) for c in range(0x370, 0x110000) if unicodedata.category(chr(c)) == "Cn")
    automaton = tokenfst.compile(ANYTHING, mistral.vocabulary, tokenization="canonical")
    assert automaton.accepts(mistral.encode("a\uffff"))
    assert not automaton.accepts(mistral.encode(f"a{unassigned}"))
    with pytest.raises(EmptyLanguage):
        tokenfst.compile(unassigned, mistral.vocabulary, tokenization="canonical")


# Terminals, files, limits


def test_terminals_stand_between_texts(mistral: Real) -> None:
    vocabulary = mistral.vocabulary
    constraint = concat(parse("[ a-z]+"), extensions.token("[TOOL_CALLS]"), parse("[ a-z]*"))
    automaton = tokenfst.compile(constraint, vocabulary, tokenization="canonical")
    call = vocabulary.special_tokens["[TOOL_CALLS]"]
    for before, after in [("hello there  ", "  you know"), ("a", ""), (" ", " x")]:
        tokens = [*mistral.encode(before), call, *mistral.encode(after)]
        assert automaton.accepts(tokens)
        assert automaton.min_tokens(automaton.start) == 3
    assert not automaton.accepts([*mistral.encode("hel"), *mistral.encode("lo"), call])
    assert not automaton.accepts([call, *mistral.encode("a")])
    with pytest.raises(VocabularyError, match="writes"):
        tokenfst.compile(extensions.token("TEXT_TOKEN"), vocabulary, tokenization="canonical")


@pytest.mark.parametrize(
    ("before", "least"),
    [("", 3), ("[TOOL_CALLS]", 4), ("(?:a[TOOL_CALLS])?", 3)],
    ids=["alone", "two terminals", "an optional text"],
)
def test_all_texts_begin_with_a_terminal(mistral: Real, before: str, least: int) -> None:
    vocabulary = mistral.vocabulary
    token = r"(?P<TOKEN>\[TOOL_CALLS\])"
    pattern = before.replace("[TOOL_CALLS]", token) + token + "(?: you know)?[a-z]"
    automaton = tokenfst.compile(pattern, vocabulary, tokenization="canonical")
    call = vocabulary.special_tokens["[TOOL_CALLS]"]
    lead = [call] * (least - 2)
    assert automaton.min_tokens(automaton.start) == least  # with the end token
    first = {call, *mistral.encode("a" if "a" in before else "")}
    assert set(automaton.mask(automaton.start).nonzero()[0].tolist()) == first
    for rest in ("x", " you knowx"):
        assert automaton.accepts([*lead, *mistral.encode(rest)])
    assert not automaton.accepts([*lead, *mistral.encode(" you"), *mistral.encode(" knowxy")])


# What is not modelled


def with_definition(**changes: object) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(files("decoding") / "model" / "tokenizer.json"))
    for name, value in changes.items():
        setattr(tokenizer, name, value)
    return tokenizer


def test_encoders_that_are_not_modelled() -> None:
    split = pre_tokenizers.Split(Regex(r"\s+"), "merged_with_next")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    added = with_definition()
    added.add_tokens(["added"])
    for tokenizer, reason in [
        (with_definition(normalizer=normalizers.NFC()), "normalizer NFC"),
        (with_definition(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True)), "space before"),
        (with_definition(pre_tokenizer=pre_tokenizers.Sequence([split, byte_level])), "joins"),
        (with_definition(pre_tokenizer=pre_tokenizers.Whitespace()), "Whitespace"),
        (added, "added token 'added'"),
    ]:
        vocabulary = from_transformers(tokenizer, eos_ids=[0])
        assert isinstance(vocabulary.bpe, NotBPE)
        with pytest.raises(UnsupportedTokenizer, match=reason):
            tokenfst.compile("a", vocabulary, tokenization="canonical")
        tokenfst.compile("a", vocabulary)


def test_encoders_that_find_a_special_token_as_a_piece_of_text() -> None:
    """Whole pieces are looked up among all tokens, also among those that write nothing."""
    pieces = {piece: token for token, piece in enumerate(["e", "n", "d", "<", ">", "en", "end", "<end>"])}
    tokenizer = Tokenizer(models.BPE(pieces, [("e", "n")], ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.encode_special_tokens = True
    for name, found in [("<end>", [3, 6, 4]), ("end", [6])]:
        tokenizer.add_special_tokens([name])
        assert tokenizer.encode(name).ids == found
        vocabulary = from_transformers(tokenizer)
        if name == "<end>":
            # It is cut into three pieces, so no piece is a special token.
            automaton = tokenfst.compile(ANYTHING, vocabulary, tokenization="canonical")
            assert automaton.accepts(found)
            assert not automaton.accepts([3, 5, 2, 4])
        else:
            with pytest.raises(UnsupportedTokenizer, match=r"token 6 \('end'\) writes nothing, and the encoder writes"):
                tokenfst.compile(ANYTHING, vocabulary, tokenization="canonical")


def test_other_sources(tmp_path: Path) -> None:
    lines = b"".join(b"%s %d\n" % (base64.b64encode(bytes([byte])), byte) for byte in range(256))
    (tmp_path / "a.tiktoken").write_bytes(lines + b"YWI= 256\n")
    with pytest.raises(UnsupportedTokenizer, match="pass `pattern`"):
        tokenfst.compile("a", from_tiktoken(tmp_path / "a.tiktoken", eos_ids=()), tokenization="canonical")
    vocabulary = from_tiktoken(tmp_path / "a.tiktoken", pattern=GPT2_PATTERN, eos_ids=())
    automaton = tokenfst.compile("ab", vocabulary, tokenization="canonical")
    assert automaton.accepts([256])
    assert not automaton.accepts([97, 98])
    ending = from_tiktoken(tmp_path / "a.tiktoken", pattern=GPT2_PATTERN, eos_ids=[97])
    with pytest.raises(UnsupportedTokenizer, match="token 97 ends a sequence"):
        tokenfst.compile("b", ending, tokenization="canonical")
    other: Any = "other"
    with pytest.raises(ValueError, match="'any' or 'canonical'"):
        tokenfst.compile("a", vocabulary, tokenization=other)


def test_an_encoder_that_cannot_be_read_is_refused() -> None:
    deep = Vocabulary([b"a", b""], 1, bpe=BPE((), "(" * 3000 + "a" + ")" * 3000, False))
    with pytest.raises(UnsupportedTokenizer, match="groups are nested too deep"):
        tokenfst.compile("a", deep, tokenization="canonical")
    wrong = Vocabulary([b"a", b""], 1, bpe=BPE(((0, 7, 9),), None, False))
    with pytest.raises(VocabularyError, match=r"merge 0 is of tokens \(0, 7, 9\), and there are 2 tokens"):
        tokenfst.compile("a", wrong, tokenization="canonical")
    turned = Vocabulary([b"a", b"b", b"ba", b""], 3, bpe=BPE(((0, 1, 2),), None, False))
    with pytest.raises(UnsupportedTokenizer, match=r"makes token 2 \(b'ba'\) of .*; it does not write their bytes"):
        tokenfst.compile("a", turned, tokenization="canonical")
    merge: Any
    for merge in ((0, 0), ("a", "b", "ab"), (0, 1, 2.0)):
        with pytest.raises(TypeError, match="a merge is the ids of"):
            BPE((merge,), None, False)
    number: Any = 5
    with pytest.raises(TypeError, match="a pattern of pieces is a text or None"):
        BPE(None, number, False)


def test_weights_are_refused_by_name() -> None:
    byte_level = Vocabulary([b"a", b"b", b""], 2, bpe=BPE((), None, False))
    with pytest.raises(WeightedLanguage, match="canonical tokenization takes no weights"):
        tokenfst.compile(parse("a").weighted(1.0) | "b", byte_level, tokenization="canonical")
