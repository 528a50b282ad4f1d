"""vLLM's Model Runner V2 with masks made on the device: its own scheduler, runner and sampler, and the bundled model.

There need be no GPU: the runner's Triton kernels run in Triton's interpreter, slowly, and the device is the CPU. What
is written is checked by other programs, as under load (`workload`).
"""

from __future__ import annotations

import json
import os
import re
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest
from load import send_all
from test_vllm_load import NGRAM, problems, troubled
from vllm_server import Server, model_folder, running
from workload import PROMPT, Asked, mixed, schemas_from

DRAFT_MODEL = {"method": "draft_model", "model": str(model_folder()), "num_speculative_tokens": 3}
# Room for a few requests, which are preempted, and steps that read prompts in pieces.
SCARCE = [
    "--block-size",
    "32",
    "--num-gpu-blocks-override",
    "17",
    "--max-model-len",
    "512",
    "--max-num-batched-tokens",
    "32",
]
OPTIONS: dict[str, list[str]] = {
    "plain": [],
    "ngram": ["--speculative-config", json.dumps(NGRAM)],
    "draft model": ["--speculative-config", json.dumps(DRAFT_MODEL)],
    "preempted and in pieces": SCARCE,
    "tensor parallel": ["--tensor-parallel-size", "2"],
    "scheduled ahead": [*SCARCE, "--speculative-config", json.dumps(DRAFT_MODEL)],
}
SETTINGS = {
    "PYTHONPATH": os.pathsep.join(
        [str(Path(__file__).parent / "triton_interpreter"), os.environ.get("PYTHONPATH", "")]
    ),
    "TRITON_INTERPRET": "1",
    "TORCHDYNAMO_DISABLE": "1",  # it would compile for the device that there is not
    "VLLM_USE_V2_MODEL_RUNNER": "1",
    "TOKENFST_VLLM": "outlines",  # structured outputs continue beside ours
    "TOKENFST_STEP_SECONDS": "2",
    "VLLM_CPU_OMP_THREADS_BIND": "auto",
}
MORE_SETTINGS = {
    "tensor parallel": {"VLLM_CPU_OMP_THREADS_BIND": "0|1"},
    "scheduled ahead": {"SCHEDULE_AHEAD": "1"},
}
REQUESTS = 60
# Where memory is scarce, loads are sent until a request was preempted, which the order of their arrival decides.
MAX_LOADS = 6


@pytest.fixture(scope="module", params=OPTIONS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    options = ["--logits-processors", "serving.vllm.device:DeviceProcessor", "--max-num-seqs", "16"]
    settings = SETTINGS | MORE_SETTINGS.get(request.param, {})
    with running(log, *options, *OPTIONS[request.param], settings=settings) as found:
        yield found
    assert "Using V2 Model Runner" in log.read_text()


def on_device(asked: Asked) -> Asked:
    """A request whose constraint is for our logits processor; tools stay with the backend."""
    body = dict(asked.body)
    structured, form = body.pop("structured_outputs", None), body.get("response_format")
    if form is not None:
        del body["response_format"]
        structured = {"json": form["json_schema"]["schema"]} if "json_schema" in form else {"json_object": True}
    if structured is not None:
        body["vllm_xargs"] = {"tokenfst": json.dumps(structured)}
    return replace(asked, body=body)


def metric(server: Server, name: str) -> float:
    with urllib.request.urlopen(server.url.removesuffix("v1") + "metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def test_a_load_of_all_kinds(server: Server, request: pytest.FixtureRequest) -> None:
    mode = request.node.callspec.params["server"]
    is_scarce = mode in ("preempted and in pieces", "scheduled ahead")
    for seed in range(1, MAX_LOADS):
        asked = troubled(mixed(REQUESTS, schemas_from(20), seed, max_tokens=100), seed)
        answers = send_all(server.url, [on_device(each) for each in asked], 32)
        assert problems(answers) == []
        ends = Counter((answer.asked.kind, answer.finish) for answer in answers)
        for kind in ("schema", "pattern", "choice", "grammar"):
            assert ends[kind, "stop"], ends
        if not is_scarce or metric(server, "vllm:num_preemptions_total") > 0:
            break
    else:
        pytest.fail("no request was preempted")
    if mode in ("ngram", "draft model", "scheduled ahead"):
        assert metric(server, "vllm:spec_decode_num_accepted_tokens_total") > 0
    assert server.process.poll() is None


def completion(server: Server, asked: Any, **options: Any) -> Any:
    client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=60)
    extra = {"vllm_xargs": {"tokenfst": json.dumps(asked)}} | options.pop("extra", {})
    options = {"max_tokens": 40, "temperature": 1.0, "seed": 1} | options
    return client.completions.create(model="bundled", prompt=PROMPT, extra_body=extra, **options).choices[0]


def test_what_cannot_be_honoured_is_refused(server: Server) -> None:
    with pytest.raises(openai.BadRequestError, match="at /uniqueItems"):
        completion(server, {"json": {"type": "array", "uniqueItems": True}})
    with pytest.raises(openai.BadRequestError, match="not in both"):
        completion(server, {"regex": "a"}, extra={"structured_outputs": {"regex": "a"}})
    assert completion(server, {"choice": ["red"]}).text == "red"


def test_a_constraint_that_is_too_large_gives_an_empty_text(server: Server) -> None:
    choice = completion(server, {"regex": "(a|b)*a" + "(a|b)" * 60})
    assert (choice.text, choice.finish_reason) == ("", "stop")
    assert "the text of a request ends at once" in server.log.read_text()


def test_beside_other_parameters(server: Server, request: pytest.FixtureRequest) -> None:
    assert completion(server, {"choice": ["red"]}, extra={"ignore_eos": True}).text == "red"
    assert completion(server, {"choice": ["red"]}, extra={"min_tokens": 20}).text == "red"
    assert completion(server, {"choice": ["red"]}, extra={"repetition_penalty": 1.9}).text == "red"
    assert re.fullmatch("[0-9]{12}", completion(server, {"regex": "[0-9]{12}"}, temperature=0).text)
    if request.node.callspec.params["server"] == "plain":  # vLLM takes none of these beside speculative decoding
        assert completion(server, {"choice": ["red"]}, extra={"min_p": 0.3}).text == "red"
        bias: Any = {str(token): 100 for token in range(2, 300)}
        assert completion(server, {"choice": ["red"]}, logit_bias=bias).text == "red"
        assert completion(server, {"choice": ["red"]}, extra={"bad_words": ["red", "r"]}).text == "red"
