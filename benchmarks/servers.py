"""Measure vLLM under load with this project's backend, and with its own backends xgrammar and guidance, in turn.

    .venv-vllm/bin/python benchmarks/servers.py [--schemas FILE] [--requests N] [--rounds N] [--backends NAME ...]
                                                [--json FILE]

The environment is the one that `make serve-test` makes; the bundled model runs on a CPU. A round starts a server for
each backend, one after the other, and sends it the same loads of streamed requests, 64 at a time:

    cold        requests of all kinds, with 50 schemas, to a server that has not seen any of them
    warm        the same requests again
    distinct    as many requests, each with a schema of its own; these are drawn apart from the 50, and may include
                some of them
    troubled    requests of all kinds, with 50 schemas of `distinct`, but one in twenty is broken and one in twenty
                hostile; only those that are neither are counted

Each row has the time to the first piece of a streamed answer, and the time between two pieces (median and 99th
percentile over all answers, in milliseconds), and the tokens per second of all requests together. It also has the
shares of requests that ended with an output that is valid by `re`, `json` and `jsonschema`, that ended with an invalid
one, that were cut off at the maximum number of tokens, and that were refused or failed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "engine_tests"))

from load import Answer, send_all
from vllm_server import running
from workload import Asked, hostile, mixed, refused, schema_requests, schemas_from

BACKENDS: dict[str, tuple[str, dict[str, str]]] = {
    "tokenfst": ("outlines", {"TOKENFST_VLLM": "outlines"}),
    "xgrammar": ("xgrammar", {}),
    "guidance": ("guidance", {}),
}
# Starts vLLM with one change, which is the same for all backends.
SLEEPS = [sys.executable, str(Path(__file__).parent / "vllm_that_sleeps.py")]
MEASURES = ["first token p50", "first token p99", "between p50", "between p99", "tokens/s"]
ENDS = ["valid", "invalid", "cut", "refused"]


def loads(count: int, path: str | None, number: int) -> dict[str, list[Asked]]:
    """Return the requests of each load of a round."""
    common = [replace(each, stream=True) for each in mixed(count, schemas_from(50, path, 2 * number), number)]
    others = schemas_from(count, path, 2 * number + 1)
    odd = [
        refused(at // 20) if at % 20 == 7 else hostile(1000 * number + at // 20) if at % 20 == 17 else request
        for at, request in enumerate(replace(each, stream=True) for each in mixed(count, others[:50], number + 500))
    ]
    return {"cold": common, "warm": common, "distinct": schema_requests(others, number), "troubled": odd}


def measured(answers: Sequence[Answer]) -> dict[str, float]:
    """Return the measures of the answers to one load, except those to broken and hostile requests."""
    own = [answer for answer in answers if answer.asked.kind not in ("broken", "hostile")]
    streamed = [answer for answer in own if answer.times]
    first = sorted(1e3 * (answer.times[0] - answer.sent) for answer in streamed)
    gaps = sorted(
        1e3 * (later - one) for each in streamed for one, later in zip(each.times, each.times[1:], strict=False)
    )
    seconds = max(answer.done for answer in own) - min(answer.sent for answer in own)
    ends = Counter(end_of(answer) for answer in own)
    return {
        "first token p50": at(first, 0.5),
        "first token p99": at(first, 0.99),
        "between p50": at(gaps, 0.5),
        "between p99": at(gaps, 0.99),
        "tokens/s": sum(answer.num_tokens for answer in own) / seconds,
        **{end: ends[end] / len(own) for end in ENDS},
    }


def at(values: Sequence[float], share: float) -> float:
    return values[min(int(share * len(values)), len(values) - 1)] if values else float("nan")


def end_of(answer: Answer) -> str:
    if answer.status != 200:
        return "refused"
    if answer.problem:
        return "invalid"
    return "cut" if answer.finish == "length" else "valid"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schemas", help="JSON lines with schemas; default: $SCHEMAS, or schemas made from seeds")
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=list(BACKENDS))
    parser.add_argument("--json", type=Path, help="where to write the measures of each round")
    options = parser.parse_args()
    found: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for number in range(options.rounds):
        asked = loads(options.requests, options.schemas, number)
        for backend in (
            options.backends[number % len(options.backends) :] + options.backends[: number % len(options.backends)]
        ):
            name, settings = BACKENDS[backend]
            with (
                tempfile.TemporaryDirectory() as folder,
                running(Path(folder) / "log", backend=name, settings=settings, command=SLEEPS) as server,
            ):
                send_all(
                    server.url, [each for each in mixed(80, schemas_from(1, seed=99), 1) if each.kind == "free"]
                )  # warm up the engine itself
                for load, requests in asked.items():
                    found[load, backend].append(measured(send_all(server.url, requests)))
                    show(load, backend, found[load, backend][-1:])
    print("\nmedians over the rounds")
    for (load, backend), rounds in sorted(found.items()):
        show(load, backend, rounds)
    if options.json:
        options.json.write_text(json.dumps({" ".join(key): rounds for key, rounds in found.items()}, indent=1))


def show(load: str, backend: str, rounds: Sequence[dict[str, Any]]) -> None:
    medians = {name: statistics.median(one[name] for one in rounds) for name in MEASURES + ENDS}
    measures = "  ".join(f"{name} {medians[name]:7.1f}" for name in MEASURES)
    print(f"{load:9} {backend:9} {measures}  " + "  ".join(f"{end} {medians[end]:6.1%}" for end in ENDS), flush=True)


if __name__ == "__main__":
    main()
