"""MaskBench: JSON Schemas with instances, for this project, llguidance, XGrammar, glrmask and outlines-core in turn.

    python benchmarks/maskbench.py SCHEMAS [...] [--vocab FILE] [--engines tokenfst,llguidance,xgrammar] [--every N]
                                   [--limit SECONDS] [--failures FILE] [--report FILE] [--figure FILE]

SCHEMAS are files, or directories of files, with `{"schema": ..., "tests": [{"valid": ..., "data": ...}]}`: one object
per file (.json), or per line (.jsonl, .jsonl.gz), as in github.com/guidance-ai/jsonschemabench. The text of an instance
is `json.dumps(data, ensure_ascii=False)`, cut into tokens by taking the longest token at each place.

Each engine is a process with one thread, and only one of them works at a time. They take turns schema by schema, so
whatever else the machine does affects all of them. The time of a schema is that of compiling it, and of a mask and a
step for each token of its instances, up to the first token that is refused; cutting texts into tokens is not counted.
An engine's peak memory is that of its process, including Python and the vocabulary.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from maskbench_peers import ENGINES, Engine, engine

import tokenfst
from tokenfst import Vocabulary

# Environment variables that set the number of threads of the libraries that an engine may use.
_ONE_THREAD = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class Result:
    """The result of one engine on one schema; times are in seconds.

    Attributes:
        error: why the schema could not be compiled, or that it took too long; "" if neither.
        wrong: the number of each instance that was judged wrongly, and whether the instance is valid.
        compile, first, total: the time to compile, the time up to the first mask, and the whole time.
        masks: the time of each mask.
    """

    error: str = ""
    wrong: list[tuple[int, bool]] = field(default_factory=list)
    compile: float = 0.0
    first: float = 0.0
    total: float = 0.0
    masks: list[float] = field(default_factory=list)


def _run(engine: Engine, schema: Any, texts: list[list[int]], valid: list[bool]) -> Result:
    result, clock = Result(), time.perf_counter
    begun = clock()
    try:
        engine.compile(schema)
    except Exception as error:
        result.error = f"{type(error).__name__}: {error}"
        return result
    result.compile = result.total = clock() - begun
    for number, tokens in enumerate(texts):
        begun = clock()
        engine.reset()
        accepted = True
        for token in tokens:
            before = clock()
            words = engine.mask()
            result.masks.append(clock() - before)
            if not int(words[token >> 5]) >> (token & 31) & 1 or not engine.advance(token):
                accepted = False
                break
        result.total += clock() - begun
        if accepted != valid[number]:
            result.wrong.append((number, valid[number]))
    if result.masks:
        result.first = result.compile + result.masks[0]
    return result


def _serve(name: str, vocab: list[bytes], pipe: Connection) -> None:
    """Run an engine in a process of its own: answer each task from the pipe, and at the end send the peak memory."""
    own = engine(name, vocab)
    pipe.send("ready")
    while (task := pipe.recv()) is not None:
        pipe.send(_run(own, *task))
    pipe.send(_peak())


def _peak() -> float:
    """Return the peak of this process's resident memory, in MiB."""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def schemas(paths: list[Path]) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield the name, the schema and the tests of every schema in files and directories."""
    for path in paths:
        if path.is_dir():
            yield from schemas(sorted(path.iterdir()))
        elif path.name.endswith((".jsonl", ".jsonl.gz")):
            with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
                for number, line in enumerate(lines, 1):
                    row = json.loads(line)
                    yield str(row.get("id", f"{path.name}:{number}")), row["schema"], row["tests"]
        elif path.suffix == ".json":
            row = json.loads(path.read_text())
            if "schema" in row and "tests" in row:
                yield path.name, row["schema"], row["tests"]


