"""Vocabulary: the tokens of a model as bytes, prepared once for every constraint that will be compiled over it.

A token's bytes are what it adds to a text that is already under way; what is different for the first token of a text
is said apart (`tokenfst.vocabulary.text_start`). Tokens that add nothing (special tokens, padding rows, holes in the
numbering) are the empty string: they are allowed only where a constraint asks for them by name
(`tokenfst.finite.terminals`), since they would not advance, and the end-of-sequence ids among them exactly where a
text may end.

Preparing sorts the tokens into tries (`native/tokenfst/trie.h`); everything after that works on ranks, positions in
sorted order, because the tokens below a prefix are then neighbours. Ranks come in this order: tokens that are whole
UTF-8 characters, other tokens, and those that emit nothing. End tokens are not ranked at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.errors import VocabularyError
from tokenfst import _native as native
from tokenfst.vocabulary.bpe import BPE, NotBPE
from tokenfst.vocabulary.text_start import TextStart


class Vocabulary:
    """The tokens of a model; immutable, safe to share between threads.

    Attributes:
        tokens: V byte strings; a token's id is its position, and b"" emits nothing.
        eos_ids: the ids that end a sequence; several are one end.
        special_tokens: names of tokens that emit nothing.
        bpe: how the vocabulary's encoder cuts a text into tokens, or why that is not known. No part of the digest.
        text_start: what the decoder does at the start of a text, None where it does nothing.
        native: the same for the native core, sorted into tries.
        is_token_byte, is_first_byte: `[256]`, the bytes that are tokens by themselves, and those of them that are so at
            the start of a text too.
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
        written = list(tokens)
        for token_id in silent:
            written[token_id] = b""
        self.tokens: tuple[bytes, ...] = tuple(written)
        self.native = self._prepared()
        # [256] each, the bytes that are tokens by themselves, and those of them that are so at the start of a text too.
        self.is_token_byte: BoolArray = np.zeros(256, np.bool_)
        self.is_first_byte: BoolArray = np.zeros(256, np.bool_)
        for token_id in self.native.byte_tokens.tolist():
            byte = self.tokens[token_id][0]
            self.is_token_byte[byte] = True
            self.is_first_byte[byte] |= not text_start or text_start.is_plain(token_id)
        for array in (self.is_token_byte, self.is_first_byte):
            array.setflags(write=False)

    def _prepared(self) -> native.VocabularyTries:
        if not self.tokens:
            raise VocabularyError("a vocabulary needs at least one token")
        try:
            return native.VocabularyTries(self.tokens, np.array(self.eos_ids, np.int32))
        except TypeError:
            wrong = next(token_id for token_id, token in enumerate(self.tokens) if not isinstance(token, bytes))
            kind = type(self.tokens[wrong]).__name__
            raise VocabularyError(f"token {wrong} is a {kind}, not bytes") from None

    @cached_property
    def texts(self) -> native.TextLibrary:
        """What lazy automata over this vocabulary share."""
        return native.TextLibrary(self.native)

    @property
    def num_whole(self) -> int:
        """How many tokens are whole UTF-8 characters; theirs are the first ranks."""
        return self.native.num_whole

    @cached_property
    def token_of_rank(self) -> IntArray:
        """`[R]`, the token id of each rank: all tokens but those that end a sequence."""
        return self.native.token_of_rank

    @cached_property
    def rank_of_token(self) -> IntArray:
        """`[V]`, the rank of each token, R for end tokens."""
        return self.native.rank_of_token

    @cached_property
    def all_words(self) -> IntArray:
        """`[W]` packed, the mask of every token that has a rank."""
        return self.native.all_words

    @cached_property
    def eos_words(self) -> IntArray:
        """`[W]` packed, the mask of every end token."""
        return self.native.eos_words

    def __len__(self) -> int:
        """V."""
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self):,} tokens, digest {self.digest[:12]}>"

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the tokens, their names, the end ids and the start of a text (SHA-256, hexadecimal): equal
        ones have equal automata."""
        state = hashlib.sha256()
        state.update(np.array([len(self.tokens), *self.eos_ids], "<i8").tobytes())
        state.update(np.fromiter(map(len, self.tokens), "<i8", len(self.tokens)).tobytes())
        state.update(b"".join(self.tokens))
        for name, token_id in sorted(self.special_tokens.items()):
            state.update(f"{token_id} {len(name.encode())} {name}".encode())
        if self.text_start:
            state.update(self.text_start.fingerprint())
        return state.hexdigest()

    def detokenize(self, token_ids: Iterable[int], *, at_text_start: bool = False) -> bytes:
        """The bytes that tokens add to earlier text, or with `at_text_start` the text that they write by themselves."""
        if at_text_start and self.text_start:
            return self.text_start.detokenize(token_ids, self.tokens)
        return b"".join([self.tokens[token_id] for token_id in token_ids])

    def tokens_at(self, text: bytes, begin: int, *, at_text_start: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the tokens that write what stands at a place of a text, and how many bytes each writes.

        Args:
            text: the text.
            begin: the place.
            at_text_start: whether the token is the first of a text of its own.
        """
        if at_text_start and self.text_start:
            for token_id, token in enumerate(self.tokens):
                written = self.text_start.first(token_id, token) if token else b""
                if written and text.startswith(written, begin):
                    yield token_id, len(written)
            return
        for length in range(1, min(self.native.longest, len(text) - begin) + 1):
            for token_id in self._ids_by_bytes.get(text[begin : begin + length], ()):
                yield token_id, length

    @cached_property
    def _ids_by_bytes(self) -> dict[bytes, list[int]]:
        found: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(self.tokens):
            found.setdefault(token, []).append(token_id)
        return found
