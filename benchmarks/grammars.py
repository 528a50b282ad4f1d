"""Compare the bundled grammars over a real vocabulary with other engines, on one core.

    python benchmarks/grammars.py [--vocab FILE] [--rounds N] [--tokens N] [--grammars NAME,...] [--batches SIZE,...]
                                  [--output DIR]

The figures for each grammar and engine are medians over rounds in which the engines take turns, in milliseconds:

    compile         from the text of the grammar, in a notation that the engine reads, to the object that it steps
                    through
    first mask      from this object to its first mask
    step            a mask and an advance, along a text of about 1,000 tokens that the engine has read once before
    total           compile, first mask, and every mask and advance of this text when the engine reads it for the first
                    time
    batch B         a step of a batch of B texts, at most 16 of which differ, after the first 64 tokens: a mask and an
                    advance of each, by the engine's own functions for batches on one thread; for this project, by those
                    of an `Arena`
    batch B loop    for this project, the same by a loop over the texts
    arena           for this project, making the `Arena` of the last batch and its start states
    held            the memory of the compiled grammar after reading the text, in MB, if the engine reports it

What an engine prepares once for a vocabulary is not counted, and no engine may keep a compiled grammar. A dash means
that there is no figure, for example because the engine refused the grammar or the text. The result is a Markdown table,
which is printed and written to `grammars.txt`, and all samples in `grammars.json`, both in DIR.
"""

from __future__ import annotations

import os

# These must be set before any engine starts its threads.
os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import argparse
import gc
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch
from differential import Tokens
from grammar_batches import BATCHES, Batch
from grammar_engines import Engine, LLGuidanceGrammar, TokenFstGrammar, XGrammarGrammar
from grammar_samples import text_of
from table2 import _vocabulary, machine

from constraints.grammars.bundled import BUNDLED
from tokenfst import Vocabulary

FIRST = ("json", "domino_json", "domino_xml", "domino_c")
# How many tokens of each text in a batch are read before the clock starts, and how many are timed.
WARM, TIMED = 64, 32
# Milliseconds after which no further steps of a batch are timed.
LONGEST = 2000.0
# The number of different texts; a larger batch repeats them.
VARIANTS = 16

