"""Every notebook runs, and what it is kept with is what it prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from run_notebooks import executed  # noqa: E402

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def printed(notebook: Any) -> list[str]:
    """What each code cell printed, and how many pictures it shows.

    What a model writes is left out (the tag `varies`): another processor may round its way to another text.
    """
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            varies = "varies" in cell.metadata.get("tags", [])
            text = "" if varies else "".join(output.text for output in cell.outputs if output.output_type == "stream")
            pictures = sum("image/svg+xml" in output.get("data", {}) for output in cell.outputs)
            found.append(f"{text}[{pictures} pictures]")
    return found


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_prints_what_is_kept(path: Path) -> None:
    kept = nbformat.read(path, as_version=4)
    nbformat.validate(kept)
    assert printed(executed(path)) == printed(kept)
