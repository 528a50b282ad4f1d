"""Compare the exactness of engines: find their provable errors, with witnesses that anyone can check.

    python benchmarks/exactness.py [--schemas FILE ...] [--vocab FILE] [--tokens N] [--engines NAME,...] [--every N]
                                   [--limit SECONDS] [--witnesses FILE] [--report FILE] [--reasons FILE]
    python benchmarks/exactness.py --check FILE

Each engine is tried on valid texts, on invalid texts, and on random sequences of tokens that it allows, for JSON
Schemas (files as for `maskbench.py`), patterns and grammars (`league_cases`). These are errors:

    invalid accepted   the engine allows an invalid text to end
    dead end           the engine allowed some tokens, and allows none after them
    valid refused      the engine forbids a token with which a valid text continues, in all spellings of the value
    cut refused        the same, but the engine allows the text if it is cut into other tokens

Texts are judged by `oracles`, never by an engine. Where a constraint can be read in several ways, they give no verdict,
and nothing counts as an error. Whitespace and the order of members are left to the engine (`json_texts.spellings`).
Constraints that an engine refuses are counted separately, and so are tasks that take too long, raise an exception or
end the process.

A witness is a line of JSON with the engine, the constraint, the text, the position of the error in the text, and the
tokens. For each constraint, engine and kind of error, at most three witnesses are kept. `--check` reads a file of
witnesses and asks only the oracles, not the engines; it needs nothing but this folder, `jsonschema` and `lark`. Of a
dead end, the oracles can only confirm that the text is not known to be complete.

Each engine runs in a process of its own. The vocabulary consists of the first tokens of the given one; if its tokens
are in the order of merges, these are the single bytes and the most frequent tokens. They are enough to find errors, and
engines that index the whole vocabulary would take hours with a large one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from json_texts import mutants
from oracles import Kind, Oracle, oracle

ERRORS = ("invalid accepted", "dead end", "valid refused", "cut refused")
_OF_EVENT = {"accepts": ERRORS[0], "dead end": ERRORS[1], "refuses": ERRORS[2], "cut": ERRORS[3]}
# The number of witnesses that are kept for each constraint, engine and kind of error.
_MAX_WITNESSES = 3
# The seconds after a task's limit at which its process is ended, and the number of tasks between two reports.
PATIENCE, REPORT_EVERY = 10.0, 25


@dataclass(frozen=True, slots=True)
class Witness:
    """An error of an engine.

    Attributes:
        engine: the name of the engine.
        error: one of `ERRORS`.
        name, kind, source: the constraint; the source of a grammar has a text for each notation.
        text: the whole text, or the text up to a dead end; bytes that are not valid UTF-8 are escaped (`\\udc80`).
        place: how many bytes of the text were allowed.
        tokens: the tokens that were tried, up to and including the refused one.
    """

    engine: str
    error: str
    name: str
    kind: Kind
    source: Any
    text: str
    place: int
    tokens: tuple[int, ...]

    @property
    def data(self) -> bytes:
        """The bytes of the text."""
        return self.text.encode(errors="surrogateescape")

    def holds(self, judge: Oracle) -> bool:
        """Return whether the verdict of the oracle confirms the error."""
        verdict = judge(self.data)
        if self.error == "dead end":
            return verdict is not True
        return verdict is (self.error != "invalid accepted")


@dataclass(slots=True)
class Standing:
    """The results of one engine for one kind of constraint.

    Attributes:
        name: the name of the engine.
        tried: the number of constraints.
        refused, stopped: the reasons why constraints were refused and tasks were stopped, by the constraint's name.
        errors: the errors by the constraint's name, without constraints that have none.
        counts: the numbers of texts, steps and walks, and of walks that ended.
        witnesses: the first witnesses for each constraint and kind of error.
    """

    name: str = ""
    tried: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, str] = field(default_factory=dict)
    errors: dict[str, Counter[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    witnesses: list[Witness] = field(default_factory=list)


# Tasks


def _of_schema(name: str, schema: Any, tests: list[Any], judge: Oracle) -> tuple[list[Any], list[bytes]]:
    """Return valid values and invalid texts, as the oracle judges them, from the tests and from mutants of them."""
    random = Random(name)
    tried = [test["data"] for test in tests]
    for test in tests[:4]:
        if test["valid"]:
            tried += mutants(test["data"], schema, 10, random)
    valid, invalid = [], []
    for value in tried:
        text = json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")
        verdict = judge(text)
        if verdict:
            valid.append(value)
        elif verdict is False:
            invalid.append(text)
    return valid, list(dict.fromkeys(invalid))


def tasks(options: argparse.Namespace) -> Iterator[tuple[Any, Oracle]]:
    """Yield all tasks, each with its oracle."""
    from league_cases import GRAMMARS, PATTERNS, pattern_texts
    from maskbench import schemas
    from walks import Task

    for name, schema, tests in list(schemas(options.schemas))[:: options.every]:
        judge = oracle("schema", schema)
        valid, invalid = _of_schema(name, schema, tests, judge)
        yield Task("schema", name, schema, valid, invalid, seconds=options.limit), judge
    for number, pattern in enumerate(PATTERNS):
        judge = oracle("pattern", pattern)
        texts = pattern_texts(pattern)
        yield _of_texts("pattern", f"pattern {number}", pattern, texts, judge, options.limit), judge
    for name, grammar in GRAMMARS.items():
        judge = oracle("grammar", grammar.source)
        yield _of_texts("grammar", name, grammar.source, grammar.texts(), judge, options.limit), judge


def _of_texts(kind: Kind, name: str, source: Any, texts: Iterable[bytes], judge: Oracle, seconds: float) -> Any:
    from walks import Task

    verdicts = {text: judge(text) for text in texts}
    valid = [text for text, verdict in verdicts.items() if verdict]
    invalid = [text for text, verdict in verdicts.items() if verdict is False]
    return Task(kind, name, source, valid, invalid, seconds=seconds)


# The league


def judged(standing: Standing, task: Any, found: Any, judge: Oracle) -> None:
    """Add the errors in a task, if the oracle confirms them, to the standing of an engine."""
    errors: Counter[str] = Counter()
    for event in found.events:
        text = event.text.decode(errors="surrogateescape")
        error = _OF_EVENT[event.what]
        witness = Witness(standing.name, error, task.name, task.kind, task.source, text, event.place, event.tokens)
        if witness.holds(judge):
            errors[error] += 1
            if errors[error] <= _MAX_WITNESSES:
                standing.witnesses.append(witness)
    standing.counts += found.counts
    if errors:
        standing.errors[task.name] = errors


def league(options: argparse.Namespace) -> dict[str, Standing]:
    """Run all engines on all tasks; return the standings by kind of constraint and engine."""
    from maskbench import load_vocabulary
    from walks import Walk
    from workers import Worker

    vocab = load_vocabulary(options.vocab)[: options.tokens]
    names = options.engines.split(",")
    workers = {name: Worker(Walk, name, vocab) for name in names}
    standings = {f"{kind} {name}": Standing(name) for kind in ("schema", "pattern", "grammar") for name in names}
    for number, (task, judge) in enumerate(tasks(options)):
        for name, worker in workers.items():
            standing = standings[f"{task.kind} {name}"]
            standing.tried += 1
            outcome = worker(task, options.limit + PATIENCE)
            if outcome.ending != "done":
                reason = str(outcome.value or "").strip().splitlines()[-1:]
                standing.stopped[task.name] = ": ".join([outcome.ending, *reason])
            elif outcome.value.refused:
                standing.refused[task.name] = outcome.value.refused
            else:
                judged(standing, task, outcome.value, judge)
        if number % REPORT_EVERY == REPORT_EVERY - 1:
            print(f"{number + 1} tasks", file=sys.stderr, flush=True)
            _write(standings, options)
    for worker in workers.values():
        worker.end()
    return standings


def _write(standings: dict[str, Standing], options: argparse.Namespace) -> str:
    text = "\n\n".join(table(standings, kind) for kind in ("schema", "pattern", "grammar"))
    if options.report:
        options.report.write_text(text + "\n")
    if options.witnesses:
        write((witness for each in standings.values() for witness in each.witnesses), options.witnesses)
    if options.reasons:
        reasons = {key: {"refused": each.refused, "stopped": each.stopped} for key, each in standings.items()}
        options.reasons.write_text(json.dumps(reasons, indent=1))
    return text


def table(standings: dict[str, Standing], kind: str) -> str:
    """Return a Markdown table with the number of constraints that have errors of each kind, by engine."""
    rows = {key: each for key, each in standings.items() if key.startswith(kind) and each.tried}
    lines = [f"| {kind}s | tried | refused | stopped | {' | '.join(ERRORS)} | any error | texts | walks that ended |"]
    lines.append("|---|" + "--:|" * (len(ERRORS) + 6))
    for standing in rows.values():
        cells = [standing.tried, len(standing.refused), len(standing.stopped)]
        cells += [sum(bool(each[error]) for each in standing.errors.values()) for error in ERRORS]
        cells += [len(standing.errors), standing.counts["texts"], standing.counts["ended walks"]]
        lines.append(f"| {standing.name} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return "\n".join(lines)


def write(witnesses: Iterable[Witness], path: Path) -> None:
    """Write witnesses to a file, one per line."""
    with path.open("w") as file:
        file.writelines(json.dumps(asdict(witness)) + "\n" for witness in witnesses)


def read(path: Path) -> Iterator[Witness]:
    """Yield the witnesses in a file."""
    with path.open() as lines:
        for line in lines:
            row = json.loads(line)
            yield Witness(**{**row, "tokens": tuple(row["tokens"])})


def check(path: Path) -> tuple[Counter[str], list[Witness]]:
    """Return the number of witnesses that the oracles confirm, by engine and error, and the other witnesses."""
    held: Counter[str] = Counter()
    failed = []
    for witness in read(path):
        if witness.holds(oracle(witness.kind, witness.source)):
            held[f"{witness.engine}: {witness.error}"] += 1
        else:
            failed.append(witness)
    return held, failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=Path, nargs="*", default=[], help="files as for `maskbench.py`")
    parser.add_argument("--vocab", help="a vocabulary file; by default Tekken's")
    parser.add_argument("--tokens", type=int, default=4000, help="how many tokens to use, from the first")
    parser.add_argument("--engines", default="tokenfst,llguidance,xgrammar,outlines-core,glrmask,lm-format-enforcer")
    parser.add_argument("--every", type=int, default=1, help="use only every Nth schema")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds after which a task tries no other text")
    parser.add_argument("--witnesses", type=Path, help="a file for the witnesses")
    parser.add_argument("--report", type=Path, help="a file for the tables, which are also printed")
    parser.add_argument("--reasons", type=Path, help="a file for the reasons of refusals and stops")
    parser.add_argument("--check", type=Path, help="only check this file of witnesses")
    options = parser.parse_args()
    if options.check:
        held, failed = check(options.check)
        for what, count in sorted(held.items()):
            print(f"{what}: {count} confirmed")
        for witness in failed:
            print(f"not confirmed: {witness}")
        raise SystemExit(bool(failed))
    print(_write(league(options), options))


if __name__ == "__main__":
    main()
