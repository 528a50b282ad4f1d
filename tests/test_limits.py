"""Hostile expressions end in an error that names the limit, or compile; nothing hangs, and threads can be stopped."""

from __future__ import annotations

import gc
import sys
import threading
import time
from contextlib import suppress
from random import Random
from types import FrameType
from typing import Any

import pytest

import tokenfst
from automata import (
    ANY_TEXT,
    Cancellation,
    Cancelled,
    Expr,
    LimitExceeded,
    Limits,
    compile_expr,
    complement,
    concat,
    derivative,
    literal,
    parse,
    repeat,
)
from automata.compile.blame import MAX_EXCERPT, responsible
from automata.limits import Work, current_work
from automata.pattern.unicode_properties import property_ranges
from automata.pushdown.prestar import transposed
from constraints import grammar
from tokenfst import Vocabulary

SMALL = Limits(states=2000, arcs=50_000)
SCRIPTS = ["Arab", "Armn", "Beng", "Cyrl", "Deva", "Geor", "Grek", "Gujr", "Guru", "Hang", "Hani", "Hebr", "Hira"]
EXPLOSIVE = "(?:a|b)*a(?:a|b){60}"


def compile_within(expr: Expr, limits: Limits) -> int:
    return compile_expr(expr, Work(limits)).num_states


@pytest.mark.parametrize("around", ["{}", "x|foo(?:{})bar", "(?:(?:{}),)*", "(?P<NOT>q(?:{}))"])
def test_the_error_names_the_limit_the_amount_and_the_part(around: str) -> None:
    expr = parse(around.format(EXPLOSIVE))
    with pytest.raises(LimitExceeded) as caught:
        compile_within(expr, SMALL)
    message = str(caught.value)
    assert "more than 2,000 states (limit `states`)" in message
    part = message.split("responsible is ")[1]
    assert part == EXPLOSIVE
    assert "foo" not in part


def test_what_fits_is_not_refused() -> None:
    # 2^(n+1) states, less one.
    assert compile_within(parse("(?:a|b)*a(?:a|b){9}"), SMALL) == 2**10
    with pytest.raises(LimitExceeded):
        compile_within(parse("(?:a|b)*a(?:a|b){10}"), SMALL)


def test_a_chain_of_constructions_does_not_evade_the_limit() -> None:
    # Each look-ahead doubles the states of what was made before it.
    for pattern in ("".join(f"(?=.*{letter})" for letter in "abcdefghijklmn") + "[a-z]+", ".*(?<=a.{14})"):
        with pytest.raises(LimitExceeded, match="limit `states`"):
            compile_within(parse(pattern), SMALL)


def test_nested_bounds_are_refused_before_anything_is_laid_out() -> None:
    begun = time.process_time()
    with pytest.raises(LimitExceeded, match=r"^\(\?:\(\?:a\{1,1000\}b\)\{1,1000\}c\)\{1,1000\} has 1,001,001,000 "):
        compile_expr(parse("((((a{1,1000}b){1,1000}c){1,1000}d){1,1000})e"))
    assert time.process_time() - begun < 10


def test_products_have_limits() -> None:
    # What the seventh from the end is: 128 states each, and 2,187 together.
    left, right = parse("[abc]*a[abc]{6}"), parse("[abc]*c[abc]{6}")
    with pytest.raises(LimitExceeded, match=r"2,000 states .* part responsible is \(\?P<MINUS>"):
        compile_within(repeat(right - left, 0, 1), SMALL)


def test_the_time_is_a_limit() -> None:
    begun = time.process_time()
    with pytest.raises(LimitExceeded, match=r"more than 0\.3 seconds \(limit `seconds`\)"):
        compile_within(parse("(?:a|b)*a(?:a|b){60}"), Limits(states=10**9, memory=1 << 33, seconds=0.3))
    assert time.process_time() - begun < 10


def test_sets_of_exits_are_transposed_within_the_time() -> None:
    random = Random(0)
    sets = [random.getrandbits(3000) for _ in range(9000)]
    having = transposed(sets, 3000, Work())
    for number in range(0, 9000, 700):
        assert sum((own >> number & 1) << bit for bit, own in enumerate(having)) == sets[number]
    with pytest.raises(LimitExceeded, match=r"more than 0\.01 seconds"):
        transposed(sets, 3000, Work(Limits(seconds=0.01)))


def test_algebra_and_names_keep_to_the_time() -> None:
    letters = "".join(Random(0).choices("abcdefghij", k=20_000))
    nested = "(?:(?:(?:a{0,30}b?){0,30}d?){0,30}e?){0,30}"
    names = "".join(rf"\p{{scx={name}}}|\p{{sc={name}}}|" for name in SCRIPTS)
    for call in (
        lambda: grammar(f'start: "x" start | %json {{"type": "string", "pattern": "^{letters}$"}}'),
        lambda: derivative(parse(nested), "a" * 20),
        lambda: parse(names * 20),
    ):
        begun = time.process_time()
        with suppress(LimitExceeded), Work(Limits(seconds=0.3)).current():
            call()
        assert time.process_time() - begun < 5


