"""SGLang's registry, manager of grammars and sampling around our backend; `make serve-test` runs it.

What is written is checked by other programs: Python's `re`, `json` and `jsonschema`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from sglang.srt.arg_groups import choices
from sglang.srt.constrained import base_grammar_backend as base
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
from sglang.srt.environ import envs
from sglang.srt.managers.io_struct import AbortReq
from sglang_loops import manager, published, request, submitted, tokenizer, written

import serving.sglang.backend
from automata.limits import Limits
from serving.settings import Settings
from serving.sglang.backend import Backend
from serving.sglang.plugin import register

HOSTILE = "(a|b)*a" + "(a|b)" * 60  # 2^60 states
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
TAGS = {
    "type": "structural_tag",
    "structures": [{"begin": "<f=add>", "schema": {"enum": ["x", "y"]}, "end": "</f>"}],
    "triggers": ["<f="],
    "at_least_one": True,
}


@pytest.fixture
def grammars(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """SGLang's manager, with one rank."""
    monkeypatch.setenv("TOKENFST_COMPILE_SECONDS", "3")
    with published():
        yield manager()


# The plugin


def test_sglang_knows_the_name(grammars: Any) -> None:
    register()  # SGLang may load plugins again
    assert choices.GRAMMAR_BACKEND_CHOICES.count("tokenfst") == 1
    assert isinstance(grammars.grammar_backend, Backend)


@pytest.mark.parametrize(
    ("owner", "name", "found", "message"),
    [
        (base.BaseGrammarObject, "accept_token", lambda self, tokens: None, r"takes \(self, tokens\), not \(self, tok"),
        (base, "GrammarRow", None, "has no GrammarRow"),
        (base.BaseGrammarBackend, "dispatch_json", lambda self, key, more: None, "BaseGrammarBackend.dispatch_json ta"),
        (choices, "GRAMMAR_BACKEND_CHOICES", None, "has no GRAMMAR_BACKEND_CHOICES"),
    ],
)
def test_another_sglang_is_refused_with_the_difference(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, found: Any, message: str
) -> None:
    if found is None:
        monkeypatch.delattr(owner, name)
    else:
        monkeypatch.setattr(owner, name, found)
    with pytest.raises(RuntimeError, match=f"of SGLang .*{message}"):
        register()


# What is written


def is_person(text: str) -> bool:
    jsonschema.validate(json.loads(text), PERSON)
    return True


@pytest.mark.parametrize("seed", range(2))
def test_a_batch_of_all_kinds(grammars: Any, seed: int) -> None:
    asked: list[tuple[dict[str, Any], Any]] = [
        ({"json_schema": json.dumps(PERSON)}, is_person),
        ({"json_schema": "$$ANY$$", "max_new_tokens": 20}, lambda text: json.loads(text) is not ...),
        ({"regex": r"\d{4}-[01]\d-[0-3]\d"}, re.compile(r"\d{4}-[01]\d-[0-3]\d").fullmatch),
        ({"ebnf": 'root ::= "(" [ab]{1,4} ")"'}, re.compile(r"\([ab]{1,4}\)").fullmatch),
        ({"ebnf": 'start: "x" | "[" start "]"'}, lambda text: re.fullmatch(r"(\[*)x(\]*)", text)),
        ({"structural_tag": json.dumps(TAGS)}, re.compile('(?s)<f=add>"[xy]"</f>.*').fullmatch),
        ({"max_new_tokens": 5}, lambda text: True),
    ]
    requests = [request(str(number), **parameters) for number, (parameters, _) in enumerate(asked)]
    submitted(grammars, requests)
    for each, text, (parameters, right) in zip(requests, written(requests, seed), asked, strict=True):
        assert each.to_finish is None
        if each.finished_reason.to_json()["type"] == "stop":
            assert right(text), (parameters, text)
        else:
            assert "regex" not in parameters
            assert len(each.output_ids) == each.sampling_params.max_new_tokens


def test_requests_with_one_constraint_share_an_automaton(grammars: Any) -> None:
    first, second = request("1", regex="[ab]{3}"), request("2", regex="[ab]{3}")
    submitted(grammars, [first, second])
    assert first.grammar.matcher.automaton is second.grammar.matcher.automaton
    third = request("3", regex="[ab]{3}")
    assert not grammars.process_req_with_grammar(third)  # it does not wait
    texts = written([first, second, third])
    assert all(re.fullmatch("[ab]{3}", text) for text in texts)


