"""Kernels are compiled once for all integers, and several processes may compile them into one cache at once."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

KERNELS = """
import sys
import numba.core.caching as caching
import numpy as np
from automata.jit import kernel

@kernel
def twice(values):
    return values + values

@kernel
def added(left, right):
    return left + right

@kernel
def over_widths(small, large):
    return added(small[0], large[0]) + added(3, large[0]) + added(small[0], 4)

if __name__ == "__main__":
    import time
    from pathlib import Path
    kinds = [np.int8, np.int16, np.int32, np.int64, np.float32, np.float64]
    own = int(sys.argv[1])
    if own >= 0:
        # Time for others between reading the index and writing it.
        read = caching.IndexDataCacheFile._load_index
        def slow(files):
            found = read(files)
            time.sleep(0.005)
            return found
        caching.IndexDataCacheFile._load_index = slow
        kinds = kinds[2 * own :] + kinds[: 2 * own]
        here = Path(__file__).parent
        (here / f"ready{own}").touch()
        while len(list(here.glob("ready*"))) < 3:
            time.sleep(0.01)
    for kind in kinds:
        found = twice(np.array([1, 2], kind))
        assert found.dtype == kind and found.tolist() == [2, 4], (kind, found)
    files = twice._cache._cache_file
    for number in range(20):
        if own >= 0:
            files.save((own, number), [own, number])
        else:
            for other in range(3):
                assert files.load((other, number)) == [other, number]
    if own < 0:
        assert over_widths(np.array([-1], np.int8), np.array([1 << 40])) == (1 << 41) + 5
        assert len(added.signatures) == 1
        assert sum(twice.stats.cache_hits.values()) == len(kinds), twice.stats
"""


def test_processes_share_the_cache_and_each_kernel_is_there_once(tmp_path: Path) -> None:
    module = tmp_path / "kernels.py"
    module.write_text(KERNELS)
    root = str(Path(__file__).parent.parent)
    environment = {"PYTHONPATH": root, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def begun(own: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, str(module), str(own)], env=environment)

    processes = [begun(own) for own in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert begun(-1).wait() == 0


def kernels_of(module: Path) -> dict[str, tuple[str, ast.FunctionDef]]:
    """The kernels of a module by name: which decorator each has, and its definition."""
    return {
        node.name: (decorator.id, node)
        for node in ast.parse(module.read_text()).body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Name) and decorator.id in ("kernel", "plain_kernel")
    }


def imported_from(module: Path) -> dict[str, Path]:
    """The module of this project that each imported name comes from."""
    return {
        alias.asname or alias.name: (ROOT / node.module.replace(".", "/")).with_suffix(".py")
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def test_plain_kernels_make_no_arrays() -> None:
    """References are not counted in them, so an array that one got from another kernel would never be freed."""
    numbers = re.compile(r"None|int|bool|tuple\[(int|bool)(, (int|bool))*\]")
    modules = [
        path for name in ("automata", "tokenfst", "decoding", "constraints") for path in (ROOT / name).rglob("*.py")
    ]
    found = 0
    for module in modules:
        own, names = kernels_of(module), imported_from(module)
        for kind, definition in own.values():
            if kind != "plain_kernel":
                continue
            found += 1
            for call in ast.walk(definition):
                if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                    continue
                name = call.func.id
                called = own.get(name)
                if called is None and name in names and names[name].exists():
                    called = kernels_of(names[name]).get(name)
                if called is not None:
                    returned = ast.unparse(called[1].returns) if called[1].returns else "None"
                    assert numbers.fullmatch(returned), (
                        f"{module}: {definition.name} calls {name}, which gives {returned}"
                    )
    assert found > 100
