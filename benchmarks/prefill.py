"""Compile a constraint while the model reads its prompts, and measure how much longer both together take.

    python benchmarks/prefill.py [--vocab FILE] [--runs N]

    compile     a constraint is read and compiled by itself
    prefill     the bundled model reads a batch of prompts, in one thread
    both        the constraint is read, and compiled in the background (`BackgroundCompiler`) while the model reads the
                prompts
    adds        how much longer `both` takes than reading the prompts alone

The native core runs at the same time as the forward pass; the compiler's Python code and the model's take turns. Times
are by the clock, medians of runs in turn, and need two cores that do nothing else. Nothing is kept from one run to the
next except what belongs to the vocabulary.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from decode import vocabulary_of

import constraints
import tokenfst
from constraints.grammars.bundled import bundled
from decoding import BackgroundCompiler, bundled_model
from tokenfst import Vocabulary

_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 80},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "next": {"$ref": "#"},
    },
    "required": ["name"],
}
CONSTRAINTS: dict[str, Callable[[], Any]] = {
    "a date": lambda: "[0-9]{4}-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])",
    "a recursive schema": lambda: constraints.json_schema(_SCHEMA),
    "any JSON": constraints.json,
    "10,000 names": lambda: "|".join(f"name{number * 7919 % 100_003}" for number in range(10_000)),
    "Python expressions": lambda: bundled("python_expression"),
    "SQL": lambda: bundled("sql"),
}
BATCH, LENGTH = 4, 768


def times(make: Callable[[], Any], vocabulary: Vocabulary, prefill: Callable[[], Any], runs: int) -> list[float]:
    """Return the seconds to compile, to read the prompts, for both at once, and what compiling adds to reading."""
    taken: list[list[float]] = [[], [], []]

    def compiled() -> None:
        tokenfst.compile(make(), vocabulary)

    def both() -> None:
        with BackgroundCompiler() as compiler:
            request = compiler.submit(make(), vocabulary)
            prefill()
            request.result()

    for run in range(runs + 1):
        for work, seconds in zip((compiled, prefill, both), taken, strict=True):
            begun = time.perf_counter()
            work()
            # The first run prepares what belongs to the vocabulary, and does not count.
            if run:
                seconds.append(time.perf_counter() - begun)
    taken.append([both - read for _, read, both in zip(*taken, strict=True)])
    return [statistics.median(seconds) for seconds in taken]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", help="a vocabulary file; default: Tekken's, from mistral-common")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    vocabulary = vocabulary_of(131_072, options.vocab)
    model, _ = bundled_model()
    prompts = torch.randint(10, 1000, (BATCH, LENGTH), generator=torch.Generator().manual_seed(0))

    def prefill() -> None:
        with torch.no_grad():
            model(prompts, use_cache=True)

    for name, make in CONSTRAINTS.items():
        figures = "  ".join(f"{1e3 * seconds:8.1f}" for seconds in times(make, vocabulary, prefill, options.runs))
        print(f"{name:<20} compile, prefill, both, adds, ms: {figures}", flush=True)


if __name__ == "__main__":
    main()
