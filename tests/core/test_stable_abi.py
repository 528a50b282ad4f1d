"""From Python 3.12 on the core is built against the stable ABI, which hides the rest of Python's own functions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
# What the stable ABI has had since Python 3.12; earlier versions are built without it.
SINCE_3_12 = {"Py_READONLY", "Py_T_OBJECT_EX", "Py_T_PYSSIZET"}


def names_in(folder: Path) -> set[str]:
    sources = [path for ending in ("cpp", "h") for path in folder.rglob(f"*.{ending}")]
    return {name for path in sources for name in re.findall(r"\b_?Py[A-Z_]\w*", path.read_text())}


def unknown(names: set[str]) -> list[str]:
    """Return the names that the headers do not declare for the stable ABI."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no compiler for C")
    lines = ["#define Py_LIMITED_API 0x030B0000", "#include <Python.h>"]
    for name in sorted(names):
        lines += [f"#ifndef {name}", f"__typeof__({name}) *of_{name};", "#endif"]
    command = [compiler, "-xc", "-fsyntax-only", "-fmax-errors=0", f"-I{sysconfig.get_path('include')}", "-"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
    # GCC's words, and Clang's.
    found = re.findall(r"error: (?:use of undeclared identifier ['‘](\w+)|['‘](\w+)['’] undeclared)", done.stderr)
    assert found or not done.returncode, done.stderr
    return sorted({clang or gcc for clang, gcc in found})


def test_the_core_takes_nothing_else_from_python() -> None:
    names = names_in(NATIVE)
    assert {"PyObject_GetBuffer", "PyType_FromSpec", "Py_buffer"} < names
    assert unknown(names - SINCE_3_12 - {"Py_GIL_DISABLED"}) == []


def test_what_it_does_not_have_is_found() -> None:
    assert unknown({"PyObject_IS_GC", "PyList_GET_ITEM", "PyObject_GC_IsTracked"}) == [
        "PyList_GET_ITEM",
        "PyObject_IS_GC",
    ]
