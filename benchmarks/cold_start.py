"""Measure the cold start: how long a new process takes to its first masks, compared with llguidance and XGrammar.

    python benchmarks/cold_start.py [--vocab FILE] [--runs N] [--engines tokenfst,llguidance,xgrammar] [--json FILE]

Each run is a new process, and the engines take turns. A process imports an engine, prepares a vocabulary whose tokens
have already been read, and then compiles one constraint after another and fills the first mask of each:

    import            importing the engine
    vocabulary        converting the tokens to the engine's own form
    pattern           a date
    schema            a JSON Schema whose masks are computed on demand (tokenfst and llguidance)
    complete schema   the same JSON Schema in full (XGrammar, and tokenfst, which completes the automaton of `schema`)
    json              any JSON value
    torch             importing PyTorch (tokenfst)
    arena             importing and making an arena on the CPU, and a step of a batch of 4 (tokenfst)

Each process gets a new, empty directory as its home and for temporary files, and the benchmark fails if tokenfst leaves
a file there. Times are in milliseconds: medians over all runs, and separately the first run, because later runs may
profit from work that it did.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

PATTERN = r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 80},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "next": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


class Clock:
    """A clock that records the times of stages, in milliseconds."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}

    def __call__(self, stage: str, work: Callable[[], Any]) -> Any:
        """Run a stage, record its time, and return its result."""
        begun = time.perf_counter()
        given = work()
        self.stages[stage] = 1e3 * (time.perf_counter() - begun)
        return given


