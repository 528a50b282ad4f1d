"""TokenizerInfo: a vocabulary, with XGrammar's interface."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from automata.errors import NotOffered
from decoding.inputs.vocabularies import vocabulary_of
from in_place_of.absent import Absent
from in_place_of.vocabularies import adjusted
from tokenfst.vocabulary import Vocabulary


class VocabType(Enum):
    """How tokens are spelled; only `RAW` is supported."""

    RAW = 0
    BYTE_FALLBACK = 1
    BYTE_LEVEL = 2


class TokenizerInfo:
    """The tokens of a model.

    Attributes:
        vocabulary: this project's vocabulary.
        vocab_type: how the tokens were spelled.
        add_prefix_space: the argument of the constructor; it has no effect, as in XGrammar.
    """

    dump_metadata = Absent("keep the tokenizer, or the file that tokenfst.load_vocabulary reads")
    from_vocab_and_metadata = Absent("keep the tokenizer, or the file that tokenfst.load_vocabulary reads")
    serialize_json = Absent("pickle `vocabulary`, or keep the file that tokenfst.load_vocabulary reads")
    deserialize_json = Absent("pickle `vocabulary`, or keep the file that tokenfst.load_vocabulary reads")

    def __init__(
        self,
        encoded_vocab: Sequence[bytes] | Sequence[str],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Sequence[int] | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        """Make a vocabulary from tokens as bytes or as text.

        Args:
            encoded_vocab: the bytes or the text that each token writes; the id of a token is its index.
            vocab_type: must be `VocabType.RAW`.
            vocab_size: the width of the model's logits; None for the number of tokens.
            stop_token_ids: the tokens that end a text.
            add_prefix_space: stored; it has no effect.

        Raises:
            NotOffered: `vocab_type` is not RAW, or there are no stop tokens (XGrammar guesses them from names).
            VocabularyError: the tokens do not make a vocabulary.
        """
        if vocab_type is not VocabType.RAW:
            instead = "TokenizerInfo.from_huggingface reads such a tokenizer, with what its decoder does"
            raise NotOffered(f"TokenizerInfo of {vocab_type}", instead)
        if stop_token_ids is None:
            raise NotOffered("TokenizerInfo without stop_token_ids", "give them; they are not guessed from names")
        tokens = [token.encode() if isinstance(token, str) else token for token in encoded_vocab]
        ends = [stop_token_ids] if isinstance(stop_token_ids, int) else list(stop_token_ids)
        self.vocabulary = adjusted(Vocabulary(tokens, ends), vocab_size)
        self.vocab_type, self.add_prefix_space = vocab_type, add_prefix_space

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> TokenizerInfo:
        """Return the TokenizerInfo of a vocabulary."""
        made = cls.__new__(cls)
        made.vocabulary, made.vocab_type, made.add_prefix_space = vocabulary, VocabType.RAW, False
        return made

    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, *, vocab_size: int | None = None, stop_token_ids: int | Sequence[int] | None = None
    ) -> TokenizerInfo:
        """Return the tokens of a fast tokenizer of transformers.

        Args:
            tokenizer: the tokenizer.
            vocab_size: the width of the model's logits; None for the number of tokens.
            stop_token_ids: the tokens that end a text; None for the tokenizer's own.

        Raises:
            UnsupportedTokenizer: the tokenizer's decoder cannot be modelled exactly.
        """
        return cls.of(adjusted(vocabulary_of(tokenizer), vocab_size, stop_token_ids))

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including padding."""
        return len(self.vocabulary)

    @property
    def decoded_vocab(self) -> list[bytes]:
        """The bytes that each token writes; empty for special tokens, where XGrammar has their names."""
        return list(self.vocabulary.tokens)

    @property
    def stop_token_ids(self) -> list[int]:
        """The tokens that end a text."""
        return list(self.vocabulary.eos_ids)

    @property
    def special_token_ids(self) -> list[int]:
        """The tokens that write nothing, except those that end a text."""
        ends = frozenset(self.vocabulary.eos_ids)
        return [token for token, text in enumerate(self.vocabulary.tokens) if not text and token not in ends]
