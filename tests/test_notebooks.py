"""The notebooks are a course: every one runs, prints what it is kept with, says what will be seen, and has pictures."""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from run_notebooks import executed  # noqa: E402

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
COURSE = [
    "01_patterns_and_bytes",
    "02_detokenization",
    "03_token_classes",
    "04_grammars",
    "05_json_schema",
    "06_watching_a_model",
    "07_does_it_harm",
    "08_speed",
    "09_fsts_and_weights",
]
# The most lines of a function in a notebook; what takes more belongs into the library.
MAX_LINES = 25


@cache
def kept(path: Path) -> Any:
    """A notebook as it is kept."""
    return nbformat.read(path, as_version=4)


def code(path: Path) -> list[Any]:
    return [cell for cell in kept(path).cells if cell.cell_type == "code"]


def labels(cell: Any) -> list[list[str]]:
    """The texts in each picture of a cell."""
    pictures = [output["data"]["image/svg+xml"] for output in cell.outputs if "image/svg+xml" in output.get("data", {})]
    return [sorted(re.findall(r"<text[^>]*>([^<]*)<", picture)) for picture in pictures]


def printed(notebook: Any) -> list[tuple[str, list[list[str]]]]:
    """What each code cell printed, and the texts in its pictures.

    What a model writes is left out (the tag `varies`): another processor may round its way to another text.
    """
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            varies = "varies" in cell.metadata.get("tags", [])
            text = "".join(output.text for output in cell.outputs if output.output_type == "stream")
            found.append(("", [[] for _ in labels(cell)]) if varies else (text, labels(cell)))
    return found


def test_the_course_is_whole() -> None:
    assert [path.stem for path in NOTEBOOKS] == COURSE
    first = kept(NOTEBOOKS[0]).cells[0].source
    assert re.findall(r"\((\w+)\.ipynb\)", first) == COURSE[1:]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_is_kept(path: Path) -> None:
    nbformat.validate(kept(path))
    assert printed(executed(path)) == printed(kept(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_will_be_seen_and_shows_it(path: Path) -> None:
    opening = kept(path).cells[0]
    assert opening.cell_type == "markdown"
    assert opening.source.startswith("# ")
    assert "**What you will see here:**" in opening.source
    assert sum(len(labels(cell)) for cell in code(path)) >= 5
    assert [output for cell in code(path) for output in cell.outputs if output.output_type == "error"] == []
    links = re.findall(r"\]\(([^):#]+)\)", "\n".join(cell.source for cell in kept(path).cells))
    assert [link for link in links if not (FOLDER / link).exists()] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_draws_is_in_the_library(path: Path) -> None:
    sources = [cell.source for cell in code(path)]
    assert not any("<svg" in source or "<rect" in source for source in sources)
    functions = [
        node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)
    ]
    long = {node.name: node.end_lineno - node.lineno + 1 for node in functions if node.end_lineno is not None}
    assert {name: lines for name, lines in long.items() if lines > MAX_LINES} == {}


# What has been recorded


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """The cells of a table of a page, by the first cell of each row; `heading` is that of the first column."""
    text = (ROOT / "docs" / page).read_text("utf-8").split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {name: cells for name, *cells in found}


def test_recorded_times_are_those_of_the_page() -> None:
    recorded = json.loads((FOLDER / "recorded" / "table2.json").read_text("utf-8"))
    shown = rows("benchmarks.md", "constraint")
    assert set(shown) == set(recorded["milliseconds"])
    for name, by_engine in recorded["milliseconds"].items():
        times = [f"{by_engine[engine][kind]:.3f}" for engine in recorded["engines"] for kind in ("compile", "total")]
        assert shown[name][:8] == times
        assert shown[name][8] == f"{recorded['step_microseconds'][name]:.2f}"
        differ = {engine.split()[0]: n for engine, n in recorded["mask_differences"][name].items() if n}
        assert shown[name][9] == (", ".join(f"{engine} {n}" for engine, n in differ.items()) or "none")


@pytest.mark.parametrize("task", ["records", "sums"])
def test_recorded_answers_are_those_of_the_page(task: str) -> None:
    recorded = json.loads((FOLDER / "recorded" / "harmless.json").read_text("utf-8"))["tasks"][task]
    shown = rows("harmless.md", task)
    assert set(shown) == set(recorded)
    for way, each in recorded.items():
        valid, right, perplexity, bits, tokens, interventions, unchanged, right_there = shown[way]
        assert (valid, right.split(" ")[0]) == (f"{each['valid']:.1%}", f"{100 * each['right']:.1f}")
        assert [float(cell) for cell in (perplexity, bits, tokens, interventions)] == [
            each[name] for name in ("perplexity", "bits per byte", "tokens", "interventions")
        ]
        assert unchanged == f"{each['unchanged']} of {each['valid texts']}"
        assert right_there == f"{each['right there']:.1%}"
