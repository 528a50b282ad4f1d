"""Continuous batching of `transformers` with a constraint for each request.

What is written is checked by `re`, `json` and `jsonschema`.
"""

from __future__ import annotations

import copy
import json
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jsonschema
import pytest
import torch
from transformers import CompileConfig, ContinuousBatchingConfig, GenerationConfig, LogitsProcessorList
from transformers.generation.continuous_batching.cb_logits_processors import (
    ContinuousBatchingLogitsProcessor,
    ContinuousBatchingLogitsProcessorList,
)
from transformers.generation.continuous_batching.requests import FutureRequestState, RequestState

import constraints
import tokenfst
from automata import LimitExceeded, VocabularyError
from automata import expressions as ex
from decoding import ConstraintLogitsProcessor, bundled_model, vocabulary_of
from decoding.masking.processor import InPlace
from serving.continuous_batching import constrained_batching
from tokenfst import Vocabulary

MODEL: Any
TOKENIZER: Any
MODEL, TOKENIZER = bundled_model()
VOCABULARY = vocabulary_of(TOKENIZER)
PROMPT = "A person as JSON: "
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "maximum": 120}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
PATTERNS = [r"\d{4}-[01]\d-[0-3]\d", "yes|no", "[a-c]{3,5}é?", "[a-z ]*!"]
CONSTRAINTS: list[Any] = [*PATTERNS, constraints.json_schema(PERSON), None]
AUTOMATA = [each and tokenfst.compile(each, VOCABULARY) for each in CONSTRAINTS]
# Seconds until all requests are done.
WAIT = 60.0


def settings(**options: Any) -> GenerationConfig:
    return GenerationConfig(eos_token_id=0, pad_token_id=1, **({"do_sample": True, "max_new_tokens": 40} | options))


def small(**options: Any) -> ContinuousBatchingConfig:
    return ContinuousBatchingConfig(**({"num_blocks": 64, "max_batch_tokens": 64, "page_size": 16} | options))


@contextmanager
def manager(generation: Any = None, **options: Any) -> Iterator[Any]:
    made = constrained_batching(
        MODEL, TOKENIZER, generation_config=generation or settings(), continuous_batching_config=small(**options)
    )
    made.start()
    try:
        yield made
    finally:
        made.stop(block=True)


def results(made: Any, requests: list[str], children: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    end = time.monotonic() + WAIT
    while len(found) < len(requests) * (1 + children):
        assert time.monotonic() < end, (len(found), made.is_running())
        output = made.get_result(timeout=1)
        if output is not None and output.is_finished():
            found[output.request_id] = output
    return found


def ids(text: str) -> list[int]:
    return list(TOKENIZER(text)["input_ids"])


def check(number: int, output: Any) -> None:
    """Whether a request keeps to the constraint of its number."""
    assert output.error is None
    text = TOKENIZER.decode(output.generated_tokens)
    if CONSTRAINTS[number] is None:
        return
    assert text.endswith("<|endoftext|>"), text
    text = text.removesuffix("<|endoftext|>")
    if number < len(PATTERNS):
        assert re.fullmatch(PATTERNS[number], text), text
    else:
        jsonschema.validate(json.loads(text), PERSON)


WARM = {"top_k": 3, "top_p": 0.9, "temperature": 2.0}
# Settings of the generation, and of the batches.
MODES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    (WARM, {}),
    ({"do_sample": False}, {"max_batch_tokens": 8}),
    (WARM, {"num_blocks": 16, "page_size": 8, "max_batch_tokens": 24}),
    (WARM, {"allow_block_sharing": False, "per_request_processors": True}),
    ({}, {"varlen_compile_config": CompileConfig(backend="eager", fullgraph=False)}),
]


@pytest.mark.parametrize(("sampling", "options"), MODES)
def test_each_request_keeps_to_its_own(sampling: dict[str, Any], options: dict[str, Any]) -> None:
    rng = random.Random(1)
    with manager(settings(**sampling), **options) as made:
        numbers: dict[str, int] = {}
        for _ in range(30):
            number = rng.randrange(len(CONSTRAINTS))
            given = {} if AUTOMATA[number] is None else {"constraint": AUTOMATA[number]}
            if "per_request_processors" in options and "temperature" in sampling:
                given["temperature"] = rng.choice([0.5, 3.0])
            numbers[made.add_request(ids(PROMPT * rng.randint(1, 2)), streaming=rng.random() < 0.5, **given)] = number
            if rng.random() < 0.2:
                time.sleep(0.02)
        for request, output in results(made, list(numbers)).items():
            check(numbers[request], output)


