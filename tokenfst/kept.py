"""Kept: a dictionary of so many entries at most, for what can be made again; the oldest goes first.

Threads may share one: what a thread does not find it makes itself, and one of two equal values stays.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(dict[K, V]):
    """A bounded dictionary; only what `keep` puts in is counted."""

    def __init__(self, most: int) -> None:
        """`most`: how many entries there are at most."""
        super().__init__()
        self._most = most

    def keep(self, key: K, value: V) -> V:
        """Puts an entry in, and returns its value."""
        while len(self) >= self._most:
            # Another thread may change the dictionary meanwhile, and then this one looks again.
            with suppress(RuntimeError, StopIteration):
                self.pop(next(iter(self)), None)
        self[key] = value
        return value
