"""Every stage of a compilation ends soon after Ctrl-C, a deadline or a cancellation, and leaves nothing broken.

    Ctrl-C          a timer raises an exception from a signal handler
    deadline        an outer `Work` has a limit on seconds
    cancellation    another thread cancels an outer `Work`

Delays are processor time, so that other processes do not count. A stage that comes to its end instead of raising has to
do so within the same delay. The timer is one of real time: those of processor time ring only at ticks of the kernel,
4 ms apart and more, and some stages take less.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

import pytest
import torch

import tokenfst
from automata import compile_expr, parse
from automata.errors import Cancelled, LimitExceeded
from automata.limits import Cancellation, Limits, Work
from constraints import choice, json, json_schema
from constraints.grammars.bundled import bundled
from constraints.json_schema import JsonSchema
from decoding.arena import Arena
from tokenfst import Vocabulary, from_tekken
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

# In all, over the stages.
INTERRUPTS = 300
# Of each stage, by a deadline and by another thread each.
STOPS = 6
# Seconds of processor time until a stage has ended.
MAX_DELAY = 0.1


class Interrupted(BaseException):
    """What the handler raises; nobody may catch it by accident."""


@contextmanager
def timer() -> Iterator[Callable[[float], object]]:
    """Sets a timer that raises."""

    def ring(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def later(seconds: float, call: Callable[[], object]) -> Iterator[list[float]]:
    """Call a function from another thread; yield a list that then holds the processor time of the call."""
    is_over, called = threading.Event(), list[float]()

    def wait() -> None:
        if not is_over.wait(seconds):
            called.append(time.process_time())
            call()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield called
    finally:
        is_over.set()
        thread.join()


def past_deadline(work: Callable[[], object], seconds: float) -> float | None:
    """Do some work with a deadline; return how long it continued after it, None if it ended before."""
    with later(seconds, lambda: None) as passed:
        try:
            with Work(Limits(seconds=seconds)).current():
                work()
        except LimitExceeded:
            return time.process_time() - passed[0] if passed else 0.0
        return time.process_time() - passed[0] if passed else None


def past_cancellation(work: Callable[[], object], seconds: float) -> float | None:
    """Do some work that another thread cancels; return how long it continued after that, None if it ended before."""
    cancellation = Cancellation()
    with later(seconds, cancellation.cancel) as called:
        try:
            with Work(cancellation=cancellation).current():
                work()
        except Cancelled:
            return time.process_time() - called[0]
        return time.process_time() - called[0] if called else None


SCHEMA = {
    "type": "object",
    "properties": {
        **{f"field{at}": {"type": "string", "pattern": f"^[a-z]{{2,9}}-[0-9]{{{at % 5 + 1}}}$"} for at in range(40)},
        "kind": {"enum": [f"value {at}" for at in range(300)]},
        "size": {"type": "number", "minimum": -273.15, "exclusiveMaximum": 1e6, "multipleOf": 0.25},
        "when": {"type": "string", "format": "date-time"},
        "where": {"type": "string", "format": "uri"},
        "parts": {"type": "array", "contains": {"const": 7}, "uniqueItems": True, "items": {"enum": [1, 2, 7, None]}},
        "next": {"$ref": "#"},
    },
    "required": ["kind", "parts"],
    "unevaluatedProperties": False,
    "anyOf": [{"required": ["size"]}, {"required": ["when"], "properties": {"field1": False}}],
}


def mask_at_start(automaton: TokenAutomaton) -> bytes:
    """Something to compare that takes all that was found."""
    return automaton.mask(automaton.start).tobytes() + bytes([automaton.min_tokens(automaton.start) & 255])


def rules_of(constraint: JsonSchema) -> bytes:
    """The outlines of a schema's rules. Not `str(constraint)`: `reprlib.recursive_repr`, which data classes use, never
    forgets an object whose `__repr__` an interrupt ended at the wrong moment."""
    rules = constraint.to_visibly_pushdown().rules
    return str([(rule.num_states, len(rule.arcs), rule.epsilon, rule.calls, rule.ends) for rule in rules]).encode()


def lazy_walk(constraint: Any, vocabulary: Vocabulary) -> bytes:
    """The masks of a lazy automaton along one text: each time the first token that is allowed."""
    automaton = tokenfst.compile(constraint, vocabulary)
    state, masks = automaton.start, []
    for _ in range(6):  # nothing but signals ends a mask early
        mask = automaton.mask(state)
        masks.append(mask.tobytes())
        state = automaton.advance(state, int(mask.argmax()))
        if automaton.is_final(state):
            break
    return b"".join(masks)


def arena_step(vocabulary: Vocabulary) -> bytes:
    """The masks of a batch."""
    arena = Arena(vocabulary, device="cpu", max_bytes=1 << 24)
    slots = [arena.add(tokenfst.compile(each, vocabulary)) for each in (r"[0-9]{1,30}|[a-z]+", json())]
    at = arena.advance(arena.starts(slots), torch.tensor([vocabulary.tokens.index(b"1")] * 2))
    return arena.bitmask(at).numpy().tobytes()


WORDS = [f"{at * 7919 % 100_003} {at}" for at in range(60_000)]
# What is interrupted; each gives something that does not depend on what was interrupted before.
STAGES: dict[str, Callable[[Vocabulary], bytes]] = {
    "vocabulary": lambda v: Vocabulary(v.tokens[:60_000]).native.all_words.tobytes(),
    "pattern": lambda v: mask_at_start(
        tokenfst.compile(r"(?=.*[0-9])(?!.*(cat|dog))[ -~]{3,40}|(a{1,100}b){1,100}", v)
    ),
    "subsets": lambda v: mask_at_start(tokenfst.compile("(?:a|b)*a(?:a|b){14}", v)),
    "list": lambda v: mask_at_start(tokenfst.compile(choice(WORDS), v)),
    "counts": lambda v: mask_at_start(tokenfst.compile('"[^"]{500,90000}"', v)),
    "reading a schema": lambda v: rules_of(json_schema(SCHEMA)),
    "schema": lambda v: mask_at_start(tokenfst.compile(json_schema(SCHEMA), v)),
    "lazy schema": lambda v: lazy_walk(json_schema(SCHEMA), v),
    "lazy pattern": lambda v: lazy_walk(r"(?!.*(foo|bar))[ -~]{10,80}", v),
    "grammar": lambda v: mask_at_start(tokenfst.compile(bundled("domino_c"), v)),
    "grammar with words": lambda v: mask_at_start(tokenfst.compile(bundled("python_expression"), v)),
    "arena": arena_step,
}


# Gives the result of a stage, and about how many seconds of processor time it takes.
Results = Callable[[str], tuple[bytes, float]]


@dataclass
class Tally:
    """How late work noticed that it was interrupted, in seconds, and about what it takes."""

    random: Random
    seconds: float
    delays: list[float] = field(default_factory=list)

    def interrupt(self, work: Callable[[], object], set_timer: Callable[[float], object]) -> bool:
        """Does some work, which is interrupted at a random moment of it, or comes to its end; whether it was."""
        moment = self.random.uniform(0, self.seconds)
        begun = time.process_time()
        try:
            try:
                set_timer(moment)
                work()
            finally:
                set_timer(0)
        except Interrupted:
            self.delays.append(time.process_time() - begun - moment)
            return True
        return False


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


@pytest.fixture(scope="module")
def results(vocabulary: Vocabulary) -> Results:
    """Run each stage twice, when its result is first needed."""

    @cache
    def result(stage: str) -> tuple[bytes, float]:
        expected = STAGES[stage](vocabulary)
        begun = time.process_time()
        assert STAGES[stage](vocabulary) == expected
        return expected, time.process_time() - begun

    return result


def check_delays(delays: list[float]) -> None:
    """Check that all delays are short; a machine may be slow once."""
    *others, longest = sorted(delays)
    assert max(others) < MAX_DELAY
    assert longest < 2 * MAX_DELAY


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize("stage", STAGES)
def test_interrupts_are_noticed_and_harm_nothing(stage: str, vocabulary: Vocabulary, results: Results) -> None:
    work = STAGES[stage]
    expected, seconds = results(stage)
    tally = Tally(Random(stage), seconds)
    with timer() as set_timer:
        while len(tally.delays) < -(-INTERRUPTS // len(STAGES)):
            was_interrupted = tally.interrupt(lambda: work(vocabulary), set_timer)
            if was_interrupted and len(tally.delays) % 10 == 0:
                assert work(vocabulary) == expected
    check_delays(tally.delays)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_no_interrupt_keeps_tables_from_other_threads() -> None:
    """An interrupt may come between any two calls, and most of those of `complete` are around its lock."""
    with timer() as set_timer, ThreadPoolExecutor(1) as other:
        for _ in range(50):
            automaton = tokenfst.compile("(ab)+c", ALL_BYTES)
            automaton.complete()
            try:
                try:
                    set_timer(0.0005)
                    while True:
                        automaton.complete()
                finally:
                    set_timer(0)
            except Interrupted:
                pass
            assert other.submit(automaton.complete, limits=Limits(seconds=5)).result().accepts([97, 98, 99])


def with_stacks() -> TokenAutomaton:
    properties = {f"p{number}": {"type": "array", "items": {"$ref": "#"}} for number in range(1000)}
    return tokenfst.compile(json_schema({"type": "object", "properties": properties}), ALL_BYTES).complete()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize(
    "make",
    [
        lambda: tokenfst.compile("[0-9]{1000000}", ALL_BYTES).complete(),
        lambda: tokenfst.compile(compile_expr(parse("[0-9]{300000}")), ALL_BYTES),
        with_stacks,
    ],
    ids=["counted", "lazy", "with stacks"],
)
def test_a_signal_handler_never_waits_for_the_automaton_at_work(make: Callable[[], TokenAutomaton]) -> None:
    met: list[str] = []

    def ring(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            automaton.min_tokens(automaton.start)
        except RuntimeError as error:
            met.append(str(error))

    least: set[int] = set()
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(20):  # on a busy machine, the signal may come before the work begins
            automaton = make()
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            least.add(automaton.min_tokens(automaton.start))
            if met:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    automaton = make()
    assert least == {automaton.min_tokens(automaton.start)}
    assert met == ["this thread is at work on the automaton, which a signal handler cannot use meanwhile"]


@pytest.mark.parametrize("delay_of", [past_deadline, past_cancellation])
@pytest.mark.parametrize("stage", STAGES)
def test_deadlines_and_cancellations_are_noticed_and_harm_nothing(
    stage: str, delay_of: Callable[..., float | None], vocabulary: Vocabulary, results: Results
) -> None:
    work = STAGES[stage]
    expected, seconds = results(stage)
    random, delays = Random(stage), list[float]()
    while len(delays) < STOPS:
        delay = delay_of(lambda: work(vocabulary), random.uniform(0, seconds))
        if delay is None:
            continue
        delays.append(delay)
        if len(delays) % (STOPS // 2) == 0:
            assert work(vocabulary) == expected
    check_delays(delays)
