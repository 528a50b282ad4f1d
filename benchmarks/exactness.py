"""A league of exactness: the errors of engines that can be proved, each with a witness that anyone can check.

    python benchmarks/exactness.py [--schemas FILE ...] [--vocab FILE] [--tokens N] [--engines NAME,...] [--every N]
                                   [--witnesses FILE] [--report FILE]
    python benchmarks/exactness.py --check FILE

Each engine walks along valid and invalid texts and along random tokens that it allows, for JSON Schemas (files as
`maskbench.py` takes them), patterns and grammars (`league_cases`). An error is one of these:

    invalid accepted   the engine lets a text end that is invalid
    dead end           tokens were allowed after which nothing is
    valid refused      the engine forbids a token though a valid text continues with it, in any spelling of the value
    cut refused        the same, but the text is allowed when it is cut into other tokens

Texts are judged by `oracles`, never by an engine; where readings differ there is no verdict and no error. White space
and the order of members are an engine's own choice (`json_texts.spellings`). What an engine refuses to compile is
counted apart, and so is a task that takes it too long or ends its process.

A witness is a line of JSON: the engine, the constraint, the text, where in it the engine erred, and its tokens.
`--check` reads such a file and asks the oracles alone, without any engine: it takes this folder, `jsonschema` and
`lark`. Of a dead end they can only say that the text is not a whole one.

Each engine works in a process of its own. The vocabulary is the first tokens of the given one, which for tokens ordered
by merges are all bytes and the commonest: errors do not need rare tokens, and engines that index a vocabulary need not
take hours.
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
_MOST_WITNESSES = 3
# Seconds that compiling may take, beside the time for texts; and tasks after which the tables are written again.
PATIENCE, REPORT_EVERY = 10.0, 25


@dataclass(frozen=True, slots=True)
class Witness:
    """One error.

    Attributes:
        engine: with its version.
        error: one of `ERRORS`.
        name, kind, source: the constraint; of a grammar in each notation.
        text: the whole text, or of a dead end all there is; bytes that are not valid UTF-8 as `\\udc80` and so on.
        place: how many bytes of it were allowed.
        tokens: as they were asked for, up to the one refused.
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
        """Whether the oracle says what the error needs."""
        verdict = judge(self.data)
        if self.error == "dead end":
            return verdict is not True
        return verdict is (self.error != "invalid accepted")


@dataclass(slots=True)
class Standing:
    """What was found of one engine.

    Attributes:
        refused, stopped: why, by the name of a constraint.
        errors: the errors of each constraint that has some, by its name.
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
    """Valid values and invalid texts: those given, and mutants of the valid ones."""
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
    """All tasks, each with its oracle."""
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
    """Adds what was found of a task to the standing of an engine."""
    errors: Counter[str] = Counter()
    for event in found.events:
        text = event.text.decode(errors="surrogateescape")
        error = _OF_EVENT[event.what]
        witness = Witness(standing.name, error, task.name, task.kind, task.source, text, event.place, event.tokens)
        if witness.holds(judge):
            errors[error] += 1
            if errors[error] <= _MOST_WITNESSES:
                standing.witnesses.append(witness)
    standing.counts += found.counts
    if errors:
        standing.errors[task.name] = errors


def league(options: argparse.Namespace) -> dict[str, Standing]:
    """The standings, by kind and engine."""
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
    """Constraints with errors of each sort, by engine, in Markdown."""
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
    """Writes witnesses, one to a line."""
    with path.open("w") as file:
        file.writelines(json.dumps(asdict(witness)) + "\n" for witness in witnesses)


def read(path: Path) -> Iterator[Witness]:
    """The witnesses of a file."""
    with path.open() as lines:
        for line in lines:
            row = json.loads(line)
            yield Witness(**{**row, "tokens": tuple(row["tokens"])})


def check(path: Path) -> tuple[Counter[str], list[Witness]]:
    """How many witnesses of each engine and error hold by the oracles alone, and those that do not."""
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
    parser.add_argument("--schemas", type=Path, nargs="*", default=[], help="files as `maskbench.py` takes them")
    parser.add_argument("--vocab", help="a vocabulary file; default: Tekken's")
    parser.add_argument("--tokens", type=int, default=4000, help="how many of its tokens, from the first")
    parser.add_argument("--engines", default="tokenfst,llguidance,xgrammar,outlines-core,glrmask,lm-format-enforcer")
    parser.add_argument("--every", type=int, default=1, help="only each schema of this number")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds after which a task tries no further text")
    parser.add_argument("--witnesses", type=Path, help="where to write the witnesses")
    parser.add_argument("--report", type=Path, help="where to write the tables, beside printing them")
    parser.add_argument("--reasons", type=Path, help="where to write why constraints were refused or stopped")
    parser.add_argument("--check", type=Path, help="only check a file of witnesses")
    options = parser.parse_args()
    if options.check:
        held, failed = check(options.check)
        for what, count in sorted(held.items()):
            print(f"{what}: {count} hold")
        for witness in failed:
            print(f"does not hold: {witness}")
        raise SystemExit(bool(failed))
    print(_write(league(options), options))


if __name__ == "__main__":
    main()
