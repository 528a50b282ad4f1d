"""Vocabulary: the tokens of a model as bytes, prepared once for all constraints that are compiled over it.

The bytes of a token are those that it adds to earlier text; `tokenfst.vocabulary.text_start` describes where the first
token of a text differs. Tokens that write nothing (special tokens, padding, unused ids) are the empty string. They make
no progress, so a constraint allows them only by name (`tokenfst.finite.terminals`). End-of-sequence tokens are allowed
exactly where a text may end.

The constructor sorts the tokens into tries (`native/tokenfst/trie.h`). Compilation works on ranks, positions in the
sorted order, because the tokens with a common prefix have consecutive ranks. Tokens of whole UTF-8 characters come
first, then other tokens that write bytes, then those that write nothing. End tokens have no rank.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from operator import index
from types import MappingProxyType, NoneType
from typing import Any

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.copying import Shared
from automata.drawing import shown
from automata.errors import VocabularyError
from automata.label_bytes import MARKER, MAX_NUMBERS, label_bytes
from tokenfst._native import TextLibrary, VocabularyTries
from tokenfst.vocabulary.arguments import check_ids, check_kind, check_tokens, id_tuple, not_bytes, special_ids
from tokenfst.vocabulary.bpe import BPE, NotBPE
from tokenfst.vocabulary.byte_decoder import ByteDecoder
from tokenfst.vocabulary.names import token_names
from tokenfst.vocabulary.text_start import TextStart

# A notebook names at most this many tokens, chosen among the first ids.
_MAX_NAMED = 40
_MAX_LOOKED_AT = 100_000


class Vocabulary(Shared):
    """The tokens of a model; immutable, safe to share between threads.

    A vocabulary is equal only to itself. To find out whether two have the same automata, compare `digest` and, for
    canonical tokenization, `bpe`.

    >>> vocabulary = Vocabulary([b"un", b"do", b"ne", b""], eos_ids=3)
    >>> len(vocabulary), vocabulary.eos_ids
    (4, (3,))
    >>> vocabulary.detokenize([0, 1, 2])
    b'undone'

    Attributes:
        tokens: V byte strings; the id of a token is its index, and b"" writes nothing.
        eos_ids: the ids that end a sequence, ascending; any of them may end it.
        special_tokens: the ids of named tokens that write nothing, by name.
        bpe: how the encoder of the vocabulary cuts a text into tokens, or why that is unknown. Not part of the digest.
        text_start: how the decoder treats the start of a text differently; None if it does not.
        detokenizer: how the decoder changes the bytes of tokens; None if it does not.
        native: the tries of the native core.
        is_token_byte: `[256]` bool, whether there is a token that writes exactly this byte.
        has_every_byte: whether there is such a token for each byte.
        is_first_byte: `[256]` bool, whether there is such a token that is not an exception at the start of a text.
    """

    tokens: tuple[bytes, ...]
    eos_ids: tuple[int, ...]
    special_tokens: Mapping[str, int]
    bpe: BPE | NotBPE
    text_start: TextStart | None
    detokenizer: ByteDecoder | None
    native: VocabularyTries
    is_token_byte: BoolArray
    has_every_byte: bool
    is_first_byte: BoolArray

    def __init__(
        self,
        tokens: Sequence[bytes],
        eos_ids: int | Iterable[int] = (),
        *,
        special_tokens: Mapping[str, int] | None = None,
        bpe: BPE | NotBPE = NotBPE("none was given"),  # noqa: B008 (immutable)
        text_start: TextStart | None = None,
        detokenizer: Any = None,
    ) -> None:
        """Sort the tokens into tries.

        Args:
            tokens: the bytes that each token adds to earlier text; b"" for tokens that must not be written.
            eos_ids: the id or ids that end a sequence. These tokens write nothing, whatever their bytes. If there are
                none, no sequence can end: automata still accept texts, but generation refuses the vocabulary.
            special_tokens: the ids of further tokens that write nothing, by name.
            bpe: how the encoder cuts a text into tokens, for canonical tokenization.
            text_start: how the decoder treats the start of a text differently, if it does.
            detokenizer: how the decoder changes the bytes that tokens write, from the first byte on, as a transducer: a
                `pynini` FST over bytes, or anything else that `automata.transducer_of` takes. Constraints apply to its
                output. It must write at most one text for any bytes. Grammars are then refused.

        Raises:
            TypeError: `tokens` is not a sequence of tokens but, for example, a tokenizer; an id is not an integer; or
                `bpe` or `text_start` is of another type.
            VocabularyError: there are no tokens, a token is not bytes, or an id is outside `tokens`; or `detokenizer`
                has weights or labels.
            FstError: `detokenizer` cannot be read.
        """
        check_tokens(tokens)
        check_kind("bpe", bpe, BPE, NotBPE)
        check_kind("text_start", text_start, TextStart, NoneType)
        self.eos_ids = tuple(sorted(set(id_tuple(eos_ids))))
        self.special_tokens = MappingProxyType(special_ids(special_tokens))
        self.bpe = bpe
        self.text_start = text_start
        if detokenizer is not None and not isinstance(detokenizer, ByteDecoder):
            detokenizer = ByteDecoder(detokenizer)
        self.detokenizer = detokenizer
        silent = {*self.eos_ids, *self.special_tokens.values()}
        named = {*text_start.exceptions, *text_start.ignored} if text_start else set()
        check_ids(silent | named, len(tokens))
        written = list(tokens)
        for token_id in silent:
            written[token_id] = b""
        self.tokens = tuple(written)
        self.native = self._prepared()
        self.is_token_byte = np.zeros(256, np.bool_)
        self.is_first_byte = np.zeros(256, np.bool_)
        for token_id in self.native.byte_tokens.tolist():
            byte = self.tokens[token_id][0]
            self.is_token_byte[byte] = True
            self.is_first_byte[byte] |= not text_start or text_start.is_plain(token_id)
        for array in (self.is_token_byte, self.is_first_byte):
            array.setflags(write=False)
        self.has_every_byte = bool(self.is_token_byte.all())

    def _prepared(self) -> VocabularyTries:
        try:
            return VocabularyTries(self.tokens, np.array(self.eos_ids, np.int32))
        except TypeError:
            raise not_bytes(self.tokens) from None

    def __reduce__(self) -> tuple[object, ...]:
        """Return the arguments of the constructor; unpickling sorts the tokens into tries again."""
        return partial(Vocabulary, **self._settings(), detokenizer=self.detokenizer), (self.tokens, self.eos_ids)

    def _settings(self) -> dict[str, Any]:
        """Return the arguments of the constructor besides the tokens, the end tokens and the detokenizer."""
        return {"special_tokens": dict(self.special_tokens), "bpe": self.bpe, "text_start": self.text_start}

    @cached_property
    def texts(self) -> TextLibrary:
        """The cache that all lazy automata over this vocabulary share."""
        return TextLibrary(self.native)

    @cached_property
    def silent_numbers(self) -> Mapping[int, int]:
        """The numbers, by id and in order of ids, of the tokens that write nothing and do not end a sequence.

        Only the first such tokens have a number: as many as `automata.label_bytes` can spell.
        """
        silent = (token for token, text in enumerate(self.tokens) if not text and token not in self.eos_ids)
        return {token: number for number, token in enumerate(islice(silent, MAX_NUMBERS))}

    @cached_property
    def label_texts(self) -> TextLibrary:
        """The cache for automata whose labels are spelled as bytes (`automata.label_bytes`): in it, tokens that write
        nothing are spelled as their numbers, and tokens with the marker's byte write nothing. See `texts`."""
        tokens = [b"" if MARKER in token else token for token in self.tokens]
        for token, number in self.silent_numbers.items():
            tokens[token] = label_bytes(number)
        return TextLibrary(VocabularyTries(tokens, np.array(self.eos_ids, np.int32)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A readable name of each token, all of them different (`tokenfst.vocabulary.names`)."""
        return token_names(self.tokens, self.special_tokens)

    @property
    def num_whole(self) -> int:
        """The number of tokens that consist of whole UTF-8 characters; in the sorted order, these tokens come first."""
        return self.native.num_whole

    @cached_property
    def token_of_rank(self) -> IntArray:
        """The token id of each rank, `[R]` int32; end tokens have no rank."""
        return self.native.token_of_rank

    @cached_property
    def rank_of_token(self) -> IntArray:
        """The rank of each token, `[V]` int32; R for end tokens."""
        return self.native.rank_of_token

    @cached_property
    def all_words(self) -> IntArray:
        """The mask of all tokens that have a rank, `[W]` int32, packed."""
        return self.native.all_words

    @cached_property
    def eos_words(self) -> IntArray:
        """The mask of all end tokens, `[W]` int32, packed."""
        return self.native.eos_words

    def truncated(self, num_tokens: int) -> Vocabulary:
        """Return the vocabulary of the first `num_tokens` tokens, for a model with fewer logits than its tokenizer has
        tokens, such as Gemma 3's text model.

        The encoder of the new vocabulary is unknown if it may write a token that is left out.

        Raises:
            VocabularyError: there are no tokens, or only end tokens that are left out.
        """
        num_tokens = max(index(num_tokens), 0)
        if num_tokens >= len(self):
            return self
        left_out = self.tokens[num_tokens:]
        settings, rule = self._settings(), self.text_start
        settings["special_tokens"] = {name: token for name, token in self.special_tokens.items() if token < num_tokens}
        if any(left_out):
            settings["bpe"] = NotBPE(f"it has tokens beyond the first {num_tokens:,}")
        if rule is not None:
            exceptions = {token: text for token, text in rule.exceptions.items() if token < num_tokens}
            ignored = frozenset(token for token in rule.ignored if token < num_tokens)
            settings["text_start"] = TextStart(rule.prefix, exceptions, ignored)
        ends = [token for token in self.eos_ids if token < num_tokens]
        if self.eos_ids and not ends:
            named = ", ".join(map(str, self.eos_ids))
            raise VocabularyError(f"none of the end tokens ({named}) is among the first {num_tokens:,} tokens")
        return Vocabulary(self.tokens[:num_tokens], ends, **settings, detokenizer=self.detokenizer)

    def __len__(self) -> int:
        """Return V, the number of token ids."""
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self):,} tokens, digest {self.digest[:12]}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the size, the tokens that end a text, and some that write something."""
        ends = ", ".join(f"{self.names[token]} ({token})" for token in self.eos_ids) or "none"
        writing = [token for token in islice(range(len(self)), _MAX_LOOKED_AT) if self.tokens[token]]
        some = " ".join(self.names[token] for token in writing[:: max(1, len(writing) // _MAX_NAMED)][:_MAX_NAMED])
        sizes = f"{len(self):,} tokens, the longest of {self.native.longest} bytes; end tokens: {ends}"
        decoder = "" if self.detokenizer is None else self.detokenizer._repr_html_()
        return shown("vocabulary", sizes) + shown("some of its tokens:", some) + decoder

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the tokens, their names, the end ids, `text_start` and `detokenizer` (SHA-256, hex).

        Vocabularies with equal digests have equal automata.
        """
        state = hashlib.sha256()
        # Each part is written with its length, so that different vocabularies do not give the same bytes.
        state.update(np.array([len(self.tokens), len(self.eos_ids), *self.eos_ids], "<i8").tobytes())
        state.update(np.fromiter(map(len, self.tokens), "<i8", len(self.tokens)).tobytes())
        state.update(b"".join(self.tokens))
        for name, token_id in sorted(self.special_tokens.items()):
            spelled = name.encode("utf-8", "surrogatepass")
            state.update(b"%d %d %b" % (token_id, len(spelled), spelled))
        if self.text_start:
            state.update(self.text_start.fingerprint())
        if self.detokenizer:
            state.update(self.detokenizer.tables.digest)
        return state.hexdigest()

    def with_detokenizer(self, fst: Any) -> Vocabulary:
        """Return the same vocabulary with a transducer that follows the tokens' bytes; see `Vocabulary`.

        Raises:
            VocabularyError, FstError, TypeError: as for `Vocabulary`.
        """
        return Vocabulary(self.tokens, self.eos_ids, **self._settings(), detokenizer=fst)

    def text(self, token_ids: Iterable[int], *, at_text_start: bool = False) -> bytes:
        """Return the text that a reader sees: the bytes of the tokens, or what the detokenizer writes for them.

        If the detokenizer does not accept the bytes as a whole text, this is the part of the text that is certain.

        Args:
            token_ids, at_text_start: as for `detokenize`.

        Raises:
            VocabularyError: the detokenizer writes several texts for these tokens; or as for `detokenize`.
        """
        written = self.detokenize(token_ids, at_text_start=at_text_start)
        return written if self.detokenizer is None else self.detokenizer.decode(written)

    def detokenize(self, token_ids: Iterable[int], *, at_text_start: bool = False) -> bytes:
        """Return the bytes that tokens add to earlier text or, with `at_text_start`, the text to which they decode.

        Args:
            token_ids: the tokens.
            at_text_start: whether the first token begins a text.

        Raises:
            VocabularyError: a token is outside the vocabulary.
            TypeError: a token is not an integer.
        """
        ids = list(map(index, token_ids))
        check_ids(ids, len(self.tokens))
        if at_text_start and self.text_start:
            return self.text_start.detokenize(ids, self.tokens)
        return b"".join([self.tokens[token_id] for token_id in ids])

    def tokens_at(self, text: bytes, begin: int, *, at_text_start: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the tokens whose bytes occur at an offset of a text, and the number of bytes of each, at least one.

        Args:
            text: the text.
            begin: the offset, in bytes.
            at_text_start: whether the token is the first one of a text.
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
    def silent_beginnings(self) -> tuple[int, ...]:
        """The tokens that write nothing as the first token of a text, but begin it: the next token is not the first."""
        rule = self.text_start
        if rule is None:
            return ()
        writing = ((token, text) for token, text in enumerate(self.tokens) if text and token not in rule.ignored)
        return tuple(token for token, text in writing if not rule.first(token, text))

    @cached_property
    def _ids_by_bytes(self) -> dict[bytes, list[int]]:
        found: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(self.tokens):
            found.setdefault(token, []).append(token_id)
        return found
