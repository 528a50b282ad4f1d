"""Checks the patterns of JSON Schema material against V8: texts, and texts cut into the 131,072 tokens of Tekken.

    python benchmarks/battery.py FILE_OR_DIRECTORY ...

Material is JSON: a `.jsonl` or `.jsonl.gz` file of objects, a `.json` file, or a directory of them. Every string under
`pattern`, every key under `patternProperties`, and every string that a test gives for `"format": "regex"` is a pattern,
read as JSON Schema reads it: in the dialect of ECMA-262, matching anywhere. The strings in the `tests` beside a schema
are among those that are tried on its patterns.

Prints how many patterns there are, those that are refused with the reason, how much was tried, and every mismatch. The
exit status is 1 if there is one.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from differential import Effort, Tally, Tokens, check
from matchers import Case, Unreadable, matcher

from automata.errors import PatternError, TokenfstError
from tokenfst import from_tekken

EFFORT = Effort(walks=20, edits=6, randoms=60, cut=8, masks=6, tokens=6)
MAX_STRINGS, MAX_LENGTH = 40, 200


def documents(paths: list[Path]) -> Iterator[Any]:
    """The JSON documents of files and directories."""
    for path in paths:
        if path.is_dir():
            yield from documents(sorted(path.rglob("*.json")))
        elif ".jsonl" in path.suffixes:
            with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open("rt") as lines:
                yield from map(json.loads, lines)
        else:
            yield json.loads(path.read_text(encoding="utf-8"))


def collect(paths: list[Path]) -> dict[str, list[str]]:
    """Every pattern, with the strings of the tests beside its schema."""
    found: dict[str, list[str]] = {}
    for document in documents(paths):
        for unit in document if isinstance(document, list) else [document]:
            data = [test.get("data") for test in unit.get("tests", ())] if isinstance(unit, dict) else []
            texts = list(dict.fromkeys(text for text in strings(data) if len(text) <= MAX_LENGTH))
            for pattern in patterns(unit):
                found.setdefault(pattern, []).extend(texts)
            if (
                isinstance(unit, dict)
                and isinstance(unit.get("schema"), dict)
                and unit["schema"].get("format") == "regex"
            ):
                found.update({pattern: [] for pattern in data if isinstance(pattern, str) and pattern not in found})
    return found


def patterns(document: Any) -> Iterator[str]:
    """The patterns of a schema, wherever they stand."""
    if isinstance(document, dict):
        if isinstance(document.get("pattern"), str):
            yield document["pattern"]
        if isinstance(document.get("patternProperties"), dict):
            yield from document["patternProperties"]
    for inner in children(document):
        yield from patterns(inner)


def strings(document: Any) -> Iterator[str]:
    """The strings of a document, keys included."""
    if isinstance(document, str):
        yield document
    if isinstance(document, dict):
        yield from document
    for inner in children(document):
        yield from strings(inner)


def children(document: Any) -> list[Any]:
    return list(document.values()) if isinstance(document, dict) else document if isinstance(document, list) else []


def main(paths: list[Path]) -> int:
    """Runs the battery; the exit status."""
    begin = time.perf_counter()
    material = collect(paths)
    tokens = Tokens(from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json")))
    tally, others = Tally(), list[str]()
    for pattern, texts in material.items():
        sample = Random(pattern).sample(texts, min(MAX_STRINGS, len(texts)))
        try:
            check(Case(pattern, "ecma", search=True), tokens, EFFORT, tally, sample)
        except TokenfstError as error:
            reason = error.reason if isinstance(error, PatternError) else str(error)
            others.append(f"refused, {'as V8 does' if not is_ecma(pattern) else 'V8 reads it'}: {reason}: {pattern!r}")
        except Unreadable as error:
            others.append(f"not compared: {error}: {pattern!r}")
    report(len(material), tally, others, time.perf_counter() - begin)
    return 1 if tally.mismatches else 0


def is_ecma(pattern: str) -> bool:
    """Whether V8 reads a pattern."""
    try:
        matcher(Case(pattern, "ecma", search=True))([])
    except Unreadable:
        return False
    return True


def report(found: int, tally: Tally, others: list[str], seconds: float) -> None:
    print(f"{found:,} patterns, {tally.cases:,} checked in {seconds:.0f} s")
    print(*sorted(others), sep="\n")
    print(f"{tally.texts:,} texts, {tally.matching:,} of which match; {tally.cuts:,} tokenizations")
    print(f"{tally.masks:,} masks, {tally.tokens:,} texts after a mask; {len(tally.mismatches):,} mismatches")
    for wrong in tally.mismatches:
        print(f"{wrong.case.pattern!r}: {wrong.level}: {wrong.text!r} should {'' if wrong.expected else 'not '}match")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
