"""Write the types of the native extensions, as Python sees them, beside them: `<package>/_native.pyi`.

    python scripts/write_stubs.py [--check]

With `--check` nothing is written; the exit status is 1 where a file is not as it would be.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path

from nanobind.stubgen import ReplacePattern, StubGen

ROOT = Path(__file__).parent.parent
PACKAGES = ("automata", "tokenfst", "constraints", "decoding")

# Types that are not made by nanobind, which knows no more of them than their names.
_PATTERNS = [
    ReplacePattern(
        re.compile(r"^constraints\._native\.Formula$"),
        [
            "class Formula:",
            '    """A statement about one JSON value."""',
            "",
            "    def __init__(self, *fields: Any) -> None: ...",
            "",
            "    @property",
            "    def fields(self) -> tuple[Any, ...]:",
            '        """The fields of the formula, in order."""',
            "",
            "    @property",
            "    def nbytes(self) -> int:",
            '        """The approximate memory of the formula, in bytes."""',
            "",
        ],
        0,
    )
]


def stub(package: str) -> str:
    """The stub of a package's extension."""
    module = importlib.import_module(f"{package}._native")
    generator = StubGen(module, patterns=_PATTERNS)
    generator.put(module)
    return str(generator.get())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where a file is out of date")
    check = parser.parse_args().check
    stale = []
    for package in PACKAGES:
        path, text = ROOT / package / "_native.pyi", stub(package)
        if not path.exists() or path.read_text() != text:
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(text)
    if check and stale:
        sys.exit(f"out of date, write them again by `make stubs`: {', '.join(stale)}")


if __name__ == "__main__":
    main()
