"""Vocabulary: the tokens of a model as bytes, prepared once for every constraint that will be compiled over it.

A token's bytes are what it adds to a text that is already under way; what is different for the first token of a text
is said apart (`tokenfst.text_start`). Tokens that add nothing (special tokens, padding rows, holes in the numbering)
are the empty string: they are allowed only where a constraint asks for them by name (`tokenfst.terminals`), since they
would not advance, and the end-of-sequence ids among them exactly where a text may end.

Preparing sorts the tokens into tries (`tokenfst.trie`); everything after that works on ranks, positions in sorted
order, because the tokens below a prefix are then neighbours. Ranks come in this order: tokens that are whole UTF-8
characters, other tokens, and those that emit nothing. End tokens are not ranked at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from automata.errors import VocabularyError
from tokenfst.bpe import BPE, NotBPE
from tokenfst.text_start import TextStart
from tokenfst.trie import Nodes, build_trie


class Vocabulary:
    """The tokens of a model; immutable, safe to share between threads.

    Attributes:
        tokens: V byte strings; a token's id is its position, and b"" emits nothing.
        eos_ids: the ids that end a sequence; several are one end.
        special_tokens: names of tokens that emit nothing.
        bpe: how the vocabulary's encoder cuts a text into tokens, or why that is not known. No part of the digest.
        text_start: what the decoder does at the start of a text, None where it does nothing.
        num_whole: how many tokens are whole UTF-8 characters; theirs are the first ranks.
    """

    def __init__(
        self,
        tokens: Sequence[bytes],
        eos_ids: Iterable[int] = (),
        *,
        special_tokens: Mapping[str, int] | None = None,
        bpe: BPE | NotBPE = NotBPE("none was given"),  # noqa: B008 (immutable)
        text_start: TextStart | None = None,
    ) -> None:
        """Prepares a vocabulary.

        Args:
            tokens: the bytes that each token adds to earlier text; b"" for tokens that are never to be written.
            eos_ids: the ids that end a sequence. They emit nothing, whatever their bytes are.
            special_tokens: names of further tokens that emit nothing.
            bpe: how the encoder cuts a text, for canonical tokenization.
            text_start: what the decoder does at the start of a text, if it does anything there.

        Raises:
            VocabularyError: no tokens, something that is not bytes, or an id outside `tokens`.
        """
        self.eos_ids = tuple(sorted(set(eos_ids)))
        self.special_tokens: Mapping[str, int] = MappingProxyType(dict(special_tokens or {}))
        self.bpe = bpe
        self.text_start = text_start
        silent = {*self.eos_ids, *self.special_tokens.values()}
        named = {*text_start.exceptions, *text_start.ignored} if text_start else set()
        for token_id in silent | named:
            if not 0 <= token_id < len(tokens):
                raise VocabularyError(f"id {token_id} is outside the {len(tokens)} tokens")
        if not tokens:
            raise VocabularyError("a vocabulary needs at least one token")
        for token_id, token in enumerate(tokens):
            if not isinstance(token, bytes):
                raise VocabularyError(f"token {token_id} is a {type(token).__name__}, not bytes")
        self.tokens: tuple[bytes, ...] = tuple(
            b"" if token_id in silent else token for token_id, token in enumerate(tokens)
        )
        self._sort()

    def _sort(self) -> None:
        whole: list[tuple[bytes, int]] = []
        partial: list[tuple[bytes, int]] = []
        silent: list[tuple[bytes, int]] = []
        ends = set(self.eos_ids)
        for token_id, token in enumerate(self.tokens):
            if token_id not in ends:
                (silent if not token else whole if _is_text(token) else partial).append((token, token_id))
        whole.sort()
        partial.sort()
        self.num_whole = len(whole)
        # [R], token id of each rank: all tokens but those that end a sequence.
        self.token_of_rank: npt.NDArray[np.int32] = np.array([i for _, i in (*whole, *partial, *silent)], np.int32)
        # [V], rank of each token, R for end tokens.
        self.rank_of_token: npt.NDArray[np.int32] = np.full(len(self.tokens), len(self.token_of_rank), np.int32)
        self.rank_of_token[self.token_of_rank] = np.arange(len(self.token_of_rank), dtype=np.int32)
        self.whole_trie: Nodes = build_trie([token for token, _ in whole], 0)
        self.partial_trie: Nodes = build_trie([token for token, _ in partial], len(whole))
        # [256] each, the bytes that are tokens by themselves, and those of them that are so at the start of a text too.
        self.is_token_byte: npt.NDArray[np.bool_] = np.zeros(256, np.bool_)
        self.is_first_byte: npt.NDArray[np.bool_] = np.zeros(256, np.bool_)
        for token, token_id in (*whole, *partial):
            if len(token) == 1:
                self.is_token_byte[token[0]] = True
                self.is_first_byte[token[0]] |= not self.text_start or self.text_start.is_plain(token_id)
        # [W] packed, every token that has a rank, and every end token.
        self.all_words = self._packed(self.token_of_rank)
        self.eos_words = self._packed(np.array(self.eos_ids, np.int32))
        for array in (
            self.token_of_rank,
            self.rank_of_token,
            self.whole_trie,
            self.partial_trie,
            self.is_token_byte,
            self.is_first_byte,
        ):
            array.setflags(write=False)

    def _packed(self, token_ids: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """A mask as words: bit `i & 31` of word `i >> 5` is token i."""
        bits = np.zeros(-(-len(self.tokens) // 32) * 32, np.uint8)
        bits[token_ids] = 1
        words = np.packbits(bits, bitorder="little").view(np.int32)
        words.setflags(write=False)
        return words

    def __len__(self) -> int:
        """V."""
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self):,} tokens, digest {self.digest[:12]}>"

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the tokens, the end ids and the start of a text (SHA-256, hexadecimal): equal ones have
        equal automata."""
        state = hashlib.sha256()
        state.update(np.array([len(self.tokens), *self.eos_ids], "<i8").tobytes())
        state.update(np.fromiter(map(len, self.tokens), "<i8", len(self.tokens)).tobytes())
        state.update(b"".join(self.tokens))
        if self.text_start:
            state.update(self.text_start.fingerprint())
        return state.hexdigest()

    def detokenize(self, token_ids: Iterable[int], *, at_text_start: bool = False) -> bytes:
        """The bytes that tokens add to earlier text, or with `at_text_start` the text that they write by themselves."""
        if at_text_start and self.text_start:
            return self.text_start.detokenize(token_ids, self.tokens)
        return b"".join([self.tokens[token_id] for token_id in token_ids])


def _is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
