"""LLTokenizer: a vocabulary and its encoder, with llguidance's interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from automata.errors import NotOffered
from in_place_of.absent import Absent
from in_place_of.vocabularies import adjusted
from tokenfst.loaders import from_transformers, load_vocabulary
from tokenfst.vocabulary import Vocabulary


class TokenizerWrapper:
    """A custom encoder.

    Attributes:
        eos_token_id: the token that ends a text.
        bos_token_id: the token that begins a text, or None.
        tokens: the bytes of each token.
        special_token_ids: tokens that write nothing; their entries in `tokens` are their names.
    """

    def __init__(self, gtokenizer: Any) -> None:
        """Wrap a callable with these attributes that encodes a text, given as bytes or as a string."""
        self.eos_token_id: int = gtokenizer.eos_token_id
        self.bos_token_id: int | None = gtokenizer.bos_token_id
        self.tokens: Sequence[bytes] = gtokenizer.tokens
        self.special_token_ids: Sequence[int] = getattr(gtokenizer, "special_token_ids", [])
        self._encode: Callable[[Any], list[int]] = gtokenizer
        try:
            gtokenizer(b"test")
        except Exception:  # whatever the caller's encoder raises for bytes
            self._encode = lambda text: list(gtokenizer(text.decode()))

    def __call__(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        return list(self._encode(text.encode()))

    def vocabulary(self) -> Vocabulary:
        """Return this project's vocabulary. If special tokens have equal names, ids are appended to all but the first.

        Raises:
            ValueError: a special token is not a token.
        """
        special: dict[str, int] = {}
        for token in self.special_token_ids:
            if not 0 <= token < len(self.tokens):
                raise ValueError(f"the special token {token} is not one of {len(self.tokens)} tokens")
            name = self.tokens[token].decode(errors="replace")
            special[f"{name}[{token}]" if name in special else name] = token
        return Vocabulary(self.tokens, self.eos_token_id, special_tokens=special)


class LLTokenizer:
    """The tokens of a model, and the encoder.

    Attributes:
        vocabulary: this project's vocabulary.
        encode: encodes a text to tokens, without special tokens.
    """

    from_llamacpp = Absent(
        "serving.llama_cpp.llama_vocabulary reads the vocabulary, serving.llama_cpp.LlamaProcessor masks"
    )
    from_tiktoken = Absent("TokenizerWrapper takes any encoder; tokenfst.from_tiktoken reads its file")
    dbg_tokens = Absent("Vocabulary.names has a name for each token")
    test_trace_tokens = Absent("Vocabulary.names has a name for each token")
    tokenize_partial = Absent("tokenfst.jump_forward.settled leaves the last piece of a text open")

    def __init__(
        self,
        tokenizer: str | TokenizerWrapper,
        n_vocab: int | None = None,
        eos_token: int | list[int] | None = None,
        slices: list[str] | None = None,
    ) -> None:
        """Read a tokenizer.

        Args:
            tokenizer: the text of a `tokenizer.json`, the path of such a file, or a wrapped encoder.
            n_vocab: the width of the model's logits; None for the number of tokens.
            eos_token: the tokens that end a text; None for the tokenizer's own.
            slices: have no effect: this project computes on demand what they prepare.

        Raises:
            NotOffered: the tokenizer is neither a text nor an existing file, or it is a text without `eos_token`.
            UnsupportedTokenizer: the tokenizer's decoder cannot be modelled exactly.
            TypeError: the tokenizer is neither a text nor wrapped.
            ValueError: there are no end tokens, or the text is not a tokenizer.
        """
        self.encode: Callable[[str], list[int]]
        if eos_token == []:
            raise ValueError("eos_token is empty: a text ends with some token")
        if isinstance(tokenizer, TokenizerWrapper):
            found, self.encode = tokenizer.vocabulary(), tokenizer
        elif isinstance(tokenizer, str) and tokenizer:
            found, self.encode = _read(tokenizer, eos_token)
        else:
            raise TypeError(f"expected a TokenizerWrapper, a text or a path, not {tokenizer!r}")
        self.vocabulary = adjusted(found, n_vocab, eos_token)

    @classmethod
    def of(cls, vocabulary: Vocabulary, encode: Callable[[str], list[int]]) -> LLTokenizer:
        """Return the LLTokenizer of a vocabulary and its encoder."""
        made = cls.__new__(cls)
        made.vocabulary, made.encode = vocabulary, encode
        return made

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including padding."""
        return len(self.vocabulary)

    @property
    def eos_token(self) -> int:
        """The first token that ends a text."""
        return self.vocabulary.eos_ids[0]

    @property
    def eos_tokens(self) -> list[int]:
        """The tokens that end a text."""
        return list(self.vocabulary.eos_ids)

    @property
    def is_canonical(self) -> bool:
        """Whether there is an encoder: always True."""
        return True

    def with_slices(self, slices: list[str]) -> LLTokenizer:
        """Return this tokenizer: slices have no effect."""
        return self

    @staticmethod
    def general_slices() -> list[str]:
        """Return no slices, which have no effect."""
        return []

    @staticmethod
    def json_slices() -> list[str]:
        """Return no slices, which have no effect."""
        return []

    def tokenize_str(self, text: str, *, parse_special: bool = False) -> list[int]:
        """Return the encoder's tokens of a text.

        Raises:
            NotOffered: `parse_special` is given.
        """
        if parse_special:
            raise NotOffered("parse_special", "Vocabulary.special_tokens has the special tokens by name")
        return self.encode(text)

    def tokenize_bytes(self, utf8bytes: bytes, *, parse_special: bool = False) -> list[int]:
        """Return the tokens of bytes: the encoder's for characters, and the longest tokens for other bytes."""
        characters = utf8bytes.decode(errors="ignore")
        if not utf8bytes.startswith(characters.encode()):
            return self.greedy_tokenize(utf8bytes)
        rest = utf8bytes[len(characters.encode()) :]
        return self.tokenize_str(characters, parse_special=parse_special) + self.greedy_tokenize(rest)

    def greedy_tokenize(self, text: str | bytes) -> list[int]:
        """Split a text into tokens, taking the longest token at each position.

        Raises:
            ValueError: there is no token at some position.
        """
        data, found, at = text.encode() if isinstance(text, str) else text, list[int](), 0
        while at < len(data):
            token, length = max(self.vocabulary.tokens_at(data, at), key=lambda pair: pair[1], default=(0, 0))
            if not length:
                raise ValueError(f"no token writes {data[at : at + 1]!r}")
            found.append(token)
            at += length
        return found

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes that tokens write; special tokens write nothing, while llguidance writes their names."""
        return self.vocabulary.detokenize(tokens)

    def decode_str(self, tokens: Sequence[int]) -> str:
        """Return the text that tokens write, with replacement characters for bytes that are not UTF-8."""
        return self.decode_bytes(tokens).decode(errors="replace")

    def is_special_token(self, token: int) -> bool:
        """Return whether a token writes nothing."""
        return 0 <= token < self.vocab_size and not self.vocabulary.tokens[token]


def _read(source: str, ends: int | list[int] | None) -> tuple[Vocabulary, Callable[[str], list[int]]]:
    from tokenizers import Tokenizer

    if source.lstrip().startswith("{"):
        if ends is None:
            raise NotOffered("LLTokenizer of a JSON text without eos_token", "give it; it is not guessed from names")
        try:
            tokenizer = Tokenizer.from_str(source)
        except Exception as error:  # `tokenizers` has no exception class of its own
            raise ValueError(f"the text is not a tokenizer: {error}") from error
        return from_transformers(tokenizer, eos_ids=ends), _encoder(tokenizer)
    path = Path(source)
    if not path.exists():
        instead = "load it with transformers, and in_place_of.llguidance.hf.from_tokenizer takes it"
        raise NotOffered(f"LLTokenizer({source!r}), which is not a file,", instead)
    file = path / "tokenizer.json" if path.is_dir() else path
    return load_vocabulary(file, eos_ids=ends), _encoder(Tokenizer.from_file(str(file)))


def _encoder(tokenizer: Any) -> Callable[[str], list[int]]:
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)