def test_end_tokens_of_the_model_and_of_the_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer(), "additional_stop_token_ids", {3})
    with published():
        grammars = manager(ends=(2,))
    made = request(regex="a?")
    submitted(grammars, [made])
    mask = made.grammar.allocate_vocab_mask(2048, 1, "cpu")
    made.grammar.fill_vocab_mask(mask, 0)
    allowed = [token for token in range(2048) if mask[0, token >> 5] >> (token & 31) & 1]
    assert allowed == [0, 2, 3, tokenizer().encode("a")[0]]
    for end in (0, 2, 3):
        grammar = made.grammar.copy()
        grammar.accept_token(end)
        assert grammar.is_terminated()


# Refusals


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"json_schema": '{"type": "nosuch"}'}, "json grammar: there is no type 'nosuch' (at /type"),
        ({"json_schema": "{"}, "json grammar: the JSON Schema is not JSON"),
        ({"regex": "(a|b"}, "regex grammar: a group is opened and never closed (at position 0"),
        ({"ebnf": "root ::= nothing"}, "no rule is named 'nothing'"),
        ({"structural_tag": '{"format": {"type": "magic"}}'}, "a structural tag of type 'magic' is not supported"),
        ({"regex": "a\0"}, "NUL bytes"),
        ({"regex": "[^\\s\\S]"}, "regex grammar: "),
    ],
)
def test_what_cannot_be_honoured_says_where_and_why(grammars: Any, parameters: Any, message: str) -> None:
    first, second = request("1", **parameters), request("2", **parameters)
    submitted(grammars, [first])
    assert message in first.to_finish.message
    assert not grammars.process_req_with_grammar(second)  # refusals are kept
    assert second.to_finish.message == first.to_finish.message


def test_a_deadline_refuses_one_request_and_is_forgotten(grammars: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile, other = request("1", regex=HOSTILE), request("2", regex="[ab]{3}")
    begun = time.monotonic()
    grammars.process_req_with_grammar(hostile)
    submitted(grammars, [other])
    assert re.fullmatch("[ab]{3}", written([other])[0])
    assert time.monotonic() - begun < 20
    assert "limit `seconds`" in hostile.to_finish.message or "limit `states`" in hostile.to_finish.message


def test_what_a_clock_refused_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENFST_COMPILE_SECONDS", "0.05")
    with published():
        grammars = manager()
    hostile = request("1", regex=HOSTILE)
    submitted(grammars, [hostile])
    assert "seconds" in hostile.to_finish.message
    assert len(grammars.grammar_backend.cache) == 0


# Several ranks, and requests that are given up


@dataclass(frozen=True)
class Endless(Settings):
    """Settings whose limits nothing reaches in the time of a test."""

    @property
    def limits(self) -> Limits:
        return Limits(arcs=1 << 40, states=1 << 40, memory=1 << 40, seconds=self.seconds)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving.sglang.backend, "settings_from_environment", lambda: Endless(seconds=0.2, threads=1))


def stops(grammars: Any) -> None:
    """Nothing is compiled any more, and what is asked for next is."""
    end = time.monotonic() + 30
    while True:
        before = time.process_time()
        time.sleep(1.0)
        if time.process_time() - before < 0.02:
            break
        assert time.monotonic() < end
    other = request("other", regex="[ab]{3}")
    submitted(grammars, [other])
    assert re.fullmatch("[ab]{3}", written([other])[0])


@pytest.mark.usefixtures("endless")
def test_ranks_refuse_nothing_by_their_own_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    with published(tp_size=2), envs.SGLANG_GRAMMAR_MAX_POLL_ITERATIONS.override(200):
        grammars = manager()
        hostile = request("1", regex=HOSTILE)
        begun = time.monotonic()
        submitted(grammars, [hostile])
        # All ranks count alike when SGLang gives up, and none before.
        assert time.monotonic() - begun > 0.9
        assert "timed out" in hostile.to_finish.message
        stops(grammars)


