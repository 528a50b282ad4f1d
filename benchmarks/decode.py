"""Decoding: what a step costs beside the model, for batches in which every sequence has its own constraint.

    python benchmarks/decode.py [--vocab FILE] [--sizes 32000,131072,262144] [--batches 1,16,64,256,512]
                                [--engines tokenfst,budget,xgrammar,llguidance] [--device cuda] [--steps N]
                                [--dtype float32] [--threads N] [--json FILE]

A step makes the masks of a batch, writes minus infinity over the logits of what is forbidden, in place, and advances by
a token for each sequence. Sequences take turns among the constraints below, each along a text of its own; so every
engine masks the same logits at the same places.

    floor       one `masked_fill_` of the same logits by a ready mask, `[B, V]` bool
    tokenfst    `decoding.arena.Arena`: one program for masks and logits, one for the steps
    budget      the same within a budget of tokens that does not bind
    compiled    tokenfst's programs through `torch.compile`; takes a compiler, C++ or Triton
    captured    tokenfst's programs, each captured in a CUDA graph; nothing but the graph may touch the device
    xgrammar    its functions for batches, and its own kernel for logits
    llguidance  likewise

Vocabularies are the first tokens of a real one; where more are asked for, pairs of its tokens put together. Everything
runs in one thread, or each engine in as many as are asked for, and engines take turns step by step, so that whatever
else the machine does meets all of them. Times are medians over the steps, those of the processor, or with a GPU from
when it is idle until it is idle again. What is compiled and prepared before the first step is not counted. On a GPU the
steps of `tokenfst`, `compiled` and `captured` run where waiting for the device is an error.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, Protocol

import torch
from cold_start import SCHEMA
from engines import LLGuidance, XGrammar, tokenize
from torch import Tensor

import constraints
import tokenfst
from constraints.grammars.bundled import bundled, source
from decoding.arena import Arena
from tokenfst import Vocabulary


@dataclass(frozen=True)
class Constraint:
    """One constraint as each engine takes it: a pattern, a schema, or a bundled grammar in GBNF, and a text of it."""

    kind: str
    value: Any
    text: str


CONSTRAINTS = [
    Constraint("schema", SCHEMA, '{"name": "Ada Lovelace of London", "age": 36, "tags": ["red", "blue"]}'),
    Constraint(
        "pattern", r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{4}-[0-9]{2}-[0-9]{2})*", "2024-02-29 1815-12-10 1852-11-27"
    ),
    Constraint("json", None, '{"a": [1, 2.5, {"b": null}], "c": "some text and more of it", "d": true}'),
    Constraint("grammar", "arithmetic", "(a + 12) * sin(x - 3.25) / (y + (7 - z)) * 2"),
    Constraint(
        "pattern", r"[A-Z][a-z]+( [a-z]+){3,40}\.", "The quick brown fox jumps over one lazy dog and then it rests."
    ),
    Constraint("schema", {"type": "array", "items": {"type": "number"}}, "[1.5, 22, 3e10, -4, 55.125, 6, 7.75]"),
]


class Engine(Protocol):
    """A batch that is decoded."""

    name: str

    def start(self, logits: Tensor) -> None:
        """Begins a sequence for each row, `[B, V]`; all their masks are for this tensor."""

    def mask(self) -> None:
        """Writes minus infinity over what is forbidden."""

    def advance(self, tokens: Tensor) -> None:
        """Continues by a token for each sequence, `[B]` int64."""


class TokenFst:
    """This project; with or without a budget that does not bind."""

    def __init__(self, vocabulary: Vocabulary, device: str, remaining: int | None = None) -> None:
        self.name = "budget" if remaining else f"tokenfst {tokenfst.__version__}"
        self.arena = Arena(vocabulary, device)
        self.remaining = remaining
        self.slots = [self.arena.add(_automaton(each, vocabulary)) for each in CONSTRAINTS]

    def start(self, logits: Tensor) -> None:
        """See `Engine`."""
        self.logits = logits
        self.at = self.arena.starts([self.slots[row % len(self.slots)] for row in range(len(logits))])

    def mask(self) -> None:
        """See `Engine`."""
        with never_waiting(self.logits):
            self.arena.apply_(self.logits, self.at, self.remaining)

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`."""
        with never_waiting(self.logits):
            self.at = self.arena.advance(self.at, tokens)


