"""A server under load: 500 requests, 64 at a time, some of them broken, hostile, or given up half way.

Every finished output is checked by other programs, every broken request is refused with the place and the reason, and
what is hostile disturbs nobody. The schemas are made from seeds; the variable SCHEMAS names a file of others.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from load import Answer, send_all
from vllm_server import Server, running
from workload import Asked, hostile, mixed, refused, schemas_from

NGRAM = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4, "prompt_lookup_min": 2}
OPTIONS: dict[str, list[str]] = {
    "plain": [],
    "tensor parallel": ["--tensor-parallel-size", "2"],
    "data parallel": ["--data-parallel-size", "2"],
    "ngram": ["--speculative-config", json.dumps(NGRAM)],
    "preempted and in chunks": ["--num-gpu-blocks-override", "12", "--max-num-batched-tokens", "64"],
}
# A core for each process of a parallel engine, on a machine with two.
SETTINGS = {"TOKENFST_VLLM": "outlines", "TOKENFST_COMPILE_SECONDS": "2", "VLLM_CPU_OMP_THREADS_BIND": "0|1"}
REQUESTS = 500


@pytest.fixture(scope="module", params=OPTIONS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    settings = SETTINGS if "parallel" in request.param else SETTINGS | {"VLLM_CPU_OMP_THREADS_BIND": "auto"}
    with running(log, *OPTIONS[request.param], settings=settings) as found:
        yield found


def troubled(requests: list[Asked], seed: int) -> list[Asked]:
    """Return requests of which one in twenty is broken, one in twenty hostile, and one in ten given up."""
    draw, found = random.Random(seed), list[Asked]()
    for number, request in enumerate(requests):
        kind = draw.choices(["as it is", "broken", "hostile", "given up"], [16, 1, 1, 2])[0]
        made = {"broken": refused(number), "hostile": hostile(number), "given up": replace(request, cancelled=True)}
        found.append(made.get(kind, request))
    return found


def without_seeds(request: Asked) -> Asked:
    """Return a request without its seed: on a CPU, vLLM 0.32 ends where a request with a seed comes in chunks."""
    return replace(request, body={name: value for name, value in request.body.items() if name != "seed"})


def problems(answers: list[Answer]) -> list[str]:
    return [f"{each.asked.kind}: {each.problem}; asked {each.asked.body}" for each in answers if each.problem]


def test_a_load_of_all_kinds(server: Server) -> None:
    answers = send_all(server.url, [*map(without_seeds, troubled(mixed(REQUESTS, schemas_from(50), 1), 1))])
    assert problems(answers) == []
    ends = Counter((answer.asked.kind, answer.finish) for answer in answers)
    for kind in ("schema", "pattern", "choice", "grammar", "json object", "tag", "tool", "free"):
        assert ends[kind, "stop"], ends
    assert ends["broken", ""], ends
    assert ends["hostile", ""], ends
    assert server.process.poll() is None
    assert isinstance(server.process.args, list)
    if "--num-gpu-blocks-override" in server.process.args:
        assert server.metric("vllm:num_preemptions_total") > 0
    after = send_all(server.url, mixed(20, schemas_from(5), 2, max_tokens=30))
    assert problems(after) == []


@pytest.mark.parametrize("server", ["plain"], indirect=True)
def test_memory_is_level(server: Server) -> None:
    """5,000 requests with ever new constraints; the cache is full long before the middle."""
    used = []
    for part in range(10):
        requests = troubled(mixed(REQUESTS, schemas_from(100, seed=part + 1), part, max_tokens=24), part)
        assert problems(send_all(server.url, requests)) == []
        used.append(server.memory())
    assert max(used[5:]) < 1.05 * max(used[:5]), used
