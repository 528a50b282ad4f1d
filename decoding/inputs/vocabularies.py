"""The vocabulary of a tokenizer, prepared once; and errors for arguments that are something else."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tokenfst.loaders import from_transformers
from tokenfst.vocabulary import Vocabulary

# Preparing a vocabulary takes up to a second, and tokenizers live as long as the program. Each vocabulary is kept with
# the facts about the tokenizer (`_facts`) at the time when it was prepared.
_vocabularies: WeakKeyDictionary[Any, tuple[object, Vocabulary]] = WeakKeyDictionary()


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    """Return the vocabulary of a fast tokenizer of `transformers`; a `Vocabulary` is returned unchanged.

    The vocabulary is prepared on the first call for a tokenizer, and kept as long as the tokenizer exists. It is
    prepared again if tokens were added, or if other tokens are special or end a text.

    Raises:
        TypeError: the argument is neither a tokenizer nor a `Vocabulary`.
        UnsupportedTokenizer: the tokenizer cannot be modelled exactly.
    """
    if isinstance(tokenizer, Vocabulary):
        return tokenizer
    if not hasattr(tokenizer, "get_vocab"):
        raise TypeError(
            f"expected a fast tokenizer of transformers or a tokenfst.Vocabulary, not {type(tokenizer).__name__}"
        )
    facts = _facts(tokenizer)
    known = _vocabularies.get(tokenizer)
    if known is None or known[0] != facts:
        known = _vocabularies[tokenizer] = facts, from_transformers(tokenizer)
    return known[1]


def _facts(tokenizer: Any) -> tuple[int | None, int | None, tuple[int, ...]]:
    """Return what a program may change in a tokenizer: how many tokens it has, its end token and its special tokens."""
    size = len(tokenizer) if hasattr(tokenizer, "__len__") else None
    return size, getattr(tokenizer, "eos_token_id", None), tuple(getattr(tokenizer, "all_special_ids", ()))


def checked_vocabulary(vocabulary: object) -> Vocabulary:
    """Return the argument if it is a `Vocabulary`.

    Raises:
        TypeError: the argument is something else; for a tokenizer the message names `vocabulary_of`.
    """
    if isinstance(vocabulary, Vocabulary):
        return vocabulary
    if hasattr(vocabulary, "get_vocab"):
        raise TypeError("expected a Vocabulary, not a tokenizer: pass decoding.vocabulary_of(tokenizer)")
    raise TypeError(f"expected a tokenfst.Vocabulary, not {type(vocabulary).__name__}")
