"""Compare two versions of this project side by side: run each benchmark in two environments, in turn.

    python benchmarks/paired.py BEFORE AFTER [--vocab FILE] [--schemas FILE] [--every N] [--rounds N]
                                [--only first,table2,grammars,large,maskbench,decode] [--json FILE]

BEFORE and AFTER are the Python interpreters of two environments, each with a version of the project installed. The same
code measures both, using only what both versions offer; engines other than this project are left out. In every round,
each version runs in a new process, and the version that goes first alternates, so whatever else the machine does
affects both. The figures of a version are medians over the rounds, and each ratio, after to before, is the median of
the rounds' ratios. `first` needs `--vocab`, and `maskbench` is left out without `--schemas`.

    first       the time to the first mask, to all masks of a text, and of a step, for constraints of every kind
    table2      compilation, the total, and a mask and a step from Python, for the paper's constraints
    grammars    compilation, the first mask, a mask and a step, and a step of a batch of 16, for the bundled grammars
    large       compilation, and a mask and a step, with large bounds, lists and substrings
    maskbench   JSON Schemas with instances, `--schemas`: compilation, masks and the total, the mean and percentiles
    decode      masks, logits and steps of batches in the arena
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Figures by name, which is the row and what was measured, separated by ": ".
Figures = dict[str, float]


def first(options: argparse.Namespace) -> Figures:
    """Return milliseconds, but microseconds for a step."""
    import numpy as np
    from first_mask import cases, longest_first

    import tokenfst

    vocabulary = tokenfst.load_vocabulary(options.vocab, eos_ids=())
    words, found = np.zeros(len(vocabulary.all_words), np.int32), {}
    for name, (make, text) in cases().items():
        tokens, rows = longest_first(vocabulary, text), []
        for _ in range(7):
            constraint, times = make(), [time.perf_counter()]
            automaton = tokenfst.compile(constraint, vocabulary)
            automaton.fill_bitmask(automaton.start, words)
            times.append(time.perf_counter())
            for _ in range(2):
                state = automaton.start
                for token in tokens:
                    state = automaton.advance(state, token)
                    automaton.fill_bitmask(state, words)
                times.append(time.perf_counter())
            rows.append(np.subtract(times[1:], [times[0], times[0], times[2]]))
        ready, whole, again = np.median(rows, axis=0)
        found[f"{name}: first mask, ms"], found[f"{name}: all masks, ms"] = 1e3 * ready, 1e3 * whole
        found[f"{name}: step, µs"] = 1e6 * again / len(tokens)
    return found


def table2(options: argparse.Namespace) -> Figures:
    """Return milliseconds, but microseconds for a step."""
    from engines import TokenFst, tokenize
    from table2 import _once, _step, _vocabulary

    from constraints.paper import PATTERNS, SAMPLES

    vocabulary = _vocabulary(options.vocab)
    engine, found = TokenFst(vocabulary), {}
    for name, pattern in PATTERNS.items():
        text = tokenize(vocabulary, SAMPLES[name])
        runs = [_once(engine, pattern, text) for _ in range(40)][5:]
        found[f"{name}: compile, ms"] = 1e3 * statistics.median(compiled for compiled, _ in runs)
        found[f"{name}: total, ms"] = 1e3 * statistics.median(total for _, total in runs)
        found[f"{name}: step, µs"] = _step(engine, pattern, text)
    return found


def grammars(options: argparse.Namespace) -> Figures:
    """Return milliseconds, the least of the rounds after the first."""
    import torch
    from differential import Tokens
    from grammar_engines import TokenFstGrammar
    from grammars import FIRST, VARIANTS, _round, _tokens
    from table2 import _vocabulary

    from constraints.grammars.bundled import BUNDLED

    torch.set_num_threads(1)
    vocabulary = _vocabulary(options.vocab)
    tokens, engine, found = Tokens(vocabulary), TokenFstGrammar(vocabulary), {}
    for name in (*FIRST, *(name for name in BUNDLED if name not in FIRST)):
        texts = [_tokens(tokens, name, 300, seed) for seed in range(VARIANTS)]
        rounds = [_round(engine, name, texts, [16]) for _ in range(3)][1:]
        for what in ("compile", "first mask", "step", "batch 16"):
            found[f"{name}: {what}, ms"] = min(each[what] for each in rounds)
    return found


def large(options: argparse.Namespace) -> Figures:
    """Return seconds to compile, and microseconds for a mask and a step."""
    from large import CASES

    found = {}
    script = Path(__file__).with_name("large.py")
    for case in CASES:
        command = [sys.executable, str(script), "--row", "tokenfst", case]
        command += ["--vocab", str(options.vocab)] if options.vocab else []
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout.splitlines()[-1])
        found[f"{case}: compile, s"], found[f"{case}: step, µs"] = row["compile"], row["token"]
    return found


def maskbench(options: argparse.Namespace) -> Figures:
    """Return milliseconds, but microseconds for a mask."""
    import numpy as np
    from maskbench import load_vocabulary, measure, schemas

    rows = list(schemas([options.schemas]))[:: options.every]
    vocab = load_vocabulary(str(options.vocab) if options.vocab else None)
    measure(["tokenfst"], vocab, rows[:40], 60.0)  # load files into the system's cache
    results = [each for each in measure(["tokenfst"], vocab, rows, 60.0)[0]["tokenfst"].values() if not each.error]
    data = {
        "compile, ms": 1e3 * np.array([each.compile for each in results]),
        "total, ms": 1e3 * np.array([each.total for each in results]),
        "mask, µs": 1e6 * np.array([mask for each in results for mask in each.masks]),
    }
    figures: dict[str, Callable[[Any], Any]] = {
        "median": np.median,
        "mean": np.mean,
        "90th percentile": lambda values: np.percentile(values, 90),
        "99th percentile": lambda values: np.percentile(values, 99),
    }
    return {f"{name}: {what}": float(of(values)) for name, of in figures.items() for what, values in data.items()}


def decode(options: argparse.Namespace) -> Figures:
    """Return microseconds for the masks, the logits and the step together."""
    import torch
    from decode import TokenFst, measure, vocabulary_of

    torch.set_num_threads(1)
    found = {}
    for size in (32_000, 131_072, 262_144):
        vocabulary = vocabulary_of(size, str(options.vocab) if options.vocab else None)
        engines = [TokenFst(vocabulary, "cpu"), TokenFst(vocabulary, "cpu", 1 << 20)]
        for batch in (1, 16, 64):
            times = measure(engines, vocabulary, batch, 16, torch.float32, "cpu")
            for engine, what in zip(engines, ("a step", "within a budget"), strict=True):
                found[f"{size:,} tokens, batch of {batch}: {what}, µs"] = 1e6 * sum(times[engine.name])
    return found


BENCHMARKS: dict[str, Callable[[argparse.Namespace], Figures]] = {
    "first": first,
    "table2": table2,
    "grammars": grammars,
    "large": large,
    "maskbench": maskbench,
    "decode": decode,
}


def in_process(python: str, name: str, options: argparse.Namespace) -> Figures:
    """Return the figures of a benchmark that runs in a new process of an environment."""
    command = [python, __file__, python, python, "--only", name, "--child", "--every", str(options.every)]
    for option in ("vocab", "schemas"):
        if getattr(options, option):
            command += [f"--{option}", str(getattr(options, option))]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads}, check=False)
    if done.returncode:
        raise SystemExit(f"{python}: {name} failed: {done.stderr[-2000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def shown(figure: float) -> str:
    """Return a figure with three significant digits, or from 1,000 on without decimals."""
    return f"{figure:,.0f}" if figure >= 1000 else f"{figure:.3g}"


def report(name: str, before: list[Figures], after: list[Figures]) -> None:
    """Print a table with a line for each row, and in each cell a figure before, after, and their ratio."""
    cells: dict[str, dict[str, str]] = {}
    for key in before[0]:
        row, _, what = key.rpartition(": ")
        pairs = [(old[key], new[key]) for old, new in zip(before, after, strict=True)]
        old, new = (statistics.median(each) for each in zip(*pairs, strict=True))
        ratio = statistics.median(new / old for old, new in pairs)
        cells.setdefault(row, {})[what] = f"{shown(old)} → {shown(new)}, {ratio:.2f}"
    columns = list(next(iter(cells.values())))
    print(f"\n| {name} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for row, found in cells.items():
        print(f"| {row} | {' | '.join(found.get(column, '') for column in columns)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument(
        "--vocab", type=Path, help="a vocabulary file; `first` needs one, default of the others: Tekken's"
    )
    parser.add_argument("--schemas", type=Path, help="a file of schemas as `maskbench.py` takes it")
    parser.add_argument("--every", type=int, default=1, help="use only every N-th schema")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(BENCHMARKS))
    parser.add_argument("--json", type=Path, help="where to write all figures")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name != "maskbench" or options.schemas]
    if options.child:
        print(json.dumps(BENCHMARKS[names[0]](options)))
        return
    runs: dict[str, dict[str, list[Figures]]] = {}
    for name in names:
        found: dict[str, list[Figures]] = {"before": [], "after": []}
        for turn in range(options.rounds):
            for which in ("before", "after") if turn % 2 == 0 else ("after", "before"):
                begun = time.perf_counter()
                found[which].append(in_process(getattr(options, which), name, options))
                print(f"{name}, {which}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
        runs[name] = found
        report(name, found["before"], found["after"])
        if options.json:
            options.json.write_text(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main()
