"""The one way that this project compiles a hot loop: Numba, without the global lock, kept on disk between runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compiles a function of arrays and numbers at its first call; later processes load it from Numba's cache."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))
