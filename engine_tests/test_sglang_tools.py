"""Structural tags that SGLang makes of tools: what is allowed is read by SGLang's own readers, and is valid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sglang.srt.entrypoints.openai.protocol import Function, Tool
from sglang.srt.function_call.deepseekv4_detector import DeepSeekV4Detector
from sglang.srt.function_call.deepseekv32_detector import DeepSeekV32Detector
from sglang.srt.function_call.deepseekv41_detector import DeepSeekV41Detector
from sglang.srt.function_call.glm47_moe_detector import Glm47MoeDetector
from sglang.srt.function_call.kimik3_detector import KimiK3Detector
from sglang.srt.function_call.qwen3_coder_detector import Qwen3CoderDetector
from tool_texts import FUNCTIONS, SCHEMAS, automaton_of, written

TOOLS = [Tool(type="function", function=Function(**function)) for function in FUNCTIONS]
READERS = [
    Qwen3CoderDetector,
    Glm47MoeDetector,
    DeepSeekV32Detector,
    DeepSeekV4Detector,
    DeepSeekV41Detector,
    KimiK3Detector,
]
COUNT = 60


@pytest.mark.parametrize("reader", READERS)
def test_calls_are_read_and_valid(reader: Any) -> None:
    automata = [automaton_of(reader().get_structural_tag(tools, "required")) for tools in (TOOLS, TOOLS[:1])]
    read = 0
    for text in [written(automaton, seed) for automaton in automata for seed in range(COUNT)]:
        calls = reader().detect_and_parse(text, TOOLS).calls
        assert calls, text
        for call in calls:
            arguments = json.loads(call.parameters)
            Draft202012Validator(SCHEMAS[call.name]).validate(arguments)
            read += len(arguments)
    assert read > COUNT
