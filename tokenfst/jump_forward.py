"""Jump-forward: write what the constraint forces without asking the model.

    forced_tokens    the tokens that follow as long as every mask allows only one. Plain sampling writes the same.
    forced_text      the bytes that follow as long as all allowed tokens begin with the same byte. This finds more than
                     `forced_tokens`: if `"name": ` must follow, masks still allow every tokenization of it.
    retokenized      these bytes in the tokens of the vocabulary's encoder, as the model has seen them in training
    settled          the tokens of a forced text that can be written without asking the model

Forced text may be proposed to the model, and then the distribution of texts does not change. Or it may be written
without asking the model, as in SGLang, and then the model has no influence on its tokenization. In the latter case, the
last piece is left open: a token is written only if no other allowed token could extend beyond the forced text. So a
token may still contain the end of the forced text and the beginning of a word after it.

Rejected: writing forced text byte by byte, or in the longest tokens that fit, which models have rarely seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from automata.arrays import IntArray
from automata.cache import kept_while_alive
from tokenfst.canonical.automaton import CanonicalTokenAutomaton
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

    The bytes are found by walking over tokens of one byte, so text that is forced after a byte without such a token is
    not found. Nothing is found if a token may differ from its bytes: at the start of a text, for tokenizers that drop a
    space there, and for automata of canonical tokenization, which forbid single bytes.
    """
    if isinstance(automaton, CanonicalTokenAutomaton):
        return b""
    vocabulary = automaton.vocabulary
    if automaton.at_text_start and vocabulary.text_start and state == automaton.start:
        return b""
    first, words, text = _first_bytes(vocabulary), np.empty_like(vocabulary.all_words), bytearray()
    while len(text) < max_bytes:
        automaton.fill_bitmask(state, words)
        byte = first.of(words)
        token = first.token_of_byte.get(byte) if byte is not None else None
        if byte is None or token is None or not words[token >> 5] >> (token & 31) & 1:
            break
        text.append(byte)
        state = automaton.advance(state, token)
    return bytes(text)


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
    vocabulary = automaton.vocabulary
    length = _first_bytes(vocabulary).length
    left = sum(len(vocabulary.tokens[token]) for token in tokens)
    for place, token in enumerate(tokens):
        allowed = automaton.mask(state, None if remaining is None else remaining - place)
        if not allowed[token] or int(length[allowed].max()) > left:
            return list(tokens[:place])
        left -= len(vocabulary.tokens[token])
        state = automaton.advance(state, token)
    return list(tokens)


def _whole_characters(text: bytes) -> bytes:
    for cut in range(min(4, len(text) + 1)):
        try:
            text[: len(text) - cut].decode()
        except UnicodeDecodeError:
            continue
        return text[: len(text) - cut]
    return b""


class _FirstBytes:
    """The tokens of a vocabulary by their first byte; one for each vocabulary.

    Attributes:
        token_of_byte: by byte, the token that writes only this byte.
        length: `[V]`, the number of bytes of each token.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokens = vocabulary.tokens
        self.token_of_byte = {token[0]: index for index, token in enumerate(vocabulary.tokens) if len(token) == 1}
        self.length = np.array([len(token) for token in vocabulary.tokens])
        first = np.array([token[0] if token else -1 for token in vocabulary.tokens])
        size = len(vocabulary.all_words) * 32
        self._others: dict[int, IntArray] = {}
        for byte in np.unique(first[first >= 0]).tolist():
            bits = np.ones(size, np.uint8)
            bits[: len(first)] = first != byte
            self._others[byte] = np.packbits(bits, bitorder="little").view(np.int32)

    def of(self, words: IntArray) -> int | None:
        """Return the byte with which all tokens of a mask begin, or None if there is none."""
        (places,) = words.nonzero()
        if not len(places):
            return None
        word = int(words[places[0]]) & 0xFFFFFFFF
        token = self._tokens[int(places[0]) * 32 + word.bit_length() - 1]
        if not token or (words[places] & self._others[token[0]][places]).any():
            return None
        return token[0]


_first_bytes = kept_while_alive(_FirstBytes)
