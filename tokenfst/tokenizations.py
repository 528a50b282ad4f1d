"""The tokenizations of a text that a token automaton accepts.

    accepts_text     whether there is one
    decoded_tokens   one of them, if the vocabulary has a detokenizer that is a transducer
    first_steps      the tokens that may begin a text
    Decodings        all of them, step by step, with such a detokenizer

Tokens that write nothing, such as special tokens that a constraint names, are in no tokenization of a text, unless they
begin it.

Many tokenizations of a text lead to the same state, so a search keeps the states reached at each offset of the text. A
state does not tell whether the text has begun, because an automaton from an FST may return to its start. So the steps
from the start are taken before the search, and are not part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from automata.compile.compiler import compile_expr
from automata.expressions import literal
from tokenfst.vocabulary import Vocabulary


class TokenReader(Protocol):
    """The part of `TokenAutomaton` that this module uses."""

    vocabulary: Vocabulary
    at_text_start: bool

    @property
    def start(self) -> Any:
        """The state before the first token."""

    def mask(self, state: Any) -> npt.NDArray[np.bool_]:
        """Return whether each token is allowed, `[V]` bool."""

    def step(self, state: Any, token: int) -> Any:
        """Return the state after a token, None if it is not allowed."""

    def is_final(self, state: Any) -> bool:
        """Return whether the text may end in a state."""


def accepts_text(automaton: TokenReader, text: bytes) -> bool:
    """Return whether an automaton accepts some tokenization of a text."""
    if automaton.vocabulary.detokenizer is not None:
        return decoded_tokens(automaton, text) is not None
    reached: list[set[Any]] = [set() for _ in range(len(text) + 1)]
    for _, length, after in first_steps(automaton, text):
        reached[length].add(after)
    for begin, states in enumerate(reached):
        for state in states:
            for token, length in automaton.vocabulary.tokens_at(text, begin):
                after = automaton.step(state, token)
                if after is not None:
                    reached[begin + length].add(after)
    return any(map(automaton.is_final, reached[-1])) or (not text and automaton.is_final(automaton.start))


def first_steps(automaton: TokenReader, text: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yield the tokens that may begin a text, how many of its bytes each writes, and the state after it.

    Some tokens write nothing at the beginning of a text, and yet begin it.
    """
    vocabulary, begins = automaton.vocabulary, automaton.at_text_start
    silent = vocabulary.silent_beginnings if begins else ()
    for token, length in [*vocabulary.tokens_at(text, 0, at_text_start=begins), *((token, 0) for token in silent)]:
        after = automaton.step(automaton.start, token)
        if after is not None:
            yield token, length, after


def decoded_tokens(automaton: TokenReader, text: bytes) -> list[int] | None:
    """Return accepted tokens for which the detokenizer writes a text, None if there are none."""
    decodings = Decodings(automaton, text)
    waiting, known = [(decodings.start, list[int]())], {decodings.start}
    while waiting:
        place, tokens = waiting.pop()
        if decodings.is_end(place):
            return tokens
        for token, after in decodings.steps(place):
            if after not in known:
                known.add(after)
                waiting.append((after, [*tokens, token]))
    return None


class Decoding(NamedTuple):
    """A place that tokens lead to, in the bytes for which a detokenizer writes a text, and in the token automaton.

    Attributes:
        at: the state of the automaton over these bytes.
        state: the state of the automaton over tokens.
        has_begun: whether the text has begun, so that the next token continues it.
    """

    at: int
    state: Any
    has_begun: bool


class Decodings:
    """All tokens of an automaton for which the detokenizer of its vocabulary writes a text.

    Attributes:
        start: the place before the first token.
    """

    def __init__(self, automaton: TokenReader, text: bytes) -> None:
        self._automaton, self._vocabulary = automaton, automaton.vocabulary
        assert self._vocabulary.detokenizer is not None
        self._rule = self._vocabulary.text_start if automaton.at_text_start else None
        self._bytes = compile_expr(self._vocabulary.detokenizer.spelled(literal(text)))
        self.start = Decoding(self._bytes.start, automaton.start, self._rule is None)

    def is_end(self, place: Decoding) -> bool:
        """Return whether the text may end in a place."""
        return place.at >= 0 and bool(self._bytes.final[place.at]) and self._automaton.is_final(place.state)

    def steps(self, place: Decoding) -> Iterator[tuple[int, Decoding]]:
        """Yield the tokens that may come next, and the place after each."""
        if place.at < 0:
            return
        for token in np.flatnonzero(self._automaton.mask(place.state)).tolist():
            written = self._vocabulary.detokenize([token], at_text_start=not place.has_begun)
            reached = self._bytes.step(place.at, written)
            begins = not place.has_begun and token in self._vocabulary.silent_beginnings
            if reached >= 0 and (written or begins):
                yield token, Decoding(reached, self._automaton.step(place.state, token), has_begun=True)
