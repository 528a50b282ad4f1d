"""Prompts as the model reads them.

A prompt is a text, which the tokenizer encodes, or a list of token ids, which is used unchanged. A flat list of token
ids is one prompt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from operator import index
from typing import Any, TypeAlias

import torch
from torch import Tensor

from tokenfst.vocabulary import Vocabulary

Prompt: TypeAlias = str | Sequence[int]
Prompts: TypeAlias = Prompt | Sequence[Prompt]


def prompt_tokens(tokenizer: Any, prompts: Prompts, model: Any = None) -> list[list[int]]:
    """Return the token ids of one prompt or several.

    Args:
        tokenizer: a tokenizer of `transformers`; or a `Vocabulary` if all prompts are token ids.
        prompts: texts, or lists of token ids. An empty text becomes the tokenizer's first special token.
        model: the model that reads them; None if it is not known.

    Raises:
        TypeError: a prompt is something else, such as the output of a tokenizer, or a text without a tokenizer; or the
            model is the name of one, or has an encoder.
        ValueError: a prompt has no tokens, or one that the model does not have.
    """
    _check_causal(model)
    if isinstance(prompts, Mapping):
        raise TypeError(
            "prompts are texts, and this is a tokenizer's output: pass the texts themselves, or "
            'its token ids, encoded["input_ids"].tolist()'
        )
    if isinstance(prompts, bytes | Tensor) or not isinstance(prompts, Sequence):
        hint = ": ids.tolist() makes lists of them" if isinstance(prompts, Tensor) else ""
        raise TypeError(f"prompts are texts or lists of token ids, not {type(prompts).__name__}{hint}")
    is_one = isinstance(prompts, str) or (len(prompts) > 0 and all(isinstance(token, Integral) for token in prompts))
    several: Any = [prompts] if is_one else prompts
    rows = [_tokens(tokenizer, prompt, number) for number, prompt in enumerate(several)]
    num_tokens = _num_embeddings(model)
    for number, row in enumerate(rows):
        if min(row) < 0 or max(row) >= num_tokens:
            wrong = next(token for token in row if not 0 <= token < num_tokens)
            raise ValueError(f"prompt {number} has the token {wrong}, which the model does not have")
    return rows


def token_ids(prompt: Iterable[int]) -> list[int]:
    """Return the token ids of one prompt, which may be integers of NumPy or of a tensor.

    Raises:
        TypeError: the prompt is something else, such as a text or a batch.
    """
    try:
        return [index(token) for token in prompt]
    except TypeError:
        raise TypeError(
            'the prompt is a list of token ids, such as tokenizer(text)["input_ids"], and not '
            f"{_kind(prompt)}{_hint(prompt)}"
        ) from None


def _kind(prompt: Any) -> str:
    if isinstance(prompt, Mapping):
        return "a tokenizer's whole output"
    if isinstance(prompt, str):
        return "a text"
    items = f" of {type(prompt[0]).__name__}" if isinstance(prompt, list) else ""
    return type(prompt).__name__ + items


def _num_embeddings(model: Any) -> float:
    """Return the number of tokens that a model reads; infinity if it does not say."""
    embeddings = model.get_input_embeddings() if hasattr(model, "get_input_embeddings") else None
    return float(getattr(embeddings, "num_embeddings", math.inf))


def _tokens(tokenizer: Any, prompt: Any, number: int) -> list[int]:
    if isinstance(prompt, str):
        if isinstance(tokenizer, Vocabulary):
            raise TypeError(f"prompt {number} is a text, and a vocabulary encodes none: pass the tokenizer")
        encoded: list[int] = tokenizer(prompt)["input_ids"]
        return encoded or [first_token(tokenizer)]
    if (
        isinstance(prompt, bytes)
        or not isinstance(prompt, Sequence)
        or not all(isinstance(one, Integral) for one in prompt)
    ):
        raise TypeError(f"prompt {number} is a text or a list of token ids, not {type(prompt).__name__}{_hint(prompt)}")
    if not prompt:
        raise ValueError(f"prompt {number} has no tokens: begin with the model's first special token")
    return list(map(int, prompt))


def _check_causal(model: Any) -> None:
    if isinstance(model, str):
        raise TypeError(f"the model is an object, not its name: AutoModelForCausalLM.from_pretrained({model!r})")
    if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        raise TypeError(
            f"{type(model).__name__} has an encoder, and this function takes models that continue their prompt: call "
            "`model.generate` with a `ConstraintLogitsProcessor`"
        )


def _hint(prompt: Any) -> str:
    """Return a hint at the prompt that a wrong value was probably meant to be, for an error message; "" for none."""
    message = prompt[0] if isinstance(prompt, list) and prompt else prompt
    if isinstance(message, Mapping) and "content" in message:
        return (
            ": for the token ids of a conversation, call "
            "tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)"
        )
    return ": prompt.tolist() makes a list of them" if isinstance(prompt, Tensor) else ""


def first_token(tokenizer: Any) -> int:
    """Return the token that a model reads in place of an empty prompt.

    Raises:
        ValueError: the tokenizer has neither a first nor a last special token.
    """
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    raise ValueError("the prompt is empty, and the tokenizer names no special token for a model to begin with")


def pad_token(tokenizer: Any, vocabulary: Vocabulary, model: Any) -> int:
    """Return the token that fills a batch: the tokenizer's padding, or the first end token if there is none, if it was
    added to the tokenizer and not to the model, or if it writes something, which would belong to a text before it."""
    known = getattr(tokenizer, "pad_token_id", None)
    if known is None or known >= min(len(vocabulary), _num_embeddings(model)) or vocabulary.tokens[known]:
        return vocabulary.eos_ids[0]
    return int(known)


def padded(rows: Sequence[Sequence[int]], pad: int, device: torch.device | str) -> dict[str, Tensor]:
    """Return `input_ids` and `attention_mask`, `[B, T]` int64 each, padded on the left.

    Args:
        rows: the token ids of each prompt, at least one prompt.
        pad: the token that fills shorter rows.
        device: where the tensors live.
    """
    longest = max(map(len, rows))
    ids = [[pad] * (longest - len(row)) + list(row) for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return {"input_ids": torch.tensor(ids, device=device), "attention_mask": torch.tensor(mask, device=device)}