def test_requests_that_lose_their_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """They begin again, with what they have written behind their prompt."""
    begun = []
    original = RequestState.create_equivalent_initial_request

    def again(state: RequestState) -> RequestState:
        begun.append(state.request_id)
        return original(state)

    monkeypatch.setattr(RequestState, "create_equivalent_initial_request", again)
    long = tokenfst.compile("[a-z ]{30,99}!", VOCABULARY)
    with manager(num_blocks=16, page_size=8, max_batch_tokens=24) as made:
        outputs = results(made, [made.add_request(ids(PROMPT), constraint=long) for _ in range(20)])
    for output in outputs.values():
        assert output.error is None
        assert re.fullmatch("[a-z ]{30,99}!<[|]endoftext[|]>", TOKENIZER.decode(output.generated_tokens))
    assert len(set(begun)) > 3


def test_several_texts_for_a_prompt() -> None:
    with manager(settings(num_return_sequences=3)) as made:
        requests = [made.add_request(ids(PROMPT), constraint=AUTOMATA[number]) for number in range(5)]
        outputs = results(made, requests, children=2)
        for request, output in outputs.items():
            check(requests.index(request.partition("__")[0]), output)


def test_requests_that_are_cancelled_and_names_that_come_again() -> None:
    with manager() as made:
        requests = [made.add_request(ids(PROMPT), constraint=AUTOMATA[at % 5]) for at in range(20)]
        for request in requests[::2]:
            made.cancel_request(request)
        for number in range(5):
            name = made.add_request(ids(PROMPT), request_id="again", constraint=AUTOMATA[number])
            found: dict[str, Any] = {}
            while name not in found:
                found |= results(made, [name])
            check(number, found[name])


def test_costs_are_subtracted() -> None:
    """A cost that no model's logits make up for decides."""
    weighed = ex.alternation(
        ex.literal("yes").weighted(9), ex.literal("no").weighted(1000), ex.literal("x").weighted(500)
    )
    with manager() as made:
        automaton = tokenfst.compile(weighed, VOCABULARY)
        requests = [made.add_request(ids(PROMPT), constraint=automaton) for _ in range(9)]
        requests += [made.add_request(ids(PROMPT), constraint=AUTOMATA[1]) for _ in range(9)]
        outputs = results(made, requests)
    texts = [TOKENIZER.decode(outputs[request].generated_tokens[:-1]) for request in requests]
    assert texts[:9] == ["yes"] * 9
    assert set(texts[9:]) <= {"yes", "no"}


def test_one_that_cannot_be_honoured_disturbs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    deep, calls = tokenfst.compile("[a-z]{30}", VOCABULARY), []

    def exceeding(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) > 3:
            raise LimitExceeded("too many states")
        type(deep).fill_bitmask(deep, *arguments)

    monkeypatch.setattr(deep, "fill_bitmask", exceeding)
    other = tokenfst.compile("a", Vocabulary([b"a", b""], 1))
    long = tokenfst.compile("é{300}", VOCABULARY)
    broken = {"LimitExceeded": deep, "VocabularyError": other, "IncompleteOutput": long}
    with manager() as made:
        doomed = [made.add_request(ids(PROMPT), constraint=one) for one in broken.values()]
        wrong = made.add_request(ids(PROMPT), constraint="a pattern")
        good = [made.add_request(ids(PROMPT), constraint=AUTOMATA[number]) for number in range(5)]
        outputs = results(made, [*doomed, wrong, *good])
        for request, name, number in zip(doomed, broken, (4, 1, 1), strict=True):
            assert outputs[request].error.startswith(name), outputs[request].error
            assert len(outputs[request].generated_tokens) == number
            assert outputs[request].generated_tokens[-1] == 0
        assert "expected TokenAutomaton" in outputs[wrong].error
        for number, request in enumerate(good):
            check(number, outputs[request])
        assert made.is_running()


def test_nothing_but_the_manager_is_touched() -> None:
    with manager() as made:
        assert "_get_logits_processor" not in vars(MODEL)
        plain = MODEL.init_continuous_batching(settings(), small())
        with pytest.raises(ValueError, match="Unknown logit_processor_kwargs"):
            plain.logit_processor.check_kwargs({"constraint": AUTOMATA[0]})
        request = made.add_request(ids(PROMPT), constraint=AUTOMATA[0])
        check(0, results(made, [request])[request])


def test_what_is_refused() -> None:
    def made(model: Any = MODEL, vocabulary: Any = TOKENIZER, **options: Any) -> Any:
        given: dict[str, Any] = {"generation_config": settings(), "continuous_batching_config": small()} | options
        return constrained_batching(model, vocabulary, **given)

    with pytest.raises(ValueError, match="use_async_batching prepares a batch before"):
        made(continuous_batching_config=small(use_async_batching=True))
    for graphs in (True, (False, True)):
        with pytest.raises(ValueError, match="use_cuda_graph replays"):
            made(continuous_batching_config=small(use_cuda_graph=graphs))
    for end in (None, 5, [5, 6]):
        with pytest.raises(ValueError, match=r"the texts of the vocabulary at \(0,\)"):
            made(generation_config=GenerationConfig(eos_token_id=end, pad_token_id=1))
    with pytest.raises(VocabularyError, match="no end-of-sequence token"):
        made(vocabulary=Vocabulary(VOCABULARY.tokens))
    with pytest.raises(VocabularyError, match="another model's"):
        made(vocabulary=Vocabulary([b"a", b""], 1))
    parallel = copy.copy(MODEL)
    parallel._device_mesh = object()
    with pytest.raises(ValueError, match="tensor parallelism"):
        made(parallel)
    kept = copy.copy(MODEL)
    kept._cached_continuous_batching_manager = object()
    with pytest.raises(ValueError, match="destroy_cached_continuous_batching_manager"):
        made(kept)


