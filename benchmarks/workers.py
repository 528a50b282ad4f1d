"""A process that does one task after another, and is killed if a task takes too much time or memory.

    Worker      the process, as its parent sees it
    Outcome     how a task ended, with its result, its time, and the peak of resident memory while it ran

Before each task, the child resets the peak of memory that the kernel keeps for it, so one process can serve many tasks.
After it was killed or has crashed, the next task gets a new process. The parent checks the child's resident memory
while it waits. A limit on address space instead would stop engines that reserve more memory than they use. For Linux.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

Ending = Literal["done", "raised", "time", "memory", "crash"]
_LOOK_AGAIN = 0.05
_START_LIMIT = 300.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended.

    Attributes:
        ending: "raised" for an exception in the task; "time" and "memory" for the limits.
        value: what the task returned, or the end of its traceback; None for the other endings.
        seconds: the processor time of a task that returned or raised; the limit for "time"; 0 for "memory" and "crash".
        memory: the peak of resident memory, in bytes, beyond what was held before the task.
    """

    ending: Ending
    value: Any = None
    seconds: float = 0.0
    memory: int = 0


class Worker:
    """A child process that calls `make(*args)` once, and the function that this returns for each task."""

    def __init__(self, make: Callable[..., Callable[[Any], Any]], *args: Any) -> None:
        self._make, self._args = make, args
        self._process: Any = None

    def __call__(self, task: Any, seconds: float, memory: int = 1 << 62) -> Outcome:
        """Run a task within limits of time, by the clock, and of added resident memory, in bytes."""
        if self._process is None:
            self._begin()
        try:
            self._pipe.send(task)
        except OSError:  # the process ended after its last task
            self.end()
            self._begin()
            self._pipe.send(task)
        before, until = _resident(self._process.pid), time.monotonic() + seconds
        ending: Ending = "time"
        while time.monotonic() < until:
            if self._pipe.poll(_LOOK_AGAIN):
                with suppress(EOFError, ConnectionResetError):
                    outcome: Outcome = self._pipe.recv()
                    return outcome
                ending = "crash"
                break
            if _resident(self._process.pid) - before > memory:
                ending = "memory"
                break
        peak = _resident(self._process.pid, "VmHWM") - before
        self.end()
        return Outcome(ending, seconds=seconds if ending == "time" else 0.0, memory=max(peak, 0))

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        self._process = context.Process(target=_serve, args=(self._make, self._args, end), daemon=True)
        self._process.start()
        end.close()
        if not self._pipe.poll(_START_LIMIT):
            raise TimeoutError(f"{self._make.__name__} did not start in time")
        self._pipe.recv()

    def end(self) -> None:
        """Kill the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(make: Callable[..., Callable[[Any], Any]], args: tuple[Any, ...], pipe: Connection) -> None:
    do = make(*args)
    pipe.send("ready")
    while True:
        task = pipe.recv()
        # Reset the peak of resident memory that the kernel keeps (VmHWM).
        Path("/proc/self/clear_refs").write_text("5")
        before, begun = _resident("self"), time.process_time()
        ending: Ending = "done"
        try:
            value = do(task)
        except Exception:
            ending, value = "raised", traceback.format_exc()[-2000:]
        taken, peak = time.process_time() - begun, _resident("self", "VmHWM")
        pipe.send(Outcome(ending, value, taken, max(peak - before, 0)))


def _resident(process: int | str, what: str = "VmRSS") -> int:
    """Return a process's resident memory now (`VmRSS`) or at its peak (`VmHWM`), in bytes; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(what):
                return 1024 * int(line.split()[1])
    return 0
