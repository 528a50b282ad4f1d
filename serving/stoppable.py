"""Calls in threads that can be cancelled while they run.

A future of `concurrent.futures` can be cancelled only before its call begins. If an engine cancels it later, the
compilation keeps running although nobody waits for it.

    StoppableThreads    the threads; used instead of a `ThreadPoolExecutor`
    Stoppable           the future of a call; `cancel` also stops a running call, as soon as the call checks
    result_of           waits for a compilation, which is cancelled when the waiting call is cancelled
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
        cancellation: stops reading and compiling in the call's own thread.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cancellation = Cancellation()
        self._lock = Lock()
        self._given_up = False
        self._compiling: Compiling | None = None

    def cancel(self) -> bool:
        """Cancel the call, whether it has begun or not; return whether it had not begun."""
        with self._lock:
            self._given_up = True
            compiling = self._compiling
        self.cancellation.cancel()
        if compiling is not None:
            compiling.cancel()
        return super().cancel()

    def wait_for(self, compiling: Compiling) -> None:
        """Cancel a compilation when this call is cancelled."""
        with self._lock:
            self._compiling = compiling
            given_up = self._given_up
        if given_up:
            compiling.cancel()


_running: ContextVar[Stoppable[Any] | None] = ContextVar("running", default=None)


def result_of(compiling: Compiling) -> TokenAutomaton:
    """Wait for a compilation.

    Raises:
        CancelledError: the call that runs in this thread was cancelled.
    """
    running = _running.get()
    if running is not None:
        running.wait_for(compiling)
    return compiling.result()


class StoppableThreads(ThreadPoolExecutor):
    """Threads whose calls can be cancelled while they run."""

    def __init__(self, threads: int, limits: Limits) -> None:
        """Make the threads.

        Args:
            threads: the number of calls that run at a time.
            limits: the limits of each call in its own thread.
        """
        super().__init__(threads, "tokenfst reading")
        self._limits = limits

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Stoppable[T]:
        """Call a function in a thread."""
        future = Stoppable[T]()
        call = super().submit(self._run, future, lambda: fn(*args, **kwargs))
        # For example, if the threads are shut down before the call has begun.
        call.add_done_callback(lambda done: future.cancel() if done.cancelled() else None)
        return future

    def _run(self, future: Stoppable[Any], call: Callable[[], Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        token = _running.set(future)
        try:
            with Work(self._limits, future.cancellation).current():
                result = call()
        except BaseException as error:  # whatever it is, the waiting caller must get it
            future.set_exception(error)
        else:
            future.set_result(result)
        finally:
            _running.reset(token)
