"""No circle of imports: types below, functions on them above, and what must know both on top."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ["automata", "tokenfst", "constraints", "decoding", "serving", "in_place_of"]


def modules() -> dict[str, Path]:
    """The file of each module; a package's own module is its `__init__`."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imported(tree: ast.AST, known: Mapping[str, object]) -> Iterator[str]:
    """The modules that a module imports, anywhere in it, functions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                # An extension is a module of its own, and imports none of these.
                if f"{node.module}.{alias.name}" in known:
                    yield f"{node.module}.{alias.name}"
                elif node.module in known and alias.name != "_native":
                    yield str(node.module)


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """The strongly connected components of more than one module, or of one that imports itself."""

    def reachable(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            more = graph[waiting.pop()] - seen
            seen |= more
            waiting += more
        return seen

    after = {module: reachable(module) for module in graph}
    found: list[set[str]] = []
    for module in sorted(graph):
        if module in after[module] and not any(module in circle for circle in found):
            found.append({other for other in after[module] if module in after[other]})
    return found


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"e"}}
    assert circles(graph) == [{"b", "c"}, {"e"}]


def test_no_circle_of_imports() -> None:
    known = modules()
    assert len(known) > 100
    graph = {name: set(imported(ast.parse(path.read_text("utf-8")), known)) for name, path in known.items()}
    assert [sorted(circle) for circle in circles(graph)] == []
