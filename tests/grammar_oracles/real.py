"""Real texts for bundled grammars, from what is installed: JSON files of packages and expressions of Python's
library."""

from __future__ import annotations

import ast
import json
import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

LONGEST = 400


def json_objects(count: int) -> list[bytes]:
    """Objects out of the JSON files that packages bring, as `json` writes them in three styles."""
    return list(islice(_json_objects(), count))


def _json_objects() -> Iterator[bytes]:
    seen = set[bytes]()
    for path in sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.json")):
        if path.stat().st_size > 200_000:
            continue
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue
        for style in ({"separators": (",", ":")}, {"indent": 1}, {"ensure_ascii": False}):
            for part in _objects(value):
                text = json.dumps(part, **style).encode()
                if len(text) <= LONGEST and text not in seen and len(seen) < 5000:
                    seen.add(text)
                    yield text


def _objects(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield value
        yield from (found for part in value.values() for found in _objects(part))
    elif isinstance(value, list):
        yield from (found for part in value for found in _objects(part))


# Modules with expressions of all kinds.
_MODULES = [
    "ast",
    "dataclasses",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "inspect",
    "statistics",
    "typing",
    "uuid",
]
# What stands for itself only within something else, or is too simple to be told; and what the grammar leaves out.
_NEVER_ALONE = ast.Starred | ast.FormattedValue | ast.Slice | ast.NamedExpr | ast.Name | ast.Constant
_LEFT_OUT = ast.JoinedStr | ast.Yield | ast.YieldFrom


def python_expressions(count: int, random: Random) -> list[bytes]:
    """Expressions of the standard library as they stand in its files: on one line, in ASCII, no formatted strings."""
    found = sorted({text for name in _MODULES for text in _expressions(name)})
    random.shuffle(found)
    return found[:count]


def _expressions(module: str) -> Iterator[bytes]:
    text = Path(sysconfig.get_paths()["stdlib"], f"{module}.py").read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.expr) or node.lineno != node.end_lineno or isinstance(node, _NEVER_ALONE):
            continue
        segment = lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset]
        if (
            segment.isascii()
            and len(segment) <= 120
            and not any(isinstance(part, _LEFT_OUT) for part in ast.walk(node))
        ):
            yield segment
