"""Arrays that an automaton keeps and returns, which no caller may change."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy.typing as npt

A = TypeVar("A", bound=npt.NDArray[Any])


def read_only(array: A) -> A:
    """Return an array after forbidding changes of it."""
    array.setflags(write=False)
    return array
