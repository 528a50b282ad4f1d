"""The logits processor for Model Runner V2, with vLLM's own interface around it and no runner.

The masks of many requests are compared with those of a `Matcher` that reads the same tokens, and what was written is
checked by other programs: Python's `re`, `json` and `jsonschema`.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import pytest
import torch
from serving.vllm_engine import engine_vocabulary
from simulated_runner import PLACEHOLDER, Request, Row, SimulatedRunner
from vllm.engine.arg_utils import EngineArgs
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.v1.worker.gpu.sample.logits_processor import build_custom_logits_processors_params_validator
from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsContext
from vllm_server import model_folder

import serving.vllm.device
import tokenfst
from decoding.arena import Arena
from serving.matcher import Matcher
from serving.specifications import constraint_of
from serving.vllm.device import DeviceProcessor

# The bundled model's logits, and some that no token has.
WIDTH = 2048 + 52
DRAFTS = 3
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 6}, "ages": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name", "ages"],
    "additionalProperties": False,
}
TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<f>", "content": {"type": "json_schema", "json_schema": PERSON}, "end": "</f>"},
}


def is_person(text: str) -> bool:
    jsonschema.validate(json.loads(text), PERSON)
    return True


def is_nested(text: str) -> bool:
    depth = text.count("(")
    return text == "(" * depth + "a" + ")" * depth


def matches(pattern: str) -> tuple[dict[str, Any], Callable[[str], bool]]:
    return {"regex": pattern}, lambda text: re.fullmatch(pattern, text) is not None


CASES: list[tuple[dict[str, Any], Callable[[str], bool]]] = [
    *map(matches, [r"\d{4}-[01]\d-[0-3]\d", "[a-c]{2,5}", "(ab|c){3,40}", "a*", "(yes|no)( indeed)?"]),
    ({"json": PERSON}, is_person),
    ({"json_object": True}, lambda text: isinstance(json.loads(text), dict)),
    ({"choice": ["red", "green", "grey"]}, lambda text: text in ("red", "green", "grey")),
    ({"grammar": 'root ::= "a" | "(" root ")"'}, is_nested),
    ({"structural_tag": TAG}, lambda text: text[:3] == "<f>" and text[-4:] == "</f>" and is_person(text[3:-4])),
]
STATE = {"on CPU": True, "by tensor operations": False}


@pytest.fixture(scope="module")
def config() -> Any:
    return EngineArgs(str(model_folder()), max_model_len=512, max_num_seqs=16).create_engine_config()


@pytest.fixture(scope="module")
def vocabulary(config: Any) -> tokenfst.Vocabulary:
    from vllm.tokenizers import cached_tokenizer_from_config

    return engine_vocabulary(cached_tokenizer_from_config(config.model_config), config.model_config)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilations get as long as they take on a busy machine, except where a test says otherwise."""
    monkeypatch.setenv("TOKENFST_STEP_SECONDS", "60")


def processor_of(config: Any, runner: Any, drafts: int = DRAFTS) -> DeviceProcessor:
    config.speculative_config = SimpleNamespace(num_speculative_tokens=drafts, rejection_sample_method="standard")
    try:
        return DeviceProcessor(config, runner.state)
    finally:
        config.speculative_config = None


def params_of(asked: Any, stops: list[int], vocabulary: tokenfst.Vocabulary, **options: Any) -> SamplingParams:
    extra = None if asked is None else {"tokenfst": asked}
    params = SamplingParams(stop_token_ids=stops, extra_args=extra, **options)
    params.update_from_generation_config({}, vocabulary.eos_ids[0])
    if asked is not None:
        DeviceProcessor.validate_params(params)
    return params


