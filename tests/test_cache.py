"""Caches: what is kept is made once, until automata that are kept take too many bytes together."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
import weakref
from itertools import pairwise
from threading import Thread
from typing import Any, NamedTuple

import pytest

import tokenfst
from automata import cache
from automata.cache import BoundedCache, kept, kept_while_alive
from automata.visibly_pushdown import fragments
from constraints import json_schema
from tokenfst.vocabulary.all_bytes import ALL_BYTES


class Sized(NamedTuple):
    nbytes: int


@pytest.fixture
def few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_BYTES", 100)
    monkeypatch.setattr(cache, "_num_bytes", 0)


@pytest.mark.usefixtures("few_bytes")
def test_all_caches_forget_where_values_take_too_much() -> None:
    made = list[int]()

    @kept(10)
    def sized(number: int) -> Sized:
        made.append(number)
        return Sized(30)

    small = BoundedCache[str, int](10)
    small.put("a", 1)
    assert [sized(1), sized(2), sized(1), sized(3)] == [Sized(30)] * 4
    assert made == [1, 2, 3]
    assert small.get("a") == 1
    sized(4)  # 120 bytes together
    assert small.get("a") is None
    sized(1)
    assert made == [1, 2, 3, 4, 1]
    # The count began again with what was stored then.
    small.put("a", 1)
    sized(2)
    assert small.get("a") == 1
    sized(3)
    assert small.get("a") is None


@pytest.mark.usefixtures("few_bytes")
def test_values_of_a_bounded_cache_count_too() -> None:
    sizes, other = BoundedCache[int, Sized](10), BoundedCache[int, int](2)
    for number in range(3):
        other.put(number, number)
    other.put(2, 2)  # evicts nothing, since it takes the place of its own
    assert [other.get(number) for number in range(3)] == [None, 1, 2]
    assert sizes.get_or_make(1, lambda: Sized(100)) == Sized(100)
    assert sizes.get(1) is not None
    sizes.put(2, Sized(1))
    assert sizes.get(1) is None
    assert sizes.get(2) == Sized(1)
    assert other.get(2) is None


@pytest.mark.usefixtures("few_bytes")
def test_what_values_are_made_from_counts_too() -> None:
    made = list[str]()

    @kept(10)
    def first(text: str, others: tuple[bytes, ...] = ()) -> int:
        made.append(text[0])
        return len(others)

    for text, *others in ("a" * 60,), ("b" * 20, b"c"), ("a" * 60,), ("d" * 60,), ("a" * 60,):
        assert first(text, tuple(others)) == len(others)
    assert made == ["a", "b", "d", "a"]
    numbers = BoundedCache[str, int](10)
    numbers.put("e" * 30, 1)
    numbers.put("f" * 60, 2)
    assert (numbers.get("e" * 30), numbers.get("f" * 60)) == (None, 2)


def test_threads_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_num_bytes", 0)
    sizes = BoundedCache[int, Sized](10)

    def put() -> None:
        for number in range(1000):
            sizes.put(number, Sized(1))

    threads = [Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache._num_bytes == 8000


_FORKS = """
import os, threading
from automata.cache import BoundedCache
cache = BoundedCache(2)
def put():
    for number in iter(int, 1):
        cache.put("a", number)
for _ in range(2):
    threading.Thread(target=put, daemon=True).start()
for number in range(100):
    child = os.fork()
    if child == 0:
        cache.put("b", number)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork")
def test_no_lock_is_held_for_good_after_a_fork() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", _FORKS], check=True, timeout=120)


def test_what_is_made_for_an_object_is_kept_as_long_as_the_object() -> None:
    class Thing:
        pass

    made = list[int]()

    @kept_while_alive
    def result(of: Thing) -> list[int]:
        made.append(id(of))
        return made

    thing, other = Thing(), Thing()
    assert result(thing) is result(thing) is result(other)
    assert made == [id(thing), id(other)]
    forgotten = weakref.ref(thing)
    del thing
    assert forgotten() is None


def test_vocabularies_are_forgotten() -> None:
    unique = json_schema({"type": "array", "items": {"type": "string"}, "uniqueItems": True})
    known = list[weakref.ref[tokenfst.Vocabulary]]()
    for number in range(3):
        tokens = [*(bytes([byte]) for byte in range(256)), b"", b"%d" % number]
        vocabulary = tokenfst.Vocabulary(tokens, eos_ids=[256])
        automaton = tokenfst.compile(unique, vocabulary)
        automaton.mask(automaton.start)
        known.append(weakref.ref(vocabulary))
        del vocabulary, automaton
    gc.collect()
    assert [each() for each in known] == [None] * 3


def test_large_patterns_of_many_schemas_are_not_kept_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 1 << 22
    monkeypatch.setattr(cache, "MAX_BYTES", most)
    monkeypatch.setattr(cache, "_num_bytes", 0)
    counts = list[int]()
    for number in range(8):
        json_schema({"type": "string", "pattern": f"a.{{9}}b{number}"})
        counts.append(cache._num_bytes)
    assert max(counts) <= most
    assert any(later < before for before, later in pairwise(counts))


def _of_long_text(kind: str, text: str) -> dict[str, Any]:
    schemas: dict[str, dict[str, Any]] = {
        "name": {"type": "object", "properties": {text: True}, "additionalProperties": False},
        "open": {"type": "object", "properties": {text: {"type": "null"}, f"{text}2": {"type": "null"}}},
        "required": {"type": "object", "required": [text]},
        "dependent": {"type": "object", "dependentRequired": {text: [f"{text}2"]}},
        "names": {"type": "object", "propertyNames": {"const": text}},
        "const": {"const": text},
        "enum": {"enum": [text, f"{text}2"]},
        "not": {"not": {"const": text}},
        "keyword": {"type": "null", text: 1},
    }
    return schemas[kind]


@pytest.mark.parametrize("kind", ["name", "open", "required", "dependent", "names", "const", "enum", "not", "keyword"])
def test_long_texts_of_many_schemas_are_not_kept_without_bound(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 20_000
    monkeypatch.setattr(cache, "MAX_BYTES", 10 * size)
    monkeypatch.setattr(cache, "_num_bytes", 0)

    def compile_schemas(first: int, last: int) -> int:
        for number in range(first, last):
            tokenfst.compile(json_schema(_of_long_text(kind, f"{number}" + "a" * size)), ALL_BYTES)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = compile_schemas(0, 20)
        assert compile_schemas(20, 80) - before < 20 * size
    finally:
        tracemalloc.stop()


def test_fragments_of_counted_strings_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_num_bytes", 0)
    words = "|".join(f"{number * number:x}" for number in range(100_000, 101_500))
    tokenfst.compile(json_schema({"type": "string", "pattern": f"^({words})", "maxLength": 5000}), ALL_BYTES)
    stored = [value for value in fragments._counted_cache._entries.values() if value.nbytes > 50_000]
    assert stored
    assert cache._num_bytes > sum(value.nbytes for value in stored)
