"""Canonical tokenization against real encoders, and what is done with its automata: files, tensors, generation.

The encoders are Mistral's Tekken (131,072 tokens, mistral-common's own code) and two of tokenizers: GPT-2's
pre-tokenizer over merges that are trained here, and the bundled model's tokenizer, which has Llama 3's.
"""

from __future__ import annotations

import base64
import json
import random
import re
import sysconfig
import unicodedata
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from canonical_walks import finish
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import LogitsProcessorList

import tokenfst
from automata import (
    AutomatonFileError,
    EmptyLanguage,
    IncompleteOutput,
    LimitExceeded,
    TokenNotAllowed,
    UnsupportedTokenizer,
    VocabularyError,
    concat,
    parse,
)
from automata.expressions import extensions
from automata.limits import Limits
from automata.queries import random_strings
from constraints.paper import PATTERNS, SAMPLES
from decoding import ConstraintLogitsProcessor, bundled_model, generate
from tokenfst import BPE, NotBPE, Vocabulary, from_tekken, from_tiktoken, from_transformers
from tokenfst.vocabulary.bpe import GPT2_PATTERN

ANYTHING = r"(.|\n)*"


class Real(NamedTuple):
    vocabulary: Vocabulary
    encode: Callable[[str], list[int]]


def tekken() -> Real:
    path = str(files("mistral_common") / "data" / "tekken_240911.json")
    encoder = Tekkenizer.from_file(path)
    return Real(from_tekken(path), lambda text: encoder.encode(text, bos=False, eos=False))


def trained() -> Real:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=3000,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(source_texts(400_000), trainer)
    return of_tokenizers(tokenizer)


def bundled() -> Real:
    return of_tokenizers(Tokenizer.from_file(str(files("decoding") / "model" / "tokenizer.json")))


def of_tokenizers(tokenizer: Tokenizer) -> Real:
    return Real(
        from_transformers(tokenizer, eos_ids=[0]), lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    )


def source_texts(size: int) -> list[str]:
    """Python files that are installed everywhere that Python is."""
    texts: list[str] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[a-i]*.py")):
        texts.append(path.read_text("utf-8"))
        if sum(map(len, texts)) > size:
            break
    return texts


@cache
def mixed_texts() -> list[str]:
    """More than a million bytes: source code, every assigned character, numbers, JSON, white space, contractions."""
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
    return request.param()


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
    automaton = tokenfst.compile(PATTERNS[name], real.vocabulary, tokenization="canonical")
    for seed in range(5):
        generator, state, tokens = random.Random(seed), automaton.start, []
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


def test_files(tmp_path: Path) -> None:
    real = bundled()
    automaton = tokenfst.compile(PATTERNS["e-mail"], real.vocabulary, tokenization="canonical")
    automaton.save(tmp_path / "a.safetensors")
    loaded = tokenfst.load_automaton(tmp_path / "a.safetensors", real.vocabulary)
    state = other = automaton.start
    for token in real.encode(SAMPLES["e-mail"]):
        assert np.array_equal(automaton.mask(state), loaded.mask(other))
        assert automaton.min_tokens(state) == loaded.min_tokens(other)
        state, other = automaton.advance(state, token), loaded.advance(other, token)
    assert loaded.is_final(other)
    bpe = real.vocabulary.bpe
    assert isinstance(bpe, BPE)
    changed = Vocabulary(
        real.vocabulary.tokens,
        real.vocabulary.eos_ids,
        special_tokens=real.vocabulary.special_tokens,
        bpe=BPE(bpe.merges, None, bpe.whole_pieces),
    )
    with pytest.raises(AutomatonFileError, match="encoder"):
        tokenfst.load_automaton(tmp_path / "a.safetensors", changed)
    data = bytearray((tmp_path / "a.safetensors").read_bytes())
    data[-40:] = b"\x7f" * 40
    (tmp_path / "b.safetensors").write_bytes(bytes(data))
    with pytest.raises(AutomatonFileError):
        tokenfst.load_automaton(tmp_path / "b.safetensors", real.vocabulary)


