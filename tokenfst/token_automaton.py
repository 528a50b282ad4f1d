"""TokenAutomaton: an exact automaton over the tokens of a vocabulary, whatever constraint it was compiled from.

It accepts every tokenization of every text of its language and nothing else. Every state that its masks lead to can
reach an end, so a mask never forbids what could still be completed and never leads into a dead end.

    state          an opaque value, immutable and hashable; keep it to rewind or to branch
    mask           the tokens that are allowed in a state; with `remaining`, those after which the text can be completed
                   within so many tokens
    complete()     the same automaton with all its tables made, which tensors, files and drawings need

Kinds of automata differ in what a state is and in what is known in advance:

    LazyTokenAutomaton        masks are made when they are first needed             tokenfst.lazy
    FiniteTokenAutomaton      tables over states                                    tokenfst.finite
    CountedTokenAutomaton     tables over states and one count                      tokenfst.counted
    PushdownTokenAutomaton    tables over states and a stack                        tokenfst.pushdown
    CanonicalTokenAutomaton   the one tokenization that the encoder produces        tokenfst.canonical

A budget is kept by induction. A state fits a budget if `min_tokens` of it does. Such a state allows a token, and some
allowed token leads to a state that fits the budget less one; so a text that is written under masks with a budget is
complete when the budget is spent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.drawing import Drawing
from automata.errors import AutomatonFileError, LimitExceeded, TokenNotAllowed
from automata.limits import Cancellation, Limits
from tokenfst.files import Array, write_file
from tokenfst.vocabulary import Vocabulary

# Opaque, immutable and hashable.
State: TypeAlias = Any

# Tokens that a message names.
_MAX_NAMED = 8


class TokenAutomaton(ABC):
    """An exact automaton over the tokens of a vocabulary; made by `tokenfst.compile` or `tokenfst.load_automaton`.

    Safe to share between threads.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        end_state: the state after an end token.
        at_text_start: whether the tokens are a text of their own, and not the continuation of one.
    """

    vocabulary: Vocabulary
    start: Any
    at_text_start: bool

    @property
    @abstractmethod
    def end_state(self) -> Any:
        """The state after an end token."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory in bytes, without the vocabulary's, which all its automata share, and without cached masks."""

    @abstractmethod
    def is_final(self, state: State) -> bool:
        """Return whether the text may end in a state.

        Raises:
            ValueError: the state belongs to another automaton, as for all methods that take a state.
        """

    @abstractmethod
    def advance(self, state: State, token: int) -> Any:
        """Return the state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
            TooManyConfigurations: an ambiguous grammar has more derivations of the text than are carried.
            LimitExceeded: a lazy automaton has found more states than its limits allow, as for all methods below.
        """

    @abstractmethod
    def min_tokens(self, state: State) -> int:
        """Return the least number of tokens from a state to the end of the text, the end token included.

        It is 0 after the end token. For an automaton whose tables would exceed the limits it is an upper bound; in
        every state with a bound above 0 some token leads to a state with a smaller one.
        """

    @abstractmethod
    def fill_bitmask(self, state: State, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Write the mask of a state as packed words: bit `i & 31` of word `i >> 5` is token i.

        Args:
            state: the state.
            out: int32 `[W]`, `W >= ceil(V / 32)`; words past the vocabulary are cleared.
            remaining: as for `mask`.

        Raises:
            ValueError: `out` is too short.
        """

    def mask(self, state: State, remaining: int | None = None) -> npt.NDArray[np.bool_]:
        """Return the tokens that are allowed in a state, `[V]` bool; end tokens exactly where the text may end.

        Args:
            state: the state.
            remaining: how many tokens may still be written, the next one and the end token included: then only those
                tokens are allowed after which the text can still be completed, and none if `min_tokens(state)` is more.
        """
        words = np.empty_like(self.vocabulary.all_words)
        self.fill_bitmask(state, words, remaining)
        bits = np.unpackbits(words.view(np.uint8), count=len(self.vocabulary), bitorder="little")
        return bits.view(np.bool_)

    def fits(self, state: State, remaining: int) -> bool:
        """Return whether the text can be completed from a state within so many tokens, the end token included."""
        return self.min_tokens(state) <= remaining

    def accepts(self, tokens: Iterable[int] | str | bytes) -> bool:
        """Return whether tokens are a whole text of the language, with an end token after them or without.

        Args:
            tokens: token ids; or a text, which is accepted if the automaton accepts some tokens that write it.
        """
        if isinstance(tokens, str | bytes):
            return self._accepts_text(tokens.encode() if isinstance(tokens, str) else tokens)
        ids, ends = list(tokens), self.vocabulary.eos_ids
        if ids and ids[-1] in ends:
            ids.pop()
        state = self.start
        for token in ids:
            state = None if token in ends else self._step(state, token)
            if state is None:
                return False
        return self.is_final(state)

    def _accepts_text(self, text: bytes) -> bool:
        """Return whether some tokens that the automaton accepts write a text.

        States are reached by place in the text, from tokens of all lengths.
        """
        reached: list[set[Any]] = [set() for _ in range(len(text) + 1)]
        reached[0].add(self.start)
        for begin, states in enumerate(reached):
            for state in states:
                is_first = begin == 0 and state == self.start and self.at_text_start
                for token, length in self.vocabulary.tokens_at(text, begin, at_text_start=is_first):
                    after = self._step(state, token)
                    if after is not None:
                        reached[begin + length].add(after)
        return any(self.is_final(state) for state in reached[-1])

    def _step(self, state: State, token: int) -> Any:
        """Return the state after one more token, None if it is not allowed."""
        try:
            return self.advance(state, token)
        except TokenNotAllowed:
            return None

    def text(self, token_ids: Iterable[int]) -> bytes:
        """Return the bytes that tokens write where this automaton begins: at the start of a text, or within one."""
        return self.vocabulary.detokenize(token_ids, at_text_start=self.at_text_start)

    # Tables

    def complete(self, *, limits: Limits | None = None, cancellation: Cancellation | None = None) -> TokenAutomaton:
        """Return the same automaton with all its tables made: itself, where they are. Its states are its own.

        Args:
            limits: how much making them may take; those of the compilation by default.
            cancellation: lets another thread stop it.

        Raises:
            LimitExceeded: the tables would exceed a limit, which the message names.
            Cancelled: another thread cancelled it.
        """
        return self

    def arrays(self) -> dict[str, Array]:
        """Return the tables by name, as a file holds them.

        Raises:
            LimitExceeded: the tables exceed the limits.
            AutomatonFileError: this kind of automaton has no tables of its own.
        """
        complete = self.complete()
        if complete is self:
            raise AutomatonFileError(f"a {type(self).__name__} has no tables of its own")
        return complete.arrays()

    @abstractmethod
    def key(self, state: State) -> tuple[int, ...]:
        """Return numbers for a state that mean the same for every automaton of the same constraint and vocabulary.

        They are equal for states that differ only in a count or deep in their stacks, and otherwise different: what
        statistics by state are kept by.

        Raises:
            LimitExceeded: the tables exceed the limits.
        """

    def draw(self, *, title: str | None = None) -> Drawing:
        """Return a picture of the complete automaton.

        Raises:
            LimitExceeded: it has too many states for a picture, or its tables exceed the limits.
        """
        complete = self.complete()
        if complete is self:
            raise LimitExceeded(f"a {type(self).__name__} has too many states for a picture")
        return complete.draw(title=title)

    def save(self, path: str | Path) -> None:
        """Write the complete automaton as a safetensors file that names its format and its vocabulary's digest.

        Raises:
            LimitExceeded: its tables exceed the limits.
            AutomatonFileError: this kind of automaton cannot be saved.
        """
        complete = self.complete()
        write_file(path, complete.vocabulary, complete.arrays(), **complete._header())

    def _header(self) -> dict[str, str]:
        """Return what the header of a file says besides the vocabulary: the kind of automaton, and more."""
        return {}

    def _refusal(self, state: State, token: int) -> TokenNotAllowed:
        """Return the error for a token that is not allowed: it names some that are."""
        if not 0 <= token < len(self.vocabulary):
            return TokenNotAllowed(f"token {token} is outside the vocabulary of {len(self.vocabulary):,} tokens")
        tokens = self.vocabulary.tokens
        allowed = np.flatnonzero(self.mask(state)).tolist()
        names = ["the end" if one in self.vocabulary.eos_ids else repr(tokens[one]) for one in allowed[:_MAX_NAMED]]
        more = f" and {len(allowed) - _MAX_NAMED:,} more" if len(allowed) > _MAX_NAMED else ""
        refused = "the end of the text" if token in self.vocabulary.eos_ids else f"token {token} ({tokens[token]!r})"
        return TokenNotAllowed(f"{refused} is not allowed{self._where(state)}; allowed are {', '.join(names)}{more}")

    def _where(self, state: State) -> str:
        """Return " after ..." with a text that leads to a state, or nothing where that is not known."""
        return ""


class Core(Protocol):
    """The steps of an automaton of the native core. A state of another automaton is a ValueError."""

    @property
    def num_bytes(self) -> int: ...

    def is_final(self, state: Any, /) -> bool: ...

    def advance(self, state: Any, token: int, /) -> Any: ...

    def min_tokens(self, state: Any, /) -> int: ...

    def fill_bitmask(self, state: Any, out: npt.NDArray[np.int32], /) -> None: ...

    def fill_within(self, state: Any, out: npt.NDArray[np.int32], remaining: int, /) -> Any: ...


class NativeTokenAutomaton(TokenAutomaton):
    """An automaton over tokens whose steps are those of a native object.

    Attributes:
        core: the native object.
    """

    core: Core

    @property
    def nbytes(self) -> int:
        """Memory in bytes; see `TokenAutomaton.nbytes`."""
        return self.core.num_bytes

    def is_final(self, state: State) -> bool:
        """Return whether the text may end in a state; see `TokenAutomaton.is_final`."""
        return self.core.is_final(state)

    def advance(self, state: State, token: int) -> Any:
        """Return the state after one more token; see `TokenAutomaton.advance`."""
        reached = self.core.advance(state, token)
        if reached is None:
            raise self._refusal(state, token)
        return reached

    def _step(self, state: State, token: int) -> Any:
        return self.core.advance(state, token)

    def min_tokens(self, state: State) -> int:
        """Return the least number of tokens to the end; see `TokenAutomaton.min_tokens`."""
        return self.core.min_tokens(state)

    def fill_bitmask(self, state: State, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Write the mask of a state as packed words; see `TokenAutomaton.fill_bitmask`."""
        if remaining is None:
            self.core.fill_bitmask(state, out)
        else:
            self.core.fill_within(state, out, remaining)
