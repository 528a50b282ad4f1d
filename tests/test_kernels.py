"""The kernels for a GPU: interpreted by Triton, beside the native core and tensor operations; and compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("interpreted_kernels.py", ["finite", "counted", "weighted", "stacked"]),
        ("interpreted_kernels.py", ["finite", "ambiguous"]),
        ("interpreted_sampling.py", []),
        ("compiled_sampling.py", []),
    ],
)
def test_kernels_do_what_the_cpu_does(script: str, arguments: list[str]) -> None:
    # Triton is interpreted or compiled as it was when it was imported, so in a process of its own.
    is_interpreted = script.startswith("interpreted")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(script)), *arguments],
        env=os.environ | ({"TRITON_INTERPRET": "1"} if is_interpreted else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
