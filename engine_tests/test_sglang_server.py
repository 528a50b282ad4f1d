"""SGLang's own server with the bundled model, asked by OpenAI's client; `make serve-test` runs it.

On a CPU SGLang runs with PyTorch's attention. What is written is checked by other programs: Python's `re`, `json` and
`jsonschema`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import openai
import pytest

HERE = Path(__file__).parent
PROMPT = "A person as JSON: "
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
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER: Any = {"type": "function", "function": {"name": "weather", "parameters": CITY, "strict": True}}
# A format of structural tags that is not supported, in which parameters are not valid JSON.
XML = {"type": "json_schema", "json_schema": CITY, "style": "cohere_xml"}
# Seconds until the server answers.
START = 240.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module", params=[1, 2], ids=["one rank", "two ranks"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    """A client of a server with the bundled model, on one rank and on two."""
    spec = find_spec("decoding")
    assert spec is not None
    assert spec.origin is not None
    port, log = free_port(), tmp_path_factory.mktemp("sglang") / "server.log"
    command = f"--model-path {Path(spec.origin).parent / 'model'} --served-model-name bundled --port {port}"
    command += " --device cpu --attention-backend torch_native --sampling-backend pytorch --disable-cuda-graph"
    command += " --grammar-backend tokenfst --max-total-tokens 8192 --max-running-requests 16 --log-level warning"
    command += " --chunked-prefill-size 4"  # prompts are read in several steps
    command += f" --chat-template {HERE / 'conversation.jinja'} --tool-call-parser qwen25 --tp-size {request.param}"
    settings = {"TOKENFST_COMPILE_SECONDS": "2", "HF_HUB_OFFLINE": "1", "SGLANG_GRAMMAR_MAX_POLL_ITERATIONS": "400"}
    if request.param > 1:
        settings["SGLANG_CPU_OMP_THREADS_BIND"] = "0|1"
    else:  # now and then requests lose their memory, and are read again
        settings |= {"SGLANG_TEST_RETRACT": "1", "SGLANG_TEST_RETRACT_INTERVAL": "20"}
    with log.open("wb") as output:
        arguments = [sys.executable, "-m", "sglang.launch_server", *command.split()]
        server = subprocess.Popen(
            arguments, stdout=output, stderr=output, env=os.environ | settings, start_new_session=True
        )
        try:
            client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0, timeout=90)
            wait_for(client, server, log)
            yield client
            assert server.poll() is None, log.read_text()[-4000:]
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(60)


def wait_for(client: openai.OpenAI, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text()[-4000:]
        try:
            client.models.list()
            completion(client)
            return
        except openai.APIError:
            time.sleep(0.5)
    raise TimeoutError(log.read_text()[-4000:])


def completion(client: openai.OpenAI, *, max_tokens: int = 60, **asked: Any) -> Any:
    answer = client.completions.create(
        model="bundled", prompt=PROMPT, temperature=1.0, max_tokens=max_tokens, extra_body=asked
    )
    return answer.choices[0]


def chat(client: openai.OpenAI, **options: Any) -> Any:
    message: Any = {"role": "user", "content": "A person as JSON"}
    answer = client.chat.completions.create(
        model="bundled", messages=[message], max_tokens=100, temperature=1.0, **options
    )
    return answer.choices[0]


def as_json(text: str, schema: Any) -> None:
    jsonschema.validate(json.loads(text), schema)


@pytest.mark.parametrize("pattern", [r"\d{4}-[01]\d-[0-3]\d", "[a-c]{3,5}", "(yes|no)( indeed)?"])
def test_patterns(client: openai.OpenAI, pattern: str) -> None:
    for _ in range(4):
        choice = completion(client, regex=pattern)
        assert choice.finish_reason == "stop"
        assert re.fullmatch(pattern, choice.text)


def test_grammars_and_schemas(client: openai.OpenAI) -> None:
    text = completion(client, ebnf='root ::= "a" | "(" root ")"').text
    depth = text.count("(")
    assert text in ("(" * depth + "a" + ")" * depth, "(" * 60)
    as_json(completion(client, json_schema=json.dumps(PERSON)).text, PERSON)


def test_structural_tags(client: openai.OpenAI) -> None:
    content = {"type": "json_schema", "json_schema": PERSON}
    tag = {"type": "structural_tag", "format": {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}}
    choice = completion(client, response_format=tag)
    assert (choice.text[:3], choice.text[-4:]) == ("<f>", "</f>")
    as_json(choice.text[3:-4], PERSON)


def test_response_formats(client: openai.OpenAI) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}
    as_json(chat(client, response_format=form).message.content, PERSON)
    streamed: Any = client.chat.completions.create(
        model="bundled", messages=[{"role": "user", "content": "hi"}], max_tokens=100, response_format=form, stream=True
    )
    as_json("".join(each.choices[0].delta.content or "" for each in streamed), PERSON)
    choice = chat(client, response_format={"type": "json_object"})
    if choice.finish_reason == "stop":
        as_json(choice.message.content, {"type": "object"})


@pytest.mark.parametrize("wanted", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_tools(client: openai.OpenAI, wanted: Any) -> None:
    message = chat(client, tools=[WEATHER], tool_choice=wanted, extra_body={"parallel_tool_calls": False}).message
    assert message.tool_calls
    for call in message.tool_calls:
        assert call.function.name == "weather"
        as_json(call.function.arguments, CITY)


def test_tools_where_the_model_may_answer(client: openai.OpenAI) -> None:
    message = chat(client, tools=[WEATHER], tool_choice="auto").message
    assert message.content or message.tool_calls
    for call in message.tool_calls or []:
        as_json(call.function.arguments, CITY)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"json_schema": '{"type": "nosuch"}'}, "there is no type 'nosuch' (at /type"),
        ({"json_schema": '{"not": {"uniqueItems": true}}'}, "at /not/uniqueItems"),
        ({"regex": "(a|b"}, "never closed"),
        ({"ebnf": "root ::= nothing"}, "no rule is named 'nothing'"),
        ({"response_format": {"type": "structural_tag", "format": XML}}, "format.style is not supported: 'cohere_xml'"),
    ],
)
def test_what_cannot_be_honoured_is_refused_and_harms_nobody(
    client: openai.OpenAI, asked: dict[str, Any], reason: str
) -> None:
    for _ in range(2):
        with pytest.raises(openai.BadRequestError) as refused:
            completion(client, **asked)
        assert reason in str(refused.value)
    assert completion(client, regex="red").text == "red"


def test_a_compilation_without_end_ends_alone(client: openai.OpenAI) -> None:
    with ThreadPoolExecutor(9) as pool:
        doomed = pool.submit(completion, client, regex=HOSTILE, max_tokens=20)
        others = [pool.submit(completion, client, regex=f"red{number}") for number in range(8)]
        assert [each.result().text for each in others] == [f"red{number}" for number in range(8)]
        with pytest.raises(openai.BadRequestError, match=r"limit `|timed out"):
            doomed.result()
    assert completion(client, regex="red").text == "red"


def test_requests_that_are_given_up(client: openai.OpenAI) -> None:
    impatient = client.with_options(timeout=0.5)
    with pytest.raises(openai.APITimeoutError):
        completion(impatient, regex="([a-z]1){400}", max_tokens=900)
    with pytest.raises((openai.APITimeoutError, openai.BadRequestError)):
        completion(impatient, regex=HOSTILE + "c")
    assert completion(client, regex="red").text == "red"


def test_the_end_comes_where_end_tokens_are_ignored_or_too_early(client: openai.OpenAI) -> None:
    assert completion(client, regex="red", ignore_eos=True).text == "red"
    assert completion(client, regex="red", min_tokens=20).text == "red"


def test_requests_with_and_without_constraints_in_one_batch(client: openai.OpenAI) -> None:
    kinds: list[dict[str, Any]] = [{}, {"regex": "[0-9]{3}"}, {"regex": "red"}, {"json_schema": json.dumps(PERSON)}]

    def ask(number: int) -> str:
        return str(completion(client, **kinds[number % 4]).text)

    with ThreadPoolExecutor(32) as pool:
        texts = list(pool.map(ask, range(48)))
    assert all(re.fullmatch("[0-9]{3}", text) for text in texts[1::4])
    assert set(texts[2::4]) == {"red"}
    for text in texts[3::4]:
        as_json(text, PERSON)


def test_many_constraints_none_of_which_was_seen(client: openai.OpenAI) -> None:
    def ask(number: int) -> None:
        pattern = f"x{number}[a-c]{{1,3}}"
        if number % 10 == 0:
            with pytest.raises(openai.BadRequestError):
                completion(client, regex=pattern + "(")
        else:
            assert re.fullmatch(pattern, completion(client, regex=pattern).text)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(ask, range(60)))
