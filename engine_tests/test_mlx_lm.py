"""MLX-LM with the bundled model: whatever it samples, its texts keep to their constraints.

What is written is checked by other programs: Python's `re`, `json` and `jsonschema`.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import mlx.core as mx
import numpy as np
import pytest
from mlx_lm import batch_generate, generate, load, stream_generate
from mlx_lm.generate import BatchGenerator
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.sample_utils import make_logits_processors, make_sampler

import constraints
import tokenfst
from automata import IncompleteOutput, LimitExceeded, Limits, TokenNotAllowed, VocabularyError
from decoding import vocabulary_of
from serving.mlx_lm import MLXProcessor

PROMPT = "A person as JSON: "
DATE = r"\d{4}-[01]\d-[0-3]\d"
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
NESTED = constraints.grammar('start: "a" | "(" start ")"', syntax="lark")
SAMPLERS: list[dict[str, Any]] = [
    {"temp": 0.0},
    {"temp": 1.0},
    {"temp": 3.0},
    {"temp": 1.0, "top_p": 0.5},
    {"temp": 1.0, "top_k": 3},
    {"temp": 1.0, "min_p": 0.3, "min_tokens_to_keep": 2},
    {"temp": 1.0, "xtc_probability": 0.5, "xtc_threshold": 0.05},
]


@pytest.fixture(scope="module")
def loaded() -> tuple[Any, Any]:
    """The model and its tokenizer."""
    return opened()


def opened() -> tuple[Any, Any]:
    spec = find_spec("decoding")
    assert spec is not None
    model, tokenizer = load(str(Path(str(spec.origin)).parent / "model"))[:2]
    return model, tokenizer


def write(loaded: tuple[Any, Any], constraint: Any, seed: int, **options: Any) -> str:
    """A whole text, which ended by itself."""
    mx.random.seed(seed)
    model, tokenizer = loaded
    options = {"max_tokens": 60, "prompt": PROMPT, "sampler": make_sampler(temp=1.0)} | options
    processor = MLXProcessor(constraint, tokenizer, max_tokens=options["max_tokens"])
    parts = list(stream_generate(model, tokenizer, logits_processors=[processor], **options))
    assert parts[-1].finish_reason == "stop"
    processor.check()
    return "".join(part.text for part in parts)


def right(text: str, pattern: str) -> bool:
    return re.fullmatch(pattern, text) is not None


# Texts


@pytest.mark.parametrize("options", SAMPLERS, ids=str)
def test_every_sampler_keeps_to_patterns_and_schemas(loaded: Any, options: dict[str, Any]) -> None:
    schema, sampler = constraints.json_schema(PERSON), make_sampler(**options)
    for seed in range(6):
        for pattern in (DATE, "(yes|no)( indeed){0,2}", "[a-c]{3,5}é?"):
            assert right(write(loaded, pattern, seed, sampler=sampler), pattern)
        jsonschema.validate(json.loads(write(loaded, schema, seed, sampler=sampler, max_tokens=90)), PERSON)


def test_the_model_would_not_have_kept_to_it(loaded: Any) -> None:
    assert not any(right(generate(*loaded, PROMPT, max_tokens=20), DATE) for _ in range(3))


def test_grammars(loaded: Any) -> None:
    for seed in range(12):
        text = write(loaded, NESTED, seed, max_tokens=20)
        depth = text.count("(")
        assert text == "(" * depth + "a" + ")" * depth


@pytest.mark.parametrize("limit", [9, 12, 20])
def test_texts_end_within_their_limit(loaded: Any, limit: int) -> None:
    for seed in range(12):
        assert right(write(loaded, "[a-z][a-z ]*!", seed, max_tokens=limit), "[a-z][a-z ]*!")


def test_without_a_limit_a_text_is_cut_off(loaded: Any) -> None:
    model, tokenizer = loaded
    text = generate(model, tokenizer, PROMPT, max_tokens=5, logits_processors=[MLXProcessor("[a-z]{99}", tokenizer)])
    assert right(text, "[a-z]{5,98}")


def test_other_processors_beside(loaded: Any) -> None:
    model, tokenizer = loaded
    others = make_logits_processors(logit_bias={5: 20.0, 0: 20.0}, repetition_penalty=1.5)
    for seed in range(6):
        mx.random.seed(seed)
        processors = [*others, MLXProcessor(DATE, tokenizer)]
        text = generate(model, tokenizer, PROMPT, logits_processors=processors, sampler=make_sampler(temp=1.0))
        assert right(text, DATE)


def test_long_prompts_and_prompt_caches(loaded: Any) -> None:
    model, tokenizer = loaded
    for seed in range(6):
        options: dict[str, Any] = {"prompt": PROMPT * 9, "prefill_step_size": 16}
        assert right(write(loaded, DATE, seed, **options), DATE)
        assert right(write(loaded, DATE, seed, kv_bits=8, kv_group_size=32, quantized_kv_start=0), DATE)
        cache = make_prompt_cache(model)
        for prompt in (PROMPT, " and ", tokenizer.encode("x")):
            assert right(write(loaded, DATE, seed, prompt=prompt, prompt_cache=cache), DATE)


@pytest.mark.parametrize("drafts", [1, 3, 8])
def test_drafts_are_taken_back(loaded: Any, drafts: int) -> None:
    model, _ = loaded
    schema, greedy = constraints.json_schema(PERSON), make_sampler(temp=0.0)
    for constraint in (DATE, schema, "[a-c]{3,5}"):
        for seed in range(4):
            options: dict[str, Any] = {"draft_model": model, "num_draft_tokens": drafts, "max_tokens": 90}
            text = write(loaded, constraint, seed, **options)
            if constraint is schema:
                jsonschema.validate(json.loads(text), PERSON)
            else:
                assert right(text, str(constraint))
            plain = write(loaded, constraint, seed, sampler=greedy, max_tokens=90)
            assert write(loaded, constraint, seed, sampler=greedy, **options) == plain


def test_drafts_of_another_mind(loaded: Any) -> None:
    """A draft model that is nearly never right: its weights are of another scale."""
    model, tokenizer = loaded
    other, _ = opened()
    for layer in other.model.layers:
        layer.mlp.down_proj.weight = -3 * layer.mlp.down_proj.weight
    for seed in range(8):
        mx.random.seed(seed)
        processor = MLXProcessor(DATE, tokenizer, max_tokens=30)
        options: dict[str, Any] = {"draft_model": other, "num_draft_tokens": 4, "sampler": make_sampler(temp=1.0)}
        parts = list(stream_generate(model, tokenizer, PROMPT, max_tokens=30, logits_processors=[processor], **options))
        assert right("".join(part.text for part in parts), DATE)
        assert not all(part.from_draft for part in parts)


# Batches


def batch(loaded: Any, processors: list[Any], prompts: list[str], late: int = 0, limit: int = 60) -> list[str]:
    """The texts of a batch, the last `late` of which come when the others have begun."""
    model, tokenizer = loaded
    ids = [tokenizer.encode(prompt) for prompt in prompts]
    stop = [[token] for token in tokenizer.eos_token_ids]
    batches = BatchGenerator(model, stop_tokens=stop, sampler=make_sampler(temp=1.0), prefill_batch_size=3)
    first = len(ids) - late
    uids = batches.insert(ids[:first], [limit] * first, logits_processors=processors[:first])
    written: dict[int, list[int]] = {uid: [] for uid in uids}
    step = 0
    while responses := batches.next_generated():
        for response in responses:
            if response.finish_reason != "stop":
                written[response.uid].append(response.token)
        step += 1
        if step == 4 and late:
            more = batches.insert(ids[first:], [limit] * late, logits_processors=processors[first:])
            uids += more
            written |= {uid: [] for uid in more}
    batches.close()
    return [tokenizer.decode(written[uid]) for uid in uids]


def test_each_sequence_of_a_batch_keeps_to_its_own(loaded: Any) -> None:
    _, tokenizer = loaded
    patterns = [DATE, "[a-c]{3,5}", None, "(yes|no)( indeed){0,2}", " [a-z ]{2,9}", DATE, "x"]
    prompts = [PROMPT, "a", "b" * 40, PROMPT * 3, "c", PROMPT, "d"]
    automata = [pattern and tokenfst.compile(pattern, vocabulary_of(tokenizer._tokenizer)) for pattern in patterns]
    for seed in range(8):
        mx.random.seed(seed)
        processors: list[Any] = [[MLXProcessor(each, tokenizer, max_tokens=60)] if each else [] for each in automata]
        texts = batch(loaded, processors, prompts, late=seed % 4)
        assert all(right(text, pattern) for text, pattern in zip(texts, patterns, strict=True) if pattern), texts


def test_one_that_exceeds_its_limits_disturbs_no_other(loaded: Any) -> None:
    _, tokenizer = loaded
    vocabulary = vocabulary_of(tokenizer._tokenizer)
    small = tokenfst.compile(NESTED, vocabulary, limits=Limits(memory=3 << 13))
    bias = make_logits_processors(logit_bias={vocabulary.tokens.index(b"("): 100.0})
    doomed = MLXProcessor(small, tokenizer)
    processors: list[Any] = [[MLXProcessor(DATE, tokenizer)], [*bias, doomed], [MLXProcessor("[ab]{4}", tokenizer)]]
    texts = batch(loaded, processors, [PROMPT] * 3, limit=300)
    assert right(texts[0], DATE)
    assert right(texts[2], "[ab]{4}")
    assert texts[1].strip("(") == ""
    with pytest.raises(LimitExceeded):
        doomed.check()


def test_one_processor_for_several_sequences_is_refused(loaded: Any) -> None:
    model, tokenizer = loaded
    prompts = [tokenizer.encode(prompt) for prompt in ("one", "another")]
    with pytest.raises((ValueError, TokenNotAllowed)):
        batch_generate(model, tokenizer, prompts, logits_processors=[MLXProcessor(DATE, tokenizer)])
    with pytest.raises(ValueError, match="one sequence, not 2"):
        MLXProcessor(DATE, tokenizer)(mx.array([5]), mx.zeros((2, 2048)))


# Masks


@pytest.mark.parametrize("kind", [mx.float16, mx.bfloat16, mx.float32])
def test_masks_are_those_of_the_automaton(loaded: Any, kind: Any) -> None:
    _, tokenizer = loaded
    vocabulary, draw = vocabulary_of(tokenizer._tokenizer), np.random.default_rng(0)
    automaton = tokenfst.compile("(ab|b)*c", vocabulary)
    width = len(vocabulary) + 70
    processor, prompt, written = MLXProcessor(automaton, tokenizer), [5, 6, 7], list[int]()
    for _ in range(100):
        state = automaton.start
        for token in written:
            state = automaton.advance(state, token)
        allowed = np.concatenate([automaton.mask(state), np.zeros(70, np.bool_)])
        logits = mx.array(draw.standard_normal((1, width))).astype(kind)
        masked = processor(mx.array(prompt + written), logits)
        assert masked.dtype == kind
        found, before = (np.array(each.astype(mx.float32))[0] for each in (masked, logits))
        assert np.array_equal(found[allowed], before[allowed])
        assert np.isneginf(found[~allowed]).all()
        tokens = [token for token in np.flatnonzero(allowed).tolist() if token not in vocabulary.eos_ids]
        if not tokens or draw.random() < 0.3:
            del written[int(draw.integers(0, len(written) + 1)) :]
        else:
            written.append(int(draw.choice(tokens)))


def test_further_ends_of_the_tokenizer(loaded: Any) -> None:
    _, tokenizer = loaded
    vocabulary = vocabulary_of(tokenizer._tokenizer)
    newline, a = vocabulary.tokens.index(b"\n"), vocabulary.tokens.index(b"a")
    tokenizer.add_eos_token(str(newline))
    try:
        processor = MLXProcessor("a\n?", tokenizer)
        for written, ends in (([], False), ([a], True), ([a, newline], True)):
            masked = np.array(processor(mx.array([5, *written]), mx.zeros((1, 2048))))[0]
            assert bool(np.isfinite(masked[newline])) == bool(np.isfinite(masked[0])) == ends
    finally:
        tokenizer._eos_token_ids.discard(newline)


def test_mistakes_are_said(loaded: Any) -> None:
    _, tokenizer = loaded
    with pytest.raises(IncompleteOutput, match="at least 7 tokens, and the limit is 3"):
        MLXProcessor("(!!){3}", tokenizer, max_tokens=3)
    with pytest.raises(VocabularyError, match="another vocabulary"):
        MLXProcessor(tokenfst.compile("a", tokenfst.Vocabulary([b"a", b""], 1)), tokenizer)
    with pytest.raises(ValueError, match="do not cover"):
        MLXProcessor("a", tokenizer)(mx.array([5]), mx.zeros((1, 100)))
    with pytest.raises(VocabularyError, match="another model's"):
        MLXProcessor("a", tokenizer)(mx.array([5]), mx.zeros((1, 10_000)))
    processor = MLXProcessor("a", tokenizer)
    processor(mx.array([5]), mx.zeros((1, 2048)))
    with pytest.raises(ValueError, match="another prompt"):
        processor(mx.array([6]), mx.zeros((1, 2048)))
    with pytest.raises(TokenNotAllowed, match="token 7, number 1 of the text"):
        processor(mx.array([5, 7]), mx.zeros((1, 2048)))
    late: Future[Any] = Future()
    late.set_exception(LimitExceeded("too many states"))
    processor = MLXProcessor(late, tokenizer)
    processor(mx.array([5]), mx.zeros((1, 2048)))
    with pytest.raises(LimitExceeded):
        processor.check()
