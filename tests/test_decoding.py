"""Tensors agree with the automaton, and whatever a model writes through the processor matches the pattern."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from arena_walks import check_everywhere
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import complete
from tokenizers import Tokenizer, decoders, models
from transformers import LlamaConfig, LlamaForCausalLM, LogitsProcessorList

import tokenfst
from automata import IncompleteOutput, TokenNotAllowed, VocabularyError
from decoding import (
    ConstraintLogitsProcessor,
    beam_search,
    best_of_n,
    bundled_model,
    generate,
    stream,
    vocabulary_of,
)
from decoding.arena import Arena
from tokenfst import Vocabulary
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.transitions import Csr

LETTERS = Vocabulary([b"a", b"b", b"ab", b"aba", b"\xc3", b"\xa9", b"", b"bb", b""], eos_ids=[6, 8])
PATTERNS = ["(ab)*", "a|b|abab", "(a|b){3}", "a*b*", "[^a]*", "b(ab|é)+a?", "aba|abb"]


@pytest.fixture(scope="module")
def bundled() -> tuple[Any, Any]:
    return bundled_model()


def sparse(automaton: FiniteTokenAutomaton) -> FiniteTokenAutomaton:
    """The same automaton with sparse transitions."""
    source, number, target = automaton.transitions.edges()
    offsets = np.searchsorted(source, np.arange(automaton.num_states + 1)).astype(np.int64)
    transitions = Csr(offsets, number, target, automaton.num_classes)
    tables = automaton.final, transitions, automaton.run_end, automaton.run_class
    return FiniteTokenAutomaton.from_transitions(automaton.vocabulary, automaton.start, *tables)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("shape", [lambda automaton: automaton, sparse], ids=["dense", "sparse"])
def test_an_arena_does_what_the_automaton_says(pattern: str, shape: Callable[[Any], Any]) -> None:
    automaton = shape(complete(pattern, LETTERS))
    assert len(check_everywhere(Arena.of([automaton], width=12), automaton)) == automaton.num_states


def adversary(width: int, seed: int) -> Any:
    """A model with random weights: whatever it writes, it writes against its will."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=width,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=256,
    )
    return LlamaForCausalLM(config).eval()


