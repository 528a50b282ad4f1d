"""The kernels for a GPU: interpreted by Triton, beside the native core and tensor operations; and compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from decoding.devices import triton_works

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


def test_programs_for_a_gpu_do_not_import_the_compiler() -> None:
    # It takes seconds, and leaves a folder.
    code = "import sys, decoding, decoding.arena, decoding.sampling.on_gpu; assert 'torch._dynamo' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)


def test_the_compiler_asks_once_whether_kernels_work() -> None:
    def asked_once() -> bool:
        return True

    torch.compiler.assume_constant_result(asked_once)
    assert vars(asked_once)
    assert vars(triton_works) == vars(asked_once)
