"""BoundedCache: a bounded FIFO cache for values that can be made again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A bounded FIFO cache. Threads may share one; each makes what it does not find."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._lock = Lock()
        self._entries: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        return self._entries.get(key)

    def put(self, key: K, value: V) -> None:
        """Store a value, in place of the oldest entry where the cache is full."""
        with self._lock:
            while len(self._entries) >= self._max_entries:
                del self._entries[next(iter(self._entries))]
            self._entries[key] = value

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; make and store it where there is none."""
        value = self._entries.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value
