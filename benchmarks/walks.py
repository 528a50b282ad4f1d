"""Walks of `exactness.py`: what one engine does with one task, as events for an oracle to judge.

    Task      a constraint with values or texts that are valid, and texts that are not
    Event     an action of an engine that an oracle may find to be an error
    Walk      one engine on tasks

    accepts   a whole text that the engine lets end: a given invalid one, or one of a random walk
    refuses   a valid text that the engine does not let through, in any spelling or tokenization that is tried
    cut       a valid text that the engine lets through in one tokenization but not in another
    dead end  tokens that were allowed, after which no token and no end is; or a token that the mask allows but the
              engine then refuses

Random walks begin somewhere along a valid text and take a few random tokens that the mask allows. Then they make for an
end: they take the closing quote or bracket if it is allowed, and otherwise mostly other short tokens. A walk that does
not end in time is not an event.

For an engine whose masks allow only its preferred tokenization if the rest of a text is certain (`Peer.forces`), its
step decides along given texts, and not its mask.
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
# Longer texts are not tried, and random walks are given up after this number of steps.
MAX_BYTES, MAX_CLOSING = 2000, 120


@dataclass(frozen=True, slots=True)
class Task:
    """A constraint and what to try on it.

    Attributes:
        valid: values, if the constraint is a schema, each of which may have any spelling; texts otherwise.
        invalid: texts.
        walks: the number of random walks to take.
        seconds: the time after which no further text is tried and no further walk begins.
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
    """An action of an engine.

    Attributes:
        what: "accepts", "refuses", "cut" or "dead end".
        text: the text that was tried, or the text of a random walk.
        place: how many bytes of the text the engine had allowed before.
        tokens: the tokens of the text, up to the one that was refused.
    """

    what: str
    text: bytes
    place: int
    tokens: tuple[int, ...]


@dataclass(slots=True)
class Found:
    """The results of one engine on one task.

    Attributes:
        refused: why the engine does not support the constraint; "" if it does.
        events: the events, for an oracle to judge.
        counts: the number of texts, of steps along texts, of random walks, and of walks that ended.
    """

    refused: str = ""
    events: list[Event] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Walk:
    """The walks of one engine; called with a task, in a process of its own."""

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
            if time.monotonic() < until and len(text) <= MAX_BYTES:
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
            if len(text) > MAX_BYTES:
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
        # The engine may allow it in another tokenization, which is another kind of error.
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
        """Return the tokens up to the one that is refused, and the number of bytes before it.

        If all tokens and then the end are allowed, that number is None.
        """
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
        for turn in range(MAX_CLOSING):
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
        """Return a random allowed token, half of the time one of a single byte, if there is one."""
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
