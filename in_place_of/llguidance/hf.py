"""LLTokenizers from tokenizers of transformers."""

from __future__ import annotations

from typing import Any

from decoding.inputs.vocabularies import vocabulary_of
from in_place_of.llguidance.tokenizer import LLTokenizer
from in_place_of.vocabularies import adjusted


def from_tokenizer(
    hf_tokenizer: Any,
    n_vocab: int | None = None,
    eos_token: int | list[int] | None = None,
    slices: list[str] | None = None,
) -> LLTokenizer:
    """Return the LLTokenizer of a fast tokenizer of transformers.

    Args:
        hf_tokenizer: the tokenizer.
        n_vocab: the width of the model's logits; None for the number of tokens.
        eos_token: the tokens that end a text; None for the tokenizer's own.
        slices: have no effect.

    Raises:
        UnsupportedTokenizer: the tokenizer's decoder cannot be modelled exactly.
    """
    vocabulary = adjusted(vocabulary_of(hf_tokenizer), n_vocab, eos_token)
    return LLTokenizer.of(vocabulary, lambda text: list(hf_tokenizer.encode(text, add_special_tokens=False)))
