"""One profile for every property: the same examples on every run; no deadline, since kernels compile on first use.

Tests may run in several processes (pytest-xdist), which share Numba's cache of compiled kernels. Numba writes an index
and then the kernel it names, with nothing to stop another process between the two: both may then choose the same file
name for kernels of different types, and the index of one would name the kernel of the other. So here one process at a
time reads or writes what belongs to a function. Each process also keeps to one thread where libraries would take all
cores.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from typing import Any

IN_PARALLEL = "PYTEST_XDIST_WORKER" in os.environ
if IN_PARALLEL:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything imports torch

from hypothesis import HealthCheck, settings  # noqa: E402
from numba.core.caching import IndexDataCacheFile  # noqa: E402

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("deterministic")


def one_process_at_a_time(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, while this process alone holds the lock that lies beside the index."""

    def locked(self: Any, *arguments: Any) -> Any:
        os.makedirs(self._cache_path, exist_ok=True)
        with open(f"{self._index_path}.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return method(self, *arguments)

    return locked


if IN_PARALLEL:
    for name in ("save", "load"):
        setattr(IndexDataCacheFile, name, one_process_at_a_time(getattr(IndexDataCacheFile, name)))
