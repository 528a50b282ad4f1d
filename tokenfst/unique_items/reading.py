"""Reading: follows a text through the marked grammar, with the memory, and tells whether it can still go on.

Place                where a text stands: a state of the marked automaton, and the memory; a value
reading.after        the place after some more bytes; None if they are not allowed, or write an item twice
reading.bytes_after  the bytes that may follow as far as the grammar sees
reading.goes_on      whether what is under way can end as something that was not there
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any, Final, NamedTuple

import numpy as np

from automata.errors import LimitExceeded
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.unique_items.language import MARK
from tokenfst.unique_items.memory import Memory
from tokenfst.unique_items.values import reduced

# The most places that are looked at for one answer.
MAX_PLACES: Final = 20_000
# The number of answers that are kept; full, they are emptied.
MAX_CACHED: Final = 1 << 14
# The number of ways that are tried before one is searched for.
MAX_HINTS: Final = 4
# Numbers that differ only in how many more zeros than this there are in a row count as one.
MOST_ZEROS: Final = 400

_BRACKET: Final = b"["[0]
# What a string contains that is written as it is.
_PLAIN: Final = re.compile(rb'[^"\\]+')


class Place(NamedTuple):
    """Where a text stands.

    Attributes:
        marked: a state of the automaton of the marked grammar.
        memory: what is remembered.
    """

    marked: Any
    memory: Memory

    def alike(self) -> Place:
        """Return a place from which the same ways lead on, if numbers have not too many zeros."""
        scalar = self.memory.scalar
        if not isinstance(scalar, bytes):
            return self
        return Place(self.marked, Memory(self.memory.containers, reduced(scalar, MOST_ZEROS)))


class Reading:
    """Follows texts.

    Attributes:
        marked: the automaton of the marked grammar over bytes, which are its tokens.
        start: the place before the first byte.
    """

    def __init__(self, marked: NativeTokenAutomaton) -> None:
        self.marked = marked
        self.start = Place(marked.start, Memory())
        self._advance = marked.core.advance
        self._ways: dict[Place, bytes | None] = {}
        self._hints: dict[Any, tuple[bytes, ...]] = {}

    def after(self, place: Place, text: bytes) -> Place | None:
        """Return the place after some more bytes; None if the text may not go on with them.

        Raises:
            LimitExceeded: an exponent is too long to be remembered.
        """
        (state, memory), advance = place, self._advance
        unread = 0
        for at, byte in enumerate(text):
            state = advance(state, byte)
            if state is None:
                return None
            if at < unread:
                continue
            if memory.is_in_text and (plain := _PLAIN.match(text, at)):
                memory, unread = memory.read_text(plain.group()), plain.end()
            elif memory.containers or byte == _BRACKET:
                inside = advance(state, MARK) if byte == _BRACKET else None
                state = state if inside is None else inside
                after = memory.read(byte, is_unique=inside is not None)
                if after is None:
                    return None
                memory = after
        return Place(state, memory)

    def bytes_after(self, place: Place) -> list[int]:
        """Return the bytes that may follow as far as the grammar sees."""
        found: list[int] = np.flatnonzero(self.marked.mask(place.marked)[:MARK]).tolist()
        return found

    def goes_on(self, place: Place | None) -> bool:
        """Return whether a text can be completed after a place."""
        if place is None or not place.memory.has_rivals:
            return True
        # Where one text leads out among some items, it mostly does among others.
        for way in self._hints.get(place.marked, ()):
            after = self.after(place, way)
            if after is not None and not after.memory.has_rivals:
                return True
        found = self.way_out(place)
        if found is not None:
            self._hints[place.marked] = (found, *self._hints.get(place.marked, ())[: MAX_HINTS - 1])
        return found is not None

    def way_out(self, place: Place) -> bytes | None:
        """Return the first of the shortest texts that lead from a place with rivals to where there are none; None if
        none does.

        Raises:
            LimitExceeded: more than `MAX_PLACES` would have to be looked at.
        """
        key = place.alike()
        found = self._ways.get(key, b"")
        if found == b"":  # not known: no way is empty
            if len(self._ways) >= MAX_CACHED:
                self._ways.clear()
            found = self._ways[key] = self._searched(place)
        return found

    def _searched(self, place: Place) -> bytes | None:
        waiting, seen = deque([(place, b"")]), {place.alike()}
        while waiting:
            if len(seen) > MAX_PLACES:
                raise LimitExceeded(
                    f"telling whether an item can still differ takes a look at more than {MAX_PLACES:,} places"
                )
            place, way = waiting.popleft()
            for byte in self.bytes_after(place):
                after = self.after(place, bytes([byte]))
                if after is None:
                    continue
                longer = way + bytes([byte])
                if not after.memory.has_rivals:
                    return longer
                key = after.alike()
                if key not in seen:
                    seen.add(key)
                    waiting.append((after, longer))
        return None
