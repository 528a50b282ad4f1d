"""Endless: where a string may go on without end, so that no token need be read with the memory.

Behind a comma all earlier items are rivals, so each token that ends a string and goes on to another item would have to
be read with the memory: some hundred in a vocabulary of 128,000. Most of them only begin the next item. Where the rules
let a string of any length follow, one of its continuations is none of the rivals, which are finitely many. That is a
question about the state of the rules alone, so it is answered once for each.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.unique_items.token_order import PLAIN, TokenOrder

# The number of states for which answers are kept; full, they are emptied.
MAX_CACHED: Final = 1 << 12
# Texts that begin a string in an array, in an object, or in another array; and bytes that may begin any text.
_OPENING: Final = (b'"', b' "', b'{"', b' {"', b'["', b' ["')
_TRIED: Final = b"~0a"


class Endless:
    """Tells tokens after which a string without end may follow.

    Args:
        rules: the automaton over tokens, without the memory.
        order: its tokens.
    """

    def __init__(self, rules: NativeTokenAutomaton, order: TokenOrder) -> None:
        self._step = rules.core.advance
        self._order = order
        self._loops: dict[Any, bool] = {}
        self._left: dict[Any, IntArray] = {}

    def left(self, state: Any, words: npt.NDArray[np.int32]) -> IntArray:
        """Return those of `TokenOrder.closing` that have to be read with the memory, if a string without rivals is
        under way and no escape.

        Args:
            state: a state of the rules.
            words: the tokens that they allow, packed.
        """
        found = self._left.get(state)
        if found is None:
            if len(self._left) >= MAX_CACHED:
                self._left.clear()
            left = [self._order.closing_more, *(self._left_of(state, stem, words) for stem in self._order.stems)]
            found = self._left[state] = np.sort(np.concatenate(left))
        return found

    def _left_of(self, state: Any, stem: bytes, words: npt.NDArray[np.int32]) -> IntArray:
        order = self._order
        places: IntArray = order.stems[stem]
        places = places[words[order.ids[places] >> 5] >> (order.ids[places] & 31) & 1 != 0]
        is_open = stem[1:].endswith(b'"')
        if places.size and self.loops(state):
            # What is before the stem makes no difference, and what is behind it none in a loop.
            reached = self._after(state, stem)
            if self.loops(reached) if is_open else self._leads_in(reached):
                return np.zeros(0, np.int32)
        leads = self._leads if is_open else self._leads_in
        tokens = order.ids[places].tolist()
        left: IntArray = places[[not leads(self._step(state, token)) for token in tokens]]
        return left

    def loops(self, state: Any) -> bool:
        """Return whether all that a string contains as it is, of ASCII, leads from a state to itself."""
        found = self._loops.get(state)
        if found is None:
            if len(self._loops) >= MAX_CACHED:
                self._loops.clear()
            found = state is not None and all(self._after(state, bytes([byte])) == state for byte in PLAIN)
            self._loops[state] = found
        return found

    def _leads(self, state: Any) -> bool:
        """Return whether a state within a string leads to such a loop."""
        return self.loops(state) or any(self.loops(self._after(state, bytes([byte]))) for byte in _TRIED)

    def _leads_in(self, state: Any) -> bool:
        """Return whether a state outside of strings does."""
        return any(self._leads(self._after(state, way)) for way in _OPENING)

    def _after(self, state: Any, text: bytes) -> Any:
        """Return the state after a text, None if there is none or it is not known."""
        for byte in text:
            token = self._order.byte_tokens.get(byte)
            state = None if state is None or token is None else self._step(state, token)
        return state
