"""Requests whose masks are made on the device, each with an oracle: its own matcher on the host, and other programs.

CASES          constraints, and what is true of their texts
Oracle         the masks of a request, by a `Matcher` that reads the same tokens
Steps          requests in slots, and the steps that a test makes of them
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import torch
from simulated_runner import Request, Row, SimulatedRunner
from vllm.sampling_params import SamplingParams

import tokenfst
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
        # Requests that stop before their text is complete, since it goes on with tokens alone that they named as stops.
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


def same(row: Row, allowed: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    np.testing.assert_array_equal(allowed, expected)
    mine = torch.from_numpy(expected)
    assert torch.equal(row.masked[mine], row.given[mine].clamp(min=-1e30))


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
