"""One profile for every property: the same examples on every run; no deadline, since machines are busy.

Tests may run in several processes (pytest-xdist); each keeps to one thread where libraries would take all cores.
"""

from __future__ import annotations

import os

if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything imports torch

import base64
import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

gc.disable()  # enabled again once all tests have been collected; collecting them leaves little garbage

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# With other examples at each run: `pytest --hypothesis-profile=random`.
settings.register_profile("random", settings.get_profile("deterministic"), derandomize=False, max_examples=200)
settings.load_profile("deterministic")


@pytest.fixture(scope="module", autouse=True)
def short_collections() -> None:
    """Keep what was imported, and what other tests left, out of garbage collection: it takes a tenth of the time
    otherwise, and a third of a second at once."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    """Collect garbage from now on."""
    gc.enable()


def pytest_unconfigure() -> None:
    """Let extensions see at the end that nothing refers to them."""
    gc.unfreeze()


@pytest.fixture
def vocabulary_file(tmp_path: Path) -> Path:
    """A `.tiktoken` file of single bytes and a few words."""
    tokens = [bytes([value]) for value in range(256)] + [b"Yes", b"No", b"es"]
    path = tmp_path / "small.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(token) + f" {rank}\n".encode() for rank, token in enumerate(tokens)))
    return path
