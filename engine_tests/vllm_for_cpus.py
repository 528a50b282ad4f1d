"""The newest vLLM, which has no build for CPUs: its Python code, with the libraries of the one that is installed.

python vllm_for_cpus.py FOLDER vllm==VERSION
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile


def main(folder: Path, requirement: str) -> None:
    spec = find_spec("vllm")
    assert spec is not None
    assert spec.origin is not None
    with tempfile.TemporaryDirectory() as downloads:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", downloads, requirement]
        subprocess.run(command, check=True)
        (wheel,) = Path(downloads).glob("*.whl")
        with ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.endswith((".py", ".json"))])
    for library in Path(spec.origin).parent.glob("*.so"):
        shutil.copy(library, folder / "vllm")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
