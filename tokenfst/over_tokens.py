"""What every automaton over tokens can do, whatever its states are, by what each kind does in its own way.

Within a budget of tokens, the next one and the end token included, a mask holds the tokens after which the text can
still be completed: those that lead to a state whose `min_tokens` fits in what is then left. So a state whose own
`min_tokens` fits allows a token, that token leads to another such state, and what is written ends complete in time.

    min_tokens      the least number of tokens to the end, exact, or an upper bound b for which every state with b > 0
                    has a token to one with a smaller b, which is all that the argument takes
    levels          the different numbers behind the tokens of a state: between two of them budgets do not differ, and
                    above the last one the mask is that without a budget
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from automata.errors import TokenNotAllowed
from tokenfst.vocabulary import Vocabulary

# Opaque, immutable and hashable.
S = TypeVar("S")


class OverTokens(ABC, Generic[S]):
    """An exact automaton over the tokens of a vocabulary.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        at_text_start: whether the tokens are a text by themselves, and not the continuation of one (`compile`).
    """

    vocabulary: Vocabulary
    start: S
    at_text_start: bool

    @abstractmethod
    def is_final(self, state: S) -> bool:
        """Whether the text may end here."""

    @abstractmethod
    def advance(self, state: S, token: int) -> S:
        """The state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
        """

    @abstractmethod
    def min_tokens(self, state: S) -> int:
        """The least number of tokens from a state to the end of the text, the end token counted: 0 after it."""

    @abstractmethod
    def fill_bitmask(self, state: S, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Writes the mask of a state as packed words: bit `i & 31` of word `i >> 5` is token i.

        Args:
            state: the state.
            out: int32 `[W]`, `W >= ceil(V / 32)`; words past the vocabulary are cleared.
            remaining: as of `mask`.

        Raises:
            ValueError: `out` is too short.
        """

    def accepts(self, token_ids: Iterable[int]) -> bool:
        """Whether the tokens, with an end token behind them or without, are a whole text in tokens that are allowed."""
        tokens = list(token_ids)
        if tokens and tokens[-1] in self.vocabulary.eos_ids:
            tokens.pop()
        state = self.start
        try:
            for token in tokens:
                if token in self.vocabulary.eos_ids:
                    return False
                state = self.advance(state, token)
        except TokenNotAllowed:
            return False
        return self.is_final(state)

    def text(self, token_ids: Iterable[int]) -> bytes:
        """What tokens write where this automaton begins: at the start of a text, or inside of one."""
        return self.vocabulary.detokenize(token_ids, at_text_start=self.at_text_start)

    def mask(self, state: S, remaining: int | None = None) -> npt.NDArray[np.bool_]:
        """The tokens allowed in a state, `[V]` bool; end tokens exactly where the text may end.

        Args:
            state: the state.
            remaining: how many tokens may still be written, the next one and the end token included: then only those
                are allowed after which the text can still be completed. None of them where `min_tokens(state)` is more.
        """
        words = np.empty_like(self.vocabulary.all_words)
        self.fill_bitmask(state, words, remaining)
        bits = np.unpackbits(words.view(np.uint8), count=len(self.vocabulary), bitorder="little")
        return bits.view(np.bool_)

    def _refusal(self, state: S, token: int) -> str:
        if not 0 <= token < len(self.vocabulary):
            return f"token {token} is outside the vocabulary of {len(self.vocabulary):,}"
        return f"token {token} ({self.vocabulary.tokens[token]!r}) is not allowed in state {state}"
