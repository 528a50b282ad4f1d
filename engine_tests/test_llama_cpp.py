"""llama-cpp-python with the bundled model as a GGUF file: whatever it samples, its texts keep to their constraints.

What is written is checked by other programs: Python's `re`, `json` and `jsonschema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from gguf_files import LONG, write_gguf
from llama_cpp import Llama, LlamaRAMCache, LogitsProcessorList
from llama_cpp.llama_speculative import LlamaDraftModel, LlamaPromptLookupDecoding
from llama_cpp.llama_tokenizer import LlamaHFTokenizer

import constraints
import tokenfst
from automata import IncompleteOutput, LimitExceeded, Limits, TokenNotAllowed, UnsupportedTokenizer, VocabularyError
from decoding import bundled_model, vocabulary_of
from serving.llama_cpp import LlamaProcessor, llama_vocabulary

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
    {"temperature": 0.0},
    {"temperature": 1.0},
    {"temperature": 3.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0},
    {"temperature": 1.0, "top_k": 3, "top_p": 0.5},
    {"temperature": 1.0, "typical_p": 0.3},
    {"temperature": 1.0, "min_p": 0.3, "repeat_penalty": 1.5, "frequency_penalty": 1.0, "presence_penalty": 1.0},
    {"temperature": 1.0, "mirostat_mode": 1},
    {"temperature": 1.0, "mirostat_mode": 2},
    {"temperature": -1.0},
]


class Guesses(LlamaDraftModel):
    """Drafts of random tokens, and the right ones now and then."""

    def __init__(self, width: int) -> None:
        self.width, self.draw = width, np.random.default_rng(1)
        self.lengths: list[int] = []

    def __call__(self, input_ids: Any, /, **options: Any) -> Any:
        number = int(self.draw.integers(0, 6))
        self.lengths.append(number)
        return self.draw.integers(0, self.width, number).astype(np.intc)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("gguf")
    paths = {kind: folder / f"{kind}.gguf" for kind in ("bundled", "sentencepiece")}
    for kind, path in paths.items():
        write_gguf(path, kind)
    return paths


def opened(path: Path, **options: Any) -> Llama:
    return Llama(str(path), n_ctx=512, n_threads=1, verbose=False, **options)


@pytest.fixture(scope="module", params=["bundled", "sentencepiece"])
def llama(request: pytest.FixtureRequest, files: dict[str, Path]) -> Iterator[Llama]:
    model = opened(files[request.param])
    yield model
    model.close()


@pytest.fixture(scope="module")
def bundled(files: dict[str, Path]) -> Iterator[Llama]:
    model = opened(files["bundled"])
    yield model
    model.close()


def write(llama: Llama, constraint: Any, *, max_tokens: int = 60, prompt: Any = PROMPT, **options: Any) -> str:
    """A whole text, which ended by itself."""
    processor = LlamaProcessor(constraint, llama, max_tokens=max_tokens)
    processors = LogitsProcessorList([processor])
    answer: Any = llama.create_completion(prompt, max_tokens=max_tokens, logits_processor=processors, **options)
    processor.check()
    (choice,) = answer["choices"]
    assert choice["finish_reason"] == "stop", choice
    return str(choice["text"])


# Vocabularies


def test_the_vocabulary_of_the_file_is_that_of_the_tokenizer(bundled: Llama) -> None:
    found, expected = llama_vocabulary(bundled), vocabulary_of(bundled_model()[1])
    assert found.tokens == expected.tokens
    assert (found.eos_ids, found.special_tokens) == (expected.eos_ids, expected.special_tokens)
    assert llama_vocabulary(bundled) is found


def test_every_kind_of_token_of_sentencepiece(files: dict[str, Path]) -> None:
    llama = opened(files["sentencepiece"])
    vocabulary = llama_vocabulary(llama)
    assert vocabulary.eos_ids == (2, 3)
    assert vocabulary.special_tokens == {"<s>": 1, "</s>": 2, "<|im_end|>": 3}
    assert vocabulary.tokens[:5] == (b"", b"", b"", b"", b"<tool>")
    assert list(vocabulary.tokens[5:261]) == [bytes([byte]) for byte in range(256)]
    assert {b" ", b"  ", b" a", "né".encode(), "日本".encode(), b"   \n"} <= set(vocabulary.tokens)
    # llama-cpp-python writes nothing for so long a token.
    assert LONG.encode() not in vocabulary.tokens
    texts = ["né 日本 {\"", "  a<tool>!"]  # fmt: skip
    for text in texts:
        ids = llama.tokenize(text.encode(), add_bos=False)
        assert llama.detokenize(ids) == vocabulary.detokenize(ids)


def test_a_tokenizer_in_python_is_refused(files: dict[str, Path]) -> None:
    tokenizer = bundled_model()[1]
    llama = opened(files["bundled"], tokenizer=LlamaHFTokenizer(tokenizer))
    with pytest.raises(UnsupportedTokenizer, match="LlamaHFTokenizer"):
        LlamaProcessor("a", llama)
    processor = LlamaProcessor(DATE, llama, vocabulary=vocabulary_of(tokenizer))
    answer: Any = llama.create_completion(PROMPT, logits_processor=LogitsProcessorList([processor]))
    assert re.fullmatch(DATE, answer["choices"][0]["text"])


# Texts


@pytest.mark.parametrize("options", SAMPLERS, ids=str)
def test_every_sampler_keeps_to_patterns_and_schemas(llama: Llama, options: dict[str, Any]) -> None:
    schema = constraints.json_schema(PERSON)
    for seed in range(12):
        for pattern in (DATE, " (yes|no)( indeed){0,2}", "[a-c]{3,5}é?"):
            assert re.fullmatch(pattern, write(llama, pattern, seed=seed, **options))
        jsonschema.validate(json.loads(write(llama, schema, seed=seed, max_tokens=90, **options)), PERSON)


def test_grammars(llama: Llama) -> None:
    for seed in range(12):
        text = write(llama, NESTED, seed=seed, max_tokens=20)
        depth = text.count("(")
        assert text == "(" * depth + "a" + ")" * depth


def test_the_model_would_not_have_kept_to_it(bundled: Llama) -> None:
    for seed in range(12):
        answer: Any = bundled.create_completion(PROMPT, max_tokens=20, seed=seed)
        assert not re.fullmatch(DATE, answer["choices"][0]["text"])


def test_chats_and_streams(bundled: Llama) -> None:
    for seed in range(6):
        processors = LogitsProcessorList([LlamaProcessor(DATE, bundled)])
        message: Any = {"role": "user", "content": "When?"}
        answer: Any = bundled.create_chat_completion([message], logits_processor=processors, seed=seed)
        assert re.fullmatch(DATE, answer["choices"][0]["message"]["content"])
        processors = LogitsProcessorList([LlamaProcessor(DATE, bundled)])
        stream: Any = bundled.create_completion(PROMPT, stream=True, logits_processor=processors, seed=seed)
        assert re.fullmatch(DATE, "".join(part["choices"][0]["text"] for part in stream))


def test_caches_of_prompts_and_probabilities(files: dict[str, Path]) -> None:
    llama = opened(files["bundled"], logits_all=True)
    llama.set_cache(LlamaRAMCache())
    for seed in range(6):
        for prompt in (PROMPT, PROMPT + "and", PROMPT):
            assert re.fullmatch(DATE, write(llama, DATE, prompt=prompt, seed=seed, logprobs=2))


@pytest.mark.parametrize("limit", [9, 12, 20])
def test_texts_end_within_their_limit(llama: Llama, limit: int) -> None:
    for seed in range(12):
        text = write(llama, "[a-z ]*!", seed=seed, max_tokens=limit, temperature=2.0)
        assert re.fullmatch("[a-z ]*!", text)


def test_texts_end_within_the_context(files: dict[str, Path]) -> None:
    llama = Llama(str(files["bundled"]), n_ctx=64, n_threads=1, verbose=False)
    prompt = list(range(5, 45))
    for seed in range(6):
        processor = LlamaProcessor("[a-z ]*!", llama)
        processors = LogitsProcessorList([processor])
        answer: Any = llama.create_completion(
            prompt, max_tokens=None, logits_processor=processors, seed=seed, temperature=2.0
        )
        assert re.fullmatch("[a-z ]*!", answer["choices"][0]["text"])
        assert processor.max_tokens == 24


def test_another_vocabulary_ends_at_all_ends_of_the_model(files: dict[str, Path]) -> None:
    llama = opened(files["sentencepiece"])
    vocabulary = tokenfst.Vocabulary(llama_vocabulary(llama).tokens, 2)
    processor = LlamaProcessor("ab?", llama, vocabulary=vocabulary)
    scores = np.zeros(llama.n_vocab(), np.float32)
    a, b = ([token for token, each in enumerate(vocabulary.tokens) if each == text] for text in (b"a", b"b"))
    for written, expected in (([], a), (a[:1], [2, 3, *b]), ([a[0], b[1]], [2, 3]), (a[1:], [2, 3, *b])):
        masked = processor(np.array([1, *written], np.intc), scores.copy())
        assert np.flatnonzero(np.isfinite(masked)).tolist() == sorted(expected)


# Speculation, and loops of one's own


@pytest.mark.parametrize("draft", ["lookup", "guesses"])
def test_drafts_are_no_part_of_the_text(files: dict[str, Path], draft: str) -> None:
    plain = opened(files["bundled"])
    guesses = Guesses(plain.n_vocab())
    drafting = LlamaPromptLookupDecoding(2, 5) if draft == "lookup" else guesses
    llama = opened(files["bundled"], draft_model=drafting)
    prompt = '{"a": 1, "a": 1, "a": 1, '
    person = constraints.json_schema(PERSON)
    for constraint, pattern in ((r'("a": 1, )*"b"', None), (DATE, DATE), (person, None)):
        for seed in range(6):
            options: dict[str, Any] = {"prompt": prompt, "seed": seed, "max_tokens": 90}
            text = write(llama, constraint, temperature=2.0, **options)
            if pattern:
                assert re.fullmatch(pattern, text)
            elif constraint is person:
                jsonschema.validate(json.loads(text), PERSON)
            else:
                assert isinstance(constraint, str)
                assert re.fullmatch(constraint, text)
            # What is greedily written does not depend on drafts.
            greedy = write(llama, constraint, temperature=0.0, **options)
            assert greedy == write(plain, constraint, temperature=0.0, **options)
    assert draft == "lookup" or max(guesses.lengths) == 5


def test_tokens_are_taken_back(bundled: Llama) -> None:
    vocabulary = llama_vocabulary(bundled)
    automaton = tokenfst.compile("(ab|b)*c", vocabulary)
    processor, draw = LlamaProcessor(automaton, bundled), np.random.default_rng(0)
    prompt, written = [5, 6, 7], list[int]()
    for _ in range(200):
        state = automaton.start
        for token in written:
            state = automaton.advance(state, token)
        allowed = automaton.mask(state)
        scores = draw.standard_normal(bundled.n_vocab()).astype(np.float32)
        masked = processor(np.array(prompt + written, np.intc), scores.copy())
        assert np.array_equal(masked[allowed], scores[allowed])
        assert np.isneginf(masked[~allowed]).all()
        tokens = [token for token in np.flatnonzero(allowed).tolist() if token not in vocabulary.eos_ids]
        if not tokens or draw.random() < 0.3:
            del written[int(draw.integers(0, len(written) + 1)) :]
        else:
            written.append(int(draw.choice(tokens)))
    processor.check()


def test_a_loop_of_ones_own(files: dict[str, Path]) -> None:
    # A model that has generated samples as it did then, and takes no other processors.
    llama = opened(files["bundled"])
    processor = LlamaProcessor("[a-c]{9}", llama)
    processors = LogitsProcessorList([processor])
    llama.eval(llama.tokenize(PROMPT.encode(), add_bos=False))
    begun, written = llama.n_tokens, list[int]()
    for step in range(40):
        token = llama.sample(temp=2.0, logits_processor=processors)
        if token in processor.vocabulary.eos_ids:
            break
        if step in (2, 4):
            written = written[:1]
            llama.n_tokens = begun
            llama.eval(written)
        else:
            written.append(token)
            llama.eval([token])
    assert re.fullmatch(b"[a-c]{9}", llama.detokenize(written))


# What goes wrong


def test_what_goes_wrong_ends_the_text_and_is_raised_by_check(bundled: Llama) -> None:
    vocabulary = llama_vocabulary(bundled)
    small = tokenfst.compile(NESTED, vocabulary, limits=Limits(memory=3 << 13))
    parenthesis = vocabulary.tokens.index(b"(")

    def opening(input_ids: Any, scores: Any) -> Any:
        scores[parenthesis] += 100
        return scores

    failing: Future[Any] = Future()
    failing.set_exception(LimitExceeded("too many states"))
    for constraint, error in ((small, LimitExceeded), (failing, LimitExceeded), ("é{600}", IncompleteOutput)):
        processor = LlamaProcessor(constraint, bundled)
        processors = LogitsProcessorList([opening, processor])
        answer: Any = bundled.create_completion(PROMPT, max_tokens=None, logits_processor=processors, temperature=0.0)
        (choice,) = answer["choices"]
        assert (choice["finish_reason"], choice["text"].strip("(")) == ("stop", "")
        with pytest.raises(error):
            processor.check()


def test_processors_that_are_left_out_are_noticed(bundled: Llama) -> None:
    """llama-cpp-python loses the list of processors where there is a bias."""
    processor = LlamaProcessor(DATE, bundled)
    processors = LogitsProcessorList([processor])
    bundled.create_completion(PROMPT, max_tokens=3, logits_processor=processors, logit_bias={"5": 1.0})
    with pytest.raises(IncompleteOutput, match="never called"):
        processor.check()


def test_a_processor_is_for_one_text(bundled: Llama, files: dict[str, Path]) -> None:
    for llama in (bundled, opened(files["bundled"], draft_model=LlamaPromptLookupDecoding())):
        processor = LlamaProcessor(DATE, llama)
        processors = LogitsProcessorList([processor])
        for prompt in ("one", "another, and a longer one"):
            llama.create_completion(prompt, logits_processor=processors)
        with pytest.raises((ValueError, TokenNotAllowed)):
            processor.check()


def test_mistakes_are_said(bundled: Llama) -> None:
    with pytest.raises(IncompleteOutput, match="at least 7 tokens, and the limit is 3"):
        LlamaProcessor("(!!){3}", bundled, max_tokens=3)
    with pytest.raises(VocabularyError, match="another vocabulary"):
        LlamaProcessor(tokenfst.compile("a", tokenfst.Vocabulary([b"a", b""], 1)), bundled)
    with pytest.raises(ValueError, match="leave the processor out"):
        LlamaProcessor(None, bundled)
    for width in (100, 100_000):
        processor = LlamaProcessor("a", bundled)
        processor(np.array([5], np.intc), np.zeros(width, np.float32))
        with pytest.raises(ValueError, match=f"width {width}"):
            processor.check()
