"""A clock for tests that say how long something may take, whatever else the machine does meanwhile."""

from __future__ import annotations

import time

from automata.jit import seconds_compiling


def seconds_worked() -> float:
    """Processor time of this process so far, in seconds, without what went into compiling kernels."""
    return time.process_time() - seconds_compiling()