@pytest.mark.parametrize("change", ["parameters", "fields", "asynchronous"])
def test_another_transformers_is_refused(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    if change == "parameters":
        monkeypatch.setattr(ContinuousBatchingLogitsProcessor, "prepare_tensor_args", lambda self, requests: None)
        message = r"takes \(self, requests\), not \(self, requests_with_new_token\)"
    elif change == "fields":
        monkeypatch.setattr(ContinuousBatchingLogitsProcessorList, "_retrieve_processors_kwargs", lambda self: None)
        message = "has no supported_keys"
    else:
        original = type(MODEL).init_continuous_batching

        def asynchronous(self: Any, **options: Any) -> Any:
            made = original(self, **options)
            made.continuous_batching_config.use_async_batching = True
            return made

        monkeypatch.setattr(type(MODEL), "init_continuous_batching", asynchronous)
        message = "use_async_batching is not kept at False"
    with pytest.raises(RuntimeError, match=message):
        constrained_batching(MODEL, TOKENIZER, generation_config=settings(), continuous_batching_config=small())


@pytest.mark.parametrize("drop", [True, False])
def test_the_processor_of_generate_is_refused(drop: bool) -> None:
    processor = ConstraintLogitsProcessor(AUTOMATA[0], TOKENIZER, max_new_tokens=20)
    for each in (processor, InPlace(processor)):
        with pytest.raises(TypeError, match="serving/continuous_batching"):
            ContinuousBatchingLogitsProcessorList(LogitsProcessorList([each]), drop_unsupported_processors=drop)


def test_automata_are_not_copied() -> None:
    for automaton in (AUTOMATA[0], AUTOMATA[0].complete()):
        assert copy.deepcopy({"constraint": automaton})["constraint"] is automaton
        assert copy.copy(automaton) is automaton


def requested(automaton: Any, generated: list[int], limit: int | None = None) -> RequestState:
    """A request that has written something."""
    kwargs = {"constraint": automaton}
    return RequestState(
        "one", ids(PROMPT), generated_tokens=generated, max_new_tokens=limit, logit_processor_kwargs=kwargs
    )


def masked(state: RequestState, scores: torch.Tensor) -> torch.Tensor:
    """What becomes of scores whose first row is of a request."""
    made = constrained_batching(MODEL, TOKENIZER, generation_config=settings(), continuous_batching_config=small())
    processor: Any = made.logit_processor.logits_processor[0]
    arguments = processor.prepare_tensor_args([FutureRequestState(state, True, {}, 1)])
    assert (arguments.dtype, arguments.shape) == (torch.int32, (1,))
    found: torch.Tensor = processor(scores.clone(), torch.tensor([0, 7, 9], dtype=torch.int32))
    return found


def test_rows_behind_those_of_requests_stay_as_they_are() -> None:
    scores = torch.randn(3, 2048)
    found = masked(requested(AUTOMATA[1], []), scores)
    assert torch.equal(found[1:], scores[1:])
    allowed = torch.from_numpy(AUTOMATA[1].mask(AUTOMATA[1].start))
    assert torch.equal(torch.isfinite(found[0]), allowed)
    assert torch.equal(found[0, allowed], scores[0, allowed])


def test_after_the_end_the_end_comes_again() -> None:
    """Requests go on where another end token than theirs was written."""
    weighed = tokenfst.compile(ex.literal("yes").weighted(2) | ex.literal("no"), VOCABULARY)
    for automaton in (weighed, AUTOMATA[1]):
        found = masked(requested(automaton, [*ids("yes"), 0, 0]), torch.zeros(3, 2048))
        assert torch.isfinite(found[0]).nonzero().flatten().tolist() == [0]
        assert found[0, 0] == 0


def test_a_request_that_begins_again_needs_only_the_rest() -> None:
    automaton, text = AUTOMATA[0], ids("2024-01-01")
    state = requested(automaton, text, len(text) + 1).create_equivalent_initial_request()
    assert state.max_new_tokens == 1
    assert automaton.min_tokens(automaton.start) > 1
    found = masked(state, torch.zeros(3, 2048))
    assert state.error is None
    assert torch.isfinite(found[0]).nonzero().flatten().tolist() == [0]
