"""Kept: what was made last, by what it was made from, for functions that are often called with the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """A table of bounded size; the oldest entry goes first. Safe to share between threads."""

    def __init__(self, max_kept: int) -> None:
        self._max_kept = max_kept
        self._lock = Lock()
        self._kept: dict[K, V] = {}

    def made(self, key: K, make: Callable[[], V]) -> V:
        """What is kept for a key; if nothing is, it is made."""
        value = self._kept.get(key)
        if value is None:
            value = make()
            self.keep(key, value)
        return value

    def get(self, key: K) -> V | None:
        """What is kept for a key, or None."""
        return self._kept.get(key)

    def keep(self, key: K, value: V) -> None:
        """Keep a value for a key."""
        with self._lock:
            while len(self._kept) >= self._max_kept:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = value
