"""LruCache: a mapping bounded in bytes, which drops the least recently used values first.

An engine keeps the compiled constraints of requests in an unbounded dict. This mapping replaces it. Lazy automata grow
while they are used, so each value is measured again when it is accessed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import Final, TypeVar

# The memory of an entry in bytes, besides its text and its value.
ENTRY_BYTES: Final = 1 << 10

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(MutableMapping[K, V]):
    """A mapping bounded in bytes that evicts the least recently used; not thread-safe.

    Attributes:
        max_bytes: the maximum size in bytes.
        nbytes: the size in bytes, as it was last measured.
    """

    def __init__(self, max_bytes: int, size: Callable[[K, V], int | None]) -> None:
        """Make an empty cache.

        Args:
            max_bytes: the maximum size in bytes.
            size: returns the memory of a key and its value in bytes; None if they should not be kept.
        """
        self.max_bytes = max_bytes
        self.nbytes = 0
        self._size = size
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def __getitem__(self, key: K) -> V:
        value, before = self._kept[key]
        size = self._size(key, value) or before
        self.nbytes += size - before
        self._kept[key] = value, size
        self._kept.move_to_end(key)
        self._evict()
        return value

    def __setitem__(self, key: K, value: V) -> None:
        if key in self:
            del self[key]
        size = self._size(key, value)
        if size is None or size > self.max_bytes:
            return
        self._kept[key] = value, size
        self.nbytes += size
        self._evict()

    def _evict(self) -> None:
        while self.nbytes > self.max_bytes:
            self.nbytes -= self._kept.popitem(last=False)[1][1]

    def __delitem__(self, key: K) -> None:
        self.nbytes -= self._kept.pop(key)[1]

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def __iter__(self) -> Iterator[K]:
        # A copy, because accessing a value moves its key.
        return iter(list(self._kept))

    def __len__(self) -> int:
        return len(self._kept)
