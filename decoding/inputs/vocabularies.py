"""The vocabulary of a tokenizer, prepared once, and the message for whatever is given in its place."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tokenfst.loaders import from_transformers
from tokenfst.vocabulary import Vocabulary

# Preparing a vocabulary takes up to a second, and tokenizers live as long as the program.
_vocabularies: WeakKeyDictionary[Any, Vocabulary] = WeakKeyDictionary()


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    """Return the vocabulary of a fast tokenizer of `transformers`; a `Vocabulary` is returned as it is.

    The vocabulary is prepared on the first call for a tokenizer and kept as long as the tokenizer.

    Raises:
        TypeError: the argument is neither.
        UnsupportedTokenizer: the tokenizer's decoder is not known.
    """
    if isinstance(tokenizer, Vocabulary):
        return tokenizer
    if not hasattr(tokenizer, "get_vocab"):
        raise TypeError(
            f"expected a fast tokenizer of transformers or a tokenfst.Vocabulary, not {type(tokenizer).__name__}"
        )
    vocabulary = _vocabularies.get(tokenizer)
    if vocabulary is None:
        vocabulary = _vocabularies[tokenizer] = from_transformers(tokenizer)
    return vocabulary


def checked_vocabulary(vocabulary: object) -> Vocabulary:
    """Return the argument if it is a `Vocabulary`.

    Raises:
        TypeError: it is something else; for a tokenizer the message names `vocabulary_of`.
    """
    if isinstance(vocabulary, Vocabulary):
        return vocabulary
    if hasattr(vocabulary, "get_vocab"):
        raise TypeError("expected a Vocabulary, not a tokenizer: pass decoding.vocabulary_of(tokenizer)")
    raise TypeError(f"expected a tokenfst.Vocabulary, not {type(vocabulary).__name__}")