def test_names_of_properties_are_read_once() -> None:
    expected = property_ranges("Alphabetic")
    for number in range(50):
        # The same object: another spelling of the name is no other entry of the cache.
        assert property_ranges(f"alpha{'_' * number}BETIC{' -'[number % 2]}") is expected


def test_memory_is_a_limit() -> None:
    with pytest.raises(LimitExceeded, match=r"takes more than 1,000,000 bytes \(limit `memory`\)"):
        compile_within(parse("(?:a|b)*a(?:a|b){60}"), Limits(memory=1_000_000))
    vocabulary = Vocabulary([b"a" * length for length in range(1, 65)])
    with pytest.raises(LimitExceeded, match=r"the effect of tokens on 5,001 states takes more than 1,000,000 bytes"):
        tokenfst.compile("a" * 5000, vocabulary, limits=Limits(memory=1_000_000)).complete()


def test_a_compilation_in_a_thread_can_be_cancelled() -> None:
    cancellation, caught = Cancellation(), []

    def work() -> None:
        try:
            tokenfst.compile(
                EXPLOSIVE, Vocabulary([b"a", b"b"]), limits=Limits(states=10**9), cancellation=cancellation
            )
        except Cancelled as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.2)
    cancellation.cancel()
    thread.join(timeout=300)
    assert not thread.is_alive()
    assert len(caught) == 1
    # It stays cancelled, and stops others too.
    with pytest.raises(Cancelled):
        tokenfst.compile("a", Vocabulary([b"a"]), cancellation=cancellation)


def test_deep_nesting_neither_recurses_nor_hangs() -> None:
    depth = 10_000
    groups = parse("(" * depth + "a" + ")" * depth)
    assert groups == literal("a")
    nested, other = literal("a"), literal("a")
    for number in range(depth):
        nested, other = repeat(concat("b", nested), number % 2, 1), repeat(concat("b", other), number % 2, 1)
    assert nested == other
    assert len({nested, other}) == 1
    assert compile_expr(nested).accepts(b"b" * depth + b"a")
    assert compile_expr(parse(str(nested))).num_states == compile_expr(nested).num_states


def test_deeply_nested_operations_compile() -> None:
    expr = parse("a|b|ab")
    for _ in range(1000):
        expr = complement(expr & ANY_TEXT)
    assert compile_expr(expr).accepts(b"ab")


def test_long_and_catastrophic_patterns_compile() -> None:
    long = "ab?c|" * 12_500
    assert len(long) > 50_000
    assert compile_expr(parse(long)).accepts(b"abc")
    for pattern in ["(a|a)*b", "(a|aa)+c", "(x+x+)+y", "(a*)*(a*)*b", "(.*)*(.*)*(.*)*c", "(a?){200}a{200}"]:
        assert compile_expr(parse(pattern)).num_states < 1000


def test_parts_are_narrowed_from_both_ends() -> None:
    expr = concat("x", parse("c*"), parse("a*"), "y", parse("b*"), "z", parse("d*"))
    found = responsible(expr, lambda part: "a*" in str(part) and "b*" in str(part))
    assert str(found) == "a*yb*"


def test_an_excerpt_is_short() -> None:
    with pytest.raises(LimitExceeded) as caught:
        compile_within(parse("|".join(f"word{number}" for number in range(20_000))), Limits(arcs=1000))
    assert len(str(caught.value)) < 4 * MAX_EXCERPT


def interrupted_at(instruction: int) -> bool:
    """Makes a compilation current, and raises KeyboardInterrupt at an instruction on the way; whether there was one."""
    left = instruction

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code.co_name in ("current", "work_within"):
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    def work_within() -> None:
        with Work(Limits(seconds=0.5)).current():
            assert current_work().limits.seconds == 0.5

    sys.settrace(trace)
    try:
        work_within()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_no_compilation_stays_current_after_an_interrupt() -> None:
    instruction = 0
    gc.freeze()  # so that each collection visits only what was made since
    try:
        while interrupted_at(instruction):
            gc.collect()
            assert current_work().limits == Limits()
            instruction += 1
    finally:
        gc.unfreeze()
    assert instruction > 20
    assert current_work().limits == Limits()


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"memory": 1e9}, TypeError, "limit `memory` is an integer, not 1000000000.0"),
        ({"states": None}, TypeError, "limit `states` is an integer, not None"),
        ({"arcs": -1}, ValueError, "limit `arcs` is between 0 and"),
        ({"memory": 1 << 70}, ValueError, "limit `memory` is between 0 and"),
        ({"seconds": "1"}, TypeError, "limit `seconds` is a number, not '1'"),
        ({"seconds": float("nan")}, ValueError, "limit `seconds` is 0 or more, not nan"),
        ({"seconds": -1}, ValueError, "limit `seconds` is 0 or more, not -1"),
    ],
)
def test_limits_that_are_none_are_refused(given: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Limits(**given)
