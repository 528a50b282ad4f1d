"""Run engines on hostile input: patterns, schemas and grammars that ask for too much, or that are malformed.

    python benchmarks/hostile.py [--vocab FILE] [--tokens N] [--engines NAME,...] [--only WORD] [--seconds S]
                                 [--memory BYTES] [--results FILE]

Each engine gets each of `hostile_inputs.INPUTS` in a process, which is stopped if the input takes too much time or
memory. The engine compiles the input. It then follows texts, token by token, that show whether the compiled constraint
is right, and up to forty random tokens that the constraint allows. The outcome is one of these:

    done       compiled, and right as far as the texts tell
    refused    an exception that the engine means: one of its own, or one raised on purpose
    wrong      a valid text is refused, in every spelling that is tried, or an invalid one is let through
    error      an exception that nobody meant, such as a RecursionError
    time       not finished within the limit
    memory     more resident memory than the limit, beyond what the process held before
    crash      the process ended by itself

Inputs that are meant as mistakes come without texts. An engine in whose notation such an input is valid may compile it,
and the outcome is then "done". Times are processor time of the process; the time is the limit itself for "time", and 0
for "memory" and "crash". Memory is the peak of resident memory beyond what the process held before.
"""

from __future__ import annotations

import argparse
import json
import linecache
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from engines import Greedy
from hostile_inputs import INPUTS, Hostile
from json_texts import spellings
from oracles import Kind
from peers import PEERS, Peer, Refused, peer
from workers import Outcome, Worker

from automata.errors import TokenfstError
from tokenfst import Vocabulary

OUTCOMES = ("done", "refused", "wrong", "error", "time", "memory", "crash")
# The time within which this project aims to be done with an input, in seconds of processor time.
AIM = 2.0
RANDOM_TOKENS = 40
_SPELLINGS = 4


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one engine on one input.

    Attributes:
        outcome: one of `OUTCOMES`.
        reason: the exception or the mistakes, if there are any.
        seconds, memory: as in `workers.Outcome`.
    """

    engine: str
    name: str
    outcome: str
    reason: str
    seconds: float
    memory: int


# One small input of each kind.
SMALLEST: dict[Kind, Any] = {
    "pattern": "a*",
    "schema": {},
    "grammar": {"lark": 'start: "a"', "gbnf": 'root ::= "a"'},
}


class Attempt:
    """An engine that tries inputs, in a process of its own; a call with an input's name returns outcome and reason."""

    def __init__(self, name: str, vocab: list[bytes]) -> None:
        self.vocabulary = Vocabulary((*vocab, b""), eos_ids=(len(vocab),))
        self.engine: Peer = peer(name, self.vocabulary)
        self.greedy = Greedy(self.vocabulary)
        # Make the engine import and prepare now whatever it leaves for the first use.
        for kind, source in SMALLEST.items():
            try:
                self.engine.compile(kind, source)
                self.engine.mask()
            except Refused:
                continue

    def __call__(self, name: str) -> tuple[str, str]:
        hostile = INPUTS[name]
        try:
            self.engine.compile(hostile.kind, hostile.make())
            mistakes = [f"refuses {value!r}"[:200] for value in hostile.valid if not self._takes(hostile, value)]
            mistakes += [f"accepts {value!r}"[:200] for value in hostile.invalid if self._takes(hostile, value)]
            self._at_random(name)
        except Exception as error:
            return "refused" if is_meant(error) else "error", f"{type(error).__name__}: {error}"[:300]
        return ("wrong", "; ".join(mistakes)) if mistakes else ("done", "")

    def _takes(self, hostile: Hostile, value: Any) -> bool:
        texts: Iterable[bytes] = [value.encode()] if hostile.kind != "schema" else spellings(value, {}, Random(0))
        return any(self._accepts(text) for text in islice(texts, _SPELLINGS))

    def _accepts(self, text: bytes) -> bool:
        self.engine.reset()
        for token in self.greedy(text):
            if not (self.engine.forces or self.engine.mask()[token]) or not self.engine.advance(token):
                return False
        return bool(self.engine.mask()[-1])

    def _at_random(self, name: str) -> None:
        random = Random(name)
        self.engine.reset()
        for _ in range(RANDOM_TOKENS):
            allowed = np.flatnonzero(self.engine.mask()[:-1])
            if not len(allowed) or not self.engine.advance(int(random.choice(allowed))):
                return


