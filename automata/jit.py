"""The one way that this project compiles a hot loop: Numba, without the global lock, kept on disk between runs.

Compiling takes seconds, once on a machine. `seconds_compiling` counts them, so that they are not charged to the work
that happens to come first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compiles a function of arrays and numbers at its first call; later processes load it from Numba's cache."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


class _Stopwatch(event.Listener):
    """Runs while Numba compiles; one compilation may start others."""

    def __init__(self) -> None:
        self.depth = 0
        self.begun = self.total = 0.0

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.begun = time.monotonic()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.total += time.monotonic() - self.begun


_stopwatch = _Stopwatch()
event.register("numba:compile", _stopwatch)


def seconds_compiling() -> float:
    """How many seconds this process has spent compiling kernels so far."""
    return _stopwatch.total + (time.monotonic() - _stopwatch.begun if _stopwatch.depth else 0.0)
