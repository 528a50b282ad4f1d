"""Prints the lowest versions that pyproject.toml allows, as constraints for pip; `make lowest-test` tests with them.

python scripts/lowest_versions.py > versions.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest_version(requirement: str) -> str:
    """Return `name==version` for a requirement.

    Raises:
        ValueError: the requirement has no lowest version.
    """
    match = re.match(r"([\w.-]+)>=([\w.]+)", requirement)
    if match is None:
        raise ValueError(f"{requirement} has no lowest version")
    return f"{match[1]}=={match[2]}"


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    print("\n".join(map(lowest_version, project["dependencies"])))
