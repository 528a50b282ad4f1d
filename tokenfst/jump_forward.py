"""Jump-forward: write what the constraint forces without asking the model.

    forced_tokens    the tokens that follow as long as every mask allows only one. Plain sampling writes the same.
    forced_text      the bytes that follow as long as all allowed tokens agree. This finds more than `forced_tokens`: if
                     `"name": ` must follow, masks still allow every tokenization of it.
    retokenized      these bytes in the tokens of the vocabulary's encoder, as the model has seen them in training
    settled          the tokens of a forced text that can be written without asking the model

Forced text may be proposed to the model, and then the distribution of texts does not change. Or it may be written
without asking the model, as in SGLang, and then the model has no influence on its tokenization. In the latter case, the
last piece is left open: a token is written only if no other allowed token could extend beyond the forced text. So a
token may still contain the end of the forced text and the beginning of a word after it.

Rejected: writing forced text byte by byte, or in the longest tokens that fit, which models have rarely seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.cache import kept_while_alive
from tokenfst.canonical.automaton import CanonicalTokenAutomaton
from tokenfst.packed_words import tokens_in
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

# From a text to the token ids of the model's encoder, without special tokens.
Encode: TypeAlias = Callable[[str], Sequence[int]]

# How many tokens before a forced text are given to the encoder, whose result depends on them.
ENCODER_CONTEXT = 8


def only_token(words: IntArray) -> int | None:
    """Return the only token of a mask, or None if the mask has several tokens or none.

    Args:
        words: `[W]` int32, packed.
    """
    (places,) = words.nonzero()
    if len(places) != 1:
        return None
    word = int(words[places[0]]) & 0xFFFFFFFF
    return int(places[0]) * 32 + word.bit_length() - 1 if word & (word - 1) == 0 else None


def forced_tokens(automaton: TokenAutomaton, state: Any, max_tokens: int = 256) -> list[int]:
    """Return the tokens that must follow a state, including the end token; at most `max_tokens`."""
    words, tokens = np.empty_like(automaton.vocabulary.all_words), list[int]()
    while len(tokens) < max_tokens:
        automaton.fill_bitmask(state, words)
        token = only_token(words)
        if token is None:
            break
        tokens.append(token)
        if token in automaton.vocabulary.eos_ids:
            break
        state = automaton.advance(state, token)
    return tokens


def forced_text(automaton: TokenAutomaton, state: Any, max_bytes: int = 256) -> bytes:
    """Return the bytes with which every text continues from a state, at most `max_bytes`.

    The bytes end where the text may end, where a token that writes nothing is allowed, and where two tokenizations lead
    to different states. The last is possible only if names in the constraint stand for tokens that write text, or if
    the automaton was made from an FST over tokens. Nothing is found if a token may differ from its bytes: at the start
    of a text, for tokenizers that drop a space there. Nothing is found for automata of canonical tokenization either;
    `forced_tokens` finds what they force.
    """
    if isinstance(automaton, CanonicalTokenAutomaton):
        return b""
    if automaton.vocabulary.text_start and automaton._begins(state):
        return b""
    return _AgreedText(automaton, state, max_bytes).find()


def retokenized(vocabulary: Vocabulary, before: Sequence[int], text: bytes, encode: Encode) -> list[int]:
    """Return the tokens in which the encoder writes a text after other tokens.

    Args:
        vocabulary: the tokens.
        before: the tokens before the text. The encoder gets the last few of them together with the text or, if it would
            not cut between them and the text, the text alone.
        text: the text to encode. Bytes at its end that are not a whole character are left out.
        encode: the encoder.

    Returns:
        The tokens, which write exactly the text's whole characters; none if the encoder does not write these.
    """
    text = _whole_characters(text)
    for context in ([*before[-ENCODER_CONTEXT:]], []):
        head = vocabulary.detokenize(context)
        try:
            tokens = list(encode((head + text).decode()))
        except UnicodeDecodeError:
            continue
        for cut in range(len(tokens)):
            # An encoder that marks words treats every argument as the start of a text.
            begins = vocabulary.detokenize(tokens[:cut], at_text_start=True) == head
            if (
                begins
                and vocabulary.detokenize(tokens[cut:]) == text
                and all(map(vocabulary.tokens.__getitem__, tokens))
            ):
                return tokens[cut:]
    return []


def settled(automaton: TokenAutomaton, state: Any, tokens: Sequence[int], remaining: int | None = None) -> list[int]:
    """Return the tokens of a forced text up to the first place where an allowed token could extend beyond the text.

    The last piece of the text, from that place on, is left open.

    Args:
        automaton: the automaton of the text.
        state: the state before the tokens.
        tokens: the forced text in tokens. The result also ends before a token that the automaton forbids, or after
            which the text can no longer be completed in time.
        remaining: the number of tokens that may still be written, including the end token; None means no limit.
    """
    written = automaton.vocabulary.tokens
    text, at = b"".join(map(written.__getitem__, tokens)), 0
    for place, token in enumerate(tokens):
        mask = automaton.mask(state, None if remaining is None else remaining - place)
        allowed = map(written.__getitem__, np.flatnonzero(mask))
        within = all(other and text.startswith(other, at) for other in allowed)
        if not mask[token] or not within or _may_stop(automaton, state):
            return list(tokens[:place])
        at += len(written[token])
        state = automaton.advance(state, token)
    return list(tokens)


def _may_stop(automaton: TokenAutomaton, state: Any) -> bool:
    """Return whether the text may end in a state although the mask has no end token: the vocabulary has none."""
    return not automaton.vocabulary.eos_ids and automaton.is_final(state)


def _whole_characters(text: bytes) -> bytes:
    for cut in range(min(4, len(text) + 1)):
        try:
            text[: len(text) - cut].decode()
        except UnicodeDecodeError:
            continue
        return text[: len(text) - cut]
    return b""


class _AgreedText:
    """The bytes on which all tokens agree, found by following these tokens from a state."""

    def __init__(self, automaton: TokenAutomaton, state: Any, end: int) -> None:
        """Begin in a state.

        Args:
            automaton, state: the automaton, and its state before the text.
            end: the maximum number of bytes.
        """
        self._automaton, self._tokens = automaton, automaton.vocabulary.tokens
        # No byte from here on is forced.
        self._end = end
        # The bytes of some tokens, on which all tokens agree up to the end.
        self._text = bytearray()
        # By place in the text, the state that tokens lead to.
        self._reached = {0: state}

    def find(self) -> bytes:
        """Return the bytes."""
        first = _first_bytes(self._automaton.vocabulary)
        words = np.empty_like(self._automaton.vocabulary.all_words)
        while self._reached and (at := min(self._reached)) < self._end:
            state = self._reached.pop(at)
            self._automaton.fill_bitmask(state, words)
            (places,) = words.nonzero()
            if not first.agree(words, places) or _may_stop(self._automaton, state):
                self._end = at
            else:
                self._follow(at, state, tokens_in(words, places))
        return bytes(self._text[: self._end])

    def _follow(self, at: int, state: Any, tokens: Iterable[int]) -> None:
        """Follow tokens from a place; all of them begin with the same byte."""
        known = bytes(self._text[at:])
        for token in tokens:
            written = self._tokens[token]
            if not (known.startswith(written) or written.startswith(known)):
                same = next(place for place, byte in enumerate(written) if byte != known[place])
                self._end = min(self._end, at + same)
            known, place = max(known, written, key=len), at + len(written)
            if place < self._end:
                after = self._automaton.advance(state, token)
                if self._reached.setdefault(place, after) != after:
                    self._end = place
            if self._end <= at + 1:
                break
        self._text[at:] = known


class _FirstBytes:
    """The tokens of a vocabulary by their first byte; one for each vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokens = vocabulary.tokens
        first = np.array([token[0] if token else -1 for token in vocabulary.tokens])
        size = len(vocabulary.all_words) * 32
        self._others: dict[int, IntArray] = {}
        for byte in np.unique(first[first >= 0]).tolist():
            bits = np.ones(size, np.uint8)
            bits[: len(first)] = first != byte
            self._others[byte] = np.packbits(bits, bitorder="little").view(np.int32)

    def agree(self, words: IntArray, places: npt.NDArray[np.intp]) -> bool:
        """Return whether a mask has tokens, and all of them begin with the same byte.

        Args:
            words: the mask.
            places: the places of its words that are not 0.
        """
        if not len(places):
            return False
        word = int(words[places[0]]) & 0xFFFFFFFF
        token = self._tokens[int(places[0]) * 32 + word.bit_length() - 1]
        return bool(token) and not (words[places] & self._others[token[0]][places]).any()


_first_bytes = kept_while_alive(_FirstBytes)
