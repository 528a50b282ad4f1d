"""The walks of the league of exactness: what one engine does with one task, as events that an oracle is to judge.

    Task      a constraint with values or texts that are valid, and texts that are not
    Event     what an engine did that an oracle may find to be an error
    Walk      one engine on one task

    accepts   a whole text that the engine lets end: a given invalid one, or what random tokens led to
    refuses   a valid text that the engine does not let through, however it is spelled and cut into tokens
    cut       a valid text that the engine lets through in some tokens, but not in others of the same bytes
    dead end  tokens that were allowed, and after them none is, nor the end

Random walks begin somewhere along a valid text, take tokens that the mask allows, and then make for an end: the closing
quote or bracket if it is allowed, other short tokens otherwise. What has not ended by then is not an event.

An engine that, where the rest of a text is certain, allows the one cut that its tokenizer prefers (`Peer.forces`) is
taken at its word: its step decides there, not its mask.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from engines import Greedy
from json_texts import spellings
from oracles import Kind
from peers import Peer, Refused, peer

from tokenfst import Vocabulary

CLOSING = b'"}])0123456789efnrstulaE:,[{( \n'
# Longer texts are not tried, and walks end after as many steps towards an end.
MOST_BYTES, MOST_CLOSING = 2000, 120


@dataclass(frozen=True, slots=True)
class Task:
    """A constraint and what to try on it.

    Attributes:
        valid: values of a schema, of which any spelling will do; texts otherwise.
        invalid: texts.
        walks: how many random walks to take.
        seconds: after which no further text is tried.
    """

    kind: Kind
    name: str
    source: Any
    valid: Sequence[Any]
    invalid: Sequence[bytes]
    walks: int = 12
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Event:
    """What an engine did; `what` is "accepts", "refuses", "cut" or "dead end", `place` the bytes of the text that it
    had allowed before, and `tokens` the cut."""

    what: str
    text: bytes
    place: int
    tokens: tuple[int, ...]


@dataclass(slots=True)
class Found:
    """What came of one engine on one task.

    Attributes:
        refused: what the engine says where it does not support the constraint, "" where it does.
        counts: texts, steps, walks, and walks that came to an end.
    """

    refused: str = ""
    events: list[Event] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Walk:
    """One engine's walks over one task; called with a task, in a process of its own."""

    def __init__(self, name: str, vocab: list[bytes]) -> None:
        self.vocabulary = Vocabulary((*vocab, b""), eos_ids=(len(vocab),))
        self.engine: Peer = peer(name, self.vocabulary)
        self.end = len(vocab)
        self.greedy = Greedy(self.vocabulary)
        self.ids = self.greedy.ids
        self.short = np.array([len(token) <= 1 for token in self.vocabulary.tokens])

    def __call__(self, task: Task) -> Found:
        found = Found()
        try:
            self._walk(task, found, Random(task.name))
        except Refused as refusal:
            found.refused = str(refusal)[:300] or "no reason given"
        return found

    def _walk(self, task: Task, found: Found, random: Random) -> None:
        until = time.monotonic() + task.seconds
        self.engine.compile(task.kind, task.source)
        ways: list[list[int]] = []
        for value in task.valid:
            if time.monotonic() < until:
                self._valid(task, value, found, ways, random)
        for text in task.invalid:
            if time.monotonic() < until and len(text) <= MOST_BYTES:
                found.counts["texts"] += 1
                tokens, place = self._follow(self.greedy(text), found)
                if place is None:
                    found.events.append(Event("accepts", text, len(text), tuple(tokens)))
        for _ in range(task.walks):
            if time.monotonic() < until:
                self._random(random.choice(ways) if ways else [], found, random)

    # Given texts

    def _valid(self, task: Task, value: Any, found: Found, ways: list[list[int]], random: Random) -> None:
        texts = spellings(value, task.source, random) if task.kind == "schema" else iter([value])
        best: Event | None = None
        for text in texts:
            if len(text) > MOST_BYTES:
                return
            found.counts["texts"] += 1
            tokens, place = self._follow(self.greedy(text), found)
            if place is None:
                ways.append(tokens)
                self._cuts(text, found, random)
                return
            if best is None or place > best.place:
                best = Event("refuses", text, place, tuple(tokens))
        assert best is not None
        # Written otherwise it may be allowed, which is an error of its own kind.
        for tokens in self._other_cuts(best.text, random):
            if self._follow(tokens, found)[1] is None:
                found.events.append(Event("cut", best.text, best.place, best.tokens))
                return
        found.events.append(best)

    def _cuts(self, text: bytes, found: Found, random: Random) -> None:
        for tokens in self._other_cuts(text, random):
            taken, place = self._follow(tokens, found)
            if place is not None:
                found.events.append(Event("cut", text, place, tuple(taken)))
                return

    def _other_cuts(self, text: bytes, random: Random) -> Iterator[list[int]]:
        yield [self.ids[bytes([byte])] for byte in text]
        for _ in range(2):
            yield self._cut_at_random(text, random)

    def _cut_at_random(self, text: bytes, random: Random) -> list[int]:
        place, found = 0, []
        while place < len(text):
            ends = [end for end in range(place + 1, min(place + 12, len(text)) + 1) if text[place:end] in self.ids]
            end = random.choice(ends)
            found.append(self.ids[text[place:end]])
            place = end
        return found

    def _follow(self, tokens: list[int], found: Found) -> tuple[list[int], int | None]:
        """The tokens up to the one that is refused, and the bytes before it; None where all of them and the end are
        allowed."""
        self.engine.reset()
        place = 0
        for number, token in enumerate(tokens):
            found.counts["steps"] += 1
            if not (self.engine.forces or self.engine.mask()[token]) or not self.engine.advance(token):
                return tokens[: number + 1], place
            place += len(self.vocabulary.tokens[token])
        if self.engine.mask()[self.end]:
            return tokens, None
        return [*tokens, self.end], place

    # Random tokens

    def _random(self, way: list[int], found: Found, random: Random) -> None:
        found.counts["walks"] += 1
        self.engine.reset()
        taken: list[int] = []
        for token in way[: random.randrange(len(way) + 1)]:
            if not self.engine.advance(token):
                break
            taken.append(token)
        wild = random.randint(1, 4)
        for turn in range(MOST_CLOSING):
            mask = self.engine.mask()
            if mask[self.end] and turn >= wild:
                return self._accepts(taken, found)
            mask[self.end], may_end = False, bool(mask[self.end])
            allowed = np.flatnonzero(mask)
            if not len(allowed):
                return self._accepts(taken, found) if may_end else self._dead_end(taken, found)
            token = self._any(allowed, random) if turn < wild else self._closing(mask, allowed, taken, random)
            if not self.engine.advance(token):
                return self._dead_end([*taken, token], found)
            taken.append(token)
        return None

    def _any(self, allowed: npt.NDArray[np.intp], random: Random) -> int:
        """Any token, one of a single byte half of the time."""
        short = allowed[self.short[allowed]]
        return int(random.choice(short if len(short) and random.random() < 0.5 else allowed))

    def _closing(
        self, mask: npt.NDArray[np.bool_], allowed: npt.NDArray[np.intp], taken: list[int], random: Random
    ) -> int:
        if random.random() < 0.1:
            return self._any(allowed, random)
        for byte in CLOSING[:4]:
            if mask[self.ids[bytes([byte])]]:
                return self.ids[bytes([byte])]
        likely = [self.ids[bytes([byte])] for byte in CLOSING[4:] if mask[self.ids[bytes([byte])]]]
        return random.choice(likely) if likely else self._any(allowed, random)

    def _text(self, tokens: list[int]) -> bytes:
        return b"".join(self.vocabulary.tokens[token] for token in tokens)

    def _accepts(self, taken: list[int], found: Found) -> None:
        found.counts["ended walks"] += 1
        text = self._text(taken)
        found.events.append(Event("accepts", text, len(text), tuple(taken)))

    def _dead_end(self, taken: list[int], found: Found) -> None:
        text = self._text(taken)
        found.events.append(Event("dead end", text, len(text), tuple(taken)))
