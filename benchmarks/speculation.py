"""Forward passes saved, and tokens per second, by each way to take fewer of them: the bundled model writes records.

    python benchmarks/speculation.py [TEXTS]

Each way writes the same texts from the same seeds (but for a draft that draws, which writes others of the same
distribution, and forced text that is not verified). Counts have seen ten texts before, from other seeds, and learn no
more. Seconds are those of the processor, in one thread, the median of three runs in turn.
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
from decoding.speculation import CachedModel, CountModel, DraftModel, ForcedText, ForcedTokens, Proposer, speculate
from tokenfst.over_tokens import OverTokens

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
    model: Any, automaton: OverTokens[Any], encode: Callable[[str], list[int]], texts: list[list[int]]
) -> dict[str, Make]:
    """What is compared; the first is plain writing."""

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


def main(arguments: Sequence[str]) -> None:
    number = int(arguments[0]) if arguments else 12
    torch.set_num_threads(1)
    model, tokenizer = bundled_model()
    automaton = tokenfst.compile(json_schema(SCHEMA), vocabulary_of(tokenizer))

    def encode(text: str) -> list[int]:
        found: list[int] = tokenizer(text)["input_ids"]
        return found

    def write(name: str, make: Make, temperature: float, seed: int, number: int) -> tuple[list[list[int]], list[int]]:
        """The texts, and tokens, forward passes of the model and of the draft, masks."""
        texts, sums = [], [0, 0, 0, 0]
        for index in range(number):
            result = speculate(
                model,
                [encode(PROMPTS[index % len(PROMPTS)])],
                automaton,
                make(),
                sampling=Sampling(temperature=temperature, seed=seed + index),
                max_new_tokens=LIMIT,
                opportunistic=name.startswith("opportunistic"),
            )
            found = result.statistics
            texts += result.tokens
            each = found.tokens, found.forwards, found.draft_forwards, found.masks
            sums = [before + more for before, more in zip(sums, each, strict=True)]
        return texts, sums

    print("| | tokens | forward passes | for each token | of the draft | masks | tokens/s | to plain |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for temperature in TEMPERATURES:
        learned = write("", list, temperature, 900, 10)[0]
        each = ways(model, automaton, encode, learned)
        seconds: dict[str, list[float]] = {name: [] for name in each}
        sums: dict[str, list[int]] = {}
        for _ in range(RUNS):
            for name, make in each.items():
                begun = time.process_time()
                sums[name] = write(name, make, temperature, 0, number)[1]
                seconds[name].append(time.process_time() - begun)
        print(f"| **temperature {temperature}** |")
        plain = sums["plain"][0] / statistics.median(seconds["plain"])
        for name, (tokens, forwards, drafts, masks) in sums.items():
            speed = tokens / statistics.median(seconds[name])
            share = f"{forwards / tokens:.2f} | {drafts or ''} | {masks}"
            print(f"| {name} | {tokens} | {forwards} | {share} | {speed:.0f} | {speed / plain:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
