"""Limits on the resources of a compilation, and how to stop one.

    Limits          the bounds: arcs, states, bytes, seconds
    Cancellation    stops compilations from another thread
    Work            one compilation: its limits, and the budget that the native core spends
    spend           accounts for steps of the current compilation
    charge          accounts for memory of the current compilation

The native core counts the memory that it allocates, and checks the clock, `Cancellation` and signals about every
millisecond (`native/support/budget.h`). Python code calls `Work.check` or `spend` in its loops.

A compilation is *current* inside `with work.current():`. Reading a schema takes hundreds of small functions, many of
them memoized; they look up the current compilation instead of passing it as an argument.

Rejected: a limit on steps instead of seconds (steps differ a thousandfold in cost); a thread that watches deadlines
(checking the clock now and then costs less, and does not wait for Python's global interpreter lock).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import NoReturn, TypeVar
from weakref import WeakSet, ref

from automata._native import Budget
from automata.copying import Shared

T = TypeVar("T")

_WATCHED_EVERY = 1000
# The native core counts in 64 bits.
_LARGEST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one compilation, which raises LimitExceeded if it exceeds one of them.

    Attributes:
        arcs: the number of leaves of an expression with its repetitions written out, and of arcs of its layout.
        states: the number of deterministic states, before minimization, over bytes and over tokens.
        memory: the memory that the compilation takes at any one time, in bytes.
        seconds: the wall-clock time, in seconds.

    Raises:
        TypeError: a limit is not a number.
        ValueError: a limit is negative, or an integer of more than 63 bits.
    """

    arcs: int = 4_000_000
    states: int = 1_000_000
    memory: int = 1 << 30
    seconds: float = 60.0

    def __post_init__(self) -> None:
        for name in ("arcs", "states", "memory"):
            value = getattr(self, name)
            if not isinstance(value, int):
                raise TypeError(f"limit `{name}` is an integer, not {value!r}")
            if not 0 <= value <= _LARGEST:
                raise ValueError(f"limit `{name}` is between 0 and {_LARGEST}, not {value}")
        if not isinstance(self.seconds, int | float):
            raise TypeError(f"limit `seconds` is a number, not {self.seconds!r}")
        if not self.seconds >= 0:
            raise ValueError(f"limit `seconds` is 0 or more, not {self.seconds}")


DEFAULT_LIMITS = Limits()


class Cancellation(Shared):
    """Stops compilations from another thread: all those that were given this object, running or not yet started.

    Copying an object that holds it does not copy it, so compilations that start from the copy are stopped too.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: WeakSet[Work] = WeakSet()
        self._cancelled = False

    def __reduce__(self) -> NoReturn:
        """Raise TypeError: no other process can be cancelled."""
        raise TypeError("a Cancellation cannot be pickled: create a new one in the process that compiles")

    def cancel(self) -> None:
        """Make every compilation with this cancellation raise Cancelled as soon as it checks."""
        with self._lock:
            self._cancelled = True
            for work in self._under_way:
                work.budget.cancel()

    def adopt(self, work: Work) -> None:
        """Add a compilation to those that `cancel` stops."""
        with self._lock:
            self._under_way.add(work)
            if self._cancelled:
                work.budget.cancel()


class _Scope:
    """The extent of a `with work.current()`; only the frame of that statement holds a reference to it. It is a class
    instead of a generator because it is entered for each schema that is read and compiled, and a class is faster.

    Ctrl-C may come between any two instructions, for example after the compilation was made current and before anything
    ensures that this is undone. In any case the scope is freed with the frame, and then the compilation is no longer
    current.
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
    """One compilation. If another compilation was current when this one was created, it stops when that one must stop.

    Attributes:
        limits: the bounds of the compilation.
        cancellation: the object that can stop it, or None.
        budget: the budget of memory and time, which the native core spends.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS, cancellation: Cancellation | None = None) -> None:
        if not isinstance(limits, Limits):
            raise TypeError(f"limits are Limits(seconds=..., memory=...), not {type(limits).__name__}")
        self.limits = limits
        self.cancellation = cancellation
        outer = _current_or_none()
        self.budget: Budget = Budget(limits.memory, limits.seconds, outer.budget if outer else None)
        if cancellation is not None:
            cancellation.adopt(self)

    def current(self) -> AbstractContextManager[Work]:
        """Return a context manager that makes this compilation the current one in this thread.

        Entering it raises:
            Cancelled: the compilation was cancelled before it began.
        """
        return _Scope(self)

    def check(self) -> None:
        """Raise if the compilation has to stop.

        Raises:
            Cancelled: the compilation was cancelled.
            LimitExceeded: the time is up.
        """
        self.budget.check()

    def max_states(self, given: int) -> int:
        """Return how many states a construction may make from automata that have `given` states in total.

        These automata were within limits of their own, so twice their number of states is acceptable. A chain of
        constructions could double it each time, however, so at most `limits.states` states may be new.
        """
        limit = self.limits.states
        return max(limit, min(2 * given, limit + given))

    def watched(self, items: Iterable[T]) -> Iterable[T]:
        """Iterate over items; after every thousand, check whether the compilation has to stop, and raise if so.

        Raises: as for `check`.
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
    """Return the compilation that a step belongs to: the given one, else the current one, else a new one with default
    limits.

    Raises:
        TypeError: `work` is something else, such as `Limits`.
    """
    if work is not None and not isinstance(work, Work):
        raise TypeError(f"the work of a compilation is Work(limits), not {type(work).__name__}")
    return work or _current_or_none() or Work()


def spend(steps: int) -> None:
    """Account for steps in the current compilation, if there is one; each costs a hundred steps of the native core.

    Raises: as for `Work.check`.
    """
    work = _current_or_none()
    if work is not None:
        work.budget.spend(100 * steps)


def charge(num_bytes: int) -> None:
    """Account for memory that the current compilation, if there is one, has taken permanently.

    Raises:
        LimitExceeded: the compilation takes too much memory.
    """
    work = _current_or_none()
    if work is not None:
        work.budget.charge(num_bytes)
