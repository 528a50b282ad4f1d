"""Measure what a decoding step costs in addition to the model, if every sequence of a batch has its own constraint.

    python benchmarks/decode.py [--vocab FILE] [--sizes 32000,131072,262144] [--batches 1,16,64,256,512]
                                [--engines tokenfst,budget,xgrammar,llguidance] [--device cuda] [--steps N]
                                [--dtype float32] [--threads N] [--json FILE]

A step computes the masks of a batch, writes minus infinity into the logits of forbidden tokens, in place, and advances
each sequence by one token. The sequences get the constraints below in turn, and each follows the text of its
constraint. So all engines mask the same logits at the same positions.

    floor       one `masked_fill_` of the same logits with a ready mask, `[B, V]` bool
    tokenfst    `decoding.arena.Arena`: one program for masks and logits, one for steps
    budget      the same with a budget of tokens that is too large to forbid any token
    compiled    the programs of tokenfst, compiled with `torch.compile`; needs a C++ compiler, or Triton on a GPU
    captured    the programs of tokenfst, each captured in a CUDA graph; needs a GPU
    xgrammar    its functions for batches, and its own function for logits
    llguidance  likewise

A vocabulary consists of the single bytes and the first tokens of a real vocabulary. If that has too few tokens,
concatenations of its tokens are added. Each engine runs in one thread, or in as many as `--threads` says. The engines
take turns at every step, so that other load on the machine affects all of them equally. Times are medians over the
steps: the processor time of all threads, or on a GPU the time by the clock from an idle GPU until it is idle again.
Compilation and preparation before the first step are not counted. On a GPU, an error is raised if a step of `tokenfst`,
`budget`, `compiled` or `captured` waits for the device.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
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
from decoding.devices import never_waiting
from tokenfst import Vocabulary


@dataclass(frozen=True)
class Constraint:
    """A constraint in the form that every engine takes, with one of its texts.

    Attributes:
        kind: "pattern", "schema", "json" (any JSON value) or "grammar".
        value: the pattern, the JSON Schema, None, or the name of a bundled grammar in GBNF.
        text: a text that the constraint allows.
    """

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
    """An engine that decodes a batch."""

    name: str

    def start(self, logits: Tensor) -> None:
        """Start a sequence for each row of `logits`, `[B, V]`; `mask` writes into this tensor."""

    def mask(self) -> None:
        """Write minus infinity into the logits of forbidden tokens."""

    def advance(self, tokens: Tensor) -> None:
        """Advance each sequence by its token, `[B]` int64."""


class TokenFst:
    """This project, without a budget or with a budget of `remaining` tokens."""

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
        with never_waiting(self.logits.device):
            self.arena.apply_(self.logits, self.at, self.remaining)

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`."""
        with never_waiting(self.logits.device):
            self.at = self.arena.advance(self.at, tokens)


class Compiled(TokenFst):
    """This project, with each program compiled with `torch.compile`."""

    def __init__(self, vocabulary: Vocabulary, device: str) -> None:
        super().__init__(vocabulary, device)
        self.name = "compiled"
        # `torch.compile` keeps programs by function, for all arenas together, and limits their number.
        torch._dynamo.reset()
        self._apply = torch.compile(self.arena.apply_, fullgraph=True, dynamic=False)
        self._go_on = torch.compile(self.arena.advance, fullgraph=True, dynamic=False)

    def start(self, logits: Tensor) -> None:
        """See `Engine`."""
        super().start(logits)
        # Compilation waits for the device, so it must not happen in `mask` or `advance`.
        self._apply(logits, self.at)
        self._go_on(self.at, torch.zeros_like(self.at.slot))

    def mask(self) -> None:
        """See `Engine`."""
        with never_waiting(self.logits.device):
            self._apply(self.logits, self.at)

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`."""
        with never_waiting(self.logits.device):
            self.at = self._go_on(self.at, tokens)


class Captured(TokenFst):
    """This project, with each program captured in a CUDA graph when a batch starts."""

    def __init__(self, vocabulary: Vocabulary, device: str) -> None:
        super().__init__(vocabulary, device)
        self.name = "captured"

    def start(self, logits: Tensor) -> None:
        """See `Engine`."""
        super().start(logits)
        # An operation loads its kernels when it runs for the first time, which is not possible during a capture.
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
        with never_waiting(self.logits.device):
            self.masking.replay()

    def advance(self, tokens: Tensor) -> None:
        """See `Engine`."""
        with never_waiting(self.logits.device):
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
    """XGrammar, with its functions for batches."""

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
            raise ValueError("XGrammar refused a token")


class LLGuidanceBatch:
    """llguidance, with its functions for batches."""

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
            raise ValueError("llguidance refused a token")


class Floor:
    """One `masked_fill_` with a ready mask, which forbids the tokens that the given engine forbids at the start."""

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
        """Do nothing, because the mask is always the same."""


ENGINES: dict[str, Callable[[Vocabulary, str], Engine]] = {
    "tokenfst": TokenFst,
    "budget": lambda vocabulary, device: TokenFst(vocabulary, device, 100_000),
    "compiled": Compiled,
    "captured": Captured,
    "xgrammar": lambda vocabulary, _: XGrammarBatch(vocabulary),
    "llguidance": lambda vocabulary, _: LLGuidanceBatch(vocabulary),
}


def vocabulary_of(size: int, path: str | None) -> Vocabulary:
    """Return a vocabulary of `size` tokens: the single bytes, the first tokens of a real vocabulary, and an end token.

    If the real vocabulary has too few tokens, concatenations of tokens are added.
    """
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
    """Return the tokens of each step, `[steps][B]`; there are at most as many steps as the shortest text has tokens."""
    rows = [tokenize(vocabulary, each.text) for each in CONSTRAINTS]
    steps = min(steps, *map(len, rows))
    return [[rows[row % len(rows)][step] for row in range(batch)] for step in range(steps)]


def seconds_on(device: str) -> float:
    """Return the processor time, or on a GPU the time by the clock once the GPU has finished its work."""
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()


def measure(
    engines: Sequence[Engine], vocabulary: Vocabulary, batch: int, steps: int, dtype: torch.dtype, device: str
) -> dict[str, tuple[float, float]]:
    """Return, by the name of each engine, the median seconds of masking the logits and of advancing."""
    taken: dict[str, tuple[list[float], list[float]]] = {engine.name: ([], []) for engine in engines}
    following = torch.tensor(texts(vocabulary, batch, steps), device=device)
    logits = torch.randn(batch, len(vocabulary), dtype=dtype, device=device)
    # The first pass is not counted, because engines compute new masks and load kernels in it.
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
                    raise AssertionError(f"{engine.name} forbids a token of a text")
                if counted:
                    taken[engine.name][0].append(second - first)
                    taken[engine.name][1].append(third - second)
    return {name: (statistics.median(masks), statistics.median(steps)) for name, (masks, steps) in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", help="a file that `load_vocabulary` reads; by default Tekken's")
    parser.add_argument("--sizes", default="32000,131072,262144")
    parser.add_argument("--batches", default="1,16,64,256,512")
    parser.add_argument("--engines", default="tokenfst,budget,xgrammar,llguidance", help="any of " + ", ".join(ENGINES))
    parser.add_argument("--device", default="cpu", help="the device of the logits: cpu or cuda")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1, help="threads of the processor for each engine")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--json", type=Path, help="a file for the figures")
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