@pytest.mark.usefixtures("endless")
def test_one_rank_has_a_deadline() -> None:
    with published():
        grammars = manager()
        hostile = request("1", regex=HOSTILE)
        submitted(grammars, [hostile])
    assert "limit `seconds`" in hostile.to_finish.message


@pytest.mark.parametrize("parser", [None, "qwen3"])
@pytest.mark.usefixtures("endless")
def test_an_aborted_request_stops_its_compilation(parser: str | None) -> None:
    with published(tp_size=2, reasoning_parser=parser):
        grammars = manager(think_end_ids=[1] if parser else None)
        doomed = request("doomed", regex=HOSTILE)
        grammars.process_req_with_grammar(doomed)
        assert grammars.has_waiting_grammars()
        time.sleep(0.2)
        grammars.abort_requests(AbortReq(rid="doomed"))
        stops(grammars)


# What is kept


@pytest.mark.parametrize("parser", [None, "qwen3"])
def test_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch, parser: str | None) -> None:
    monkeypatch.setenv("TOKENFST_CACHE_BYTES", str(1 << 17))
    with published(reasoning_parser=parser):
        grammars = manager(think_end_ids=[1] if parser else None)
        kept = grammars.grammar_backend.cache
        for number in range(60):
            submitted(
                grammars, [request(str(number), regex=f"x{number}[a-f]{{1,200}}y"), request("b", regex=f"({number}")]
            )
            compiled = getattr(grammars.grammar_backend, "grammar_backend", grammars.grammar_backend).compiler
            assert 0 < kept.nbytes <= 1 << 16
            assert 0 < compiled.nbytes <= 1 << 16
        held = {key: value for key, value in kept.items() if key[1].startswith("x")}
        automata = [getattr(value, "grammar", value).matcher.automaton for value in held.values()]
        assert 1 < len(automata) < 60
        assert sum(automaton.nbytes for automaton in automata) <= 1 << 16
        grammars.clear()
        assert (len(kept), kept.nbytes) == (0, 0)


# Whitespace


@pytest.mark.parametrize(
    ("arguments", "right", "wrong"),
    [
        ({}, '{\n  "a": 1\n}', '{"a":' + " " * 1000 + "1}"),
        ({"constrained_json_disable_any_whitespace": True}, '{"a":1}', '{"a": 1}'),
        ({"constrained_json_max_whitespace_cnt": 2}, '{  "a"\n\n:1}', '{   "a":1}'),
        ({"constrained_json_whitespace_pattern": r"[\n ]*"}, '{  \n\n  "a":1}', '{\t"a":1}'),
    ],
)
def test_white_space_is_as_the_server_was_told(arguments: Any, right: str, wrong: str) -> None:
    with published(**arguments):
        made = request(json_schema='{"type": "object"}')
        submitted(manager(), [made])
    automaton = made.grammar.matcher.automaton
    assert automaton.accepts(right)
    assert not automaton.accepts(wrong)


def test_white_space_that_cannot_be_is_refused_by_name() -> None:
    two: Any = {"constrained_json_disable_any_whitespace": True, "constrained_json_max_whitespace_cnt": 3}
    with (
        published(**two),
        pytest.raises(ValueError, match="--constrained-json-disable-any-whitespace and --constrained-json-max-white"),
    ):
        manager()
    with (
        published(constrained_json_whitespace_pattern="_*"),
        pytest.raises(ValueError, match="is not whitespace in JSON"),
    ):
        manager()


# A reasoning parser


def test_a_reasoning_parser_is_put_around(monkeypatch: pytest.MonkeyPatch) -> None:
    with published(reasoning_parser="qwen3"):
        wrapped = manager(think_end_ids=[1]).grammar_backend
        assert isinstance(wrapped, ReasonerGrammarBackend)
        assert isinstance(wrapped.grammar_backend, Backend)
        # A parser whose end no tokenizer can write is as good as none, as it is for SGLang's own backends.
        nothing = SimpleNamespace(get_think_end_token_ids=lambda tokenizer: [])
        monkeypatch.setattr(serving.sglang.backend, "ReasoningParser", lambda **_: SimpleNamespace(detector=nothing))
        assert isinstance(manager().grammar_backend, Backend)