@contextmanager
def never_waiting(tensor: Tensor) -> Iterator[None]:
    """On a GPU, whatever waits for it is an error."""
    if not tensor.is_cuda:
        yield
        return
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


class Compiled(TokenFst):
    """This project's programs, each compiled to kernels of its own."""

    def __init__(self, vocabulary: Vocabulary, device: str) -> None:
        super().__init__(vocabulary, device)
        self.name = "compiled"
        # Programs are kept by function, whatever the arena, and count against a limit.
        torch._dynamo.reset()
        self._apply = torch.compile(self.arena.apply_, fullgraph=True, dynamic=False)
        self._go_on = torch.compile(self.arena.advance, fullgraph=True, dynamic=False)

    def start(self, logits: Tensor) -> None:
        """See `Engine`."""
        super().start(logits)
        # The compiler waits.
        self._apply(logits, self.at)
        self._go_on(self.at, torch.zeros_like(self.at.slot))

    def mask(self) -> None:
        """See `Engine`."""
        with never_waiting(self.logits):
            self._apply(self.logits, self.at)

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`."""
        with never_waiting(self.logits):
            self.at = self._go_on(self.at, tokens)


class Captured(TokenFst):
    """This project's programs, each a CUDA graph that is captured once for a batch."""

    def __init__(self, vocabulary: Vocabulary, device: str) -> None:
        super().__init__(vocabulary, device)
        self.name = "captured"

    def start(self, logits: Tensor) -> None:
        """See `Engine`."""
        super().start(logits)
        # Operations load their kernels when they are first done, which no capture allows.
        super().mask()
        self.tokens = torch.zeros_like(self.at.slot)
        first = self.arena.starts(self.at.slot)
        self.arena.advance(first, self.tokens)
        self.masking, self.going_on = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.masking):
            self.arena.apply_(logits, self.at)
        with torch.cuda.graph(self.going_on):
            self.at.copy_(self.arena.advance(self.at, self.tokens))
        self.at.copy_(first)

    def mask(self) -> None:
        """See `Engine`."""
        with never_waiting(self.logits):
            self.masking.replay()

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`."""
        with never_waiting(self.logits):
            self.tokens.copy_(tokens)
            self.going_on.replay()


def _automaton(constraint: Constraint, vocabulary: Vocabulary) -> Any:
    kind, value = constraint.kind, constraint.value
    made: dict[str, Callable[[], Any]] = {
        "pattern": lambda: value,
        "schema": lambda: constraints.json_schema(value),
        "json": constraints.json,
        "grammar": lambda: bundled(value),
    }
    return tokenfst.compile(made[kind](), vocabulary)


class XGrammarBatch:
    """XGrammar's functions for batches."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        engine = XGrammar(vocabulary)
        self.name, self.size, self.module = engine.name, engine.size, engine.xgrammar
        compiler = engine.compiler
        made: dict[str, Callable[[Any], Any]] = {
            "pattern": compiler.compile_regex,
            "schema": lambda schema: compiler.compile_json_schema(json.dumps(schema)),
            "json": lambda _: compiler.compile_builtin_json_grammar(),
            "grammar": lambda name: compiler.compile_grammar(self.module.Grammar.from_ebnf(source(name))),
        }
        self.compiled = [made[each.kind](each.value) for each in CONSTRAINTS]

    def start(self, logits: Tensor) -> None:
        """See `Engine`."""
        self.logits, batch = logits, len(logits)
        self.batch = self.module.BatchGrammarMatcher(max_threads=torch.get_num_threads())
        compiled = [self.compiled[row % len(self.compiled)] for row in range(batch)]
        self.matchers = [self.module.GrammarMatcher(each) for each in compiled]
        self.words = self.module.allocate_token_bitmask(batch, self.size)

    def mask(self) -> None:
        """See `Engine`."""
        self.batch.batch_fill_next_token_bitmask(self.matchers, self.words)
        self.module.apply_token_bitmask_inplace(self.logits, self.words.to(self.logits.device, non_blocking=True))

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`."""
        if not all(self.batch.batch_accept_token(self.matchers, tokens.tolist())):
            raise ValueError("XGrammar refuses a token")


class LLGuidanceBatch:
    """llguidance's functions for batches."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        import llguidance.torch
        from llguidance.gbnf_to_lark import any_to_lark

        engine = LLGuidance(vocabulary)
        self.name, self.tokenizer, self.module, self.torch = (
            engine.name,
            engine.tokenizer,
            engine.module,
            llguidance.torch,
        )
        matcher = self.module.LLMatcher
        made: dict[str, Callable[[Any], str]] = {
            "pattern": matcher.grammar_from_regex,
            "schema": lambda schema: matcher.grammar_from_json_schema(json.dumps(schema)),
            "json": lambda _: matcher.grammar_from_json_schema("{}"),
            "grammar": lambda name: matcher.grammar_from_lark(str(any_to_lark(source(name)))),
        }
        self.compiled = [matcher(self.tokenizer, made[each.kind](each.value)) for each in CONSTRAINTS]
        for each in self.compiled:
            if each.get_error():
                raise ValueError(each.get_error())

    def start(self, logits: Tensor) -> None:
        """See `Engine`."""
        self.logits, batch = logits, len(logits)
        self.executor = self.module.LLExecutor(torch.get_num_threads())
        self.matchers = [self.compiled[row % len(self.compiled)].deep_copy() for row in range(batch)]
        self.places = list(zip(self.matchers, range(batch), strict=True))
        self.words = self.torch.allocate_token_bitmask(batch, self.tokenizer.vocab_size)

    def mask(self) -> None:
        """See `Engine`."""
        self.torch.fill_next_token_bitmask_par(self.executor, self.places, self.words)
        self.torch.apply_token_bitmask_inplace(self.logits, self.words.to(self.logits.device, non_blocking=True))

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`."""
        following = list(zip(self.matchers, tokens.tolist(), strict=True))
        if not all(self.torch.consume_token_par(self.executor, following)):
            raise ValueError("llguidance refuses a token")


class Floor:
    """One `masked_fill_` by a mask that is there, which forbids what the engine it is given forbids at the start."""

    name = "floor"

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def start(self, logits: Tensor) -> None:
        """See `Engine`."""
        masked = torch.zeros_like(logits)
        self.engine.start(masked)
        self.engine.mask()
        self.logits, self.forbidden = logits, masked.isinf()

    def mask(self) -> None:
        """See `Engine`."""
        self.logits.masked_fill_(self.forbidden, float("-inf"))

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`; there is nothing to advance."""


