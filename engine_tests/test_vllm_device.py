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
from typing import Any

import numpy as np
import pytest
import torch
from device_requests import CASES, DRAFTS, WIDTH, Oracle, Steps, params_of, processor_of, same
from simulated_runner import PLACEHOLDER, Request, Row, SimulatedRunner, context
from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsContext

import tokenfst
from decoding.arena import Arena

pytestmark = pytest.mark.usefixtures("patient")
# The device of the steps, and whether they are the core's.
STEPS = {"on CPU": ("cpu", True), "by tensor operations": ("cpu", False), "on a GPU": ("cuda", False)}


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
        stops = list(plan.request.params.all_stop_token_ids)
        if is_first and expected.sum() == expected[stops].sum() and not expected[list(oracle.vocabulary.eos_ids)].any():
            oracle.stuck.append(plan.request)
        seen["masked"] += 1
        seen["drafts"] += not is_first
        seen["after a resumption"] += plan.request.to_read > len(plan.request.prompt)


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
@pytest.mark.parametrize("steps", STEPS)
def test_masks_are_those_of_a_matcher(
    config: Any, vocabulary: tokenfst.Vocabulary, steps: str, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, are_native = STEPS[steps]
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU that torch can use")
    if not are_native:
        monkeypatch.setattr(Arena, "_on_cpu", False)
    draw, oracle, seen = random.Random(7), Oracle(vocabulary), Counter[str]()
    runner = SimulatedRunner(6, 200, WIDTH, DRAFTS, 11, proposer(oracle, draw), device)
    requests = list(requests_of(draw, 120 if are_native else 60, vocabulary))
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
    processor: Any = steps.processor
    processor._report = lambda: None  # it reads what has been copied to the host
    for _ in range(3):
        logits = torch.empty((len(rows), WIDTH), device="meta")
        assert processor.apply(logits, context) is logits
    # A request with an automaton that is there, resumed in the middle of its text.
    steps.enter({"regex": "[a-c]{3,90}"}, output=b"abcabc")
    steps.processor._unfinished = torch.zeros(4, dtype=torch.bool)
    steps.processor.apply_staged_writes()
    steps.processor._unfinished = steps.processor._unfinished.to("meta")
    (slot,) = steps.processor._new
    context = replace(context, idx_mapping_np=np.array([slot, *slots[1:]], np.intp))
    assert steps.processor.apply(torch.empty((len(rows), WIDTH), device="meta"), context).is_meta
    assert not steps.processor._new
