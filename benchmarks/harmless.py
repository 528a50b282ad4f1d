"""Measure how constraints change texts that were valid without them, as DOMINO does, for the bundled model.

    python benchmarks/harmless.py [--samples 500] [--seed 0] [--figure docs/harmless.svg]

The model does the tasks of `harmless_tasks.py` without a constraint, with the exact one, and with naive ones
(`naive_constraints.py`). It samples from its own distribution, and text i has the same seed in every way of writing.
The batches have the same prompts in every way, and a text that has ended stays in its batch, so the model computes the
same for a text until its tokens differ.

Prints a Markdown table for each task, and draws the results of the records.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import harmless_tasks
import numpy as np
import torch
from harmless_tasks import Task
from naive_constraints import Stepwise, Template, WithinTerminals
from torch import Tensor
from transformers import DynamicCache

import tokenfst
from constraints import json_schema
from decoding import bundled_model, vocabulary_of
from decoding.difficulty import log_probabilities, measures
from decoding.inputs.caches import cache_argument
from decoding.inputs.prompts import pad_token, padded, prompt_tokens
from decoding.sampling import NOTHING, Noise, Sampling, choose, derived_seed, probabilities
from tokenfst.token_automaton import TokenAutomaton

# The maximum number of tokens of a text, the end token included; a longer text is cut off, and is not valid.
LIMIT = 256
BATCH = 100
UNCONSTRAINED = "unconstrained"


@dataclass
class Text:
    """A text, with measures of how it was written.

    Attributes:
        tokens: its tokens, the end token included if it was written.
        nats: -log of the probability of all of them, according to the model without a constraint.
        forbidden: the steps at which the constraint forbids the token that the same noise draws without it.
    """

    tokens: list[int] = field(default_factory=list)
    nats: float = 0.0
    forbidden: list[int] = field(default_factory=list)


class Writer:
    """Writes batches of texts with the bundled model."""

    def __init__(self) -> None:
        self.model, self.tokenizer = bundled_model()
        self.vocabulary = vocabulary_of(self.tokenizer)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        found: list[int] = self.tokenizer(text)["input_ids"]
        return found

    def write(
        self, prompts: Sequence[str], constraint: Stepwise[Any] | None, seed: int, limit: int = LIMIT
    ) -> list[Text]:
        """Return a text for each prompt; the seed of text i is derived from `seed` and i."""
        texts: list[Text] = []
        for first in range(0, len(prompts), BATCH):
            batch = list(prompts[first : first + BATCH])
            seeds = [derived_seed(seed, first + place) for place in range(len(batch))]
            texts += self._write_batch(batch, constraint, Noise.of(seeds), limit)
        return texts

    @torch.no_grad()
    def _write_batch(
        self, prompts: list[str], constraint: Stepwise[Any] | None, noise: Noise, limit: int
    ) -> list[Text]:
        pad = pad_token(self.tokenizer, self.vocabulary, self.model)
        encoded = padded(prompt_tokens(self.tokenizer, prompts), pad, self.model.device)
        ids, seen = encoded["input_ids"], encoded["attention_mask"]
        positions, cache = (seen.cumsum(1) - 1).clamp(min=0), DynamicCache()
        batch = _Batch(constraint, [Text() for _ in prompts], self.vocabulary.eos_ids)
        for step in range(limit):
            output = self.model(
                input_ids=ids,
                attention_mask=seen,
                position_ids=positions,
                use_cache=True,
                logits_to_keep=1,
                **{cache_argument(self.model): cache},
            )
            ids = batch.step(output.logits[:, -1], noise, step)[:, None]
            if not batch.live:
                break
            positions = positions[:, -1:] + 1
            seen = torch.cat([seen, torch.ones_like(ids)], 1)
        return batch.texts


class _Batch:
    """The texts of one batch while they are being written."""

    def __init__(self, constraint: Stepwise[Any] | None, texts: list[Text], ends: tuple[int, ...]) -> None:
        self.constraint, self.texts, self.ends = constraint, texts, ends
        self.states = [None if constraint is None else constraint.start] * len(texts)
        self.live = set(range(len(texts)))

    def step(self, logits: Tensor, noise: Noise, step: int) -> Tensor:
        """Add a token to each text that has not ended, and return the tokens of all rows, `[B]`."""
        mask = self._mask(logits)
        tokens = choose(probabilities(logits, mask, Sampling()), noise, step)
        if NOTHING in tokens:
            raise RuntimeError("a constraint allows no token")
        wanted = choose(probabilities(logits, None, Sampling()), noise, step)
        intervened = measures(logits, mask, wanted).intervened.tolist()
        nats = -log_probabilities(logits).gather(1, tokens[:, None])[:, 0]
        for row, (token, cost) in enumerate(zip(tokens.tolist(), nats.tolist(), strict=True)):
            if row in self.live:
                self._add(row, token, cost, intervened[row])
        return tokens

    def _mask(self, logits: Tensor) -> Tensor:
        mask = np.ones(logits.shape, np.bool_)
        if self.constraint is not None:
            for row in self.live:
                mask[row] = self.constraint.mask(self.states[row])
        return torch.from_numpy(mask)

    def _add(self, row: int, token: int, nats: float, intervened: bool) -> None:
        text = self.texts[row]
        if intervened:
            text.forbidden.append(len(text.tokens))
        text.tokens.append(token)
        text.nats += nats
        if token in self.ends:
            self.live.remove(row)
        elif self.constraint is not None:
            self.states[row] = self.constraint.advance(self.states[row], token)


# ------------------------------------------------------------------------------------------------------------ the study


@dataclass(frozen=True)
class Result:
    """The results of one way of writing for one task.

    Attributes:
        way: the name of the way of writing.
        valid: the share of texts that are complete and that the exact constraint allows, from 0 to 1.
        right: the share of properties that agree with the task's answer, from 0 to 1.
        error: the standard error of `right`.
        perplexity: per written token, the end token included, according to the model without a constraint.
        bits: -log2 of the probability of the texts, per written byte, according to the same model.
        tokens: the mean number of tokens per text.
        interventions: the mean number of interventions per text, which are the steps in `Text.forbidden`.
        same: the number of texts that were valid without a constraint and are the same, token by token.
        of: the number of texts that were valid without a constraint.
        right_of: the share of right properties in the texts with these numbers; NaN if there are none.
    """

    way: str
    valid: float
    right: float
    error: float
    perplexity: float
    bits: float
    tokens: float
    interventions: float
    same: int
    of: int
    right_of: float


def ways(task: Task, exact: TokenAutomaton, tokens_of: Callable[[str], list[int]]) -> dict[str, Stepwise[Any] | None]:
    """Return the constraints to compare, by name; None stands for no constraint."""
    return {
        UNCONSTRAINED: None,
        "exact": exact,
        "one boundary (k = 1)": WithinTerminals(exact, 1),
        "no boundary (k = 0)": WithinTerminals(exact, 0),
        "template": Template(exact, task.template, tokens_of),
    }


def study(writer: Writer, task: Task, seed: int) -> list[Result]:
    """Write the texts of a task in each way, and return the results."""
    exact = tokenfst.compile(json_schema(task.schema), writer.vocabulary)
    found: dict[str, list[Text]] = {}
    for way, constraint in ways(task, exact, writer.encode).items():
        found[way] = writer.write(task.prompts, constraint, seed)
    free = [text.tokens for text in found[UNCONSTRAINED]]
    return [result(task, exact, way, texts, free) for way, texts in found.items()]


def is_valid(exact: TokenAutomaton, tokens: Sequence[int]) -> bool:
    """Return whether a text is complete and the constraint allows it."""
    return bool(tokens) and tokens[-1] in exact.vocabulary.eos_ids and exact.accepts(tokens)


def result(task: Task, exact: TokenAutomaton, way: str, texts: Sequence[Text], free: Sequence[list[int]]) -> Result:
    """Return the results for the texts of one way.

    Args:
        task: the task that the texts answer.
        exact: the exact constraint.
        way: the name of the way in which they were written.
        texts: the texts.
        free: the tokens of the texts that were written without a constraint.
    """
    spelled = [exact.text(text.tokens) for text in texts]
    right = np.array([task.grade(number, text.decode(errors="replace")) for number, text in enumerate(spelled)])
    nats, tokens = math.fsum(text.nats for text in texts), sum(len(text.tokens) for text in texts)
    fine = [number for number, before in enumerate(free) if is_valid(exact, before)]
    return Result(
        way=way,
        valid=float(np.mean([is_valid(exact, text.tokens) for text in texts])),
        right=float(right.mean()),
        error=float(right.std() / math.sqrt(len(texts))),
        perplexity=math.exp(nats / tokens),
        bits=nats / math.log(2) / sum(map(len, spelled)),
        tokens=tokens / len(texts),
        interventions=sum(len(text.forbidden) for text in texts) / len(texts),
        same=sum(texts[number].tokens == free[number] for number in fine),
        of=len(fine),
        right_of=float(right[fine].mean()) if fine else math.nan,
    )


# ----------------------------------------------------------------------------------------------------- table and figure


def table(name: str, results: Sequence[Result]) -> list[str]:
    """Return the results of a task as the lines of a Markdown table."""
    heads = ["valid", "right", "perplexity", "bits per byte", "tokens", "interventions"]
    heads += ["unchanged where valid", "right there"]
    lines = [f"| {name} | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    for one in results:
        cells = [f"{one.valid:.1%}", f"{100 * one.right:.1f} ± {100 * one.error:.1f}%"]
        cells += [f"{one.perplexity:.2f}", f"{one.bits:.2f}", f"{one.tokens:.1f}", f"{one.interventions:.1f}"]
        cells += [f"{one.same} of {one.of}", f"{one.right_of:.1%}" if one.of else ""]
        lines.append(f"| {one.way} | {' | '.join(cells)} |")
    return lines


def draw(results: Sequence[Result], path: Path) -> None:
    """Draw the results of a task as bars, one panel for each of five measures."""
    import matplotlib as mpl

    mpl.use("svg")
    # With a fixed salt, the same results give the same file.
    mpl.rcParams["svg.hashsalt"] = "tokenfst"
    import matplotlib.pyplot as plt

    panels = {
        "valid texts, %": [100 * one.valid for one in results],
        "right properties, %": [100 * one.right for one in results],
        "perplexity of a token": [one.perplexity for one in results],
        "interventions per text": [one.interventions for one in results],
        "unchanged of those\nvalid unconstrained, %": [100 * one.same / max(one.of, 1) for one in results],
    }
    figure, axes = plt.subplots(1, len(panels), figsize=(13, 2.6), sharey=True, layout="constrained")
    colors = ["tab:gray", "tab:blue", *["tab:orange"] * (len(results) - 2)]
    for axis, (title, values) in zip(axes, panels.items(), strict=True):
        bars = axis.barh([one.way for one in results], values, color=colors)
        axis.bar_label(bars, fmt="%.1f", padding=2)
        axis.set_title(title, fontsize=10)
        axis.margins(x=0.25)
        if title.endswith("%"):
            axis.set(xlim=(0, 130), xticks=range(0, 101, 25))
    axes[0].invert_yaxis()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how constraints change texts that were valid without them.")
    parser.add_argument("--samples", type=int, default=500, help="texts for each task and way of writing")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", type=Path, default=Path("docs/harmless.svg"))
    options = parser.parse_args()

    torch.set_num_threads(1)
    writer = Writer()
    tasks = [make(options.samples, options.seed) for make in (harmless_tasks.records, harmless_tasks.sums)]
    found = {task.name: study(writer, task, options.seed) for task in tasks}
    for name, results in found.items():
        print("\n".join([*table(name, results), ""]))
    draw(found["records"], options.figure)


if __name__ == "__main__":
    main()
