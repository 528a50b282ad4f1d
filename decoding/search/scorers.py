"""Scorers: the logits of the next token after each of the texts that a search extends.

    Scorer            the protocol
    ModelScorer       a causal model of `transformers`; its cache follows the texts
    FunctionScorer    a function from tokens to logits

A search first asks for the logits of the prompts. At each later step it names, for each new text, the old text that it
continues.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, cast

import torch
from torch import Tensor
from transformers import PreTrainedModel

from decoding.inputs.caches import cache_argument, cache_of
from decoding.inputs.prompts import padded

# From R sequences of tokens to the logits of the next token of each, `[R, V]`.
Logits: TypeAlias = Callable[[list[list[int]]], Tensor]


class Scorer(Protocol):
    """Scores texts that grow by one token at a time; row i of the logits is text i."""

    def start(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        """Begin with one text for each prompt, and return their logits, `[R, V]`."""

    def step(self, parents: list[int], tokens: list[int]) -> Tensor:
        """Replace text i by the old text `parents[i]` followed by `tokens[i]`, and return the logits, `[R, V]`."""


def scorer_of(model: PreTrainedModel | Logits) -> Scorer:
    """Return the scorer of a model, which may be wrapped in another module, or of a function."""
    is_model = isinstance(model, torch.nn.Module) and hasattr(model, "config")
    return ModelScorer(cast(PreTrainedModel, model)) if is_model else FunctionScorer(cast(Logits, model))


class FunctionScorer:
    """Scores texts by a function of all their tokens."""

    def __init__(self, logits: Logits) -> None:
        self._logits = logits
        self._rows: list[list[int]] = []

    def start(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        self._rows = [list(prompt) for prompt in prompts]
        return self._logits(self._rows)

    def step(self, parents: list[int], tokens: list[int]) -> Tensor:
        self._rows = [[*self._rows[parent], token] for parent, token in zip(parents, tokens, strict=True)]
        return self._logits(self._rows)


class ModelScorer:
    """Scores texts by a causal model, whose cache of keys and values is reordered with the texts.

    Prompts are padded on the left. The number of texts may change from step to step.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model, self._cache_argument = model, cache_argument(model)
        self._cache: Any = None
        self._attended = torch.empty(0)

    @torch.no_grad()
    def start(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        """Begin with one text for each prompt.

        Raises:
            ValueError: a prompt has no tokens, so the model has nothing to continue.
        """
        if not all(prompts):
            raise ValueError("a prompt has no tokens: begin with the model's first special token")
        inputs = padded(prompts, 0, self._model.device)
        self._cache, self._attended = None, inputs["attention_mask"]
        return self._forward(inputs["input_ids"], (self._attended.cumsum(1) - 1).clamp(min=0))

    @torch.no_grad()
    def step(self, parents: list[int], tokens: list[int]) -> Tensor:
        """Replace each text by an old one followed by one more token."""
        device = self._model.device
        rows, written = torch.tensor(parents, device=device), torch.tensor(tokens, device=device)[:, None]
        self._cache.reorder_cache(rows)
        self._attended = torch.cat([self._attended[rows], torch.ones_like(written)], dim=1)
        return self._forward(written, self._attended.sum(1, keepdim=True) - 1)

    def _forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        output = self._model(
            input_ids=tokens,
            attention_mask=self._attended,
            position_ids=positions,
            use_cache=True,
            logits_to_keep=1,
            **{self._cache_argument: self._cache},
        )
        self._cache = cache_of(self._model, output)
        return cast(Tensor, output.logits[:, -1])
