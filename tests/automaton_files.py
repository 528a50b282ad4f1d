"""Files of automata with other contents, whose checksums are right, so that what comes after the checksum is tested."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from tokenfst.files import checksum


def forge(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]], metadata: Mapping[str, str]) -> None:
    """Write a file with a right checksum, whatever the one in `metadata` is."""
    header = {name: value for name, value in metadata.items() if name != "checksum"}
    save_file(dict(arrays), path, {**header, "checksum": checksum(header, arrays)})
