"""The operator's settings: environment variables, which reach every process of an engine, with their defaults.

TOKENFST_COMPILE_SECONDS   the time that one compilation may take, in seconds; 10
TOKENFST_COMPILE_BYTES     the memory that one compilation may take; 1 GiB
TOKENFST_CACHE_BYTES       the memory of the cached constraints; 256 MiB
TOKENFST_THREADS           the number of threads that compile, and the maximum that fill a batch's masks; half of the
                           cores
TOKENFST_STEP_SECONDS      for masks on the device: how long a new constraint may delay a step, in seconds; 1
TOKENFST_ARENA_BYTES       for masks on the device: the device memory for the automata of a step; 256 MiB
TOKENFST_VLLM              the backend of vLLM to replace with ours ("outlines"); if it is not set, nothing is changed
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import inf

from automata.limits import DEFAULT_LIMITS, Limits

_MOST = 1 << 60


@dataclass(frozen=True)
class Settings:
    """The settings of one process.

    Attributes:
        seconds: the time that a compilation may take.
        num_bytes: the memory that a compilation may take.
        cache_bytes: the memory of the cached constraints.
        threads: the number of threads that compile, and the maximum that fill the masks of a batch.
        step_seconds: how long a new constraint may delay a step, if masks are made on the device.
        arena_bytes: the device memory for the automata of a step.
    """

    seconds: float = 10.0
    num_bytes: int = 1 << 30
    cache_bytes: int = 1 << 28
    threads: int = max(1, (os.cpu_count() or 2) // 2)
    step_seconds: float = 1.0
    arena_bytes: int = 1 << 28

    @property
    def limits(self) -> Limits:
        """The limits of a compilation."""
        return replace(DEFAULT_LIMITS, seconds=self.seconds, memory=self.num_bytes)


def settings_from_environment() -> Settings:
    """Return the settings of this process.

    Raises:
        ValueError: a variable is not a number above 0, or a count is not an integer, or is too large.
    """
    known = Settings()
    return Settings(
        _number("TOKENFST_COMPILE_SECONDS", known.seconds),
        _count("TOKENFST_COMPILE_BYTES", known.num_bytes),
        _count("TOKENFST_CACHE_BYTES", known.cache_bytes),
        _count("TOKENFST_THREADS", known.threads),
        _number("TOKENFST_STEP_SECONDS", known.step_seconds),
        _count("TOKENFST_ARENA_BYTES", known.arena_bytes),
    )


def _number(name: str, default: float) -> float:
    text = os.environ.get(name, "")
    try:
        value = float(text) if text else default
    except ValueError:
        value = 0.0
    if not 0 < value < inf:
        raise ValueError(f"{name} is a number above 0, not {text!r}")
    return value


def _count(name: str, default: int) -> int:
    value = _number(name, default)
    if value != int(value) or value > _MOST:
        raise ValueError(f"{name} is a whole number above 0, and at most {_MOST}, not {os.environ[name]!r}")
    return int(value)
