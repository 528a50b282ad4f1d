"""vLLM's own server with the bundled model, asked by OpenAI's client; `make serve-test` runs it.

What is written is checked by other programs: Python's `re`, `json` and `jsonschema`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonschema
import openai
import pytest
from vllm_server import running

from decoding import bundled_model

PROMPT = "A person as JSON: "
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
CLOSED = {"additionalProperties": False}
NAMED: Any = {"type": "function", "function": {"name": "weather"}}
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}
BROKEN_TAG = json.dumps(
    {
        "type": "structural_tag",
        "format": {"type": "tag", "begin": "<f>", "content": {"type": "regex", "pattern": "(a|b"}, "end": "</f>"},
    }
)
NGRAM = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4, "prompt_lookup_min": 2}


def endless_tokens() -> list[int]:
    """The bundled model's tokens of digits and whitespace alone."""
    _, tokenizer = bundled_model()
    texts: dict[int, Any] = {token: tokenizer.decode([token]) for token in range(len(tokenizer))}
    return [token for token, text in texts.items() if text and (text.isdigit() or text.isspace())][:300]


@pytest.fixture(scope="module", params=["plain", "ngram"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    """A client of a server with the bundled model, without and with speculative decoding."""
    options = ["--speculative-config", json.dumps(NGRAM)] if request.param == "ngram" else []
    settings = {"TOKENFST_VLLM": "outlines", "TOKENFST_COMPILE_SECONDS": "2"}
    with running(tmp_path_factory.mktemp("vllm") / "server.log", *options, settings=settings) as server:
        yield openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=60)


def completion(client: openai.OpenAI, asked: dict[str, Any], seed: int = 0, **options: Any) -> Any:
    options = {"max_tokens": 80, "temperature": 1.0} | options
    extra = {"structured_outputs": asked} | options.pop("extra", {})
    answer = client.completions.create(model="bundled", prompt=PROMPT, seed=seed, extra_body=extra, **options)
    return answer.choices[0]


def chat(client: openai.OpenAI, **options: Any) -> Any:
    message: Any = {"role": "user", "content": "A person as JSON"}
    options = {"max_tokens": 100, "temperature": 1.0, "seed": 1} | options
    answer = client.chat.completions.create(model="bundled", messages=[message], **options)
    return answer.choices[0]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("pattern", [r"\d{4}-[01]\d-[0-3]\d", "[a-c]{3,5}", "(yes|no)( indeed)?"])
def test_patterns(client: openai.OpenAI, pattern: str, seed: int) -> None:
    choice = completion(client, {"regex": pattern}, seed)
    assert choice.finish_reason == "stop"
    assert re.fullmatch(pattern, choice.text)


@pytest.mark.parametrize("seed", range(8))
def test_schemas(client: openai.OpenAI, seed: int) -> None:
    choice = completion(client, {"json": PERSON}, seed)
    assert choice.finish_reason == "stop"
    jsonschema.validate(json.loads(choice.text), PERSON)


# vllm-project/vllm#52011 and #38696: digits and whitespace until no tokens are left. vLLM takes no biases beside
# speculative decoding.
@pytest.mark.parametrize("client", ["plain"], indirect=True)
@pytest.mark.parametrize("schema", [{"type": "integer"}, {"type": "array", "maxItems": 0}, {"type": "number"}])
def test_digits_and_white_space_come_to_an_end(client: openai.OpenAI, schema: dict[str, Any]) -> None:
    bias: Any = {str(token): 50 for token in endless_tokens()}
    choice = completion(client, {"json": schema}, logit_bias=bias)
    assert choice.finish_reason == "stop"
    jsonschema.validate(json.loads(choice.text), schema)


# vllm-project/vllm#54497: the same in the arguments of strict tools.
@pytest.mark.parametrize("client", ["plain"], indirect=True)
def test_white_space_in_the_arguments_of_tools_comes_to_an_end(client: openai.OpenAI) -> None:
    _, tokenizer = bundled_model()
    texts: dict[int, Any] = {token: tokenizer.decode([token]) for token in range(len(tokenizer))}
    bias: Any = {str(token): 50 for token, text in texts.items() if text and text.isspace()}
    (call,) = chat(client, tools=[WEATHER], tool_choice=NAMED, logit_bias=bias).message.tool_calls
    jsonschema.validate(json.loads(call.function.arguments), WEATHER["function"]["parameters"])


# vllm-project/vllm#57723: an end token that the mask allows is refused afterwards.
@pytest.mark.parametrize("stops", [[], [5], [5, 300, 700]])
def test_every_token_that_ends_a_text_is_accepted(client: openai.OpenAI, stops: list[int]) -> None:
    for seed in range(6):
        choice = completion(client, {"choice": ["red", "green"]}, seed, extra={"stop_token_ids": stops})
        assert (choice.finish_reason, choice.text in ("red", "green")) == ("stop", True)


# vllm-project/vllm#54003: a schema like this takes an engine minutes or hours.
def test_nested_alternatives_that_exclude_each_other(client: openai.OpenAI) -> None:
    schema: dict[str, Any] = {"type": "string", "maxLength": 3}
    for level in range(8):
        one, other = ({"properties": {f"{side}{level}": schema}, "required": [f"{side}{level}"]} for side in "ab")
        schema = {"type": "object", "oneOf": [one | CLOSED, other | CLOSED]}
    begun = time.monotonic()
    choice = completion(client, {"json": schema}, max_tokens=300)
    assert choice.finish_reason == "stop"
    jsonschema.validate(json.loads(choice.text), schema)
    assert time.monotonic() - begun < 20.0


# vllm-project/vllm#43920: a grammar after which the engine is gone.
@pytest.mark.parametrize("broken", ['root ::= "a"\nroot ::= "b"', 'root ::= "a" )', "root ::= [", ""])
def test_broken_grammars_are_refused_and_the_engine_lives(client: openai.OpenAI, broken: str) -> None:
    assert completion(client, {"grammar": 'root ::= "a"'}).text == "a"
    with pytest.raises(openai.BadRequestError):
        completion(client, {"grammar": broken})
    assert completion(client, {"grammar": 'root ::= "a"'}).text == "a"


@pytest.mark.parametrize("seed", range(4))
def test_choices_and_grammars(client: openai.OpenAI, seed: int) -> None:
    assert completion(client, {"choice": ["red", "green"]}, seed).text in ("red", "green")
    text = completion(client, {"grammar": 'root ::= "a" | "(" root ")"'}, seed).text
    depth = text.count("(")
    assert text == "(" * depth + "a" + ")" * depth or text == "(" * 80


def test_structural_tags(client: openai.OpenAI) -> None:
    content = {"type": "json_schema", "json_schema": PERSON}
    tag = {"type": "structural_tag", "format": {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}}
    choice = completion(client, {"structural_tag": json.dumps(tag)})
    assert (choice.text[:3], choice.text[-4:]) == ("<f>", "</f>")
    jsonschema.validate(json.loads(choice.text[3:-4]), PERSON)


def test_response_formats(client: openai.OpenAI) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}
    jsonschema.validate(json.loads(chat(client, response_format=form).message.content), PERSON)


