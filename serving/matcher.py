"""Matcher: where one request stands in its automaton.

An engine hands over the tokens that were written, takes some of them back, tries draft tokens, and asks for masks.
States of automata are values, so what was read is a list of states: taking tokens back drops the last ones, and trying
tokens changes nothing.

    accept(tokens)      the text continues with tokens; False, and nothing changed, if it may not
    validate(tokens)    how many of them it could continue with
    rollback(number)    the last tokens are taken back
    fill(words)         the mask of what may come next

Engines let a request name further tokens that stop it. Such a token ends a text where the text may end; anywhere else
it is masked, since the text would stop unfinished.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tokenfst.token_automaton import TokenAutomaton


class Matcher:
    """The state of one request.

    Attributes:
        automaton: the automaton, which requests share.
        stops: the tokens that stop the request, beside the end tokens of the vocabulary.
    """

    def __init__(self, automaton: TokenAutomaton, stops: Iterable[int] = ()) -> None:
        self.automaton = automaton
        self.stops = tuple(sorted(set(stops) - set(automaton.vocabulary.eos_ids)))
        self._states: list[Any] = [automaton.start]

    @property
    def state(self) -> Any:
        """The state after all tokens that were accepted."""
        return self._states[-1]

    @property
    def num_tokens(self) -> int:
        """How many tokens were accepted."""
        return len(self._states) - 1

    @property
    def has_ended(self) -> bool:
        """Whether an end token was accepted."""
        return bool(self.state == self.automaton.end_state)

    def accept(self, tokens: Sequence[int]) -> bool:
        """Continue the text with tokens; return False, and change nothing, if it may not continue so."""
        states = self._after(tokens)
        if len(states) < len(tokens):
            return False
        self._states += states
        return True

    def validate(self, tokens: Sequence[int]) -> int:
        """Return how many of the tokens the text may continue with; nothing changes."""
        return len(self._after(tokens))

    def _after(self, tokens: Sequence[int]) -> list[Any]:
        """Return the states after tokens, up to the first one that is not allowed."""
        state, states = self.state, []
        for token in tokens:
            state = self._step(state, token)
            if state is None:
                break
            states.append(state)
        return states

    def _step(self, state: Any, token: int) -> Any:
        automaton = self.automaton
        if state == automaton.end_state:
            return state if token in automaton.vocabulary.eos_ids or token in self.stops else None
        if token in self.stops:
            return automaton.end_state if automaton.is_final(state) else None
        return automaton.step(state, token)

    def rollback(self, number: int) -> None:
        """Take the last tokens back.

        Raises:
            ValueError: there are not as many.
        """
        if not 0 <= number < len(self._states):
            raise ValueError(f"{number} tokens cannot be taken back: {self.num_tokens} were accepted")
        if number:
            del self._states[-number:]

    def reset(self) -> None:
        """Take all tokens back."""
        del self._states[1:]

    def fill(self, words: npt.NDArray[np.int32]) -> None:
        """Write the mask of what may come next, as packed words; those past the vocabulary are cleared."""
        state = self.state
        self.automaton.fill_bitmask(state, words)
        if self.stops:
            ends = self.automaton.is_final(state)
            bits = words.view(np.uint32)
            for token in self.stops:
                bit = np.uint32(1 << (token & 31))
                bits[token >> 5] = bits[token >> 5] | bit if ends else bits[token >> 5] & ~bit

    def copy(self) -> Matcher:
        """Return a matcher that stands where this one stands; the two then go apart."""
        other = Matcher(self.automaton, self.stops)
        other._states = self._states.copy()
        return other