ENGINES: dict[str, Callable[[Vocabulary, str], Engine]] = {
    "tokenfst": TokenFst,
    "budget": lambda vocabulary, device: TokenFst(vocabulary, device, 100_000),
    "compiled": Compiled,
    "captured": Captured,
    "xgrammar": lambda vocabulary, _: XGrammarBatch(vocabulary),
    "llguidance": lambda vocabulary, _: LLGuidanceBatch(vocabulary),
}


def vocabulary_of(size: int, path: str | None) -> Vocabulary:
    """The first tokens of a vocabulary, with those that stand for single bytes, and an end token; more where there are
    not so many."""
    real = (
        tokenfst.load_vocabulary(path, eos_ids=() if str(path).endswith(".tiktoken") else None)
        if path
        else tokenfst.from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))
    )
    single = [bytes([byte]) for byte in range(256)]
    found = dict.fromkeys([*single, *(token for token in real.tokens if token)])
    tokens, dice = list(found)[: size - 1], Random(0)
    while len(tokens) < size - 1:
        pair = dice.choice(tokens) + dice.choice(tokens)
        if pair not in found and len(pair) < 32:
            found[pair] = None
            tokens.append(pair)
    return Vocabulary([*tokens, b""], [size - 1])


def texts(vocabulary: Vocabulary, batch: int, steps: int) -> list[list[int]]:
    """The tokens of each step, `[steps][B]`: of the longest texts as many as the shortest has."""
    rows = [tokenize(vocabulary, each.text) for each in CONSTRAINTS]
    steps = min(steps, *map(len, rows))
    return [[rows[row % len(rows)][step] for row in range(batch)] for step in range(steps)]