def tokenfst_stages(tokens: list[bytes], eos: int, clock: Clock) -> None:
    """Measure this project."""

    def load() -> tuple[Any, Any]:
        import constraints
        import tokenfst

        return tokenfst, constraints

    tokenfst, constraints = clock("import", load)
    if {"torch", "transformers"} & set(sys.modules):
        raise SystemExit("importing tokenfst must not import torch or transformers")
    vocabulary = clock("vocabulary", lambda: tokenfst.Vocabulary(tokens, [eos]))
    import numpy as np

    words = np.zeros(-(-len(tokens) // 32), np.int32)

    def first_mask(make: Callable[[], Any]) -> Any:
        automaton = make()
        automaton.fill_bitmask(automaton.start, words)
        return automaton

    pattern = clock("pattern", lambda: first_mask(lambda: tokenfst.compile(PATTERN, vocabulary)))
    schema = clock("schema", lambda: first_mask(lambda: tokenfst.compile(constraints.json_schema(SCHEMA), vocabulary)))
    clock("complete schema", lambda: first_mask(schema.complete))
    clock("json", lambda: first_mask(lambda: tokenfst.compile(constraints.json(), vocabulary)))
    torch = clock("torch", lambda: __import__("torch"))
    clock("arena", lambda: _arena_step(torch, pattern))


def _arena_step(torch: Any, automaton: Any) -> None:
    from decoding.arena import Arena

    arena = Arena(automaton.vocabulary, device="cpu", max_bytes=1 << 20)
    at = arena.starts([arena.add(automaton)] * 4)
    logits = torch.zeros(4, len(automaton.vocabulary))
    arena.apply_(logits, at)
    arena.advance(at, logits.argmax(1))


def llguidance_stages(tokens: list[bytes], eos: int, clock: Clock) -> None:
    """Measure llguidance."""

    def load() -> Any:
        import llguidance
        import llguidance.numpy

        return llguidance

    module = clock("import", load)

    class Tokens:
        eos_token_id, bos_token_id, special_token_ids = eos, None, [eos]

        def __init__(self) -> None:
            self.tokens = [token or f"<|{number}|>".encode() for number, token in enumerate(tokens)]

        def __call__(self, text: str | bytes) -> list[int]:
            """Return one token for each byte."""
            return [self.tokens.index(bytes([byte])) for byte in (text.encode() if isinstance(text, str) else text)]

    tokenizer = clock("vocabulary", lambda: module.LLTokenizer(module.TokenizerWrapper(Tokens())))
    words = module.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)

    def first_mask(grammar: str) -> None:
        module.numpy.fill_next_token_bitmask(module.LLMatcher(tokenizer, grammar), words)

    matcher = module.LLMatcher
    clock("pattern", lambda: first_mask(matcher.grammar_from_regex(PATTERN)))
    clock("schema", lambda: first_mask(matcher.grammar_from_json_schema(json.dumps(SCHEMA))))
    clock("json", lambda: first_mask(matcher.grammar_from_json_schema("{}")))


def xgrammar_stages(tokens: list[bytes], eos: int, clock: Clock) -> None:
    """Measure XGrammar, with one thread."""
    xgrammar = clock("import", lambda: __import__("xgrammar"))

    def prepare() -> Any:
        info = xgrammar.TokenizerInfo(tokens, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[eos])
        return xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    compiler = clock("vocabulary", prepare)
    words = xgrammar.allocate_token_bitmask(1, len(tokens))

    def first_mask(make: Callable[[], Any]) -> None:
        xgrammar.GrammarMatcher(make()).fill_next_token_bitmask(words)

    clock("pattern", lambda: first_mask(lambda: compiler.compile_regex(PATTERN)))
    clock("complete schema", lambda: first_mask(lambda: compiler.compile_json_schema(json.dumps(SCHEMA))))
    clock("json", lambda: first_mask(compiler.compile_builtin_json_grammar))


ENGINES = {"tokenfst": tokenfst_stages, "llguidance": llguidance_stages, "xgrammar": xgrammar_stages}
STAGES = ("import", "vocabulary", "pattern", "schema", "complete schema", "json", "torch", "arena")
# The sums leave out the stage "torch", because importing PyTorch is not the work of an engine.
OURS = tuple(stage for stage in STAGES if stage != "torch")


def child(engine: str, path: str) -> None:
    """Measure an engine in this process and print the times as JSON."""
    tokens, eos = pickle.loads(Path(path).read_bytes())
    clock = Clock()
    ENGINES[engine](tokens, eos, clock)
    print(json.dumps(clock.stages))


def one_run(engine: str, path: Path) -> dict[str, float]:
    """Return the times of a new process with an empty home; exit if it fails, or if tokenfst leaves files."""
    with tempfile.TemporaryDirectory() as home:
        places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "USERPROFILE", "TEMP"), home)
        environment = {**os.environ, **places, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, __file__, "--child", engine, str(path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=home)
        left = [str(entry) for entry in Path(home).rglob("*")]
    if done.returncode or (left and engine == "tokenfst"):
        raise SystemExit(f"{engine} failed or left files: {done.stderr[-2000:]} {left}")
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def tokens_of(path: str | None) -> tuple[list[bytes], int]:
    """Return the tokens of a vocabulary file, with an end token added, and the id of the end token."""

    from tokenfst.loaders import load_vocabulary

    vocabulary = load_vocabulary(path or str(files("mistral_common") / "data" / "tekken_240911.json"), eos_ids=())
    return [*vocabulary.tokens, b""], len(vocabulary)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocab", help="a vocabulary file; by default Tekken's, from mistral-common")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--json", type=Path, help="a file for the times of all runs")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    engines = arguments.engines.split(",")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokens"
        path.write_bytes(pickle.dumps(tokens_of(arguments.vocab)))
        runs: dict[str, list[dict[str, float]]] = {engine: [] for engine in engines}
        for _ in range(arguments.runs):
            for engine in engines:
                runs[engine].append(one_run(engine, path))
    if arguments.json:
        arguments.json.write_text(json.dumps(runs, indent=1))
    report(runs)


def report(runs: dict[str, list[dict[str, float]]]) -> None:
    """Print the table in Markdown."""
    print("| ms | " + " | ".join(f"{engine} | first run" for engine in runs) + " |")
    print("|---|" + "--:|" * 2 * len(runs))
    for stage in (*STAGES, "after the vocabulary", "all"):
        cells = []
        for own in runs.values():
            times = [_time(run, stage) for run in own]
            known = [time for time in times if time is not None]
            cells += [_shown(statistics.median(known)), _shown(known[0])] if known else ["", ""]
        print(f"| {stage} | " + " | ".join(cells) + " |")


def _shown(milliseconds: float) -> str:
    return f"{milliseconds:,.0f}" if milliseconds >= 1000 else f"{milliseconds:.3g}"


def _time(run: dict[str, float], stage: str) -> float | None:
    if stage == "all":
        return sum(run.get(part, 0) for part in OURS)
    if stage == "after the vocabulary":
        return sum(run.get(part, 0) for part in OURS[2:])
    return run.get(stage)


if __name__ == "__main__":
    main()