@pytest.mark.parametrize(
    "options",
    [
        {"do_sample": False},
        {"do_sample": True, "temperature": 2.0},
        {"do_sample": True, "top_k": 3, "top_p": 0.9},
        {"num_beams": 3, "do_sample": False},
        {"num_beams": 4, "do_sample": True, "num_return_sequences": 2},
        {"do_sample": True, "num_return_sequences": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_transformers_generate_writes_only_the_language(pattern: str, options: dict[str, Any]) -> None:
    # The logits are wider than the vocabulary, as in models that pad it.
    model, automaton = adversary(16, seed=3), complete(pattern, LETTERS)
    prompts = torch.tensor([[6, 6, 0], [6, 1, 2], [3, 1, 0]])
    processor = ConstraintLogitsProcessor(automaton, LETTERS, max_new_tokens=12)
    written = model.generate(
        input_ids=prompts,
        attention_mask=(prompts != 6).long(),
        logits_processor=LogitsProcessorList([processor]),
        max_new_tokens=12,
        eos_token_id=list(LETTERS.eos_ids),
        pad_token_id=6,
        **options,
    )
    assert len(written) == 3 * options.get("num_return_sequences", 1)
    for row in written[:, 3:].tolist():
        ends = [place for place, token in enumerate(row) if token in LETTERS.eos_ids]
        assert ends, "every text ends within the limit"
        assert re.fullmatch(pattern, LETTERS.detokenize(row[: ends[0]]).decode())


def test_a_limit_too_small_to_finish_is_an_error_with_the_minimum() -> None:
    automaton = complete("(aba){4}", LETTERS)
    with pytest.raises(IncompleteOutput, match="at least 5 tokens, and the limit is 4"):
        ConstraintLogitsProcessor(automaton, LETTERS, max_new_tokens=4)
    ConstraintLogitsProcessor(automaton, LETTERS, max_new_tokens=5)


def test_rows_that_were_led_astray_are_noticed() -> None:
    processor = ConstraintLogitsProcessor(complete("ab", LETTERS), LETTERS, max_new_tokens=None)
    prompt, scores = torch.tensor([[0, 1]]), torch.zeros(1, len(LETTERS))
    processor(prompt, scores)
    with pytest.raises(TokenNotAllowed):
        processor(torch.tensor([[0, 1, 1]]), scores)


def test_rows_that_change_places_or_go_back_keep_their_states() -> None:
    automaton = complete("aba|bb", LETTERS)
    processor, scores = ConstraintLogitsProcessor(automaton, LETTERS, max_new_tokens=None), torch.zeros(2, len(LETTERS))

    def allowed(rows: list[list[int]]) -> list[list[int]]:
        masked = processor(torch.tensor(rows), scores)
        return [torch.isfinite(row).nonzero().flatten().tolist() for row in masked]

    def expected(tokens: list[int]) -> list[int]:
        state = automaton.start
        for token in tokens:
            state = automaton.advance(state, token)
        found: list[int] = np.flatnonzero(automaton.mask(state)).tolist()
        return found

    assert allowed([[5], [5]]) == [expected([])] * 2
    assert allowed([[5, 0], [5, 1]]) == [expected([0]), expected([1])]
    assert allowed([[5, 1, 1], [5, 0, 1]]) == [expected([1, 1]), expected([0, 1])]
    assert allowed([[5, 1], [5, 1]]) == [expected([1]), expected([1])]


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.sampled_from([r"\d{4}-\d\d", r"(Yes|No)\.?", r'"[^"]{0,20}"', r"[a-zé]+( [a-z]+)*"]))
def test_whatever_the_bundled_model_writes_is_whole(seed: int, pattern: str) -> None:
    model, tokenizer = bundled_model()
    texts = generate(model, tokenizer, ["", "Name: "], pattern, max_new_tokens=24, temperature=1.5, seed=seed)
    assert all(re.fullmatch(pattern, text) for text in texts)


def test_seeds_repeat_and_leave_the_random_state_alone(bundled: tuple[Any, Any]) -> None:
    state = torch.random.get_rng_state()
    first = generate(*bundled, "Name: ", "[A-Z][a-z]+ [A-Z][a-z]+", seed=5)
    assert torch.equal(state, torch.random.get_rng_state())
    assert generate(*bundled, "Name: ", "[A-Z][a-z]+ [A-Z][a-z]+", seed=5) == first
    several = {generate(*bundled, "Name: ", "[A-Z][a-z]+ [A-Z][a-z]+", seed=seed)[0] for seed in range(8)}
    assert len(several) > 1


def test_seeds_repeat_in_threads(bundled: tuple[Any, Any]) -> None:
    def written(seed: int) -> str:
        (text,) = generate(*bundled, "Name: ", "[A-Z][a-z]{3,20}", max_new_tokens=12, seed=seed)
        return text

    state, alone = torch.random.get_rng_state(), [written(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(written, range(4))) == alone
    assert torch.equal(state, torch.random.get_rng_state())


def test_greedy_text_is_the_models_own_where_it_is_allowed(bundled: tuple[Any, Any]) -> None:
    model, tokenizer = bundled
    ids = tokenizer("Date: ", return_tensors="pt")["input_ids"]
    free = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False, pad_token_id=0)
    text = tokenizer.decode(free[0, ids.shape[1] :])
    automaton = complete(r"(.|\n)*", vocabulary_of(tokenizer))
    processor = LogitsProcessorList([ConstraintLogitsProcessor(automaton, tokenizer, max_new_tokens=None)])
    held = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=8,
        do_sample=False,
        pad_token_id=0,
        logits_processor=processor,
    )
    assert tokenizer.decode(held[0, ids.shape[1] :]) == text


def test_prompts_of_any_length_share_a_batch(bundled: tuple[Any, Any]) -> None:
    model, tokenizer = bundled
    prompts = ["", "Date: ", "A long prompt that goes on for quite a while, and then:\nDate: "]
    together = generate(model, tokenizer, prompts, r"\d{4}-\d\d-\d\d", temperature=0)
    alone = [generate(model, tokenizer, prompt, r"\d{4}-\d\d-\d\d", temperature=0)[0] for prompt in prompts]
    assert together == alone


def test_a_temperature_may_be_a_whole_number(bundled: tuple[Any, Any]) -> None:
    whole, fraction = (generate(*bundled, "Name: ", "[A-Z][a-z]+", temperature=each, seed=3) for each in (2, 2.0))
    assert whole == fraction


def test_beams_find_a_likelier_text_than_greed(bundled: tuple[Any, Any]) -> None:
    texts = generate(*bundled, "Name: ", "[A-Z][a-z]+", num_beams=4, temperature=0, num_return_sequences=4)
    assert len(set(texts)) == 4
    assert all(re.fullmatch("[A-Z][a-z]+", text) for text in texts)


def test_a_vocabulary_follows_the_changes_of_its_tokenizer(bundled: tuple[Any, Any]) -> None:
    tokenizer = copy.deepcopy(bundled[1])
    before = vocabulary_of(tokenizer)
    assert vocabulary_of(tokenizer) is before
    tokenizer.add_tokens(["<call>"])
    assert vocabulary_of(tokenizer).tokens == (*before.tokens, b"<call>")
    tokenizer.eos_token = "<call>"
    assert vocabulary_of(tokenizer).eos_ids == (len(before),)
    assert vocabulary_of(tokenizer) is vocabulary_of(tokenizer)
    # A token that becomes special writes nothing any more.
    word = next(number for number, token in enumerate(before.tokens) if len(token) > 3)
    tokenizer.add_tokens([tokenizer.convert_ids_to_tokens(word)], special_tokens=True)
    assert vocabulary_of(tokenizer).tokens[word] == b""
    backend = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    backend.decoder = decoders.ByteLevel()
    assert vocabulary_of(backend).tokens == (b"a", b"b", b"ab")
    backend.add_tokens(["zz"])
    backend.add_special_tokens(["b"])
    assert vocabulary_of(backend).tokens == (b"a", b"", b"ab", b"zz")


def test_a_model_without_logits_for_the_last_token(bundled: tuple[Any, Any]) -> None:
    model, tokenizer = bundled[0], copy.deepcopy(bundled[1])
    tokenizer.add_tokens(["<image>"], special_tokens=True)
    vocabulary, pattern = vocabulary_of(tokenizer, model), "[A-Z][a-z]+"
    assert len(vocabulary) == model.config.vocab_size < len(vocabulary_of(tokenizer))
    assert vocabulary_of(tokenizer, model) is vocabulary
    assert vocabulary_of(vocabulary_of(tokenizer), model) is vocabulary_of(tokenizer)

    def written(tokenizer: Any, constraint: Any) -> list[Any]:
        arguments = model, tokenizer, "Name: ", constraint
        pieces = stream(*arguments, max_new_tokens=20, temperature=0)
        return [
            generate(*arguments, max_new_tokens=20, temperature=0),
            "".join(piece.text for piece in pieces),
            beam_search(*arguments, max_new_tokens=20),
            best_of_n(*arguments, max_new_tokens=20, n=2, seed=1),
        ]

    expected = written(bundled[1], pattern)
    assert written(tokenizer, pattern) == written(tokenizer, tokenfst.compile(pattern, vocabulary)) == expected
    with pytest.raises(ValueError, match=r"vocabulary_of\(tokenizer, model\)"):
        generate(model, vocabulary_of(tokenizer), [[1]], pattern)


def test_no_text_has_the_padding_of_logits(bundled: tuple[Any, Any]) -> None:
    model, tokenizer = copy.deepcopy(bundled[0]), bundled[1]
    size = len(tokenizer)
    torch.manual_seed(0)
    model.resize_token_embeddings(size + 64)
    prompts: Any = [tokenizer("Name: ")["input_ids"]] * 2
    hot: dict[str, Any] = {"temperature": 3.0, "max_new_tokens": 20}
    for seed in range(3):
        for constraint in (["[a-z]{3}", None], [None, None]):
            generate(model, tokenizer, prompts, constraint, seed=seed, **hot)
        free = stream(model, tokenizer, prompts[0], None, seed=seed, **hot)
        free.result()
        assert max(free.tokens) < size


def test_an_automaton_for_another_vocabulary_is_refused(bundled: tuple[Any, Any]) -> None:
    with pytest.raises(VocabularyError, match="another vocabulary"):
        generate(*bundled, "", complete("a", LETTERS))