def test_bitmasks_and_refusals() -> None:
    real = bundled()
    automaton = tokenfst.compile("[a-z ]+", real.vocabulary, tokenization="canonical")
    tokens = real.encode("hello there")
    state = automaton.advance(automaton.start, tokens[0])
    words = np.full(-(-len(real.vocabulary) // 32) + 2, -1, np.int32)
    automaton.fill_bitmask(state, words)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
    assert np.array_equal(bits[: len(real.vocabulary)], automaton.mask(state))
    assert not bits[len(real.vocabulary) :].any()
    for token in np.flatnonzero(~automaton.mask(state)).tolist()[:50]:
        with pytest.raises(TokenNotAllowed):
            automaton.advance(state, token)
    assert automaton.mask(automaton.end_state).sum() == len(real.vocabulary.eos_ids)
    assert automaton.min_tokens(automaton.end_state) == 0
    with pytest.raises(ValueError, match="words"):
        automaton.fill_bitmask(state, words[:3])


def test_limits() -> None:
    with pytest.raises(LimitExceeded, match="states"):
        tokenfst.compile(ANYTHING, bundled().vocabulary, tokenization="canonical", limits=Limits(states=100))


# Generation


def test_masks_of_a_batch_are_the_automaton_s(real: Real) -> None:
    """Canonical automata are masked on the host: the rows of a batch, in logits wider than the vocabulary."""
    automaton = tokenfst.compile(PATTERNS["quoted text"], real.vocabulary, tokenization="canonical")
    size, generator = len(real.vocabulary), random.Random(0)
    processor = ConstraintLogitsProcessor(automaton, real.vocabulary, max_new_tokens=None)
    states, rows = [automaton.start] * 3, torch.zeros(3, 1, dtype=torch.int64)
    for _ in range(10):
        masks = processor(rows, torch.zeros(3, size + 5)).isfinite().numpy()
        assert not masks[:, size:].any()
        tokens = []
        for row, state in enumerate(states):
            mask = automaton.mask(state)
            assert np.array_equal(masks[row, :size], mask)
            tokens.append(int(generator.choice(np.flatnonzero(mask))))
        refused = [int(generator.choice(np.flatnonzero(~masks[row, :size]))) for row in range(3)]
        if any(state != automaton.end_state for state in states):
            astray = torch.cat([rows, torch.tensor([[tokens[0]], [refused[1]], [tokens[2]]])], 1)
            only_end = processor(astray, torch.zeros(3, size + 5)).isfinite()[1]
            assert only_end.nonzero().flatten().tolist() == sorted(real.vocabulary.eos_ids)
        rows = torch.cat([rows, torch.tensor(tokens)[:, None]], 1)
        states = [automaton.advance(state, token) for state, token in zip(states, tokens, strict=True)]


def test_budgets_of_a_batch() -> None:
    """A token is allowed exactly if what is promised after it fits."""
    real = bundled()
    automaton = tokenfst.compile(PATTERNS["ISO date-time"], real.vocabulary, tokenization="canonical")
    state, row, generator = automaton.start, [0], random.Random(0)
    while state != automaton.end_state:
        allowed = np.flatnonzero(automaton.mask(state))
        behind = {token: automaton.min_tokens(automaton.advance(state, token)) for token in allowed.tolist()}
        for remaining in range(automaton.min_tokens(state), automaton.min_tokens(state) + 3):
            limit = remaining + len(row) - 1
            processor = ConstraintLogitsProcessor(automaton, real.vocabulary, max_new_tokens=limit)
            scores = torch.zeros(1, len(real.vocabulary))
            processor(torch.tensor([[0]]), scores)
            found = processor(torch.tensor([row]), scores)[0].isfinite().nonzero().flatten().tolist()
            assert set(found) == {token for token, least in behind.items() if least < remaining}
        token = generator.choice(list(behind))
        row.append(token)
        state = automaton.advance(state, token)


def test_generated_tokens_are_the_encoder_s() -> None:
    model, tokenizer = bundled_model()
    vocabulary = from_transformers(tokenizer)
    automaton = tokenfst.compile(PATTERNS["quoted text"], vocabulary, tokenization="canonical")
    prompt = tokenizer("A character:", return_tensors="pt")
    processor = ConstraintLogitsProcessor(automaton, vocabulary, max_new_tokens=20)
    torch.manual_seed(0)
    written = model.generate(
        **prompt,
        logits_processor=LogitsProcessorList([processor]),
        max_new_tokens=20,
        do_sample=True,
        num_return_sequences=3,
        pad_token_id=tokenizer.pad_token_id,
    )
    for row in written[:, prompt["input_ids"].shape[1] :].tolist():
        tokens = row[: row.index(vocabulary.eos_ids[0])]
        text = vocabulary.detokenize(tokens).decode()
        assert re.fullmatch(PATTERNS["quoted text"], text)
        assert tokenizer(text, add_special_tokens=False)["input_ids"] == tokens
    assert re.fullmatch(PATTERNS["quoted text"], generate(model, tokenizer, "", automaton, max_new_tokens=9, seed=1)[0])
    with pytest.raises(IncompleteOutput):
        generate(model, tokenizer, "", automaton, max_new_tokens=1)


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
    with pytest.raises(ValueError, match="'any' or 'canonical'"):
        tokenfst.compile("a", vocabulary, tokenization="other")  # type: ignore[call-overload]
