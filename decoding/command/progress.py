"""A line on the terminal for whatever takes more than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Print a line on standard error if the body takes more than a second, and then how long it took."""
    began = time.perf_counter()
    shown = threading.Event()

    def show() -> None:
        shown.set()
        print(f"{what} ...", file=sys.stderr, flush=True)

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if shown.is_set():
            print(f"{what}: {time.perf_counter() - began:.1f} s", file=sys.stderr, flush=True)
