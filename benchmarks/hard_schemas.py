"""Compile schemas one by one, each in a process of its own with a time limit, and report the outcome and the time.

    python benchmarks/hard_schemas.py SCHEMAS [...] [--vocab FILE] [--limit SECONDS] [--seconds SECONDS] [--only ID,...]
                                      [--report FILE]

SCHEMAS are files or directories as `maskbench.py` takes them, most usefully with schemas that an engine finds hard.
Reading is the call of `json_schema`, compiling the call of `tokenfst.compile`; both are given in seconds of processor
time. Instances are read token by token without computing masks, because `maskbench.py` times the masks. `--seconds`
limits reading and compiling, each separately, as a server would. The outcome of a schema is one of these:

    whole       all instances are judged correctly, and reading and compiling together take at most `SLOW`
    slow        all instances are judged correctly, but reading and compiling take longer
    wrong       some instance is judged wrongly
    refused     with an error of this project, which the line gives
    late        the same, after more than `LATE`
    crashed     with any other error, or the process ended by itself
    endless     the process was stopped at `--limit`
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

# Seconds of processor time within which a schema should be read and compiled, and within which it should be refused.
SLOW, LATE = 1.0, 2.0


class Outcome(NamedTuple):
    """The outcome of one schema.

    Attributes:
        kind: one of the outcomes above.
        reading, compiling: processor time, in seconds. After an error, `reading` is all the time until then; for
            "endless", it is the limit.
        said: the error, or the instances that were judged wrongly.
    """

    kind: str
    reading: float = 0.0
    compiling: float = 0.0
    said: str = ""

    def line(self, key: str) -> str:
        """Return the line of the report for the schema with this name."""
        return f"{self.kind}\t{self.reading:.2f}\t{self.compiling:.2f}\t{key}\t{self.said[:400]}"


def accepts(automaton: TokenAutomaton, tokens: list[int]) -> bool:
    """Return whether an automaton reads all tokens and may end after them."""
    state = automaton.start
    try:
        for token in tokens:
            state = automaton.advance(state, token)
    except TokenNotAllowed:
        return False
    return automaton.is_final(state)


def outcome(schema: Any, tests: list[tuple[list[int], bool]], vocabulary: Vocabulary, limits: Limits) -> Outcome:
    """Return the outcome of a schema; a test is the tokens of an instance, and whether the instance is valid."""
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
    """Return `outcome(*task)` from a process that is killed after `limit` seconds by the clock."""
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
    parser.add_argument("--vocab", help="a vocabulary file; default: Tekken's, from mistral-common")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds after which a schema is stopped")
    parser.add_argument("--seconds", type=float, help="limit for reading and for compiling; default: that of `Limits`")
    parser.add_argument("--only", default="", help="only schemas whose names contain one of these")
    parser.add_argument("--report", type=Path, help="where to write the lines, in addition to printing them")
    options = parser.parse_args()
    vocab = load_vocabulary(options.vocab)
    vocabulary, cut = Vocabulary((*vocab, b""), eos_ids=(len(vocab),)), _longest_match(vocab)
    limits = Limits(seconds=options.seconds) if options.seconds else DEFAULT_LIMITS
    # Prepare whatever is prepared once for a vocabulary before processes are forked.
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
