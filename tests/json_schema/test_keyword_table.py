"""The table of docs/json-schema.md, keyword by keyword and engine by engine, is what the engines do.

`python tests/json_schema/test_keyword_table.py` prints the table.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from keyword_cases import CASES, GROUPS, KeywordCase
from schema_engines import ENGINES, RefusesSchema, versions
from validity import exact, validator

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "json-schema.md"
ROW: Final = re.compile(r"^\| `?([^|`]+)`? \|(.*)\|$", re.MULTILINE)
DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"


def verdict(case: KeywordCase, engine: str) -> str:
    """What an engine makes of a keyword."""
    make, _ = ENGINES[engine]
    try:
        accepts = make(case.schema)
    except RefusesSchema:
        return "refuses the schema"
    faults = ["accepts invalid"] * any(accepts(text) for value in case.invalid for text in texts(value))
    if not all(any(map(accepts, texts(value))) for value in case.valid):
        faults.append("refuses valid")
    return ", ".join(faults) or "exact"


def texts(value: Any) -> list[bytes]:
    """What usual writers write for a value: an engine need not take them all."""
    styles: list[dict[str, Any]] = [{}, {"ensure_ascii": False}, {"ensure_ascii": False, "separators": (",", ":")}]
    return [json.dumps(value, **style).encode() for style in styles]


@cache
def table() -> dict[str, list[str]]:
    """The rows of the page's table by their first cell."""
    return {
        name.strip(): [cell.strip() for cell in cells.split("|")]
        for name, cells in ROW.findall(PAGE.read_text("utf-8"))
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_values_are_valid_or_not(case: KeywordCase) -> None:
    draft = "draft7" if isinstance(case.schema, dict) and case.schema.get("$schema") == DRAFT_7 else "draft2020-12"
    if case.name.startswith("format: "):
        return
    oracle = validator(case.schema, draft)
    assert all(oracle.is_valid(exact(value)) for value in case.valid)
    assert not any(oracle.is_valid(exact(value)) for value in case.invalid)


def test_the_table_is_about_what_is_installed() -> None:
    text = PAGE.read_text("utf-8")
    assert all(f"{name} {version}" in text for name, version in versions().items() if name != "tokenfst")
    assert table()["keyword"] == list(ENGINES)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_table_says_what_an_engine_does(case: KeywordCase, engine: str) -> None:
    assert table()[case.name][list(ENGINES).index(engine)] == verdict(case, engine)


def test_this_project_is_exact() -> None:
    found = {case.name: table()[case.name][0] for case in CASES}
    # Ranges in the sets of a regular expression ascend: what the automaton of the format has of them is but some.
    assert {name: what for name, what in found.items() if what != "exact"} == {"format: regex": "refuses valid"}


def main() -> None:
    """Prints the table."""
    print(f"| keyword | {' | '.join(ENGINES)} |\n|---|{'---|' * len(ENGINES)}")
    for group in GROUPS.values():
        for case in group:
            print(f"| `{case.name}` | {' | '.join(verdict(case, engine) for engine in ENGINES)} |", flush=True)


if __name__ == "__main__":
    main()
