"""Runs every notebook and keeps its outputs.

    python scripts/run_notebooks.py

Outputs are kept so that a notebook reads without being run, on a web page for example. Nothing else is: neither the
times of the machine that ran it nor what it had to say on standard error, about its fonts for example.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"


def executed(path: Path) -> Any:
    """The notebook, run from top to bottom; the first error in a cell ends it.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def main() -> None:
    """Runs and rewrites all notebooks."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(path), path)
        print(path.name)


if __name__ == "__main__":
    main()
