"""Measure forward passes and tokens per second for each way to decode speculatively; the bundled model writes records.

    python benchmarks/speculation.py [TEXTS]

All ways write the same texts from the same seeds, with two exceptions: a draft model that samples leads to other texts
of the same distribution, and forced text that is not verified may change a text. `CountModel` has learned from ten
texts from other seeds, and learns no more. Speeds are from processor time in one thread, the median of three runs in
turn.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

import tokenfst
from constraints import json_schema
from decoding import bundled_model, vocabulary_of
from decoding.sampling import Sampling
from decoding.speculation import (
    CachedModel,
    CountModel,
    DraftModel,
    ForcedText,
    ForcedTokens,
    Proposer,
    Written,
    decode_speculatively,
)
from tokenfst.token_automaton import TokenAutomaton

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "country": {"enum": ["Germany", "France", "Spain"]},
        "is_member": {"type": "boolean"},
        "joined": {"type": "string", "format": "date"},
    },
    "required": ["name", "age", "country", "is_member", "joined"],
    "additionalProperties": False,
}
PROMPTS = ["A person:\n", "Record: ", "Member: ", "JSON:\n", "The customer as JSON: ", "A user of the shop: "]
TEMPERATURES = 0.0, 0.7, 1.0
LIMIT = 150
RUNS = 3

Make = Callable[[], Sequence[Proposer]]


def ways(
    model: Any, automaton: TokenAutomaton, encode: Callable[[str], list[int]], texts: list[list[int]]
) -> dict[str, Make]:
    """Return the proposers of each way, by name; the first way is plain decoding."""

    def counts(threshold: float) -> CountModel:
        counted = CountModel(automaton, threshold=threshold)
        counted.learn(texts)
        counted.learning = False
        return counted

    return {
        "plain": list,
        "opportunistic masking": list,
        "forced tokens": lambda: [ForcedTokens()],
        "forced text": lambda: [ForcedTokens(), ForcedText(encode)],
        "forced text, not verified": lambda: [ForcedTokens(), ForcedText(encode, verified=False)],
        "counts, chains (0.5)": lambda: [ForcedTokens(), counts(0.5)],
        "counts, trees (0.2)": lambda: [ForcedTokens(), counts(0.2)],
        "counts (0.2) and forced text": lambda: [ForcedTokens(), counts(0.2), ForcedText(encode)],
        "the model as its own draft, chains of 5": lambda: [DraftModel(CachedModel(model), (1,) * 5)],
        "the same, after counts (0.5)": lambda: [ForcedTokens(), counts(0.5), DraftModel(CachedModel(model), (1,) * 3)],
    }


class Bench:
    """The bundled model, and the constraint and number of the records that it writes."""

    def __init__(self, number: int) -> None:
        self.model, self.tokenizer = bundled_model()
        self.automaton = tokenfst.compile(json_schema(SCHEMA), vocabulary_of(self.tokenizer))
        self.number = number

    def encode(self, text: str) -> list[int]:
        found: list[int] = self.tokenizer(text)["input_ids"]
        return found

    def write(self, name: str, make: Make, temperature: float, seed: int, number: int) -> list[Written]:
        return [
            decode_speculatively(
                self.model,
                [self.encode(PROMPTS[index % len(PROMPTS)])],
                self.automaton,
                make(),
                sampling=Sampling(temperature=temperature, seed=seed + index),
                max_new_tokens=LIMIT,
                opportunistic=name.startswith("opportunistic"),
            )
            for index in range(number)
        ]

    def compare(self, temperature: float) -> None:
        """Print a row for each way, at one temperature."""
        learned = [result.tokens[0] for result in self.write("", list, temperature, 900, 10)]
        each = ways(self.model, self.automaton, self.encode, learned)
        seconds: dict[str, list[float]] = {name: [] for name in each}
        results: dict[str, list[Written]] = {}
        for _ in range(RUNS):
            for name, make in each.items():
                begun = time.process_time()
                results[name] = self.write(name, make, temperature, 0, self.number)
                seconds[name].append(time.process_time() - begun)
        print(f"| **temperature {temperature}** |")
        plain = total(results["plain"], "tokens") / statistics.median(seconds["plain"])
        for name, found in results.items():
            tokens, forwards = total(found, "tokens"), total(found, "forwards")
            drafts, masks = total(found, "draft_forwards") or "", total(found, "masks")
            speed = tokens / statistics.median(seconds[name])
            shares = f"{forwards / tokens:.2f} | {drafts} | {masks} | {speed:.0f} | {speed / plain:.2f}"
            print(f"| {name} | {tokens} | {forwards} | {shares} |")


def total(results: Sequence[Written], name: str) -> int:
    return sum(getattr(result.statistics, name) for result in results)


def main(arguments: Sequence[str]) -> None:
    torch.set_num_threads(1)
    bench = Bench(int(arguments[0]) if arguments else 12)
    print("| | tokens | forward passes | passes per token | draft passes | masks | tokens/s | relative to plain |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for temperature in TEMPERATURES:
        bench.compare(temperature)


if __name__ == "__main__":
    main(sys.argv[1:])
