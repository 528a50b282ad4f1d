"""Automata of canonical tokenization in use: files, bitmasks, batches, generation."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from encoder_cases import ANYTHING, Real, bundled, tekken, trained
from transformers import LogitsProcessorList

import tokenfst
from automata import (
    AutomatonFileError,
    IncompleteOutput,
    LimitExceeded,
    TokenNotAllowed,
)
from automata.limits import Limits
from constraints.paper import PATTERNS, SAMPLES
from decoding import ConstraintLogitsProcessor, bundled_model, generate
from tokenfst import BPE, Vocabulary, from_transformers


@pytest.fixture(scope="module", params=[tekken, trained, bundled], ids=lambda make: make.__name__)
def real(request: pytest.FixtureRequest) -> Real:
    found: Real = request.param()
    return found


# Terminals, files, limits


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
    model: Any
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
