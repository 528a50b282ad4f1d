"""Vocabularies with settings that other packages keep separate from the tokens: padding, and end tokens."""

from __future__ import annotations

from collections.abc import Iterable

from automata.errors import VocabularyError
from tokenfst.vocabulary import Vocabulary


def adjusted(vocabulary: Vocabulary, size: int | None = None, eos_ids: int | Iterable[int] | None = None) -> Vocabulary:
    """Return a vocabulary with a token for each logit of its model, and with other end tokens.

    Args:
        vocabulary: the tokens.
        size: the number of tokens of the result; added tokens write nothing. None keeps the number.
        eos_ids: the end tokens; None for those of the vocabulary.

    Raises:
        VocabularyError: the vocabulary has more than `size` tokens, or an id is not a token id.
    """
    ends = vocabulary.eos_ids if eos_ids is None else (eos_ids,) if isinstance(eos_ids, int) else tuple(eos_ids)
    more = 0 if size is None else size - len(vocabulary)
    if more < 0:
        raise VocabularyError(f"the vocabulary has {len(vocabulary)} tokens, and its size cannot be {size}")
    if not more and set(ends) == set(vocabulary.eos_ids):
        return vocabulary
    return Vocabulary(
        [*vocabulary.tokens, *[b""] * more],
        ends,
        special_tokens=vocabulary.special_tokens,
        bpe=vocabulary.bpe,
        text_start=vocabulary.text_start,
        detokenizer=vocabulary.detokenizer,
    )
