"""Inputs that ask for more than there is: each compiles, or is refused by name, soon and within the limit of memory.

The inputs are those of the benchmark (`benchmarks/hostile_inputs.py`), all tried in one process, which is begun again
where it is lost. Reading and compiling have a third of a second each; some inputs are tried with the limits as they are
by default, which they have to meet as soon.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hostile import Attempt, is_meant, result
from hostile_inputs import INPUTS
from oracles import oracle
from workers import Worker

from automata import PatternError
from automata.limits import DEFAULT_LIMITS

VOCAB = [*(bytes([byte]) for byte in range(256)), b"ab", b'":']
# By the clock; far more than it should take, since processors differ and are shared.
PATIENCE = 60.0
BY_DEFAULT = (
    "pattern: up to 100, 3 deep",
    "pattern: a literal of a million in any case",
    "pattern: a count of 5,000 digits",
    "schema: an array of up to 10,000 objects",
    "schema: 1,000 to 2,000 integers among the items",
    "schema: 3,000 properties",
    "schema: 10,000 items, one by one",
    "schema: 20 patterns of names",
    "schema: 200 patterns of names",
    "schema: else, 1,000 deep",
    "grammar: a rule 100,000 times",
    "grammar: a word 100,000 times",
    "grammar: 10,000 patterns that overlap",
)
# What `jsonschema` takes too long for.
NO_ORACLE = ("deep", "multiples", "overlap", "times any of two", "thousand digits")
MAX_BYTES = 20_000

linux = pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are the kernel's")


@pytest.fixture(scope="module")
def patient() -> Iterator[Worker]:
    worker = Worker(Attempt, "tokenfst", VOCAB)
    yield worker
    worker.end()


@pytest.fixture(scope="module")
def hurried() -> Iterator[Worker]:
    worker = Worker(Attempt, "tokenfst@0.3", VOCAB)
    yield worker
    worker.end()


def check(worker: Worker, name: str) -> None:
    limit = int(1.1 * DEFAULT_LIMITS.memory)
    found = result("tokenfst", name, worker(name, PATIENCE, limit))
    assert found.outcome in ("done", "refused"), found
    assert found.seconds < 8, found  # 2 are aimed at; processors differ, and others may use them


@linux
@pytest.mark.parametrize("name", INPUTS)
def test_it_compiles_or_is_refused_soon(hurried: Worker, name: str) -> None:
    check(hurried, name)


@linux
@pytest.mark.parametrize("name", BY_DEFAULT)
def test_it_does_so_with_limits_as_they_are(patient: Worker, name: str) -> None:
    check(patient, name)


def test_the_inputs_are_many() -> None:
    assert len(INPUTS) >= 300
    assert {hostile.kind for hostile in INPUTS.values()} == {"pattern", "schema", "grammar"}


def test_what_the_inputs_say_of_values_is_so() -> None:
    for name, hostile in INPUTS.items():
        if hostile.kind != "schema" or any(word in name for word in NO_ORACLE):
            continue
        schema = hostile.make()
        if len(json.dumps(schema)) > MAX_BYTES:
            continue
        judge = oracle("schema", schema)
        for values, right in ((hostile.valid, True), (hostile.invalid, False)):
            for value in values:
                assert judge(json.dumps(value).encode()) in (right, None), (name, value)


def toy() -> Callable[[str], str]:
    """What a worker runs: a task is named for how it ends."""

    def do(task: str) -> str:
        if task == "crash":
            os._exit(3)
        if task == "raised":
            raise KeyError(task)
        kept = bytearray(1 << 28) if task == "memory" else b""
        while task in ("time", "memory"):
            time.sleep(0.01)
        if task == "late":
            threading.Timer(0.2, lambda: os._exit(3)).start()
        return task + "!" * len(kept)

    return do


@linux
def test_a_worker_survives_whatever_a_task_does() -> None:
    worker = Worker(toy)
    for task in ("fine", "crash", "raised", "time", "memory", "fine"):
        outcome = worker(task, 1.0, 1 << 27)
        assert outcome.ending == ("done" if task == "fine" else task)
    assert outcome.value == "fine"
    assert worker("late", 1.0).value == "late"
    time.sleep(0.5)
    assert worker("fine", 1.0).value == "fine"
    worker.end()


def deliberate() -> None:
    raise TypeError("not that")


def accident() -> None:
    number: Any = 1
    _ = "a" + number


def endless() -> None:
    endless()


@pytest.mark.parametrize(("does", "meant"), [(deliberate, True), (accident, False), (endless, False)])
def test_only_what_is_raised_on_purpose_is_a_refusal(does: Callable[[], None], meant: bool) -> None:
    with pytest.raises((TypeError, RecursionError)) as caught:
        does()
    assert is_meant(caught.value) is meant
    assert is_meant(PatternError("no", "a", 0))
