"""The vocabulary of a tokenizer, prepared once; and errors for arguments that are something else."""

from __future__ import annotations

from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from tokenfst.loaders import from_transformers
from tokenfst.vocabulary import Vocabulary

# Preparing a vocabulary takes up to a second, and tokenizers live as long as the program. Each vocabulary is kept with
# the facts about the tokenizer (`_facts`) at the time when it was prepared, and with those of fewer tokens, by size.
_Prepared: TypeAlias = tuple[object, Vocabulary, dict[int, Vocabulary]]
_vocabularies: WeakKeyDictionary[Any, _Prepared] = WeakKeyDictionary()


def vocabulary_of(tokenizer: Any, model: Any = None) -> Vocabulary:
    """Return the vocabulary of a fast tokenizer of `transformers`; a `Vocabulary` is returned unchanged.

    The vocabulary is prepared on the first call for a tokenizer, and kept as long as the tokenizer exists; for a bare
    tokenizer of `tokenizers` before version 0.23, it is prepared on each call. It is prepared again if tokens were
    added, if other tokens are special or end a text, or if it has another decoder or pre-tokenizer.

    Args:
        tokenizer: the tokenizer, or a `Vocabulary`.
        model: a model of `transformers`, or anything else with its `config`. If it has fewer logits than the tokenizer
            has tokens, as Gemma 3's text model does, the vocabulary is without the last tokens
            (`Vocabulary.truncated`).

    Raises:
        TypeError: the argument is neither a tokenizer nor a `Vocabulary`.
        UnsupportedTokenizer: the tokenizer cannot be modelled exactly.
        VocabularyError: the model has no logits for the end tokens.
    """
    if isinstance(tokenizer, Vocabulary):
        return tokenizer
    if not hasattr(tokenizer, "get_vocab"):
        raise TypeError(
            f"expected a fast tokenizer of transformers or a tokenfst.Vocabulary, not {type(tokenizer).__name__}"
        )
    _, whole, truncated = _prepared(tokenizer)
    width = _num_logits(model)
    if width is None or width >= len(whole):
        return whole
    if width not in truncated:
        truncated[width] = whole.truncated(width)
    return truncated[width]


def _prepared(tokenizer: Any) -> _Prepared:
    facts = _facts(tokenizer)
    try:
        known = _vocabularies.get(tokenizer)
    except TypeError:  # a tokenizer of `tokenizers` before version 0.23 has no weak references
        return facts, from_transformers(tokenizer), {}
    if known is None or known[0] != facts:
        known = _vocabularies[tokenizer] = facts, from_transformers(tokenizer), {}
    return known


def _num_logits(model: Any) -> int | None:
    """Return the number of logits of a model; None if it does not say, as a plain function does not."""
    text_config = getattr(getattr(model, "config", None), "get_text_config", None)
    width = getattr(text_config(decoder=True), "vocab_size", None) if text_config is not None else None
    return width if isinstance(width, int) else None


def _facts(tokenizer: Any) -> tuple[object, ...]:
    """Return what a program may change in a tokenizer: the tokens that were added, which of them are special, the end
    token, the decoder and the pre-tokenizer."""
    size = len(tokenizer) if hasattr(tokenizer, "__len__") else None
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    read = getattr(backend, "get_added_tokens_decoder", dict)
    added = tuple((number, token.content, token.special) for number, token in read().items())
    ends = getattr(tokenizer, "eos_token_id", None), tuple(getattr(tokenizer, "all_special_ids", ()))
    parts = [getattr(backend, name, None) for name in ("decoder", "pre_tokenizer")]
    return size, added, ends, [None if part is None else part.__getstate__() for part in parts]


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
