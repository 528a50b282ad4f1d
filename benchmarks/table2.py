"""Measure the constraints of Koo, Liu & He 2024 (Appendix C.4) over a real vocabulary, side by side with other engines.

    python benchmarks/table2.py [--vocab FILE] [--rounds N] [--output DIR]

For each constraint and engine: the time from the pattern to what the engine steps through ("compile"), and that time
plus every mask and every advance of a sample text ("total"). Engines take turns within a round, so that changes of the
machine's speed affect all of them; the figures are medians over all rounds. Each engine has one thread. Tokenizers, and
whatever an engine prepares once for a vocabulary, are warm; no engine may keep a compiled pattern. The last column has
the number of tokens that another engine judges differently from this project, over all masks of the sample text.

Writes `table2.txt`, `table2.json` and `table2.svg`.
"""

from __future__ import annotations

import os

# These must be set before any engine starts its threads.
os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import argparse
import gc
import json
import platform
import statistics
import time
from pathlib import Path
from typing import Any

from engines import Engine, LLGuidance, Outlines, TokenFst, XGrammar, tokenize

from constraints.paper import PATTERNS, SAMPLES
from tokenfst import Vocabulary, load_vocabulary

Times = dict[str, dict[str, dict[str, float]]]  # constraint -> engine -> "compile", "total" -> milliseconds

# How often an engine repeats a constraint in its turn; outlines-core needs hundreds of milliseconds for some.
REPEATS, SLOW_REPEATS = 25, 2
FREE_TEXT = ("quoted text", "JSON object", "e-mail", "anything")


def main() -> None:
    options = _options()
    vocabulary = _vocabulary(options.vocab)
    engines: list[Engine] = [make(vocabulary) for make in (TokenFst, Outlines, XGrammar, LLGuidance)]
    texts = {name: tokenize(vocabulary, sample) for name, sample in SAMPLES.items()}
    differences = {name: _differences(engines, PATTERNS[name], texts[name]) for name in PATTERNS}
    times = _measure(engines, texts, options.rounds)
    steps = {name: _step(engines[0], PATTERNS[name], texts[name]) for name in PATTERNS}
    lines = [*_heading(vocabulary, engines, options.rounds), "", *_table(engines, times, steps, differences)]
    lines += ["", *_targets(engines, times, steps)]
    print("\n".join(lines))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "table2.txt").write_text("\n".join(lines) + "\n")
    result = {"machine": machine(), "engines": [engine.name for engine in engines], "vocabulary": len(vocabulary)}
    result |= {"milliseconds": times, "step_microseconds": steps, "mask_differences": differences}
    (options.output / "table2.json").write_text(json.dumps(result, indent=2) + "\n")
    _plot(engines, times, options.output / "table2.svg")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vocab", type=Path, help="a vocabulary file; default: Tekken's, from mistral-common")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"), metavar="DIR")
    return parser.parse_args()


def _vocabulary(path: Path | None) -> Vocabulary:
    if path is None:
        import mistral_common

        path = Path(mistral_common.__file__).parent / "data" / "tekken_240911.json"
    vocabulary = load_vocabulary(path, eos_ids=() if str(path).endswith(".tiktoken") else None)
    if vocabulary.eos_ids:
        return vocabulary
    # A file of ranks has no end token, so add one.
    return Vocabulary([*vocabulary.tokens, b""], eos_ids=[len(vocabulary)])


def _differences(engines: list[Engine], pattern: str, text: list[int]) -> dict[str, int]:
    """Return how many tokens each other engine judges differently, over all masks; -1 if it refuses the text."""
    own = engines[0].masks(engines[0].compile(pattern), text)
    found = {}
    for engine in engines[1:]:
        try:
            masks = engine.masks(engine.compile(pattern), text)
            found[engine.name] = int(sum((a != b).sum() for a, b in zip(own, masks, strict=True)))
        except ValueError:
            found[engine.name] = -1
    return found


