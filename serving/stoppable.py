"""Calls in threads that can be given up while they run.

A future of `concurrent.futures` can be cancelled only before its call begins. An engine that cancels it later leaves
the compilation running, which nobody waits for.

    StoppableThreads    the threads; in the place of a `ThreadPoolExecutor`
    Stoppable           the future of a call; `cancel` also stops what the call does, as soon as that is noticed
    result_of           waits for a compilation, which the call gives up when it is given up itself
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from automata.limits import Cancellation, Limits, Work
from decoding.compiling import Compiling
from tokenfst.token_automaton import TokenAutomaton

P = ParamSpec("P")
T = TypeVar("T")


class Stoppable(Future[T]):
    """The future of a call in a thread of `StoppableThreads`.

    Attributes:
        cancellation: what stops the reading and compiling of the call's own thread.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cancellation = Cancellation()
        self._lock = Lock()
        self._given_up = False
        self._compiling: Compiling | None = None

    def cancel(self) -> bool:
        """Give the call up, whether it has begun or not; return whether it had not."""
        with self._lock:
            self._given_up = True
            compiling = self._compiling
        self.cancellation.cancel()
        if compiling is not None:
            compiling.cancel()
        return super().cancel()

    def wait_for(self, compiling: Compiling) -> None:
        """Give a compilation up when this call is given up."""
        with self._lock:
            self._compiling = compiling
            given_up = self._given_up
        if given_up:
            compiling.cancel()


_running: ContextVar[Stoppable[Any] | None] = ContextVar("running", default=None)


def result_of(compiling: Compiling) -> TokenAutomaton:
    """Wait for a compilation.

    Raises:
        CancelledError: the call that runs in this thread was given up.
    """
    running = _running.get()
    if running is not None:
        running.wait_for(compiling)
    return compiling.result()


class StoppableThreads(ThreadPoolExecutor):
    """Threads whose calls can be given up."""

    def __init__(self, threads: int, limits: Limits) -> None:
        """Make the threads.

        Args:
            threads: how many calls run at a time.
            limits: what each of them may take in its own thread.
        """
        super().__init__(threads, "tokenfst reading")
        self._limits = limits

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Stoppable[T]:
        """Call a function in a thread."""
        future = Stoppable[T]()
        call = super().submit(self._run, future, lambda: fn(*args, **kwargs))
        # As where the threads are shut down before the call has begun.
        call.add_done_callback(lambda done: future.cancel() if done.cancelled() else None)
        return future

    def _run(self, future: Stoppable[Any], call: Callable[[], Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        token = _running.set(future)
        try:
            with Work(self._limits, future.cancellation).current():
                result = call()
        except BaseException as error:  # whatever it is, who waits is to know
            future.set_exception(error)
        else:
            future.set_result(result)
        finally:
            _running.reset(token)
