"""How much a compilation may take, and how it is stopped.

    Limits          the bounds: arcs, states, bytes, seconds
    Cancellation    stops compilations from another thread
    Work            one compilation: its limits, and the budget that the native core spends
    spend           accounts for steps of the current compilation
    charge          accounts for its memory

The core counts the memory that it allocates, and checks the clock, `Cancellation` and signals every millisecond or so
(`native/support/budget.h`). Python code in between calls `Work.check` or `spend` in its loops.

A compilation is *current* inside of `Work.current`. Reading a schema is hundreds of small functions, many of them
memoized; they find the current compilation instead of passing it on.

Rejected: a limit on steps in place of seconds (steps differ a thousandfold in cost); a thread that watches deadlines (a
clock that is checked now and then costs less, and does not wait for Python's lock).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakSet, ref

from automata._native import Budget

T = TypeVar("T")

_WATCHED_EVERY = 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one compilation; what passes one raises LimitExceeded.

    Attributes:
        arcs: leaves of an expression with its repetitions written out, and arcs of its layout.
        states: deterministic states, before minimization, over bytes and over tokens.
        memory: bytes that the compilation takes at any one time.
        seconds: wall-clock time.
    """

    arcs: int = 4_000_000
    states: int = 1_000_000
    memory: int = 1 << 30
    seconds: float = 60.0


DEFAULT_LIMITS = Limits()


class Cancellation:
    """Stops the compilations that were given it, present and future ones; called from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: WeakSet[Work] = WeakSet()
        self._cancelled = False

    def cancel(self) -> None:
        """Make every compilation with this cancellation raise Cancelled as soon as it notices."""
        with self._lock:
            self._cancelled = True
            for work in self._under_way:
                work.budget.cancel()

    def adopt(self, work: Work) -> None:
        """Make a compilation one of those that `cancel` stops."""
        with self._lock:
            self._under_way.add(work)
            if self._cancelled:
                work.budget.cancel()


class _Scope:
    """The extent of a `with work.current()`; only the frame of that statement holds it. A class and no generator: it is
    entered for each schema that is read and compiled.

    Ctrl-C may come between any two instructions, so also after the compilation was made current and before anything is
    sure to undo that. The scope dies with the frame in any case, and with it the compilation is no longer current.
    """

    __slots__ = ("__weakref__", "_before", "work")
    _before: Token[ref[_Scope] | None]

    def __init__(self, work: Work) -> None:
        self.work = work

    def __enter__(self) -> Work:
        self.work.check()
        self._before = _current.set(ref(self))
        return self.work

    def __exit__(self, *_: object) -> None:
        _current.reset(self._before)


_current: ContextVar[ref[_Scope] | None] = ContextVar("current", default=None)


def _current_or_none() -> Work | None:
    """Return the compilation that is current in this thread."""
    found = _current.get()
    scope = None if found is None else found()
    return None if scope is None else scope.work


class Work:
    """One compilation. It also stops when the one that was current where it began has to stop.

    Attributes:
        limits: its bounds.
        cancellation: what stops it, if anything.
        budget: what the native core takes memory and time from.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS, cancellation: Cancellation | None = None) -> None:
        self.limits = limits
        self.cancellation = cancellation
        outer = _current_or_none()
        self.budget: Budget = Budget(limits.memory, limits.seconds, outer.budget if outer else None)
        if cancellation is not None:
            cancellation.adopt(self)

    def current(self) -> AbstractContextManager[Work]:
        """Return what makes this the compilation that is current, in this thread.

        Entering it raises:
            Cancelled: it was cancelled before it began.
        """
        return _Scope(self)

    def check(self) -> None:
        """Raise if the compilation has to stop.

        Raises:
            Cancelled: it was cancelled.
            LimitExceeded: the time is up.
        """
        self.budget.check()

    def max_states(self, given: int) -> int:
        """Return how many states may be made of automata that have `given` states together.

        Those have passed limits of their own, and twice their states is not an explosion; but a chain of constructions
        that double each time is one, so no more states are new than the limit says.
        """
        limit = self.limits.states
        return max(limit, min(2 * given, limit + given))

    def watched(self, items: Iterable[T]) -> Iterable[T]:
        """Iterate over items, and raise if the compilation has to stop, which is checked every thousand of them.

        Raises: as `check`.
        """
        if isinstance(items, list | tuple | range) and len(items) < _WATCHED_EVERY:
            return items
        return self._watched(items)

    def _watched(self, items: Iterable[T]) -> Iterator[T]:
        for number, item in enumerate(items, 1):
            yield item
            if not number % _WATCHED_EVERY:
                self.budget.check()


def current_work(work: Work | None = None) -> Work:
    """Return the compilation that a step belongs to: the one given, the current one, or a new one with default
    limits."""
    return work or _current_or_none() or Work()


def spend(steps: int) -> None:
    """Account for steps of a hundred nanoseconds each, of the current compilation if there is one.

    Raises: as `Work.check`.
    """
    work = _current_or_none()
    if work is not None:
        work.budget.spend(100 * steps)


def charge(num_bytes: int) -> None:
    """Account for memory that the current compilation, if there is one, has taken for good.

    Raises:
        LimitExceeded: it is too much.
    """
    work = _current_or_none()
    if work is not None:
        work.budget.charge(num_bytes)
