"""The kernels for a GPU, by Triton's interpreter on the CPU, beside the native core."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")


@pytest.mark.parametrize("kinds", ["finite counted weighted stacked", "finite ambiguous"])
def test_masks_and_steps_are_those_of_the_native_core(kinds: str) -> None:
    # Triton is interpreted or compiled as it was when it was imported, so in a process of its own.
    script = Path(__file__).with_name("interpreted_kernels.py")
    done = subprocess.run(
        [sys.executable, str(script), *kinds.split()],
        env=os.environ | {"TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
