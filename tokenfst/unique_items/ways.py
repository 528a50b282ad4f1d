"""Ways: token by token to the end of a text in which items must differ, for budgets.

    length(S)        a number of tokens that suffices to end the text from state S
    next_token(S)    the next token of a way to the end, where the way of the rules may have equal items

The rules alone give a number of tokens to the end, the *rest* of a state. If the current item has no rivals, the length
is the rest. Otherwise, it is the length of the shortest way to a state without rivals, plus the rest of that state. A
step of a way is a token of one byte, or a token that brings the end nearer by the rules alone. In each state on a way,
the part of the length that is left is at least the rest, so the rules' masks with a budget contain the tokens of the
way. Each state with a length above 0 has a token after which the length is smaller, so texts end in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tokenfst import _native
from tokenfst.native_automaton import NativeTokenAutomaton, core_budget

# The length if no way was found.
FAR: Final = 1 << 30
# From this number on, the number that the core knows without tables is not a bound.
_NO_BOUND: Final = 1 << 29
# The greatest number of tokens of a way that is followed, and of states that a search for a way out visits.
LONGEST, MAX_STATES = 1 << 14, 20_000
# The greatest number of tokens that are tried as the next one of a way, and of states that are visited if none will do;
# and of states that are visited if no token brings the end nearer.
MAX_TRIED, MAX_STUCK = 64, 2_000
# The number of lengths that are cached, and how much their positions may remember; a full cache is emptied.
MAX_CACHED, MAX_REMEMBERED = 1 << 14, 1 << 17


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
        """Whether the item under way, or a member's name in it, may still become an earlier one."""
        return self.position is not None and self.position.has_rivals


class Ways:
    """Finds ways to the end of a text.

    Args:
        rules: the automaton without the memory.
        reader: reads texts in the marked grammar, with the memory.
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
        self._num_remembered = 0  # by the positions of these states

    def length(self, state: UniqueItemsState) -> int:
        """Return the number of tokens of a way to the end, `FAR` if none was found."""
        if state.position is None:
            return 0
        if not self.needs_more and not state.has_rivals:
            return self._rest(state)
        found = self._lengths.get(state)
        if found is None:
            if len(self._lengths) >= MAX_CACHED or self._num_remembered >= MAX_REMEMBERED:
                self._lengths.clear()
                self._num_remembered = 0
            found = self._followed(state) if self.needs_more else self._out(state, 0)[0]
            self._keep(state, found)
        return found

    def _keep(self, state: UniqueItemsState, length: int) -> None:
        if state.position is not None and state not in self._lengths:
            self._num_remembered += state.position.size
        self._lengths[state] = length

    def is_within(self, state: UniqueItemsState, remaining: int) -> bool:
        """Return whether `length(state) <= remaining`."""
        if self.needs_more or not state.has_rivals:
            return self.length(state) <= remaining
        return self._out(state, remaining)[0] <= remaining

    def next_token(self, state: UniqueItemsState) -> int | None:
        """Return the next token of the way that is followed, None if there is no way.

        If possible, this is a token that brings the end nearer, and after which there are no rivals or a way out does
        not lead away from the end. Otherwise, with rivals, it is the token of the first byte of such a way out from
        `state`, or the first token of the shortest way to a state without rivals. Failing these, it is the first
        allowed token that brings the end nearer.
        """
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
        way = self._out(state, 0, MAX_TRIED if first is not None else MAX_STUCK)[1]
        return first if way is None else way

    def _leads_out(self, state: UniqueItemsState) -> int | None:
        """Return the first byte of the way out of a state; None if there is none, or if it leads away from the end.

        It may lead away because an item that was required has become one that is not.
        """
        assert state.position is not None
        way = self.reader.way_out(state.position)
        if way is None:
            return None
        end: UniqueItemsState | None = state
        for byte in way:
            end = None if end is None else self.step(end, self.byte_tokens[byte])
        return None if end is None or self._rest(end) > self._rest(state) else way[0]

    def _followed(self, state: UniqueItemsState) -> int:
        """Return the length of the way that is followed, and cache the lengths of the states along it."""
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
            rest = min(max(rest + 1, self._rest(state)), FAR)
            self._keep(state, rest)
        return rest

    def _out(self, state: UniqueItemsState, enough: int, most: int = MAX_STATES) -> tuple[int, int | None]:
        """Return the length and the first token of the shortest way to the end by a state without rivals.

        The length includes the rest of that state. A longer way will do if its length is at most `enough`. If a search
        of `most` states finds no way, return `FAR` and None.
        """
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
                # From no state on the way do the rules need more tokens than are left of its length.
                longer = max(length, before + 1 + self._rest(reached))
                own = token if first is None else first
                if not reached.has_rivals and longer <= enough:
                    return longer, own
                number += 1
                heappush(heap, (longer, number, before + 1, own, reached))
        return FAR, None

    def fill(self, state: UniqueItemsState, out: npt.NDArray[np.int32], remaining: int) -> None:
        """Write the mask of the rules alone within a budget, by the core's bound; make tables only if it has none."""
        if self.rules.core.min_tokens(state.rules) < _NO_BOUND:
            self.rules.core.fill_within(state.rules, out, core_budget(remaining))
        else:
            self.rules.fill_bitmask(state.rules, out, remaining)

    def _rest(self, state: UniqueItemsState) -> int:
        """Return a number of tokens that suffices to reach the end by the rules alone."""
        if state.position is None:
            return 0
        bound: int = self.rules.core.min_tokens(state.rules)
        return bound if bound < _NO_BOUND else self.rules.min_tokens(state.rules)

    @cached_property
    def byte_tokens(self) -> dict[int, int]:
        """A token that writes only this byte, by byte."""
        vocabulary = self.rules.vocabulary
        return {vocabulary.tokens[token][0]: token for token in reversed(vocabulary.native.byte_tokens.tolist())}

    def _steps(self, state: UniqueItemsState) -> Iterator[int]:
        yield from self.byte_tokens.values()
        yield from self._nearer(state)

    def _nearer(self, state: UniqueItemsState) -> list[int]:
        """Return the tokens that bring the end nearer by the rules alone."""
        words = np.empty_like(self.rules.vocabulary.all_words)
        self.fill(state, words, self._rest(state))
        bits = np.unpackbits(words.view(np.uint8), count=len(self.rules.vocabulary), bitorder="little")
        found: list[int] = np.flatnonzero(bits).tolist()
        return found