def is_meant(error: BaseException) -> bool:
    """Return whether an exception refuses an input on purpose.

    It does if it is an error of this project or a `Refused`; if a `raise` statement in Python raises it; or if the
    native code of an engine raises it as a ValueError or RuntimeError. RecursionError, MemoryError and AssertionError
    never count.
    """
    if isinstance(error, Refused | TokenfstError):
        return True
    if isinstance(error, RecursionError | MemoryError | AssertionError):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    file = trace.tb_frame.f_code.co_filename
    line = linecache.getline(file, trace.tb_lineno).strip()
    from_engine = Path(file).name in ("peers.py", "engines.py") and isinstance(error, ValueError | RuntimeError)
    return line.startswith("raise") or from_engine


def result(engine: str, name: str, outcome: Outcome) -> Result:
    """Return the result of an engine on an input, from how the worker's process ended."""
    if outcome.ending == "done":
        what, reason = outcome.value
    else:
        what, reason = "error" if outcome.ending == "raised" else outcome.ending, str(outcome.value or "")[-300:]
    return Result(engine, name, what, reason, outcome.seconds, outcome.memory)


def measure(engines: list[str], vocab: list[bytes], names: list[str], seconds: float, memory: int) -> Iterator[Result]:
    """Yield the result of each engine on each input, one engine after the other."""
    for engine in engines:
        worker = Worker(Attempt, engine, vocab)
        for name in names:
            yield result(engine, name, worker(name, seconds, memory))
        worker.end()


def table(results: list[Result]) -> str:
    """Return a Markdown table: for each engine the number of inputs by outcome, the longest time and most memory."""
    lines = [f"| engine | {' | '.join(OUTCOMES)} | over {AIM:g} s | slowest, s | most memory, MB |"]
    lines.append("|---|" + "--:|" * (len(OUTCOMES) + 3))
    for engine in dict.fromkeys(each.engine for each in results):
        own = [each for each in results if each.engine == engine]
        counts = Counter(each.outcome for each in own)
        ended = [each.seconds for each in own if each.outcome not in ("time", "memory", "crash")]
        cells = [f"{counts[outcome]:,}" for outcome in OUTCOMES]
        cells += [str(sum(seconds > AIM for seconds in ended)), f"{max(ended, default=0):.1f}"]
        lines.append(f"| {engine} | {' | '.join(cells)} | {max(each.memory for each in own) / 1e6:,.0f} |")
    return "\n".join(lines)


def main() -> None:
    from maskbench import load_vocabulary

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", help="a vocabulary file; default: Tekken's, from mistral-common")
    parser.add_argument("--tokens", type=int, default=1 << 30, help="use only the first N tokens of the vocabulary")
    parser.add_argument("--engines", default=",".join([*PEERS, "tokenfst@1"]))
    parser.add_argument("--only", default="", help="only inputs whose names contain this word")
    parser.add_argument("--seconds", type=float, default=5.0, help="limit for each input, by the clock")
    parser.add_argument("--memory", type=int, default=2 << 30, help="limit of resident memory for each input, in bytes")
    parser.add_argument("--results", type=Path, help="where to write the results, one line of JSON each")
    options = parser.parse_args()
    vocab = load_vocabulary(options.vocab)[: options.tokens]
    names = [name for name in INPUTS if options.only in name]
    results = []
    for each in measure(options.engines.split(","), vocab, names, options.seconds, options.memory):
        results.append(each)
        if each.outcome not in ("done", "refused") or each.seconds > AIM:
            print(f"{each.engine}, {each.name[:80]}: {each.outcome}, {each.reason}", file=sys.stderr, flush=True)
        if options.results:
            with options.results.open("a" if len(results) > 1 else "w") as file:
                file.write(json.dumps(asdict(each)) + "\n")
    print(f"{len(names)} inputs, {len(vocab):,} tokens\n\n{table(results)}")


if __name__ == "__main__":
    main()
