"""A progress line on the terminal for operations that take more than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

PATIENCE = 1.0  # seconds


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Report the operation on standard error if the body takes more than a second, and its time at the end.

    On a terminal, a moving bar is shown in the meantime.
    """
    began = time.perf_counter()
    shown, open_bar = threading.Event(), ExitStack()

    def show() -> None:
        shown.set()
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            bar = Progress(
                TextColumn(what), BarColumn(), TimeElapsedColumn(), console=Console(stderr=True), transient=True
            )
            bar.add_task(what, total=None)
            open_bar.enter_context(bar)
        else:
            print(f"{what} ...", file=sys.stderr, flush=True)

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        open_bar.close()
        if shown.is_set():
            print(f"{what}: {time.perf_counter() - began:.1f} s", file=sys.stderr, flush=True)
