"""Prints constraints for pip: the lowest versions that pyproject.toml allows, and the tests' own tools as pinned.

    python scripts/lowest_versions.py > versions.txt

`make lowest-test` runs the tests with them.
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


def pinned(names: list[str]) -> list[str]:
    """Return the lines of pins.txt for some packages."""
    pins = (PROJECT.parent / "pins.txt").read_text("utf-8").splitlines()
    return [pin for pin in pins if pin.split("==")[0].replace("_", "-").lower() in names]


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    lowest = [lowest_version(requirement) for requirement in project["dependencies"]]
    tools = [re.split(r"[>\[]", requirement)[0] for requirement in project["optional-dependencies"]["dev"]]
    print("\n".join([*lowest, *pinned(tools)]))
