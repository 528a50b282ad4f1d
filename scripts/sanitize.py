"""Run the tests of the native core with AddressSanitizer and UndefinedBehaviorSanitizer.

    python scripts/sanitize.py [ARGUMENTS OF PYTEST ...]

What the tests need is copied to `build/sanitize/site`, with extensions that are built for it. This needs GCC or Clang
with their sanitizers, on Linux.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "sanitize"
SITE = BUILD / "site"
# A test reads the sources of the core.
COPIED = ("automata", "tokenfst", "constraints", "decoding", "tests", "native")
# Where the core is called directly.
TESTS = (
    "tests/core",
    "tests/test_guarded_rules.py",
    "tests/test_nondeterministic_calls.py",
    "tests/json_schema/test_formulas.py",
    "tests/json_schema/test_plain_states.py",
    "tests/json_schema/test_states_in_any_order.py",
)


def build() -> None:
    """Build the extensions, and put them beside copies of the packages."""
    nanobind = _output(sys.executable, "-m", "nanobind", "--cmake_dir")
    options = ["-DTOKENFST_SANITIZE=ON", f"-Dnanobind_DIR={nanobind}", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", *options], check=True)
    subprocess.run(["cmake", "--build", BUILD], check=True)
    for folder in COPIED:
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / folder, SITE / folder, ignore=ignored, dirs_exist_ok=True)
    subprocess.run(["cmake", "--install", BUILD, "--prefix", SITE], check=True)


def run(arguments: list[str]) -> int:
    """Run the tests of the core. Without `site`, so that no installed extension is found before these."""
    compiler = os.environ.get("CXX", "c++")
    libraries = [_output(compiler, f"-print-file-name=lib{name}.so") for name in ("asan", "ubsan")]
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter's own
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": os.pathsep.join([str(SITE), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]),
    }
    command = [sys.executable, "-S", "-m", "pytest", "-p", "no:cacheprovider", *(arguments or TESTS)]
    return subprocess.run(command, cwd=SITE, env=environment, check=False).returncode


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    build()
    sys.exit(run(sys.argv[1:]))
