"""The garbage collector is as it was before, whatever happens while it pauses."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from automata import UnsatisfiableSchema
from automata._native import CollectionsPaused
from constraints import json_schema


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_does_not_run_while_a_schema_is_read() -> None:
    seen = []

    def resolver(uri: str) -> object:
        seen.append(gc.isenabled())
        return {"type": "string"}

    json_schema({"$ref": "https://example.com/a"}, resolver=resolver)
    assert seen == [False]
    assert gc.isenabled()


def test_it_runs_again_after_an_error() -> None:
    with pytest.raises(UnsatisfiableSchema):
        json_schema({"type": "string", "minLength": 3, "maxLength": 2})
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    json_schema({"type": "string"})
    assert not gc.isenabled()


def test_a_schema_leaves_no_cycles_to_collect() -> None:
    node = {"properties": {"next": {"$ref": "#/$defs/node"}, "free": True}, "anyOf": [{"required": ["free"]}, {}]}
    schema = {"$id": "https://example.com/list", "$ref": "#/$defs/node", "$defs": {"node": node}}
    for order in ("schema", "any-if-cheap"):
        json_schema(schema, property_order=order)  # what is made once for all schemas
        gc.collect()
        gc.disable()
        json_schema(schema, property_order=order)
        assert gc.collect() == 0


def test_pauses_nest_and_overlap() -> None:
    one, other = CollectionsPaused(), CollectionsPaused()
    one.__enter__()
    other.__enter__()
    one.__exit__()
    assert not gc.isenabled()
    other.__exit__()
    assert gc.isenabled()
    other.__exit__()
    assert gc.isenabled()


def test_a_pause_that_is_never_left_ends_with_its_object() -> None:
    pause = CollectionsPaused()
    pause.__enter__()
    assert not gc.isenabled()
    del pause
    assert gc.isenabled()


def test_threads_that_pause_it_leave_it_on() -> None:
    def read() -> None:
        for _ in range(200):
            with CollectionsPaused():
                assert not gc.isenabled()

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.isenabled()
