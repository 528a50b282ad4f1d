"""The build backend: scikit-build-core, with PyPI's ziglang as the C++ compiler where there is no other.

    python scripts/build_backend.py      print what a build needs beside CMake's own compiler search, for `pip install`

CMake looks for `$CXX`, c++, g++ and clang++. Where none is found, ziglang, which carries clang and libc++, is one more
requirement of the build, and scripts that call it are put where CMake looks.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

# Settings of a build, as a front end passes them.
Settings: TypeAlias = dict[str, str | list[str]] | None

REQUIREMENTS = ["scikit-build-core>=0.11", "nanobind>=2.9", "cmake>=3.25", "ninja>=1.11"]


def _needs_zig() -> bool:
    """Whether there is no C++ compiler. On Windows CMake finds Visual Studio, which is on no path."""
    known = ("c++", "g++", "clang++")
    return os.name != "nt" and "CXX" not in os.environ and not any(map(shutil.which, known))


def _zig() -> list[str]:
    return ["ziglang>=0.13"] if _needs_zig() else []


@contextmanager
def _compiler() -> Iterator[None]:
    """Make ziglang the compiler, if it is needed."""
    if not _needs_zig():
        yield
        return
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        tools = {name: _script(Path(folder) / f"zig-{name}", name) for name in ("c++", "ar", "ranlib")}
        os.environ["CXX"] = str(tools["c++"])
        options = f"-DCMAKE_AR={tools['ar']} -DCMAKE_RANLIB={tools['ranlib']}"
        os.environ["CMAKE_ARGS"] = f"{before.get('CMAKE_ARGS', '')} {options}"
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _script(path: Path, tool: str) -> Path:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {tool} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


# The hooks of PEP 517 and PEP 660. scikit-build-core is imported where it is used: it may not be installed yet.


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    from scikit_build_core import build

    return [*build.get_requires_for_build_wheel(config_settings), *_zig()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    from scikit_build_core import build

    return [*build.get_requires_for_build_editable(config_settings), *_zig()]


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    from scikit_build_core import build

    return list(build.get_requires_for_build_sdist(config_settings))


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    from scikit_build_core import build

    return build.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: Settings = None) -> str:
    from scikit_build_core import build

    return build.prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    from scikit_build_core import build

    return build.build_sdist(sdist_directory, config_settings)


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    from scikit_build_core import build

    with _compiler():
        return build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    from scikit_build_core import build

    with _compiler():
        return build.build_editable(wheel_directory, config_settings, metadata_directory)


if __name__ == "__main__":
    print(*REQUIREMENTS, *_zig())
