"""Prints what the project needs with an extra, a requirement a line, for pip to install without building the project.

python scripts/requirements.py dev > requirements.txt
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def requirements(project: dict[str, Any], extra: str) -> list[str]:
    """Return the requirements of an extra, and of the extras of the project that it names."""
    found: list[str] = []
    for requirement in project["optional-dependencies"][extra]:
        own = re.fullmatch(rf"{project['name']}\[(.+)\]", requirement)
        found += [each for name in own[1].split(",") for each in requirements(project, name)] if own else [requirement]
    return found


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    if sys.argv[1:] not in [[extra] for extra in project["optional-dependencies"]]:
        sys.exit(f"give one of these extras: {', '.join(project['optional-dependencies'])}")
    print("\n".join([*project["dependencies"], *requirements(project, sys.argv[1])]))