def seconds_on(device: str) -> float:
    """The processor's time; or the clock's, when a GPU has done all that it was asked for."""
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()


def measure(
    engines: Sequence[Engine], vocabulary: Vocabulary, batch: int, steps: int, dtype: torch.dtype, device: str
) -> dict[str, tuple[float, float]]:
    """The seconds that masks and logits take, and those of the steps, medians for each engine."""
    taken: dict[str, tuple[list[float], list[float]]] = {engine.name: ([], []) for engine in engines}
    following = torch.tensor(texts(vocabulary, batch, steps), device=device)
    logits = torch.randn(batch, len(vocabulary), dtype=dtype, device=device)
    # The first time through is not counted: masks are made, and kernels loaded.
    for counted in (False, True):
        for engine in engines:
            engine.start(logits)
        for tokens in following:
            for engine in engines:
                logits.scatter_(1, tokens[:, None], 1.0)
                first = seconds_on(device)
                engine.mask()
                second = seconds_on(device)
                engine.advance(tokens)
                third = seconds_on(device)
                if engine.name != "floor" and bool(logits.gather(1, tokens[:, None]).isinf().any()):
                    raise AssertionError(f"{engine.name} forbids a token of the texts")
                if counted:
                    taken[engine.name][0].append(second - first)
                    taken[engine.name][1].append(third - second)
    return {name: (statistics.median(masks), statistics.median(steps)) for name, (masks, steps) in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", help="a vocabulary that `tokenfst.load` reads; Tekken's if left out")
    parser.add_argument("--sizes", default="32000,131072,262144")
    parser.add_argument("--batches", default="1,16,64,256,512")
    parser.add_argument("--engines", default="tokenfst,budget,xgrammar,llguidance", help="of " + ", ".join(ENGINES))
    parser.add_argument("--device", default="cpu", help="where the logits are: cpu, or cuda")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1, help="of the processor, for each engine")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--json", type=Path, help="where the figures are written")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows: list[dict[str, Any]] = []
    for size in map(int, options.sizes.split(",")):
        vocabulary = vocabulary_of(size, options.vocab)
        engines = [ENGINES[name](vocabulary, options.device) for name in options.engines.split(",")]
        engines.insert(0, Floor(TokenFst(vocabulary, options.device)))
        for batch in map(int, options.batches.split(",")):
            found = measure(engines, vocabulary, batch, options.steps, getattr(torch, options.dtype), options.device)
            floor = found["floor"][0]
            for name, (masks, steps) in found.items():
                rows.append({"size": size, "batch": batch, "engine": name, "masks": masks, "steps": steps})
                line = f"V {size:>7,}  B {batch:>3}  {name:<18} {1e6 * masks:>10,.0f} + {1e6 * steps:>8,.0f} us"
                print(f"{line}  {(masks + steps) / floor:>6.2f} x floor", flush=True)
    device = torch.cuda.get_device_name(options.device) if options.device != "cpu" else "no GPU"
    print(f"torch {torch.__version__}, {options.dtype}, threads {options.threads}, {device}")
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
