"""MaskBench: JSON Schemas with instances, through this project, llguidance and XGrammar side by side.

    python benchmarks/maskbench.py SCHEMAS [...] [--vocab FILE] [--engines tokenfst,llguidance,xgrammar] [--every N]
                                   [--limit SECONDS] [--failures FILE] [--report FILE]

SCHEMAS are files, or directories of files, with `{"schema": ..., "tests": [{"valid": ..., "data": ...}]}`: one object
to a file (.json), or to a line (.jsonl, .jsonl.gz), as in github.com/guidance-ai/jsonschemabench. The text of an
instance is `json.dumps(data, ensure_ascii=False)`, cut into the longest token at each place.

Each engine is a process with one thread, and only one of them works at a time: they take turns schema by schema, so
that whatever else the machine does meets all of them. For a schema the time is that of compiling, and of a mask and a
step for each token of its instances; cutting texts into tokens is not counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import tokenfst
from tokenfst import Vocabulary

# Threads of libraries that an engine may use.
_ONE_THREAD = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Engine(Protocol):
    """One engine; see `maskbench_engine`."""

    eos: int

    def compile(self, schema: Any) -> None: ...

    def reset(self) -> None: ...

    def mask(self) -> Any: ...

    def advance(self, token: int) -> bool: ...


class LLGuidance:
    """llguidance, with the slices that it prepares by default."""

    def __init__(self, vocab: list[bytes]) -> None:
        import engines
        import llguidance
        import llguidance.numpy

        self.eos = len(vocab)
        self._prepared = engines.LLGuidance(Vocabulary((*vocab, b""), eos_ids=(self.eos,)))
        self._module, self._fill = llguidance, llguidance.numpy.fill_next_token_bitmask
        self._matcher: Any = None

    def compile(self, schema: Any) -> None:
        grammar = self._module.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        matcher = self._module.LLMatcher(self._prepared.tokenizer, grammar)
        if matcher.get_error():
            raise ValueError(matcher.get_error())
        self._matcher = matcher

    def reset(self) -> None:
        self._matcher.reset()

    def mask(self) -> Any:
        self._fill(self._matcher, self._prepared.words)
        return self._prepared.words[0]

    def advance(self, token: int) -> bool:
        if token == self.eos:
            return bool(self._matcher.is_accepting())
        return bool(self._matcher.consume_token(token))


class XGrammar:
    """XGrammar as MaskBench runs it: not strict, any white space, no cache of compiled grammars."""

    def __init__(self, vocab: list[bytes]) -> None:
        import engines

        self.eos = len(vocab)
        self._prepared = engines.XGrammar(Vocabulary((*vocab, b""), eos_ids=(self.eos,)))
        self._words = self._prepared.words
        self._matcher: Any = None

    def compile(self, schema: Any) -> None:
        compiled = self._prepared.compiler.compile_json_schema(json.dumps(schema), strict_mode=False)
        self._matcher = self._prepared.xgrammar.GrammarMatcher(compiled)

    def reset(self) -> None:
        self._matcher.reset()

    def mask(self) -> Any:
        # False stands for "everything is allowed", and leaves the words as they were.
        if not self._matcher.fill_next_token_bitmask(self._words):
            self._words.fill_(-1)
        return self._words.numpy()[0]

    def advance(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))


def _engine(name: str, vocab: list[bytes]) -> Engine:
    if name == "llguidance":
        return LLGuidance(vocab)
    if name == "xgrammar":
        return XGrammar(vocab)
    from maskbench_engine import Engine as TokenFst

    return TokenFst(vocab)


@dataclass
class Result:
    """What one engine does with one schema; times in seconds.

    Attributes:
        error: why it could not be compiled, "" if it could.
        wrong: instances judged wrongly: their number, and whether they are valid.
        compile, first, total: the time to compile, to the first mask, and of everything.
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
    """Runs in a process of its own: an engine, and the schemas that come through a pipe."""
    engine = _engine(name, vocab)
    pipe.send("ready")
    while (task := pipe.recv()) is not None:
        pipe.send(_run(engine, *task))


