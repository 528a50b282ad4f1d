"""What a search extends: rows of tokens, and the logits of what comes next in each.

    ModelRows       a causal model of `transformers`; its cache follows the rows
    FunctionRows    a function from tokens to logits

A search asks for the prompts' logits once and then, at each step, names for each new row the old one that it continues.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, cast

import torch
from torch import Tensor
from transformers import PreTrainedModel

# The logits `[R, V]` of what comes after each of R sequences of tokens.
Logits: TypeAlias = Callable[[list[list[int]]], Tensor]


class Rows(Protocol):
    """Rows of tokens that grow by one token at a time."""

    def start(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        """One row for each prompt; its logits, `[R, V]`."""

    def step(self, parents: list[int], tokens: list[int]) -> Tensor:
        """New rows: row i continues old row `parents[i]` by `tokens[i]`; their logits, `[R, V]`."""


def rows_of(model: PreTrainedModel | Logits) -> Rows:
    """The rows of a model, or of a function."""
    return ModelRows(model) if isinstance(model, PreTrainedModel) else FunctionRows(model)


class FunctionRows:
    """Rows whose logits a function computes from all of their tokens."""

    def __init__(self, logits: Logits) -> None:
        self._logits = logits
        self._rows: list[list[int]] = []

    def start(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        self._rows = [list(prompt) for prompt in prompts]
        return self._logits(self._rows)

    def step(self, parents: list[int], tokens: list[int]) -> Tensor:
        self._rows = [[*self._rows[parent], token] for parent, token in zip(parents, tokens, strict=True)]
        return self._logits(self._rows)


class ModelRows:
    """Rows of a causal model, whose cache of keys and values is reordered with them.

    Prompts are padded on the left. Rows may become more or fewer from step to step.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._cache: Any = None
        self._attended = torch.empty(0)

    @torch.no_grad()
    def start(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        """One row for each prompt.

        Raises:
            ValueError: a prompt has no tokens, so the model has nothing to continue.
        """
        if not all(prompts):
            raise ValueError("a prompt has no tokens: begin with the model's first special token")
        longest = max(map(len, prompts))
        padded = [[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
        attended = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        self._cache, device = None, self._model.device
        self._attended = torch.tensor(attended, device=device)
        return self._forward(torch.tensor(padded, device=device), (self._attended.cumsum(1) - 1).clamp(min=0))

    @torch.no_grad()
    def step(self, parents: list[int], tokens: list[int]) -> Tensor:
        """New rows, each an old one with one token more."""
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
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._cache = output.past_key_values
        return cast(Tensor, output.logits[:, -1])
