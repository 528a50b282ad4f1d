"""Prints the lowest versions that pyproject.toml supports, as constraints for pip; `make lowest-test` runs the tests with them.

    python scripts/lowest_versions.py > versions.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest_versions() -> list[str]:
    """Return `name==version` for each package that the project depends on."""
    requirements = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"]
    found = [re.match(r"([\w.-]+)>=([\w.]+)", requirement) for requirement in requirements]
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    print("\n".join(lowest_versions()))