def schemas(paths: list[Path]) -> Iterator[tuple[str, Any, list[Any]]]:
    """The name, the schema and the tests of every schema in files and directories."""
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
    """The tokens of a vocabulary: a file that `tokenfst.load` reads, or Tekken's, from mistral-common."""
    from tokenfst.loaders import from_tekken

    if path is None:
        return list(from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json")).tokens)
    return list(tokenfst.load_vocabulary(path, eos_ids=()).tokens)


def _longest_match(vocab: list[bytes]) -> Any:
    from engines import Greedy

    return Greedy(Vocabulary((*vocab, b""), eos_ids=(len(vocab),)))


class Server:
    """An engine in a process of its own, which is ended and begun anew where a schema takes it too long."""

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
        return Result(error=f"more than {self._limit:g} seconds")

    def end(self) -> None:
        self._pipe.send(None)


def measure(
    names: list[str], vocab: list[bytes], rows: list[tuple[str, Any, list[Any]]], limit: float
) -> dict[str, dict[str, Result]]:
    """The results by engine and by the schema's name."""
    for name in _ONE_THREAD:
        os.environ[name] = "1"
    cut = _longest_match(vocab)
    servers = {name: Server(name, vocab, limit) for name in names}
    found: dict[str, dict[str, Result]] = {name: {} for name in names}
    for turn, (key, schema, tests) in enumerate(rows):
        # Like MaskBench's, texts end with the end token.
        texts = [[*cut(json.dumps(test["data"], ensure_ascii=False)), len(vocab)] for test in tests]
        valid = [test["valid"] for test in tests]
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            found[name][key] = servers[name](schema, texts, valid)
    for server in servers.values():
        server.end()
    return found


def _percentiles(values: list[float], scale: float) -> str:
    if not values:
        return "- | - | - | - | -"
    data = np.array(values) * scale
    cells = [np.median(data), data.mean(), *np.percentile(data, [90, 99]), data.max()]
    return " | ".join(f"{cell:,.3g}" if cell < 1000 else f"{cell:,.0f}" for cell in cells)


def report(found: dict[str, dict[str, Result]], tests: int) -> str:
    """The tables, in Markdown."""
    some = next(iter(found.values()))
    lines = [f"{len(some):,} schemas with {tests:,} instances.", ""]
    lines += ["| engine | whole | refused | invalid let through | valid refused |", "|---|---|---|---|---|"]
    for name, results in found.items():
        wrong = Counter(valid for result in results.values() for _, valid in result.wrong)
        whole = sum(not result.error and not result.wrong for result in results.values())
        refused = sum(bool(result.error) for result in results.values())
        lines.append(f"| {name} | {whole:,} | {refused:,} | {wrong[False]:,} | {wrong[True]:,} |")
    common = [key for key in some if all(not results[key].error for results in found.values())]
    kinds = (
        ("compile, ms", lambda result: [result.compile], 1e3),
        ("to the first mask, ms", lambda result: [result.first] if result.masks else [], 1e3),
        ("mask, us", lambda result: result.masks, 1e6),
        ("schema in total, ms", lambda result: [result.total], 1e3),
    )
    for title, keys in (("all that it takes", None), (f"the {len(common):,} that all take", common)):
        lines += ["", f"| {title} | engine | median | mean | p90 | p99 | max |", "|---|---|---|---|---|---|---|"]
        for kind, of, scale in kinds:
            for name, results in found.items():
                taken = [results[key] for key in (results if keys is None else keys) if not results[key].error]
                values = [value for result in taken for value in of(result)]
                lines.append(f"| {kind} | {name} | {_percentiles(values, scale)} |")
    return "\n".join(lines)


def failures(found: dict[str, dict[str, Result]]) -> str:
    """A line for each schema that an engine does not judge right, with the reason."""
    lines = []
    for name, results in found.items():
        for key, result in results.items():
            said = [f"{'valid' if valid else 'INVALID'} instance {number}" for number, valid in result.wrong]
            if result.error or said:
                reason = result.error.replace("\n", " ")[:300]
                lines.append("\t".join([name, key, reason or "judged wrong: " + ", ".join(said)]))
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schemas", type=Path, nargs="+")
    parser.add_argument("--vocab", help="a vocabulary file; default: Tekken's")
    parser.add_argument("--engines", default="tokenfst,llguidance,xgrammar")
    parser.add_argument("--every", type=int, default=1, help="only each schema of this number")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds that a schema may take an engine")
    parser.add_argument("--failures", type=Path, help="where to write what each engine does not judge right")
    parser.add_argument("--report", type=Path, help="where to write the tables, beside printing them")
    options = parser.parse_args()
    rows = list(schemas(options.schemas))[:: options.every]
    found = measure(options.engines.split(","), load_vocabulary(options.vocab), rows, options.limit)
    text = report(found, sum(len(tests) for _, _, tests in rows))
    print(text)
    if options.report:
        options.report.write_text(text + "\n")
    if options.failures:
        options.failures.write_text(failures(found))


if __name__ == "__main__":
    main()
