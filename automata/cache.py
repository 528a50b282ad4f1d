"""Caches of values that can be recomputed, with one bound in bytes for all of them.

    BoundedCache        a bounded FIFO cache
    kept                a decorator that caches the results of a function
    kept_while_alive    a decorator that caches the result for an object until the object is deleted; not counted

Automata of the same patterns are needed again and again, by different schemas. Most take a few kilobytes, but some take
megabytes, and a client that sends schemas to a server could fill its memory with a thousand of these. Keys may be as
large: a name of a property, a list of texts. So the bytes of each key and value are counted when they are stored. Once
more than `MAX_BYTES` have been stored, all caches are emptied and the count begins again. Texts, tuples and whatever
has `nbytes` are counted; everything else is small.

Rejected: a bound for each cache (several caches hold parts of one value, without knowing of each other); evicting only
the oldest values (for the same reason; RE2 also empties its whole cache).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import RLock
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")

# The number of bytes that may be stored before all caches are emptied; evicted values are not subtracted.
MAX_BYTES: Final = 1 << 28


class BoundedCache(Generic[K, V]):
    """A bounded FIFO cache. Threads may share one; several may make the same missing value."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries: dict[K, V] = {}
        _caches.add(self)

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        return self._entries.get(key)

    def put(self, key: K, value: V) -> None:
        """Store a value; if the cache is full, it replaces the oldest entry."""
        _count(_size(key) + _size(value))
        with _lock:
            if key not in self._entries and len(self._entries) >= self._max_entries:
                del self._entries[next(iter(self._entries))]
            self._entries[key] = value

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; make and store it if there is none."""
        value = self._entries.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def clear(self) -> None:
        """Forget all values."""
        with _lock:
            self._entries.clear()


def kept(max_entries: int) -> Callable[[Callable[P, V]], Callable[P, V]]:
    """Return a decorator that caches results as `functools.lru_cache` does, and counts their bytes."""

    def decorate(function: Callable[P, V]) -> Callable[P, V]:
        @lru_cache(max_entries)
        @wraps(function)
        def found(*args: P.args, **named: P.kwargs) -> V:
            value = function(*args, **named)
            _count(sum(map(_size, args)) + _size(value))
            return value

        _functions.append(found.cache_clear)
        return cast(Callable[P, V], found)

    return decorate


def kept_while_alive(function: Callable[[K], V]) -> Callable[[K], V]:
    """Return a function that keeps its result for an object until the object is deleted. The result must not refer to
    the object."""
    known: WeakKeyDictionary[K, V] = WeakKeyDictionary()

    @wraps(function)
    def found(of: K) -> V:
        value = known.get(of)
        if value is None:
            value = known[of] = function(of)
        return value

    return found


def _size(value: object) -> int:
    """Return the approximate memory of a value in bytes; 0 for a value of any type that is taken to be small."""
    if isinstance(value, str | bytes):
        return len(value)
    size: int | None = getattr(value, "nbytes", None)
    if size is not None:
        return size
    return 8 * len(value) + sum(map(_size, value)) if isinstance(value, tuple) else 0


def _count(size: int) -> None:
    """Count bytes that are about to be stored; if there are then too many, empty all caches first."""
    global _num_bytes
    if not size:
        return
    with _lock:
        _num_bytes += size
        if _num_bytes <= MAX_BYTES:
            return
        _num_bytes = size
    for cache in list(_caches):
        cache.clear()
    for clear in _functions:
        clear()


# One lock for the count and all caches. It is held during a fork, so that no other thread can leave it locked in the
# child. It is reentrant, because a value that is deleted while it is held may use a cache.
_lock = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_num_bytes = 0
_caches: WeakSet[BoundedCache[Any, Any]] = WeakSet()
_functions: list[Callable[[], None]] = []
