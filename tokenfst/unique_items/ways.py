"""Ways: token by token to the end of a text in which items must differ, for budgets.

    length(S)        a number of tokens that is enough to end the text
    next_token(S)    the next token of the way to follow if the number of the rules may not be enough

If no current item has rivals, the length is the number of the rules. Otherwise, it is the length of the shortest way to
a state without rivals, plus the number of the rules there. A step is a token of one byte, or one that brings the end
nearer by the rules alone. The length of a way is at least the number of the rules for each state on it, so the rules'
masks with a budget contain its tokens. Each state with a length above 0 has a token after which the length is smaller,
so texts end in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tokenfst import _native
from tokenfst.native_automaton import NativeTokenAutomaton

# What stands for the length of a way that was not found.
FAR: Final = 1 << 30
# From here on, what the core knows without tables is no bound.
_NO_BOUND: Final = 1 << 29
# The most tokens of a way that is followed, and the most states that are looked at for a way out.
LONGEST, MAX_STATES = 1 << 14, 20_000
# The most tokens that are tried for the next one of a way, and the most states for the shortest way instead of these.
MAX_TRIED: Final = 64
# The number of ways that are kept; full, they are emptied.
MAX_CACHED: Final = 1 << 14


class UniqueItemsState(NamedTuple):
    """A state of a `UniqueItemsTokenAutomaton`.

    Attributes:
        rules: the state of the automaton over tokens.
        position: where the text stands in the marked grammar, and the memory; None after the end token.
    """

    rules: Any
    position: _native.ItemPosition | None

    @property
    def has_rivals(self) -> bool:
        """Whether what is under way may still become what was there."""
        return self.position is not None and self.position.has_rivals


class Ways:
    """Finds ways.

    Args:
        rules: the automaton without the memory.
        reader: follows texts.
        step: returns the state after a token, None if it is not allowed.
        needs_more: see `UniqueArrays`.
    """

    def __init__(
        self,
        rules: NativeTokenAutomaton,
        reader: _native.ItemTokenReader,
        step: Callable[[UniqueItemsState, int], UniqueItemsState | None],
        needs_more: bool,
    ) -> None:
        self.rules = rules
        self.reader = reader
        self.step = step
        self.needs_more = needs_more
        self._lengths: dict[UniqueItemsState, int] = {}

    def length(self, state: UniqueItemsState) -> int:
        """Return the number of tokens of a way to the end, `FAR` if none was found."""
        if state.position is None:
            return 0
        if not self.needs_more and not state.has_rivals:
            return self._rest(state)
        found = self._lengths.get(state)
        if found is None:
            if len(self._lengths) >= MAX_CACHED:
                self._lengths.clear()
            found = self._lengths[state] = self._followed(state) if self.needs_more else self._out(state, 0)[0]
        return found

    def is_within(self, state: UniqueItemsState, remaining: int) -> bool:
        """Return whether `length(state) <= remaining`."""
        if self.needs_more or not state.has_rivals:
            return self.length(state) <= remaining
        return self._out(state, remaining)[0] <= remaining

    def next_token(self, state: UniqueItemsState) -> int | None:
        """Return the next token of the way that is followed: the first one that brings the end nearer, from which a way
        out does not lead away from the end; or the first token of such a way out; or the first of the shortest way to a
        state without rivals; None if there is no way."""
        first, tried = None, 0
        for token in self._nearer(state):
            reached = self.step(state, token)
            if reached is None:
                continue
            if not reached.has_rivals or self._leads_out(reached) is not None:
                return token
            first, tried = token if first is None else first, tried + 1
            if tried == MAX_TRIED:
                break
        if state.position is None or not state.has_rivals:
            return first
        byte = self._leads_out(state)
        if byte is not None:
            return self.byte_tokens[byte]
        way = self._out(state, 0, MAX_TRIED)[1]
        return first if way is None else way

    def _leads_out(self, state: UniqueItemsState) -> int | None:
        """Return the first byte of the way out of a state, None if there is none, or if the end is farther after it: an
        item that had to be there may have become one that need not."""
        assert state.position is not None
        way = self.reader.way_out(state.position)
        if way is None:
            return None
        end: UniqueItemsState | None = state
        for byte in way:
            end = None if end is None else self.step(end, self.byte_tokens[byte])
        return None if end is None or self._rest(end) > self._rest(state) else way[0]

    def _followed(self, state: UniqueItemsState) -> int:
        """Return the length of the way that is followed; what is left of it is kept for the states along it."""
        passed, rest = list[UniqueItemsState](), 0
        while state.position is not None:
            known = self._lengths.get(state)
            token = None if known is not None or len(passed) > LONGEST else self.next_token(state)
            reached = None if token is None else self.step(state, token)
            if reached is None:
                # A vocabulary may have no end token.
                ends = self.rules.is_final(state.rules)
                rest = known if known is not None else self._rest(state) if ends else FAR
                break
            passed.append(state)
            state = reached
        for state in reversed(passed):
            rest = self._lengths[state] = min(max(rest + 1, self._rest(state)), FAR)
        return rest

    def _out(self, state: UniqueItemsState, enough: int, most: int = MAX_STATES) -> tuple[int, int | None]:
        """Return the length of the shortest way that leads to where there are no rivals, and on by the number of the
        rules, and its first token, None if there is none; a greater length that is at most `enough` will do."""
        heap: list[tuple[int, int, int, int | None, UniqueItemsState]] = [(self._rest(state), 0, 0, None, state)]
        seen, number = set[UniqueItemsState](), 0
        while heap and len(seen) < most:
            length, _, before, first, state = heappop(heap)
            if not state.has_rivals:
                return length, first
            if state in seen:
                continue
            seen.add(state)
            for token in self._steps(state):
                reached = self.step(state, token)
                if reached is None:
                    continue
                # As far as the rules see, no state on the way is farther from the end than what is left of the way.
                longer = max(length, before + 1 + self._rest(reached))
                own = token if first is None else first
                if not reached.has_rivals and longer <= enough:
                    return longer, own
                number += 1
                heappush(heap, (longer, number, before + 1, own, reached))
        return FAR, None

    def fill(self, state: UniqueItemsState, out: npt.NDArray[np.int32], remaining: int) -> None:
        """Write the tokens that the rules alone allow within a budget, as far as the core knows; tables are made only
        where it knows no bound."""
        if self.rules.core.min_tokens(state.rules) < _NO_BOUND:
            self.rules.core.fill_within(state.rules, out, remaining)
        else:
            self.rules.fill_bitmask(state.rules, out, remaining)

    def _rest(self, state: UniqueItemsState) -> int:
        """Return the number of tokens to the end as far as the rules see."""
        if state.position is None:
            return 0
        bound: int = self.rules.core.min_tokens(state.rules)
        return bound if bound < _NO_BOUND else self.rules.min_tokens(state.rules)

    @cached_property
    def byte_tokens(self) -> dict[int, int]:
        """By byte, a token that writes just that."""
        vocabulary = self.rules.vocabulary
        return {vocabulary.tokens[token][0]: token for token in reversed(vocabulary.native.byte_tokens.tolist())}

    def _steps(self, state: UniqueItemsState) -> Iterator[int]:
        yield from self.byte_tokens.values()
        yield from self._nearer(state)

    def _nearer(self, state: UniqueItemsState) -> list[int]:
        """Return the tokens that bring the end nearer as the rules alone see it."""
        words = np.empty_like(self.rules.vocabulary.all_words)
        self.fill(state, words, self._rest(state))
        bits = np.unpackbits(words.view(np.uint8), count=len(self.rules.vocabulary), bitorder="little")
        found: list[int] = np.flatnonzero(bits).tolist()
        return found
