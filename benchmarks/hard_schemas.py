"""Schemas one by one, each in a process of its own with a limit: what comes of each, and what it takes.

    python benchmarks/hard_schemas.py SCHEMAS [...] [--vocab FILE] [--limit SECONDS] [--seconds SECONDS] [--only ID,...]
                                      [--report FILE]

SCHEMAS are those of `maskbench.py`, most usefully the ones that an engine finds hard. Reading is `json_schema`,
compiling `tokenfst.compile`; both in seconds of processor time. Texts are read token by token, without the masks
between, since `maskbench.py` times those. With `--seconds` both have that limit, as a server sets it. A schema is

    whole       all instances are judged right, and reading and compiling take no more than `SLOW`
    slow        all are judged right
    wrong       some instance is not
    refused     by an error of the project's, which is named
    late        the same, past `LATE`
    crashed     by any other error
    endless     stopped at the limit
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from maskbench import _longest_match, load_vocabulary, schemas

import tokenfst
from automata.errors import TokenfstError, TokenNotAllowed
from automata.limits import DEFAULT_LIMITS, Limits
from constraints import json_schema
from tokenfst import TokenAutomaton, Vocabulary

# The most seconds that a schema should take to compile, and to be refused.
SLOW, LATE = 1.0, 2.0


class Outcome(NamedTuple):
    """What came of one schema.

    Attributes:
        kind: one of the words above.
        reading, compiling: processor time, in seconds.
        said: the error, or the instances that were judged wrongly.
    """

    kind: str
    reading: float = 0.0
    compiling: float = 0.0
    said: str = ""

    def line(self, key: str) -> str:
        """A line of the report."""
        return f"{self.kind}\t{self.reading:.2f}\t{self.compiling:.2f}\t{key}\t{self.said[:400]}"


def accepts(automaton: TokenAutomaton, tokens: list[int]) -> bool:
    """Whether an automaton reads all tokens and may end after them."""
    state = automaton.start
    try:
        for token in tokens:
            state = automaton.advance(state, token)
    except TokenNotAllowed:
        return False
    return automaton.is_final(state)


def outcome(schema: Any, tests: list[tuple[list[int], bool]], vocabulary: Vocabulary, limits: Limits) -> Outcome:
    """What comes of a schema with tests: tokens, and whether they are of a valid instance."""
    begun = read = time.process_time()
    try:
        constraint = json_schema(schema, property_order="any-if-cheap", limits=limits)
        read = time.process_time()
        automaton = tokenfst.compile(constraint, vocabulary, limits=limits)
        done = time.process_time()
        wrong = [
            f"{'valid' if valid else 'INVALID'} {number}"
            for number, (tokens, valid) in enumerate(tests)
            if accepts(automaton, tokens) != valid
        ]
    except Exception as error:
        taken = time.process_time() - begun
        is_named = isinstance(error, TokenfstError)
        kind = "crashed" if not is_named else "late" if taken > LATE else "refused"
        return Outcome(kind, taken, 0.0, f"{type(error).__name__}: {error}")
    kind = "wrong" if wrong else "slow" if done - begun > SLOW else "whole"
    return Outcome(kind, read - begun, done - read, ", ".join(wrong))


def _serve(pipe: Connection, *task: Any) -> None:
    pipe.send(outcome(*task))


def limited(limit: float, *task: Any) -> Outcome:
    """`outcome`, in a process that is ended at a limit in seconds."""
    context = multiprocessing.get_context("fork")
    pipe, end = context.Pipe()
    process = context.Process(target=_serve, args=(end, *task), daemon=True)
    process.start()
    end.close()
    try:
        return pipe.recv() if pipe.poll(limit) else Outcome("endless", limit)
    except EOFError:
        return Outcome("crashed", said=f"exit {process.exitcode}")
    finally:
        process.kill()
        process.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schemas", type=Path, nargs="+")
    parser.add_argument("--vocab", help="a vocabulary file; default: Tekken's")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds that a schema may take")
    parser.add_argument("--seconds", type=float, help="the project's own limit; default: that of `Limits`")
    parser.add_argument("--only", default="", help="only the schemas whose names have one of these in them")
    parser.add_argument("--report", type=Path, help="where to write the lines, beside printing them")
    options = parser.parse_args()
    vocab = load_vocabulary(options.vocab)
    vocabulary, cut = Vocabulary((*vocab, b""), eos_ids=(len(vocab),)), _longest_match(vocab)
    limits = Limits(seconds=options.seconds) if options.seconds else DEFAULT_LIMITS
    # What is prepared for a vocabulary once is so before processes part.
    outcome({}, [], vocabulary, limits)
    found: Counter[str] = Counter()
    lines = []
    for key, schema, tests in schemas(options.schemas):
        if not any(part in key for part in options.only.split(",")):
            continue
        read = [(cut(json.dumps(test["data"], ensure_ascii=False)), test["valid"]) for test in tests]
        result = limited(options.limit, schema, read, vocabulary, limits)
        found[result.kind] += 1
        lines.append(result.line(key))
        print(lines[-1], flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in found.most_common()))
    if options.report:
        options.report.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