def test_a_tool_by_name(client: openai.OpenAI) -> None:
    (call,) = chat(client, tools=[WEATHER], tool_choice=NAMED).message.tool_calls
    jsonschema.validate(json.loads(call.function.arguments), WEATHER["function"]["parameters"])


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_tools_that_a_model_may_or_must_call(client: openai.OpenAI, choice: Any) -> None:
    """The bundled model calls no tool of its own accord, and does not stop calling where it must.

    vLLM gives calls of which the last is cut short as text.
    """
    answer = chat(client, tools=[WEATHER], tool_choice=choice, max_tokens=200)
    written = re.findall(r"<tool_call>\n?(.*?)\n?</tool_call>", answer.message.content or "")
    calls = [(call["name"], call["arguments"]) for call in map(json.loads, written)]
    made = answer.message.tool_calls or []
    calls += [(call.function.name, json.loads(call.function.arguments)) for call in made]
    assert calls or choice == "auto", answer
    for name, arguments in calls:
        assert name == "weather"
        jsonschema.validate(arguments, WEATHER["function"]["parameters"])


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"json": {"type": "nosuch"}}, "there is no type 'nosuch' (at /type"),
        ({"json": {"not": {"uniqueItems": True}}}, "at /not/uniqueItems"),
        ({"regex": "(a|b"}, "never closed"),
        ({"grammar": "root ::= nothing"}, "no rule is named 'nothing'"),
        ({"structural_tag": BROKEN_TAG}, "structural_tag"),  # vLLM finds this by itself, and gives no reason
    ],
)
def test_what_cannot_be_honoured_is_refused_and_harms_nobody(
    client: openai.OpenAI, asked: dict[str, Any], reason: str
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        completion(client, asked)
    assert reason in str(refused.value)
    assert completion(client, {"choice": ["red"]}).text == "red"


def test_a_compilation_without_end_costs_the_others_nothing(client: openai.OpenAI) -> None:
    hostile = "(a|b)*a" + "(a|b)" * 60  # 2^60 states
    with ThreadPoolExecutor(9) as pool:
        doomed = pool.submit(completion, client, {"regex": hostile}, max_tokens=20)
        begun = time.monotonic()
        others = [pool.submit(completion, client, {"choice": ["red", "green"]}, seed) for seed in range(8)]
        assert all(each.result().text in ("red", "green") for each in others)
        assert time.monotonic() - begun < 15.0
        # Where a compilation fails, vLLM's answer is a 500, and from 0.33 on a 400 with the reason.
        with pytest.raises((openai.InternalServerError, openai.BadRequestError)):
            doomed.result()
    assert completion(client, {"choice": ["red"]}).text == "red"


def test_the_end_comes_again_where_end_tokens_are_ignored(client: openai.OpenAI) -> None:
    assert completion(client, {"choice": ["red"]}, extra={"ignore_eos": True}).text == "red"
    assert completion(client, {"choice": ["red"]}, extra={"min_tokens": 20}).text == "red"


def test_requests_with_and_without_constraints_in_one_batch(client: openai.OpenAI) -> None:
    kinds: list[dict[str, Any] | None] = [None, {"regex": "[0-9]{3}"}, {"choice": ["red"]}, {"json": PERSON}]

    def ask(number: int) -> str:
        asked = kinds[number % 4]
        if asked is None:
            answer = client.completions.create(model="bundled", prompt=PROMPT, max_tokens=8, seed=number)
            return str(answer.choices[0].text)
        return str(completion(client, asked, number).text)

    with ThreadPoolExecutor(32) as pool:
        texts = list(pool.map(ask, range(64)))
    assert all(re.fullmatch("[0-9]{3}", text) for text in texts[1::4])
    assert set(texts[2::4]) == {"red"}
    for text in texts[3::4]:
        jsonschema.validate(json.loads(text), PERSON)
