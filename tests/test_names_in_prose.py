"""Modules, functions and files that prose names in backticks exist: in pages, in docstrings and in comments."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("automata", "tokenfst", "constraints", "decoding", "serving", "in_place_of")
NAME = re.compile(r"`((?:automata|tokenfst|constraints|decoding|serving|in_place_of)(?:\.\w+)+)[^`\w]*`?")
FILE = re.compile(
    r"`((?:native|tests|benchmarks|scripts|docs|examples|automata|tokenfst|constraints|decoding|serving|in_place_of|engine_tests)/[\w/.-]*)`"
)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
CORE = sorted(path for ending in ("*.h", "*.cpp", "*.md") for path in (ROOT / "native").rglob(ending))


@cache
def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            # An attribute of instances is only annotated.
            found = getattr(found, part, getattr(found, "__annotations__", {}).get(part))
            if found is None:
                return False
        return True
    return False


@pytest.mark.parametrize("path", [*PAGES, *SOURCES, *CORE], ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_named_is_there(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [name for name in NAME.findall(text) if not exists(name)] == []
    # Headers of the core are named as they are included.
    missing = [name for name in FILE.findall(text) if not (ROOT / name).exists()]
    assert [name for name in missing if not (path in CORE and (ROOT / "native" / name).exists())] == []
