"""Structural tags that vLLM makes of tools: what is allowed is read by vLLM's own readers of each model's calls, and is
valid, alone and in a server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from jsonschema import Draft202012Validator
from tool_texts import FUNCTIONS, SCHEMAS, automaton_of, written
from transformers import AutoTokenizer
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest, ChatCompletionToolsParam
from vllm.tool_parsers import ToolParserManager
from vllm.tool_parsers.structural_tag_registry import SUPPORTED_STRUCTURAL_TAG_MODELS, get_model_structural_tag
from vllm_server import model_folder, running

from tokenfst.token_automaton import TokenAutomaton

TOOLS = [ChatCompletionToolsParam(type="function", function=function) for function in FUNCTIONS]
# Models with arguments between tags, and the readers of their calls.
READERS = [
    ("qwen_3_coder", "qwen3_coder"),
    ("qwen_3_coder", "step3p5"),
    ("mimo", "mimo"),
    ("glm_4_7", "glm45"),
    ("glm_4_7", "glm47"),
    ("deepseek_v3_2", "deepseek_v32"),
    ("deepseek_v4", "deepseek_v4"),
    ("deepseek_v4_1", "deepseek_v41"),
    ("hermes", "hermes"),
]
MARKS = re.compile(r"<[^<>\s]*tool_calls?[^<>\s]*>|<｜[^<>]*｜>|<\|[^<>]*\|>|</?think>")
COUNT = 60


def automaton_for(model: str, choice: Any, tools: list[ChatCompletionToolsParam] = TOOLS) -> TokenAutomaton:
    return automaton_of(get_model_structural_tag(model, tools, choice, reasoning=False))


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("model", sorted(SUPPORTED_STRUCTURAL_TAG_MODELS))
def test_all_tags_are_constraints(model: str, choice: str) -> None:
    automaton = automaton_for(model, choice)
    assert automaton.min_tokens(automaton.start) > 0


@pytest.mark.parametrize(("model", "reader"), READERS)
def test_calls_are_read_and_valid(model: str, reader: str) -> None:
    automata = [automaton_for(model, "required", tools) for tools in (TOOLS, TOOLS[:1])]
    texts = [written(automaton, seed) for automaton in automata for seed in range(COUNT)]
    tokenizer = AutoTokenizer.from_pretrained(str(model_folder()))
    tokenizer.add_tokens(sorted({mark for text in texts for mark in MARKS.findall(text)}))
    tools = [tool.model_dump() for tool in TOOLS]
    message: Any = {"role": "user", "content": "?"}
    request = ChatCompletionRequest(model="m", messages=[message], tools=tools, tool_choice="required")
    read = 0
    for text in texts:
        calls = ToolParserManager.get_tool_parser(reader)(tokenizer, TOOLS).extract_tool_calls(text, request).tool_calls
        assert calls, text
        for call in calls:
            arguments = json.loads(call.function.arguments)
            Draft202012Validator(SCHEMAS[call.function.name]).validate(arguments)
            read += len(arguments)
    assert read > COUNT


BOOK = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "unit": {"enum": ["C", "F"]},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 14}, "maxItems": 3},
    },
    "required": ["city", "unit", "days"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module", params=["qwen3_coder", "glm47", "deepseek_v32"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    log = tmp_path_factory.mktemp("tools") / "server.log"
    with running(log, "--tool-call-parser", request.param) as server:
        yield openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=120)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "book"}}])
def test_a_server_reads_calls_between_tags(client: openai.OpenAI, choice: Any) -> None:
    tool: Any = {"type": "function", "function": {"name": "book", "parameters": BOOK, "strict": True}}
    message: Any = {"role": "user", "content": "?"}
    read = 0
    for seed in range(5):
        answer = client.chat.completions.create(
            model="bundled",
            messages=[message],
            tools=[tool],
            tool_choice=choice,
            parallel_tool_calls=False,
            max_tokens=500,
            temperature=1.0,
            seed=seed,
        )
        for call in answer.choices[0].message.tool_calls or []:
            Draft202012Validator(BOOK).validate(json.loads(call.function.arguments))
            read += 1
    assert read
