"""Packages import one way only, importing them is light, and a foreign package of the same name is noticed."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# From the bottom up.
LAYERS = ["automata", "tokenfst", "constraints", "decoding", "serving", "in_place_of"]
MODULES = sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The packages that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    above = set(LAYERS[LAYERS.index(layer) + 1 :])
    assert not imported(path) & above


def test_the_check_sees_imports() -> None:
    assert {"automata", "numpy"} <= imported(ROOT / "tokenfst" / "lazy.py")
    assert len(MODULES) > 25


def run(code: str, *path: Path, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Runs code in a new process that looks for packages in `path` first; the current directory comes before all."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, env=environment, cwd=path[0], capture_output=True, text=True, check=False)


def test_importing_is_light() -> None:
    code = "import sys, tokenfst, constraints; print(*{m.split('.')[0] for m in sys.modules})"
    result = run(code, ROOT)
    assert result.returncode == 0, result.stderr
    loaded = set(result.stdout.split())
    assert {"automata", "tokenfst", "numpy"} <= loaded
    assert not loaded & {"torch", "transformers", "tokenizers", "pygraphviz", "sentencepiece", "tiktoken", "pydantic"}


def test_a_matcher_needs_neither_torch_nor_transformers() -> None:
    result = run("import sys, serving.matcher; print({'torch', 'transformers'} & set(sys.modules))", ROOT)
    assert (result.stdout, result.returncode) == ("set()\n", 0), result.stderr


@pytest.mark.parametrize("code", ["import tokenfst", "import constraints", "from decoding import generate"])
def test_a_foreign_automata_package_is_named(tmp_path: Path, code: str) -> None:
    """PyPI's automata-lib has a package of this name, with modules of other names."""
    (tmp_path / "automata" / "fa").mkdir(parents=True)
    (tmp_path / "automata" / "__init__.py").write_text('__version__ = "9.1.0"\n')
    (tmp_path / "automata" / "fa" / "__init__.py").write_text("")
    # Without what an editable installation puts before all folders.
    result = run(code, tmp_path, ROOT, options=["-S"])
    assert result.returncode != 0
    message = result.stderr.strip().splitlines()[-1]
    assert message.startswith("ImportError: tokenfst needs its own package `automata`")
    assert str(tmp_path) in message
    assert "automata-lib" in message


def test_packages_name_all_of_their_modules() -> None:
    """The docstring of a package is the map of it."""
    for init in [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("__init__.py"))]:
        inside = [path for path in init.parent.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
        known = set(re.findall(r"\w+", ast.get_docstring(ast.parse(init.read_text())) or ""))
        assert {path.stem for path in inside if path != init} <= known, init


def test_typing_markers_are_there() -> None:
    assert all((ROOT / layer / "py.typed").exists() for layer in LAYERS)


def test_functions_of_openfst_say_what_they_take() -> None:
    code = "import sys; sys.modules['pynini'] = sys.modules['pywrapfst'] = None\n"
    code += "import automata\nautomata.compile_expr(automata.literal('a')).fst()"
    result = run(code, ROOT)
    assert "ImportError: functions of OpenFst need pynini: `pip install pynini`" in result.stderr
