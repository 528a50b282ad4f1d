"""Decoding: what a step costs beside the model, for batches in which every sequence has its own constraint.

    python benchmarks/decode.py [--vocab FILE] [--sizes 32000,131072,262144] [--batches 1,16,64,256,512]
                                [--engines tokenfst,budget,xgrammar,llguidance] [--steps N] [--json FILE]

A step makes the masks of a batch, writes minus infinity over the logits of what is forbidden, in place, and goes on by
a token for each sequence. Sequences take turns among the constraints below, each along a text of its own; so every
engine masks the same logits at the same places.

    floor       one `masked_fill_` of the same logits by a ready mask, `[B, V]` bool
    tokenfst    `decoding.arena.Arena`: one program for masks and logits, one for the steps
    budget      the same within a budget of tokens that does not bind
    xgrammar    its functions for batches, and its own kernel for logits
    llguidance  likewise

Vocabularies are the first tokens of a real one; where more are asked for, pairs of its tokens put together. Everything
runs in one thread, and engines take turns step by step, so that whatever else the machine does meets all of them. Times
are those of the processor, medians over the steps; what is compiled and prepared before the first step is not counted.
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
from engines import LLGuidance, XGrammar, tokenize
from torch import Tensor

import constraints
import tokenfst
from constraints.grammars.bundled import bundled, source
from decoding.arena import Arena
from tokenfst import Vocabulary

_SCHEMA = {
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


@dataclass(frozen=True)
class Constraint:
    """One constraint as each engine takes it: a pattern, a schema, or a bundled grammar in GBNF, and a text of it."""

    kind: str
    value: Any
    text: str


CONSTRAINTS = [
    Constraint("schema", _SCHEMA, '{"name": "Ada Lovelace of London", "age": 36, "tags": ["red", "blue"]}'),
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
    """A batch that goes on."""

    name: str

    def start(self, batch: int) -> None:
        """Begins so many sequences."""

    def mask(self, logits: Tensor) -> None:
        """Writes minus infinity over what is forbidden."""

    def advance(self, tokens: Sequence[int]) -> None:
        """Goes on by a token for each sequence."""


class TokenFst:
    """This project; with or without a budget that does not bind."""

    def __init__(self, vocabulary: Vocabulary, remaining: int | None = None) -> None:
        self.name = "budget" if remaining else f"tokenfst {tokenfst.__version__}"
        self.arena = Arena(vocabulary)
        self.remaining = remaining
        self.slots = [self.arena.add(_automaton(each, vocabulary)) for each in CONSTRAINTS]

    def start(self, batch: int) -> None:
        """See `Engine`."""
        self.at = self.arena.starts([self.slots[row % len(self.slots)] for row in range(batch)])

    def mask(self, logits: Tensor) -> None:
        """See `Engine`."""
        self.arena.apply_(logits, self.at, self.remaining)

    def advance(self, tokens: Sequence[int]) -> None:
        """See `Engine`."""
        self.at = self.arena.advance(self.at, torch.tensor(tokens))


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

    def start(self, batch: int) -> None:
        """See `Engine`."""
        self.batch = self.module.BatchGrammarMatcher(max_threads=1)
        compiled = [self.compiled[row % len(self.compiled)] for row in range(batch)]
        self.matchers = [self.module.GrammarMatcher(each) for each in compiled]
        self.words = self.module.allocate_token_bitmask(batch, self.size)

    def mask(self, logits: Tensor) -> None:
        """See `Engine`."""
        self.batch.batch_fill_next_token_bitmask(self.matchers, self.words)
        self.module.apply_token_bitmask_inplace(logits, self.words)

    def advance(self, tokens: Sequence[int]) -> None:
        """See `Engine`."""
        if not all(self.batch.batch_accept_token(self.matchers, list(tokens))):
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

    def start(self, batch: int) -> None:
        """See `Engine`."""
        self.executor = self.module.LLExecutor(1)
        self.matchers = [self.compiled[row % len(self.compiled)].deep_copy() for row in range(batch)]
        self.places = list(zip(self.matchers, range(batch), strict=True))
        self.words = self.torch.allocate_token_bitmask(batch, self.tokenizer.vocab_size)

    def mask(self, logits: Tensor) -> None:
        """See `Engine`."""
        self.torch.fill_next_token_bitmask_par(self.executor, self.places, self.words)
        self.torch.apply_token_bitmask_inplace(logits, self.words)

    def advance(self, tokens: Sequence[int]) -> None:
        """See `Engine`."""
        if not all(self.torch.consume_token_par(self.executor, list(zip(self.matchers, tokens, strict=True)))):
            raise ValueError("llguidance refuses a token")


class Floor:
    """One `masked_fill_` by a mask that is there, which forbids what the engine it is given forbids at the start."""

    name = "floor"

    def __init__(self, engine: Engine, vocabulary: Vocabulary) -> None:
        self.engine, self.size = engine, len(vocabulary)

    def start(self, batch: int) -> None:
        """See `Engine`."""
        self.engine.start(batch)
        logits = torch.zeros(batch, self.size)
        self.engine.mask(logits)
        self.forbidden = logits.isinf()

    def mask(self, logits: Tensor) -> None:
        """See `Engine`."""
        logits.masked_fill_(self.forbidden, float("-inf"))

    def advance(self, tokens: Sequence[int]) -> None:
        """See `Engine`; there is nothing to go on."""


ENGINES: dict[str, Callable[[Vocabulary], Engine]] = {
    "tokenfst": TokenFst,
    "budget": lambda vocabulary: TokenFst(vocabulary, 100_000),
    "xgrammar": XGrammarBatch,
    "llguidance": LLGuidanceBatch,
}


def vocabulary_of(size: int, path: str | None) -> Vocabulary:
    """The first tokens of a vocabulary, with those that stand for single bytes, and an end token; more where there are
    not so many."""
    real = (
        tokenfst.load(path)
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


def measure(
    engines: Sequence[Engine], vocabulary: Vocabulary, batch: int, steps: int, dtype: torch.dtype
) -> dict[str, tuple[float, float]]:
    """The seconds that masks and logits take, and those of the steps, medians for each engine."""
    taken: dict[str, tuple[list[float], list[float]]] = {engine.name: ([], []) for engine in engines}
    following = texts(vocabulary, batch, steps)
    logits = torch.randn(batch, len(vocabulary), dtype=dtype)
    expected = torch.arange(batch), torch.tensor(following)
    # The first time through is not counted: masks are made, and kernels loaded.
    for counted in (False, True):
        for engine in engines:
            engine.start(batch)
        for step, tokens in enumerate(following):
            for engine in engines:
                logits[expected[0], expected[1][step]] = 1.0
                first = time.process_time()
                engine.mask(logits)
                second = time.process_time()
                engine.advance(tokens)
                third = time.process_time()
                if engine.name != "floor" and bool(logits[expected[0], expected[1][step]].isinf().any()):
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
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--json", type=Path, help="where the figures are written")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for size in map(int, options.sizes.split(",")):
        vocabulary = vocabulary_of(size, options.vocab)
        engines = [ENGINES[name](vocabulary) for name in options.engines.split(",")]
        engines.insert(0, Floor(engines[0], vocabulary))
        for batch in map(int, options.batches.split(",")):
            found = measure(engines, vocabulary, batch, options.steps, getattr(torch, options.dtype))
            floor = found["floor"][0]
            for name, (masks, steps) in found.items():
                rows.append({"size": size, "batch": batch, "engine": name, "masks": masks, "steps": steps})
                line = f"V {size:>7,}  B {batch:>3}  {name:<18} {1e6 * masks:>10,.0f} + {1e6 * steps:>8,.0f} us"
                print(f"{line}  {(masks + steps) / floor:>6.2f} x floor", flush=True)
    print(f"torch {torch.__version__}, {options.dtype}, one thread")
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