def load_vocabulary(path: str | None) -> list[bytes]:
    """Return the tokens of a file that `tokenfst.load_vocabulary` reads; for None, Tekken's, from mistral-common."""
    from tokenfst.loaders import from_tekken

    if path is None:
        return list(from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json")).tokens)
    return list(tokenfst.load_vocabulary(path, eos_ids=()).tokens)


def _longest_match(vocab: list[bytes]) -> Any:
    from engines import Greedy

    return Greedy(Vocabulary((*vocab, b""), eos_ids=(len(vocab),)))


class Server:
    """An engine in a process of its own, which is killed and started again if a schema takes it too long."""

    def __init__(self, name: str, vocab: list[bytes], limit: float) -> None:
        self._name, self._vocab, self._limit = name, vocab, limit
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        self._process = context.Process(target=_serve, args=(self._name, self._vocab, end), daemon=True)
        self._process.start()
        self._pipe.recv()

    def __call__(self, schema: Any, texts: list[list[int]], valid: list[bool]) -> Result:
        self._pipe.send((schema, texts, valid))
        if self._pipe.poll(self._limit):
            result: Result = self._pipe.recv()
            return result
        self._process.kill()
        self._process.join()
        self._begin()
        return Result(error=f"takes more than {self._limit:g} seconds")

    def end(self) -> float:
        """End the engine; return the peak memory of its process in MiB, since it was last started."""
        self._pipe.send(None)
        peak: float = self._pipe.recv()
        return peak


def measure(
    names: list[str], vocab: list[bytes], rows: list[tuple[str, Any, list[Any]]], limit: float
) -> tuple[dict[str, dict[str, Result]], dict[str, float]]:
    """Return the results by engine and by the schema's name, and each engine's peak memory in MiB."""
    for name in _ONE_THREAD:
        os.environ[name] = "1"
    cut = _longest_match(vocab)
    servers = {name: Server(name, vocab, limit) for name in names}
    found: dict[str, dict[str, Result]] = {name: {} for name in names}
    for turn, (key, schema, tests) in enumerate(rows):
        # As in MaskBench, texts end with the end token.
        texts = [[*cut(json.dumps(test["data"], ensure_ascii=False)), len(vocab)] for test in tests]
        valid = [test["valid"] for test in tests]
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            found[name][key] = servers[name](schema, texts, valid)
    return found, {name: server.end() for name, server in servers.items()}


def _percentiles(values: list[float], scale: float) -> str:
    if not values:
        return "- | - | - | - | - | -"
    data = np.array(values) * scale
    cells = [np.median(data), data.mean(), *np.percentile(data, [90, 99, 99.9]), data.max()]
    return " | ".join(f"{cell:,.3g}" if cell < 1000 else f"{cell:,.0f}" for cell in cells)


def report(found: dict[str, dict[str, Result]], peaks: dict[str, float], tests: int) -> str:
    """Return the tables, in Markdown."""
    some = next(iter(found.values()))
    lines = [f"{len(some):,} schemas with {tests:,} instances.", ""]
    lines += ["| engine | whole | refused | invalid let through | valid refused | peak memory, MiB |"]
    lines += ["|---|---|---|---|---|---|"]
    for name, results in found.items():
        wrong = Counter(valid for result in results.values() for _, valid in result.wrong)
        whole = sum(not result.error and not result.wrong for result in results.values())
        refused = sum(bool(result.error) for result in results.values())
        lines.append(f"| {name} | {whole:,} | {refused:,} | {wrong[False]:,} | {wrong[True]:,} | {peaks[name]:,.0f} |")
    common = [key for key in some if all(not results[key].error for results in found.values())]
    kinds = (
        ("compile, ms", lambda result: [result.compile], 1e3),
        ("to the first mask, ms", lambda result: [result.first] if result.masks else [], 1e3),
        ("mask, us", lambda result: result.masks, 1e6),
        ("schema in total, ms", lambda result: [result.total], 1e3),
    )
    for title, keys in (("all that it accepts", None), (f"the {len(common):,} that all accept", common)):
        lines += [
            "",
            f"| {title} | engine | median | mean | p90 | p99 | p99.9 | max |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for kind, of, scale in kinds:
            for name, results in found.items():
                taken = [results[key] for key in (results if keys is None else keys) if not results[key].error]
                values = [value for result in taken for value in of(result)]
                lines.append(f"| {kind} | {name} | {_percentiles(values, scale)} |")
    return "\n".join(lines)


def draw(found: dict[str, dict[str, Result]], path: Path) -> None:
    """Draw, for each engine, the share of schemas and of masks that take longer than a given time."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "tokenfst"
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for panel, title, of in (
        (axes[0], "to the first mask of a schema", lambda result: [result.first] if result.masks else []),
        (axes[1], "one mask", lambda result: result.masks),
    ):
        for (name, results), style in zip(found.items(), ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))), strict=False):
            times = np.sort([time for result in results.values() if not result.error for time in of(result)])
            if times.size:
                panel.loglog(times, 1 - np.arange(times.size) / times.size, linestyle=style, label=name)
        panel.set_xticks([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10])
        panel.set_xticklabels(["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"], fontsize=8)
        panel.set_title(title)
        panel.set_ylabel("share that takes longer")
        panel.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(path, metadata={"Date": None})


def failures(found: dict[str, dict[str, Result]]) -> str:
    """Return a line for each schema that an engine refuses or judges wrongly, with the reason."""
    lines = []
    for name, results in found.items():
        for key, result in results.items():
            said = [f"{'valid' if valid else 'INVALID'} instance {number}" for number, valid in result.wrong]
            if result.error or said:
                reason = result.error.replace("\n", " ")[:300]
                lines.append("\t".join([name, key, reason or "judged wrongly: " + ", ".join(said)]))
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schemas", type=Path, nargs="+")
    parser.add_argument("--vocab", help="a vocabulary file; default: Tekken's, from mistral-common")
    parser.add_argument("--engines", default="tokenfst,llguidance,xgrammar")
    parser.add_argument("--every", type=int, default=1, help="use only every N-th schema")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds that an engine may take for a schema")
    parser.add_argument("--failures", type=Path, help="where to write what each engine refuses or judges wrongly")
    parser.add_argument("--report", type=Path, help="where to write the tables, in addition to printing them")
    parser.add_argument("--figure", type=Path, help="where to draw the times, as SVG")
    options = parser.parse_args()
    rows = list(schemas(options.schemas))[:: options.every]
    engines = options.engines.split(",")
    if not ENGINES.keys() >= set(engines):
        parser.error(f"engines are {', '.join(ENGINES)}")
    found, peaks = measure(engines, load_vocabulary(options.vocab), rows, options.limit)
    text = report(found, peaks, sum(len(tests) for _, _, tests in rows))
    print(text)
    if options.report:
        options.report.write_text(text + "\n")
    if options.figure:
        draw(found, options.figure)
    if options.failures:
        options.failures.write_text(failures(found))


if __name__ == "__main__":
    main()
