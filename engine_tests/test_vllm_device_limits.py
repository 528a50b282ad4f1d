"""What masks on the device cannot do: how it is refused where that is possible, and what becomes of it elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from device_requests import CASES, WIDTH, Steps
from simulated_runner import Request, SimulatedRunner
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.v1.worker.gpu.sample.logits_processor import build_custom_logits_processors_params_validator

import serving.vllm.device
import tokenfst
from serving.vllm.device import DeviceProcessor

pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture
def steps(config: Any, vocabulary: tokenfst.Vocabulary) -> Steps:
    return Steps(config, vocabulary)


# Constraints that fail


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

    def agreed(able: list[bool]) -> list[bool]:
        asked.append(able)
        return [False, True]

    steps.processor.agreed = agreed
    one, free, other = steps.enter({"regex": "a"}), steps.enter(None), steps.enter({"regex": "b"})
    assert (steps.text(one), steps.text(other)) == ("", "b")
    assert "another rank" in caplog.text
    assert asked == [[True, True]]
    assert len(steps.step(free)) == 1


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
    assert "the texts of 1 requests are ended early" in caplog.text
    assert "max_bytes" in caplog.text
    assert "unfinished" not in caplog.text


def test_an_automaton_that_is_larger_than_the_arena_closes_the_text(
    config: Any, vocabulary: tokenfst.Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = rooms(config, vocabulary, 2, monkeypatch)
    one, other = steps.enter({"choice": ["abc"]}), steps.enter({"json_object": True})
    steps.step(one, other)
    assert (steps.text(other), steps.text(one)) == ("", "abc")


# The front end


@pytest.fixture(scope="module")
def front_end() -> Callable[[SamplingParams], None]:
    """The check of vLLM's front end, with our class by its name."""
    check: Callable[[SamplingParams], None] = build_custom_logits_processors_params_validator(
        ["serving.vllm.device:DeviceProcessor"]
    )
    return check


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
