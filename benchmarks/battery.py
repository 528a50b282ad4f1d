"""Check the patterns in JSON Schema files against V8, on texts and on tokenizations with the 131,072 tokens of Tekken.

    python benchmarks/battery.py FILE_OR_DIRECTORY ...

A file contains one JSON document, or if its name ends in `.jsonl` or `.jsonl.gz`, one document per line. In a
directory, all `.json` files at any depth are read. A pattern is any string under `pattern`, any key under
`patternProperties`, and any test string of a schema with `"format": "regex"`. It is read as JSON Schema prescribes: in
the dialect of ECMA-262, matching anywhere in a text. The strings in the `tests` next to a schema are tried on its
patterns, together with generated strings.

Print the number of patterns, those that were refused or could not be compared, with the reason, how much was tried, and
every mismatch. The exit status is 1 if there is a mismatch.
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
# How many strings of the tests are tried on a pattern, and their maximum length in characters.
MAX_STRINGS, MAX_LENGTH = 40, 200


def documents(paths: list[Path]) -> Iterator[Any]:
    """Yield the JSON documents in files, and in the `.json` files in directories."""
    for path in paths:
        if path.is_dir():
            yield from documents(sorted(path.rglob("*.json")))
        elif ".jsonl" in path.suffixes:
            with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open("rt") as lines:
                yield from map(json.loads, lines)
        else:
            yield json.loads(path.read_text(encoding="utf-8"))


def collect(paths: list[Path]) -> dict[str, list[str]]:
    """Return every pattern, with the strings of the tests next to its schema."""
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
    """Yield the patterns in a document, at any depth."""
    if isinstance(document, dict):
        if isinstance(document.get("pattern"), str):
            yield document["pattern"]
        if isinstance(document.get("patternProperties"), dict):
            yield from document["patternProperties"]
    for inner in children(document):
        yield from patterns(inner)


def strings(document: Any) -> Iterator[str]:
    """Yield the strings in a document, including keys."""
    if isinstance(document, str):
        yield document
    if isinstance(document, dict):
        yield from document
    for inner in children(document):
        yield from strings(inner)


def children(document: Any) -> list[Any]:
    return list(document.values()) if isinstance(document, dict) else document if isinstance(document, list) else []


def main(paths: list[Path]) -> int:
    """Run the battery and return the exit status."""
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
            others.append(f"refused, {'also by V8' if not is_ecma(pattern) else 'not by V8'}: {reason}: {pattern!r}")
        except Unreadable as error:
            others.append(f"not compared: {error}: {pattern!r}")
    report(len(material), tally, others, time.perf_counter() - begin)
    return 1 if tally.mismatches else 0


def is_ecma(pattern: str) -> bool:
    """Return whether V8 accepts a pattern."""
    try:
        matcher(Case(pattern, "ecma", search=True))([])
    except Unreadable:
        return False
    return True


def report(found: int, tally: Tally, others: list[str], seconds: float) -> None:
    print(f"{found:,} patterns, {tally.cases:,} checked in {seconds:.0f} s")
    print(*sorted(others), sep="\n")
    print(f"{tally.texts:,} texts, {tally.matching:,} of which match; {tally.cuts:,} tokenizations")
    print(f"{tally.masks:,} masks, {tally.tokens:,} texts checked after a mask; {len(tally.mismatches):,} mismatches")
    for wrong in tally.mismatches:
        print(f"{wrong.case.pattern!r}: {wrong.level}: {wrong.text!r} was {'not ' if wrong.expected else ''}accepted")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
