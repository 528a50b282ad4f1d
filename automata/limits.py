"""How much a compilation may take, and how it is stopped.

    Limits          the bounds: arcs, states, bytes of tables, seconds
    Cancellation    what another thread calls to stop compilations
    Work            one compilation under way: its limits, its deadline, and the flag that its kernels look at

Numba kernels run without Python's global lock and can be stopped only by something that they read: `Work.stop`, one
byte that they look at once in a while. It is set by `Cancellation.cancel`, or by a thread that watches deadlines; that
thread exists only while there are compilations, and looks ten times a second, so that a compilation of a tenth of a
millisecond pays a microsecond for it.

Rejected: a timer for each compilation (starting a thread costs as much as compiling an everyday pattern); a limit on
steps in place of seconds (steps differ a thousandfold in cost).
"""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from automata.errors import Cancelled, LimitExceeded
from automata.jit import seconds_compiling

Flag = npt.NDArray[np.uint8]

_RUNNING, _TIMED_OUT, _CANCELLED = range(3)
_WATCH_SECONDS = 0.1
# The watching thread ends after this many looks at nothing.
_IDLE_LOOKS = 50


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one compilation; what goes past one raises LimitExceeded.

    Attributes:
        arcs: leaves of an expression with its repetitions written out, and arcs of its layout.
        states: deterministic states, before minimization, over bytes and over tokens.
        table_bytes: memory of any one table.
        seconds: wall-clock time, without that of compiling kernels, once on a machine.
    """

    arcs: int = 4_000_000
    states: int = 1_000_000
    table_bytes: int = 1 << 30
    seconds: float = 60.0


DEFAULT_LIMITS = Limits()


class Cancellation:
    """Stops compilations that were given it, those under way and those to come; for another thread to call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: WeakSet[Work] = WeakSet()
        self._cancelled = False

    def cancel(self) -> None:
        """Makes every compilation with this cancellation raise Cancelled as soon as it notices."""
        with self._lock:
            self._cancelled = True
            for work in self._under_way:
                work.stop[0] = _CANCELLED

    def adopt(self, work: Work) -> None:
        """Makes a compilation one of those that `cancel` stops."""
        with self._lock:
            self._under_way.add(work)
            if self._cancelled:
                work.stop[0] = _CANCELLED


class Work:
    """One compilation under way; a context within which its deadline is watched.

    Attributes:
        limits: its bounds.
        stop: `[1]`, what kernels look at: anything but 0 means stop.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS, cancellation: Cancellation | None = None) -> None:
        self.limits = limits
        self.stop: Flag = np.zeros(1, np.uint8)
        self.deadline = _now() + limits.seconds
        if cancellation is not None:
            cancellation.adopt(self)

    def __enter__(self) -> Work:
        _watcher.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _watcher.discard(self)

    def look_at_the_clock(self) -> None:
        """Sets the flag if the deadline has passed."""
        if _now() > self.deadline and self.stop[0] == _RUNNING:
            self.stop[0] = _TIMED_OUT

    def check(self) -> None:
        """Goes on, or not.

        Raises:
            Cancelled: it was cancelled.
            LimitExceeded: the time is up.
        """
        if self.stop[0] == _CANCELLED:
            raise Cancelled("the compilation was cancelled")
        if self.stop[0] == _TIMED_OUT:
            raise LimitExceeded(f"compiling takes more than {self.limits.seconds:g} seconds (limit `seconds`)")


def _now() -> float:
    """Seconds on a clock that stands still while kernels are compiled."""
    return time.monotonic() - seconds_compiling()


def under_way(work: Work | None) -> AbstractContextManager[Work]:
    """The compilation that a step is part of, or one of its own with the default limits."""
    return Work() if work is None else nullcontext(work)


class _Watcher:
    """The thread that looks at the clock for all compilations under way."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.under_way: set[Work] = set()
        self.thread: threading.Thread | None = None

    def add(self, work: Work) -> None:
        with self.lock:
            self.under_way.add(work)
            # After a fork the thread is there no more.
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(target=self.run, name="tokenfst deadlines", daemon=True)
                self.thread.start()

    def discard(self, work: Work) -> None:
        with self.lock:
            self.under_way.discard(work)

    def run(self) -> None:
        idle = 0
        while True:
            time.sleep(_WATCH_SECONDS)
            with self.lock:
                for work in self.under_way:
                    work.look_at_the_clock()
                idle = 0 if self.under_way else idle + 1
                if idle > _IDLE_LOOKS:
                    self.thread = None
                    return


_watcher = _Watcher()
