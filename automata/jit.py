"""The one way that this project compiles a hot loop: Numba, without the global lock, kept on disk between runs.

Compiling takes seconds, once on a machine. `seconds_compiling` counts them, so that they are not charged to the work
that happens to come first. Two things keep them few:

    integers    Numba compiles a kernel again for each width of integer that another kernel calls it with, and for each
                literal. Here all signed integers that kernels give each other are as wide as Python gives them.
    the cache   Numba writes an index and then the kernel that it names, with nothing to stop another process between
                the two: both may choose the same file for kernels of different types, and the index of one would name
                the kernel of the other. Here a process that writes is alone in the folder, by a lock that lies there.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba
from numba.core import event, types

F = TypeVar("F", bound=Callable[..., object])

_LOCK = "kernels.lock"


def kernel(function: F) -> F:
    """Compiles a function of arrays and numbers at its first call; later processes load it from Numba's cache."""
    return _compiled(function, _nrt=True)


def plain_kernel(function: F) -> F:
    """The same for a function that makes no arrays and calls none that returns one; it may look at parts of those that
    it is given.

    Numba counts the references to arrays, atomically, wherever one is passed on, read from a tuple or sliced. Walks do
    little else, and were twice as slow for it; whoever makes no array need not count. Numba refuses to compile what
    would make one. (The option is the one that its own library is compiled with.)
    """
    return _compiled(function, _nrt=False)


def _compiled(function: F, **options: Any) -> F:
    dispatcher: Any = numba.njit(cache=True, nogil=True, **options)(function)
    if dispatcher is not function:  # as it is where Numba is told to compile nothing
        _widen(dispatcher)
        _share(dispatcher._cache._cache_file)
    return cast(F, dispatcher)


def _widen(dispatcher: Any) -> None:
    """Makes other kernels give a kernel wide integers."""
    template = dispatcher.get_call_template

    def widened(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return template(tuple(map(_wide, arguments)), {name: _wide(kind) for name, kind in named.items()})

    dispatcher.get_call_template = widened


def _wide(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind


def _share(files: Any) -> None:
    """Makes a process that writes the index of a function, or the kernels it names, be alone in their folder."""
    save, load = files.save, files.load

    @contextmanager
    def alone(how: int) -> Iterator[None]:
        # Numba keeps kernels only where it may write.
        with open(os.path.join(files._cache_path, _LOCK), "a") as lock:
            fcntl.flock(lock, how)
            yield

    def saved(key: Any, data: Any) -> None:
        with alone(fcntl.LOCK_EX):
            save(key, data)

    def loaded(key: Any) -> Any:
        if not os.path.exists(files._index_path):
            return None
        with alone(fcntl.LOCK_SH):
            return load(key)

    files.save, files.load = saved, loaded


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