class Oracle:
    """What each request may write, by its own matcher on the host."""

    def __init__(self, vocabulary: tokenfst.Vocabulary) -> None:
        self.vocabulary, self.automata = vocabulary, dict[str, Any]()
        # Requests that may write nothing any more, since they have to write a token that they named as one that stops.
        self.stuck: list[Request] = []

    def matcher(self, request: Request) -> Matcher:
        asked = (request.params.extra_args or {})["tokenfst"]
        ((kind, what),) = (json.loads(asked) if isinstance(asked, str) else asked).items()
        text = "" if what is True else what if isinstance(what, str) else json.dumps(what)
        if text + kind not in self.automata:
            self.automata[text + kind] = tokenfst.compile(constraint_of(kind, text), self.vocabulary)
        return Matcher(self.automata[text + kind], request.params.stop_token_ids or ())

    def mask(self, request: Request, tokens: list[int]) -> np.ndarray[Any, Any] | None:
        """What a request may write after some tokens, `[WIDTH]`; None where they are not allowed."""
        matcher, words = self.matcher(request), np.zeros(-(-WIDTH // 32), np.int32)
        if not matcher.accept(tokens):
            return None
        matcher.fill(words)
        return np.unpackbits(words.view(np.uint8), bitorder="little")[:WIDTH].astype(bool)


def requests_of(draw: random.Random, number: int, vocabulary: tokenfst.Vocabulary) -> Iterator[Request]:
    letters = [token for token, text in enumerate(vocabulary.tokens) if text in (b"a", b"b", b"1", b'"', b"e")]
    for _ in range(number):
        asked: Any = None if draw.random() < 0.2 else draw.choice(CASES)[0]
        stops = draw.sample(letters, draw.randint(1, 3)) if draw.random() < 0.3 else []
        spelled = json.dumps(asked) if asked is not None and draw.random() < 0.5 else asked
        prompt = [draw.randrange(len(vocabulary)) for _ in range(draw.randint(1, 12))]
        yield Request(params_of(spelled, stops, vocabulary), prompt, draw.choice([3, 20, 60]))


def proposer(oracle: Oracle, draw: random.Random) -> Callable[[Request, int], list[int]]:
    """Drafts that are allowed most of the time."""

    def proposed(request: Request, number: int) -> list[int]:
        drafts: list[int] = []
        for _ in range(number):
            drafts.append(draw.choice([draw.randrange(WIDTH), PLACEHOLDER]))
            if request.params.extra_args and draw.random() < 0.9:
                mask = oracle.mask(request, [*request.text[len(request.prompt) :], *drafts[:-1]])
                if mask is not None and mask.any():
                    drafts[-1] = int(draw.choice(np.flatnonzero(mask)))
        return drafts

    return proposed


def checked(rows: list[Row], oracle: Oracle, seen: Counter[str]) -> None:
    for row in rows:
        plan, allowed = row.plan, (row.masked > -torch.inf).numpy()
        if plan.request.params.extra_args is None:
            assert torch.equal(row.given, row.masked)
            seen["free"] += 1
            continue
        if not plan.counts:  # what is sampled here is thrown away
            seen["in pieces"] += 1
            continue
        expected = oracle.mask(plan.request, plan.text[len(plan.request.prompt) : row.place + 1])
        is_first = row.place == plan.places.start
        if expected is None or not expected.any():
            assert 0 < allowed.sum() == allowed[list(plan.request.params.all_stop_token_ids)].sum()
            assert expected is not None or not is_first or plan.request in oracle.stuck
            if is_first:
                oracle.stuck.append(plan.request)
            seen["behind a draft that is not allowed"] += not is_first
            continue
        same(row, allowed, expected)
        seen["masked"] += 1
        seen["drafts"] += not is_first
        seen["after a resumption"] += plan.request.to_read > len(plan.request.prompt)


def same(row: Row, allowed: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    np.testing.assert_array_equal(allowed, expected)
    mine = torch.from_numpy(expected)
    assert torch.equal(row.masked[mine], row.given[mine].clamp(min=-1e30))


def written(request: Request, vocabulary: tokenfst.Vocabulary) -> str | None:
    """The text of a request; None if it was cut."""
    *tokens, end = request.output
    if end not in request.params.all_stop_token_ids:
        return None
    return b"".join(vocabulary.tokens[token] for token in tokens).decode()


def case_of(request: Request) -> Callable[[str], bool]:
    asked = (request.params.extra_args or {})["tokenfst"]
    asked = json.loads(asked) if isinstance(asked, str) else asked
    return next(is_right for case, is_right in CASES if case == asked)


@pytest.mark.parametrize("others", ["bias", "mask all"])
@pytest.mark.parametrize("steps", STATE)
def test_masks_are_those_of_a_matcher(
    config: Any, vocabulary: tokenfst.Vocabulary, steps: str, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not STATE[steps]:
        monkeypatch.setattr(Arena, "_on_cpu", False)
    draw, oracle, seen = random.Random(7), Oracle(vocabulary), Counter[str]()
    runner = SimulatedRunner(6, 200, WIDTH, DRAFTS, 11, proposer(oracle, draw))
    requests = list(requests_of(draw, 120 if STATE[steps] else 60, vocabulary))
    bias = torch.zeros(WIDTH)
    bias[len(vocabulary) :], bias[vocabulary.eos_ids[0]] = 50, 6
    if others == "mask all":
        bias[:] = -torch.inf
    for rows in runner.run(processor_of(config, runner), requests, bias=bias):
        checked(rows, oracle, seen)
    complete = 0
    for request in requests:
        text = written(request, vocabulary) if request.params.extra_args else None
        if text is not None and request not in oracle.stuck:
            assert case_of(request)(text), text
            complete += 1
    assert complete > len(requests) / 3
    assert len(oracle.stuck) < len(requests) / 10
    assert min(seen.values()) > 10, seen
    assert len(seen) == 6, seen


# One step at a time


class Steps:
    """Requests in slots, and the steps that a test makes of them."""

    def __init__(self, config: Any, vocabulary: tokenfst.Vocabulary, drafts: int = 0) -> None:
        self.vocabulary, self.oracle = vocabulary, Oracle(vocabulary)
        self.runner = SimulatedRunner(4, 100, WIDTH, drafts, 1, lambda request, number: [])
        self.processor = processor_of(config, self.runner, drafts)
        self.bias = torch.zeros(WIDTH)

    def enter(self, asked: Any, *, output: bytes = b"", stops: tuple[int, ...] = (), max_tokens: int = 50) -> Request:
        request = Request(params_of(asked, [*stops], self.vocabulary), [5, 6, 7], max_tokens)
        request.output = [self.vocabulary.tokens.index(bytes([letter])) for letter in output]
        self.runner.enter(self.processor, request)
        request.computed = len(request.text) - 1
        return request

    def step(self, *requests: Request) -> list[Row]:
        self.runner.flush(self.processor)
        slots = [next(slot for slot, one in self.runner.running.items() if one is request) for request in requests]
        return self.runner.step(self.processor, slots, self.bias)

    def text(self, request: Request) -> str:
        """What is written when a request runs to its end."""
        while not request.has_ended:
            self.step(request)
        return b"".join(self.vocabulary.tokens[token] for token in request.output[:-1]).decode()

    def checked(self, *requests: Request) -> None:
        for row in self.step(*requests):
            expected = self.oracle.mask(row.plan.request, row.plan.text[3:])
            assert expected is not None
            same(row, (row.masked > -torch.inf).numpy(), expected)


@pytest.fixture
def steps(config: Any, vocabulary: tokenfst.Vocabulary) -> Steps:
    return Steps(config, vocabulary)


def test_what_others_have_masked_is_allowed_where_nothing_else_is(steps: Steps) -> None:
    steps.bias[:] = -torch.inf
    assert steps.text(steps.enter({"choice": ["red"]})) == "red"
    assert re.fullmatch("[ab]{3}", steps.text(steps.enter({"regex": "[ab]{3}"})))


def test_after_the_end_only_the_end_comes(steps: Steps) -> None:
    request = steps.enter({"regex": "a{2}"})
    assert steps.text(request) == "aa"
    for _ in range(3):
        (row,) = steps.step(request)
        assert torch.nonzero(row.masked > -torch.inf).flatten().tolist() == [*steps.vocabulary.eos_ids]


def test_the_same_step_twice_gives_the_same(steps: Steps) -> None:
    from simulated_runner import context

    request = steps.enter({"regex": "[0-9]{3}x"})
    for _ in range(3):
        steps.step(request)
        (slot,) = steps.runner.running
        plan, given = steps.runner.plan(slot, request), torch.randn(1, WIDTH)
        one, other = (steps.processor.apply(given.clone(), context([plan])) for _ in range(2))
        assert torch.equal(one, other)


def test_a_resumed_request_goes_on_where_it_was(steps: Steps) -> None:
    assert steps.text(steps.enter({"regex": "12345"}, output=b"123")) == "12345"


def test_a_skipped_position_closes_the_text(steps: Steps, caplog: pytest.LogCaptureFixture) -> None:
    request, other = steps.enter({"regex": "[0-9]{9}"}), steps.enter({"regex": "[0-9]{9}"})
    steps.step(request, other)
    request.text.append(request.text[-1])  # as if the engine had written it behind our back
    assert len(steps.text(request)) < 9
    steps.checked(other)
    assert caplog.text.count("a text ended unfinished") == 1
    assert len(steps.text(other)) == 9


def test_a_token_beside_the_constraint_closes_the_text(steps: Steps, caplog: pytest.LogCaptureFixture) -> None:
    assert steps.text(steps.enter({"regex": "[0-9]{9}"}, output=b"12z")) == "12z"
    steps.runner.flush(steps.processor)
    assert "a text ended unfinished" in caplog.text


def test_constraints_that_fail_in_the_worker_give_empty_texts_and_harm_nobody(
    config: Any, vocabulary: tokenfst.Vocabulary, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TOKENFST_STEP_SECONDS", "0.5")
    steps = Steps(config, vocabulary)
    steps.enter({"choice": ["red"]})  # so that what compiles at all compiles quickly
    steps.runner.flush(steps.processor)
    large = steps.enter({"regex": "(a|b)*a" + "(a|b)" * 60})
    good = steps.enter({"choice": ["red"]})
    broken = steps.enter({"regex": "a"})
    broken.params.extra_args = {"tokenfst": {"regex": "(a"}}
    steps.runner.free.append(next(slot for slot, one in steps.runner.running.items() if one is broken))
    steps.runner.running.popitem()
    steps.runner.enter(steps.processor, broken)
    assert steps.text(good) == "red"
    assert steps.text(large) == ""
    assert steps.text(broken) == ""
    assert caplog.text.count("the text of a request ends at once") == 2
    assert "never closed" in caplog.text


@pytest.mark.parametrize("asked", ["{", {"nosuch": 1}, {"regex": "a", "json": {}}])
def test_a_request_that_came_past_the_front_end_gets_an_empty_text(steps: Steps, asked: Any) -> None:
    request = Request(SamplingParams(extra_args={"tokenfst": asked}), [5, 6, 7], 9)
    request.params.update_from_generation_config({}, steps.vocabulary.eos_ids[0])
    steps.runner.enter(steps.processor, request)
    assert steps.text(request) == ""


def test_ranks_that_disagree_give_an_empty_text(steps: Steps, caplog: pytest.LogCaptureFixture) -> None:
    asked: list[list[bool]] = []
    steps.processor.agreed = lambda able: asked.append(able) or [False, True]  # type: ignore[func-returns-value]
    one, free, other = steps.enter({"regex": "a"}), steps.enter(None), steps.enter({"regex": "b"})
    assert (steps.text(one), steps.text(other)) == ("", "b")
    assert "another rank" in caplog.text
    assert asked == [[True, True]]
    assert len(steps.step(free)) == 1


def test_a_slot_forgets_its_last_request(steps: Steps) -> None:
    for asked in ({"regex": "a{3}"}, None, {"regex": "b{2}"}, {"choice": ["red"]}, None):
        request = steps.enter(asked, stops=(3,) if asked is None else ())
        if asked is None:
            (row,) = steps.step(request)
            assert torch.equal(row.given, row.masked)
        else:
            assert case_text(asked) == steps.text(request)
        ((slot, _),) = steps.runner.running.items()
        steps.runner.running.clear()
        steps.runner.free.append(slot)


def case_text(asked: dict[str, Any]) -> str:
    return {"a{3}": "aaa", "b{2}": "bb"}.get(asked.get("regex", ""), "red")


def test_stop_tokens_end_a_text_where_it_may_end(steps: Steps) -> None:
    letter = steps.vocabulary.tokens.index(b"b")
    request = steps.enter({"regex": "a(b|cc)*"}, stops=(letter, WIDTH - 1, WIDTH + 7, -3))
    steps.bias[letter] = 99
    steps.checked(request)
    assert re.fullmatch("a(b|cc)*", steps.text(request))
    assert request.output[-1] == letter
    # Whatever the engine makes of it, the text has ended.
    (row,) = steps.step(request)
    ends = {*steps.vocabulary.eos_ids, letter, WIDTH - 1}
    assert set(torch.nonzero(row.masked > -torch.inf).flatten().tolist()) == ends


# Automata that do not all fit


def rooms(config: Any, vocabulary: tokenfst.Vocabulary, number: int, monkeypatch: pytest.MonkeyPatch) -> Steps:
    """Requests in an arena with room for so many automata of one choice."""
    measure = Steps(config, vocabulary).processor
    size = 4 * len(measure.compiler.submit("choice", '["abc"]').result().words)
    monkeypatch.setenv("TOKENFST_ARENA_BYTES", str(measure.arena.nbytes + number * size + size // 2))
    return Steps(config, vocabulary)


def test_automata_leave_the_arena_and_come_back(
    config: Any, vocabulary: tokenfst.Vocabulary, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    steps = rooms(config, vocabulary, 2, monkeypatch)
    one, two = steps.enter({"choice": ["abc"]}), steps.enter({"choice": ["bcd"]})
    steps.checked(one)
    three = steps.enter({"choice": ["cde"]})  # in the place of the second, which is not in the last step
    for pair in ((three, one), (two, one), (two, three), (three, one)):
        if not pair[0].has_ended and not pair[1].has_ended:
            steps.checked(*pair)
    assert [steps.text(each) for each in (one, two, three)] == ["abc", "bcd", "cde"]
    assert not caplog.text


def test_automata_of_requests_that_are_gone_make_room(
    config: Any, vocabulary: tokenfst.Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = rooms(config, vocabulary, 1, monkeypatch)
    for number in range(12):
        text = "abc"[number % 3] * 3
        assert steps.text(steps.enter({"choice": [text]})) == text
        if number % 4 == 3:
            steps.runner.free.extend(steps.runner.running)
            steps.runner.running.clear()


def test_a_step_whose_automata_find_no_room_closes_the_text_of_the_last(
    config: Any, vocabulary: tokenfst.Vocabulary, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    steps = rooms(config, vocabulary, 2, monkeypatch)
    texts = ["abcabcab", "bcdbcdbc", "cdecdecd"]
    requests = [steps.enter({"choice": [text]}) for text in texts[:2]]
    steps.checked(*requests)
    requests.append(steps.enter({"choice": [texts[2]]}))
    steps.step(*reversed(requests))
    assert [steps.text(each) for each in requests] == [*texts[:2], ""]
    assert "the texts of 1 requests end where they stand" in caplog.text
    assert "max_bytes" in caplog.text
    assert "unfinished" not in caplog.text


def test_an_automaton_that_is_larger_than_the_arena_closes_the_text(
    config: Any, vocabulary: tokenfst.Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = rooms(config, vocabulary, 2, monkeypatch)
    one, other = steps.enter({"choice": ["abc"]}), steps.enter({"json_object": True})
    steps.step(one, other)
    assert (steps.text(other), steps.text(one)) == ("", "abc")


# Nothing waits for the device


def on_meta(value: Any) -> Any:
    """A tensor, or tensors, that have a shape and no values: whatever reads one on the host is an error."""
    if isinstance(value, torch.Tensor):
        return value.to("meta")
    return torch.device("meta") if isinstance(value, torch.device) else value


@pytest.mark.parametrize("drafts", [0, DRAFTS])
def test_nothing_is_read_on_the_host(config: Any, vocabulary: tokenfst.Vocabulary, drafts: int) -> None:
    steps = Steps(config, vocabulary, drafts)
    kinds: list[Any] = [{"regex": "[a-c]{3,90}"}, {"json_object": True}, None]
    requests = [steps.enter(asked) for asked in kinds]
    steps.step(*requests)
    states, arena = steps.processor.states, steps.processor.arena
    for holder in (arena, arena._heap, arena._program, states):
        for name, value in vars(holder).items():
            setattr(holder, name, on_meta(value))
    states._at = type(states._at)(*map(on_meta, states._at))
    steps.processor._unfinished = steps.processor._unfinished.to("meta")
    steps.runner.tokens.gpu = steps.runner.tokens.gpu.to("meta")
    slots = [*steps.runner.running]
    rows = [(slot, number) for slot in slots for number in range(1 + drafts)]
    context = LogitsContext(
        idx_mapping_np=np.array(slots, np.intp),
        seq_lens_upper_bound_np=np.full(len(slots), 9, np.int32),
        idx_mapping=torch.tensor(slots, device="meta"),
        expanded_idx_mapping=torch.tensor([slot for slot, _ in rows], device="meta"),
        expanded_local_pos=torch.tensor([number for _, number in rows], dtype=torch.int32, device="meta"),
        input_ids=torch.empty(len(rows), dtype=torch.int32, device="meta"),
        pos=torch.empty(len(rows), dtype=torch.int64, device="meta"),
    )
    steps.processor._report = lambda: None  # type: ignore[method-assign]  # it reads what has been copied to the host
    for _ in range(3):
        logits = torch.empty((len(rows), WIDTH), device="meta")
        assert steps.processor.apply(logits, context) is logits
    # A request with an automaton that is there, resumed in the middle of its text.
    steps.enter({"regex": "[a-c]{3,90}"}, output=b"abcabc")
    steps.processor._unfinished = torch.zeros(4, dtype=torch.bool)
    steps.processor.apply_staged_writes()
    steps.processor._unfinished = steps.processor._unfinished.to("meta")
    (slot,) = steps.processor._new
    context = replace(context, idx_mapping_np=np.array([slot, *slots[1:]], np.intp))
    assert steps.processor.apply(torch.empty((len(rows), WIDTH), device="meta"), context).is_meta
    assert not steps.processor._new


# The front end


@pytest.fixture(scope="module")
def front_end() -> Callable[[SamplingParams], None]:
    """The check of vLLM's front end, with our class by its name."""
    return build_custom_logits_processors_params_validator(["serving.vllm.device:DeviceProcessor"])


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("{", "tokenfst is not JSON"),
        ([], "one of the keys json, json_object"),
        ({"nosuch": 1}, "one of the keys json, json_object"),
        ({"regex": "a", "json": {}}, "one of the keys"),
        ({"regex": 1}, "regex is text"),
        ({"grammar": ["a"]}, "grammar is text"),
        ({"json_object": False}, "json_object is true"),
        ({"json": {"type": {1}}}, "json is not JSON"),
        ({"json": {"type": "nosuch"}}, "there is no type 'nosuch' (at /type"),
        ('{"json": {"type": "array", "uniqueItems": true}}', "at /uniqueItems"),
        ({"json": "{"}, "the JSON Schema is not JSON"),
        ({"regex": "(a|b"}, "never closed"),
        ({"grammar": "root ::= nothing"}, "no rule is named 'nothing'"),
        ({"choice": []}, "the choices are a list of texts"),
        ({"structural_tag": {"format": {"type": "nosuch"}}}, "'nosuch' is not supported"),
    ],
)
def test_what_cannot_be_honoured_is_refused(
    front_end: Callable[[SamplingParams], None], asked: Any, reason: str
) -> None:
    with pytest.raises(VLLMValidationError, match="tokenfst") as refused:
        front_end(SamplingParams(extra_args={"tokenfst": asked}))
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"structured_outputs": StructuredOutputsParams(regex="a")}, "not in both"),
        ({"thinking_token_budget": 5}, "thinking_token_budget"),
        ({"stop_token_ids": [*range(129)]}, "at most 128 stop tokens"),
    ],
)
def test_what_goes_with_no_constraint_is_refused(
    front_end: Callable[[SamplingParams], None], options: dict[str, Any], reason: str
) -> None:
    front_end(SamplingParams(**options))
    with pytest.raises(VLLMValidationError, match=reason):
        front_end(SamplingParams(extra_args={"tokenfst": {"regex": "a"}}, **options))


def test_what_can_be_honoured_passes(front_end: Callable[[SamplingParams], None]) -> None:
    for asked, _ in CASES:
        front_end(SamplingParams(extra_args={"tokenfst": asked, "other": 1}))
        front_end(SamplingParams(extra_args={"tokenfst": json.dumps(asked)}))
    front_end(SamplingParams(extra_args={"other": 1}))
    front_end(SamplingParams())


# Engines


@pytest.mark.parametrize(
    ("place", "name", "value", "reason"),
    [
        ("model_config", "skip_tokenizer_init", True, "without a tokenizer"),
        ("model_config", "enable_trace_replay", True, "trace replay"),
        ("model_config", "is_diffusion", True, "diffusion"),
        ("parallel_config", "prefill_context_parallel_size", 2, "context parallelism"),
        ("speculative_config", "rejection_sample_method", "synthetic", "synthetic"),
    ],
)
def test_engines_that_could_not_keep_constraints_are_refused(
    config: Any, place: str, name: str, value: Any, reason: str
) -> None:
    parts: dict[str, Any] = {
        "model_config": SimpleNamespace(skip_tokenizer_init=False, is_diffusion=False, enable_trace_replay=False),
        "parallel_config": SimpleNamespace(prefill_context_parallel_size=1),
        "speculative_config": SimpleNamespace(rejection_sample_method="standard"),
    }
    setattr(parts[place], name, value)
    with pytest.raises(ValueError, match=reason):
        DeviceProcessor(SimpleNamespace(**parts), SimulatedRunner(1, 9, WIDTH, 0, 1, lambda *_: []).state)
    # The names are those of vLLM's own settings.
    from vllm.config import SpeculativeConfig

    owner = SpeculativeConfig if place == "speculative_config" else type(getattr(config, place))
    assert hasattr(owner, name) or name in owner.__dataclass_fields__


def test_the_older_runner_refuses_the_class(config: Any) -> None:
    from vllm.v1.sample.logits_processor import build_logitsprocs

    with pytest.raises(ValueError, match="LogitsProcessor"):
        build_logitsprocs(config, torch.device("cpu"), False, False, ["serving.vllm.device:DeviceProcessor"])


def test_ranks_agree_on_what_all_of_them_could_do(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = serving.vllm.device._agreement(SimpleNamespace(tensor_parallel_size=1))
    assert alone([True, False]) == [True, False]
    # The other rank could compile all but the first.
    others = torch.tensor([0, 1, 1], dtype=torch.int32)

    def all_reduce(flags: torch.Tensor, operation: Any, group: Any) -> None:
        assert (operation, group) == (torch.distributed.ReduceOp.MIN, "the ranks")
        flags.copy_(torch.minimum(flags, others))

    monkeypatch.setattr(torch.distributed, "all_reduce", all_reduce)
    monkeypatch.setattr(serving.vllm.device, "get_tp_group", lambda: SimpleNamespace(cpu_group="the ranks"))
    together = serving.vllm.device._agreement(SimpleNamespace(tensor_parallel_size=2))
    assert together([True, True, False]) == [False, True, False]