def _measure(engines: list[Engine], texts: dict[str, list[int]], rounds: int) -> Times:
    samples: dict[str, dict[str, dict[str, list[float]]]] = {
        name: {engine.name: {"compile": [], "total": []} for engine in engines} for name in PATTERNS
    }
    for _ in range(rounds):
        for name, pattern in PATTERNS.items():
            for engine in engines:
                gc.collect()
                for _ in range(SLOW_REPEATS if isinstance(engine, Outlines) else REPEATS):
                    compile_, total = _once(engine, pattern, texts[name])
                    samples[name][engine.name]["compile"].append(compile_ * 1e3)
                    samples[name][engine.name]["total"].append(total * 1e3)
    return {
        name: {who: {what: statistics.median(all_) for what, all_ in of.items()} for who, of in row.items()}
        for name, row in samples.items()
    }


def _once(engine: Engine, pattern: str, text: list[int]) -> tuple[float, float]:
    began = time.perf_counter()
    compiled = engine.compile(pattern)
    ready = time.perf_counter()
    engine.run(compiled, text)
    return ready - began, time.perf_counter() - began


def _step(engine: Engine, pattern: str, text: list[int]) -> float:
    """Return this project's time for a mask and an advance, in microseconds, the median over 50 passes along a text."""
    assert isinstance(engine, TokenFst)
    automaton, words, times = engine.compile(pattern), engine.words, []
    for _ in range(50):
        state = automaton.start
        for token in text:
            began = time.perf_counter()
            automaton.fill_bitmask(state, words)
            state = automaton.advance(state, token)
            times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6


def machine() -> str:
    processor = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        processor = names[0] if names else processor
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def _heading(vocabulary: Vocabulary, engines: list[Engine], rounds: int) -> list[str]:
    return [
        f"{len(vocabulary):,} tokens; medians over {rounds} rounds in turn; milliseconds; one thread",
        machine(),
        ", ".join(engine.name for engine in engines),
    ]


def _table(engines: list[Engine], times: Times, steps: dict[str, float], differences: Any) -> list[str]:
    short = [engine.name.split()[0] for engine in engines]
    lines = [
        "| constraint | "
        + " | ".join(f"{name} compile | total" for name in short)
        + " | step, µs | masks that differ |",
        "|---|" + "--:|--:|" * len(engines) + "--:|---|",
    ]
    for name, row in times.items():
        cells = [f"{row[engine.name][what]:.3f}" for engine in engines for what in ("compile", "total")]
        told = ", ".join(f"{who.split()[0]} {n}" for who, n in differences[name].items() if n) or "none"
        lines.append(f"| {name} | {' | '.join(cells)} | {steps[name]:.2f} | {told} |")
    return lines


def _targets(engines: list[Engine], times: Times, steps: dict[str, float]) -> list[str]:
    own, outlines, xgrammar, llguidance = (engine.name for engine in engines)
    lines = ["How many times as fast this project is, and whether that reaches the target:"]
    for name, row in times.items():
        mine = row[own]
        need = 1.0 if name in FREE_TEXT else 0.5
        checks: list[tuple[str, float, float]] = [
            ("outlines-core compile", row[outlines]["compile"] / mine["compile"], 100.0),
            ("llguidance total", row[llguidance]["total"] / mine["total"], 1.0),
            ("xgrammar total", row[xgrammar]["total"] / mine["total"], need),
            ("3 µs a step", 3.0 / steps[name], 1.0),
        ]
        parts = [f"{what} {ratio:.2f} ({'yes' if ratio >= goal else 'NO'}, {goal:g})" for what, ratio, goal in checks]
        lines.append(f"{name:<16} {'  '.join(parts)}")
    return lines


def _plot(engines: list[Engine], times: Times, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    width = 0.8 / len(engines)
    for place, engine in enumerate(engines):
        heights = [row[engine.name]["total"] for row in times.values()]
        axes.bar([x + place * width for x in range(len(times))], heights, width, label=engine.name)
    axes.set_yscale("log")
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(times))], list(times), rotation=15)
    axes.set_ylabel("pattern to tables, masks and advances, ms")
    figure.legend(loc="outside upper center", ncols=len(engines))
    figure.savefig(path)


if __name__ == "__main__":
    main()
