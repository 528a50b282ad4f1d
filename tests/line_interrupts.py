"""Interrupts at chosen lines, as Ctrl-C may come at any."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def interrupted(call: Callable[[], object], line: int, file: str) -> bool:
    """Call a function, and raise KeyboardInterrupt where it begins one of the lines of a file, counted from 0.

    Returns:
        Whether it came that far. The interrupt is caught, and has to arrive.
    """
    left = line

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(file):
            return None
        if event == "line":
            left -= 1
            if left == -1:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    assert left >= 0, "the interrupt was lost"
    return False
