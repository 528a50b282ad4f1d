"""Whatever is under way ends soon after Ctrl-C, at any moment of it, and what is left can be used.

A timer of the process's own time raises an exception from a signal handler, as Ctrl-C does. Delays are processor time
as well, so that other processes do not count.
"""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from random import Random
from typing import Any

import pytest
import torch

import tokenfst
from constraints import choice, json, json_schema
from constraints.grammars.bundled import bundled
from decoding.arena import Arena
from tokenfst import Vocabulary, from_tekken
from tokenfst.token_automaton import TokenAutomaton

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")

# In all, over the stages.
INTERRUPTS = 1_000
# Seconds of processor time until an interrupt is noticed.
MAX_DELAY = 0.1


class Interrupted(BaseException):
    """What the handler raises; nobody may catch it by accident."""


@contextmanager
def timer() -> Iterator[Callable[[float], None]]:
    """Sets a timer that raises."""

    def ring(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGPROF, ring)
    try:
        yield lambda seconds: signal.setitimer(signal.ITIMER_PROF, seconds)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


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


def lazy_walk(constraint: Any, vocabulary: Vocabulary) -> bytes:
    """The masks of a lazy automaton along one text: each time the first token that is allowed."""
    automaton = tokenfst.compile(constraint, vocabulary)
    state, masks = automaton.start, []
    for _ in range(12):
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
    "reading a schema": lambda v: str(json_schema(SCHEMA)).encode(),
    "schema": lambda v: mask_at_start(tokenfst.compile(json_schema(SCHEMA), v)),
    "lazy schema": lambda v: lazy_walk(json_schema(SCHEMA), v),
    "lazy pattern": lambda v: lazy_walk(r"(?!.*(foo|bar))[ -~]{10,80}", v),
    "grammar": lambda v: mask_at_start(tokenfst.compile(bundled("domino_c"), v)),
    "grammar with words": lambda v: mask_at_start(tokenfst.compile(bundled("python_expression"), v)),
    "arena": arena_step,
}


@dataclass
class Tally:
    """How late work noticed that it was interrupted, in seconds, and about what it takes."""

    random: Random
    seconds: float
    delays: list[float] = field(default_factory=list)

    def interrupt(self, work: Callable[[], object], set_timer: Callable[[float], None]) -> bool:
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


@pytest.mark.parametrize("stage", STAGES)
def test_interrupts_are_noticed_and_harm_nothing(stage: str, vocabulary: Vocabulary) -> None:
    work = STAGES[stage]
    expected = work(vocabulary)
    gc.collect()  # no long collection, of what other tests left, in the middle
    begun = time.process_time()
    assert work(vocabulary) == expected
    tally = Tally(Random(stage), time.process_time() - begun)
    with timer() as set_timer:
        while len(tally.delays) < -(-INTERRUPTS // len(STAGES)):
            was_interrupted = tally.interrupt(lambda: work(vocabulary), set_timer)
            if was_interrupted and len(tally.delays) % 10 == 0:
                assert work(vocabulary) == expected
    assert max(tally.delays) < MAX_DELAY