# grammar -> engine -> figure -> samples, in milliseconds or bytes
Samples = dict[str, dict[str, dict[str, list[float]]]]


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    vocabulary = _vocabulary(options.vocab)
    tokens = Tokens(vocabulary)
    engines: list[Engine] = [make(vocabulary) for make in (TokenFstGrammar, XGrammarGrammar, LLGuidanceGrammar)]
    samples: Samples = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for name in options.grammars:
        texts = [_tokens(tokens, name, options.tokens, seed) for seed in range(VARIANTS)]
        for number in range(options.rounds + 1):  # the first one is not counted
            for engine in engines:
                gc.collect()
                measured = _round(engine, name, texts, options.batches)
                for what, value in (measured if number else {}).items():
                    samples[name][engine.name][what].append(value)
        print(f"{name}: {len(texts[0])} tokens", flush=True)
    _report(vocabulary, engines, samples, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vocab", type=Path, help="a vocabulary file; by default Tekken's, from mistral-common")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=1000)
    names = [*FIRST, *(name for name in BUNDLED if name not in FIRST)]
    parser.add_argument("--grammars", type=lambda text: text.split(","), default=names)
    sizes = "sizes of batches, by default 16,256; an empty list skips batches, which take some engines minutes"
    parser.add_argument("--batches", type=_numbers, default=[16, 256], help=sizes)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"), metavar="DIR")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def _tokens(tokens: Tokens, name: str, least: int, seed: int) -> list[int]:
    """Return the tokens of a text, at least `least` tokens, the longest token at each position."""
    pieces = 2
    while len(found := next(tokens.cuts(text_of(name, pieces, seed).encode(), Random(seed)))) < least:
        pieces = max(pieces + 1, pieces * least // len(found))
    return found


def _round(engine: Engine, name: str, texts: list[list[int]], sizes: list[int]) -> dict[str, float]:
    """Measure an engine once: milliseconds, and bytes for "held"; a refusal ends the measurement."""
    found: dict[str, float] = {}
    try:
        given = engine.given(name)
        compiled, found["compile"] = _timed(lambda: engine.compile(given))
        _, found["first mask"] = _timed(lambda: engine.run(engine.fresh(compiled), []))
        _, first = _timed(lambda: engine.run(engine.fresh(compiled), texts[0]))
        found["total"] = found["compile"] + found["first mask"] + first
        _, again = _timed(lambda: engine.run(engine.fresh(compiled), texts[0]))
        found["step"] = again / len(texts[0])
        engine.check(compiled, texts[0])
        if (held := engine.held(compiled)) is not None:
            found["held"] = float(held)
        for size in sizes:
            rows = [texts[row % VARIANTS] for row in range(size)]
            for what, make in BATCHES[type(engine)].items():
                batch, made = _timed(partial(make, engine, compiled, rows))
                found[f"batch {size}{what}"] = _batch_step(batch, rows)
                if what == "" and isinstance(engine, TokenFstGrammar):
                    found["arena"] = made
    except ValueError as error:
        print(f"{engine.name} on {name}: {str(error)[:200]}", flush=True)
    return found


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - began) * 1e3


def _batch_step(batch: Batch, rows: list[list[int]]) -> float:
    """Return the median time of a step of a batch, of fewer steps if they are slow."""
    times: list[float] = []
    for place in range(WARM + TIMED):
        tokens = [row[place] for row in rows]
        began = time.perf_counter()
        if place >= WARM:
            batch.masks()
        batch.advance(tokens)
        times += [(time.perf_counter() - began) * 1e3] if place >= WARM else []
        if sum(times) > LONGEST:
            break
    return statistics.median(times)


def _report(vocabulary: Vocabulary, engines: list[Engine], samples: Samples, options: argparse.Namespace) -> None:
    lines = [
        f"{len(vocabulary):,} tokens; medians over {options.rounds} rounds in turn; "
        "milliseconds, held in MB; one thread",
        machine(),
        ", ".join(engine.name for engine in engines),
        "",
        *_table(engines, samples),
        "",
        *_targets(engines, samples),
    ]
    print("\n".join(lines))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "grammars.txt").write_text("\n".join(lines) + "\n")
    result = {"machine": machine(), "vocabulary": len(vocabulary), "samples": samples}
    (options.output / "grammars.json").write_text(json.dumps(result, indent=1) + "\n")


COLUMNS = (
    "compile",
    "first mask",
    "step",
    "total",
    "batch 16",
    "batch 16 loop",
    "batch 256",
    "batch 256 loop",
    "arena",
    "held",
)


def _table(engines: list[Engine], samples: Samples) -> list[str]:
    lines = ["| grammar | engine | " + " | ".join(COLUMNS) + " |", "|---|---|" + "--:|" * len(COLUMNS)]
    for name, row in samples.items():
        for engine in engines:
            cells = [_cell(what, row[engine.name].get(what)) for what in COLUMNS]
            lines.append(f"| {name} | {engine.name.split()[0]} | {' | '.join(cells)} |")
    return lines


def _cell(what: str, values: list[float] | None) -> str:
    if not values:
        return "–"
    value = statistics.median(values)
    return f"{value / 1e6:.2f}" if what == "held" else f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def _targets(engines: list[Engine], samples: Samples) -> list[str]:
    """Return lines with the figures of the best other engine as multiples of this project's."""
    own, *others = (engine.name for engine in engines)
    lines = ["The least time of the other engines, as a multiple of this project's:"]
    for name, row in samples.items():
        told = []
        for what in ("compile", "total", "step", "batch 16", "batch 256"):
            theirs = [statistics.median(row[other][what]) for other in others if row[other].get(what)]
            if theirs and row[own].get(what):
                told.append(f"{what} {min(theirs) / statistics.median(row[own][what]):.2f}")
        lines.append(f"{name:<18} {'  '.join(told)}")
    return lines


if __name__ == "__main__":
    main()
