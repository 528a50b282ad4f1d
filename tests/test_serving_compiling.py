"""What an engine's threads compile can be given up while it runs, and what is kept has a bound; no engine is needed."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest

import tokenfst
from automata import Limits
from automata.errors import Cancelled, LimitExceeded
from constraints import json_schema
from decoding import bundled_model, vocabulary_of
from decoding.compiling import BackgroundCompiler
from serving.lru_cache import LruCache
from serving.matcher import Matcher
from serving.specifications import constraint_of
from serving.stoppable import StoppableThreads, result_of
from tokenfst import Vocabulary

TOKENS = [bytes([byte]) for byte in range(256)] + [b"ab", "é".encode(), b"name", b""]
BYTES = Vocabulary(TOKENS, len(TOKENS) - 1)
HOSTILE = "(a|b)*a" + "(a|b)" * 60  # 2^60 states


def soon(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def is_idle() -> bool:
    """Whether this process takes no time: what was compiled has stopped."""
    before = time.process_time()
    time.sleep(0.5)
    return time.process_time() - before < 0.02


# Threads


def test_calls_have_results_and_errors() -> None:
    threads = StoppableThreads(2, Limits())
    assert threads.submit(divmod, 7, 2).result(10) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        threads.submit(divmod, 7, 0).result(10)
    threads.shutdown()


def test_a_compilation_stops_when_its_call_is_given_up() -> None:
    threads = StoppableThreads(1, Limits(seconds=600))
    with BackgroundCompiler(threads=1, limits=Limits(seconds=600, memory=1 << 34, states=1 << 30)) as compiler:
        begun = threading.Event()

        def call() -> Any:
            request = compiler.submit(HOSTILE, BYTES)
            begun.set()
            return result_of(request)

        future = threads.submit(call)
        assert begun.wait(10)
        time.sleep(0.1)
        assert not future.cancel()
        with pytest.raises((CancelledError, Cancelled)):
            future.result(20)
        assert soon(is_idle)
        assert compiler.submit("a+", BYTES).result(20).accepts("aa")
    threads.shutdown()


def test_a_compilation_that_nobody_gives_up_is_waited_for() -> None:
    with BackgroundCompiler(threads=1) as compiler, StoppableThreads(1, Limits()) as threads:
        slow = "(?:a|b)*a(?:a|b){9}"
        assert threads.submit(lambda: result_of(compiler.submit(slow, BYTES))).result(60).accepts("a" * 10)


def test_reading_stops_when_its_call_is_given_up() -> None:
    properties = {f"p{i}": {"minLength": i} for i in range(3)}
    wide = {"type": "object", "allOf": [{"properties": {**properties, f"q{i}": {"minLength": i}}} for i in range(600)]}
    threads, begun = StoppableThreads(1, Limits(seconds=600, memory=1 << 34)), threading.Event()

    def call() -> None:
        begun.set()
        while True:
            json_schema(wide)

    future = threads.submit(call)
    assert begun.wait(10)
    future.cancel()
    with pytest.raises(Cancelled):
        future.result(60)
    threads.shutdown()


def test_a_call_that_was_given_up_before_it_began_is_never_made() -> None:
    threads, may_end, calls = StoppableThreads(1, Limits()), threading.Event(), list[int]()
    first, second = threads.submit(may_end.wait, 20), threads.submit(calls.append, 1)
    assert second.cancel()
    may_end.set()
    assert first.result(10)
    threads.shutdown()
    assert second.cancelled()
    assert calls == []


def test_calls_that_a_shutdown_cancels_are_cancelled() -> None:
    threads, may_end = StoppableThreads(1, Limits()), threading.Event()
    first, second = threads.submit(may_end.wait, 20), threads.submit(len, "")
    threads.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(CancelledError):
        second.result(10)
    may_end.set()
    assert first.result(10)


def test_reading_has_a_deadline() -> None:
    threads = StoppableThreads(1, Limits(seconds=0.01))

    def call() -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            constraint_of("json", json.dumps({"type": "object"}))

    with pytest.raises(LimitExceeded, match="seconds"):
        threads.submit(call).result(60)
    threads.shutdown()


# The cache


def test_what_was_asked_for_least_recently_goes_first() -> None:
    cache = LruCache[str, bytes](10, lambda key, value: len(key) + len(value))
    cache["a"], cache["b"] = b"1234", b"123"
    assert cache.nbytes == 9
    assert cache.get("a") == b"1234"
    cache["c"] = b"1"
    assert list(cache) == ["a", "c"]
    assert cache.get("b") is None
    cache["a"] = b""
    assert (cache.nbytes, len(cache)) == (3, 2)
    assert cache.pop("a", None) == b""
    assert cache.pop("a", None) is None
    cache["d"] = b"0123456789"
    assert (list(cache), cache.nbytes) == (["c"], 2)  # what is too large alone drops nothing else


def test_what_has_no_size_is_not_kept() -> None:
    cache = LruCache[int, str](100, lambda key, value: None if value == "passing" else 10)
    cache[1] = "lasting"
    cache[2] = "passing"
    cache[3] = "lasting"
    assert dict(cache.items()) == {1: "lasting", 3: "lasting"}
    del cache[3]
    cache[1] = "passing"
    assert (dict(cache), cache.nbytes) == ({}, 0)


def test_what_grows_is_measured_again() -> None:
    cache = LruCache[int, list[int]](10, lambda key, value: len(value))
    first, second = [0], [0]
    cache[1], cache[2] = first, second
    first += range(9)
    assert cache[1] is first
    assert (list(cache), cache.nbytes) == ([1], 10)
    cache[3] = [0]
    assert list(cache) == [3]  # the one that grew was too large beside the new one
    cache.clear()
    assert (cache.nbytes, len(cache)) == (0, 0)


def test_the_bound_holds_whatever_is_done() -> None:
    rng, sizes = random.Random(1), {key: key * 7 % 40 for key in range(50)}
    cache = LruCache[int, int](100, lambda key, value: sizes[key])
    for _ in range(3000):
        key = rng.randrange(50)
        rng.choice([cache.get, lambda k: cache.__setitem__(k, k), lambda k: cache.pop(k, None)])(key)
        assert cache.nbytes == sum(sizes[kept] for kept in cache) <= 100


# Forced text


@pytest.mark.parametrize(
    ("constraint", "before", "forced"),
    [
        ("name: [ab]", "", "name: "),
        ("name: [ab]", "name", ": "),
        ("[ab]c", "", ""),
        ("[ab]c", "a", "c"),
        ("(é|è)x", "", ""),  # the first byte is forced, and no whole character
        ("aé(x|y)", "", "aé"),
        ("ab", "ab", ""),
    ],
)
def test_text_that_must_come(constraint: str, before: str, forced: str) -> None:
    matcher = Matcher(tokenfst.compile(constraint, BYTES))
    assert matcher.accept(list(before.encode()))
    assert matcher.forced_text() == forced
    assert matcher.num_tokens == len(before)


def test_nothing_is_forced_within_a_character_and_after_the_end() -> None:
    matcher = Matcher(tokenfst.compile("éa", BYTES))
    assert matcher.accept(list("é".encode()[:1]))
    assert matcher.forced_text() == ""
    assert matcher.accept([*"é".encode()[1:], ord("a"), len(TOKENS) - 1])
    assert matcher.forced_text() == ""


def test_forced_text_of_a_schema() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "boolean"}}, "required": ["name"]}
    constraint = constraint_of("json", json.dumps(schema | {"additionalProperties": False}), blanks="compact")
    matcher = Matcher(tokenfst.compile(constraint, vocabulary_of(bundled_model()[1])))
    assert matcher.forced_text() == '{"name":'
