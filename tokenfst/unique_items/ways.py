"""Ways: sequences of tokens to the end of a text in which items must differ, for budgets.

    length(S)        a number of tokens that suffices to end the text from state S

The rules alone give a number of tokens to the end, the *rest* of a state. It includes a detour for each item that must
still come, since the shortest item may occur already. If the current item has no rivals, the length is the rest.
Otherwise, it is the length of the shortest way to a state without rivals, plus the rest of that state. A
step of a way is a token of one byte, or a token that brings the end nearer by the rules alone. In each state on a way,
the part of the length that is left is at least the rest, so the rules' masks with a budget contain the tokens of the
way. Each state with a length above 0 has a token after which the length is smaller, so texts end in time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from automata.errors import LimitExceeded
from tokenfst import _native
from tokenfst.native_automaton import NativeTokenAutomaton, core_budget

# The length if no way was found.
FAR: Final = 1 << 30
# From this number on, the result of the core without tables is not a bound.
_NO_BOUND: Final = 1 << 29
# The greatest number of states that a search for a way out visits.
MAX_STATES: Final = 20_000
# The number of lengths that are cached, and the total size of what their positions remember; a full cache is emptied.
MAX_CACHED, MAX_REMEMBERED = 1 << 14, 1 << 17
# The number of states of the rules whose steps are cached; a full cache is emptied.
MAX_CACHED_STEPS: Final = 1 << 10


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
        """Whether the current item, or a member's name in it, may still equal an earlier one."""
        return self.position is not None and self.position.has_rivals


class Ways:
    """Finds ways to the end of a text.

    Args:
        rules: the automaton without the memory.
        reader: reads texts in the marked grammar, with the memory.
        step: returns the state after a token, None if it is not allowed.
        has_detours: whether the rules have detours.
    """

    def __init__(
        self,
        rules: NativeTokenAutomaton,
        reader: _native.ItemTokenReader,
        step: Callable[[UniqueItemsState, int], UniqueItemsState | None],
        has_detours: bool,
    ) -> None:
        self.rules = rules
        self.reader = reader
        self.step = step
        self.has_detours = has_detours
        self._steps_of: dict[Any, list[int]] = {}
        self._lengths: dict[UniqueItemsState, int] = {}
        self._num_remembered = 0  # by the positions of these states

    def length(self, state: UniqueItemsState) -> int:
        """Return the number of tokens of a way to the end, `FAR` if none was found."""
        if state.position is None:
            return 0
        if not state.has_rivals:
            return self._rest(state)
        found = self._lengths.get(state)
        if found is None:
            if len(self._lengths) >= MAX_CACHED or self._num_remembered >= MAX_REMEMBERED:
                self._lengths.clear()
                self._num_remembered = 0
            found = self._lengths[state] = self._out(state)
            self._num_remembered += state.position.size
        return found

    def is_within(self, state: UniqueItemsState, remaining: int) -> bool:
        """Return whether `length(state) <= remaining`."""
        if not state.has_rivals:
            return self.length(state) <= remaining
        if remaining <= 0:
            return False
        along = self._along_some_way(state)
        return along is not None and (along <= remaining or self._out(state, remaining) <= remaining)

    def _along_some_way(self, state: UniqueItemsState) -> int | None:
        """Return the length of the way that the reader finds, which need not be the shortest; None if there is none."""
        assert state.position is not None
        way, length = self.reader.some_way(state.position), self._rest(state)
        if way is None:
            return None
        for before, byte in enumerate(way, 1):
            reached = self.step(state, self.byte_tokens[byte])
            if reached is None:
                return FAR
            state, length = reached, max(length, before + self._rest(reached))
        return length

    def _out(self, state: UniqueItemsState, most: int | None = None) -> int:
        """Return the length of the shortest way to the end by a state without rivals, `FAR` if none was found.

        The length includes the rest of that state. With `most`, any way of at most this length will do.
        """
        heap: list[tuple[int, int, int, UniqueItemsState]] = [(self._rest(state), 0, 0, state)]
        seen, number = set[UniqueItemsState](), 0
        while heap and len(seen) < MAX_STATES:
            length, _, before, state = heappop(heap)
            if not state.has_rivals:
                return length
            if state in seen:
                continue
            seen.add(state)
            for token in self._steps(state.rules):
                reached = self.step(state, token)
                if reached is None:
                    continue
                # From no state on the way do the rules need more tokens than are left of its length.
                longer = max(length, before + 1 + self._rest(reached))
                if most is not None:
                    if longer > most:
                        continue
                    if not reached.has_rivals:
                        return longer
                number += 1
                heappush(heap, (longer, number, before + 1, reached))
        return FAR

    def fill(self, rules: Any, out: npt.NDArray[np.int32], remaining: int) -> None:
        """Write the mask of a state of the rules within a budget, by the core's bound; make tables only if it has
        none."""
        if self.has_detours or self.rules.core.min_tokens(rules) < _NO_BOUND:
            self.rules.core.fill_within(rules, out, core_budget(remaining))
        else:
            self.rules.fill_bitmask(rules, out, remaining)

    def _rest(self, state: UniqueItemsState) -> int:
        """Return a number of tokens that suffices to reach the end by the rules alone."""
        return 0 if state.position is None else self._rest_of(state.rules)

    def _rest_of(self, rules: Any) -> int:
        if self.has_detours and self.rules.at_text_start and self.rules.vocabulary.text_start:
            # Such automata are made from tables, which do not count detours.
            raise LimitExceeded(
                "no number of tokens is known that suffices for an array that needs several different items, since the "
                "vocabulary's decoder changes the start of a text (`at_text_start`)"
            )
        bound: int = self.rules.core.min_tokens(rules)
        if bound < _NO_BOUND:
            return bound
        return FAR if self.has_detours else self.rules.min_tokens(rules)

    @cached_property
    def byte_tokens(self) -> dict[int, int]:
        """A token that writes only this byte, by byte."""
        vocabulary = self.rules.vocabulary
        return {vocabulary.tokens[token][0]: token for token in reversed(vocabulary.native.byte_tokens.tolist())}

    def _steps(self, rules: Any) -> list[int]:
        """Return the steps that the rules allow in one of their states: tokens of one byte, and those that bring the
        end nearer."""
        found = self._steps_of.get(rules)
        if found is None:
            if len(self._steps_of) >= MAX_CACHED_STEPS:
                self._steps_of.clear()
            words = np.empty_like(self.rules.vocabulary.all_words)
            self.rules.core.fill_bitmask(rules, words)
            steps = [token for token in self.byte_tokens.values() if words[token >> 5] >> (token & 31) & 1]
            self.fill(rules, words, self._rest_of(rules))
            bits = np.unpackbits(words.view(np.uint8), count=len(self.rules.vocabulary), bitorder="little")
            found = self._steps_of[rules] = steps + np.flatnonzero(bits).tolist()
        return found
