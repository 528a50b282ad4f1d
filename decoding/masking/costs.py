"""Subtract the costs of tokens from logits, for automata whose states are on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tokenfst.token_automaton import TokenAutomaton


def subtract_costs(logits: Tensor, positions: Sequence[tuple[TokenAutomaton, Any] | None]) -> Tensor:
    """Return logits less the costs of tokens (`TokenAutomaton.costs`); the same tensor if no token has a cost.

    If costs are subtracted, the result is float32 at least: half precision would round small costs away.

    Args:
        logits: `[R, V]`, logits or log-probabilities.
        positions: the automaton of each row and its state; None for a row without one.
    """
    weighed, precise = logits, torch.promote_types(logits.dtype, torch.float32)
    for row, position in enumerate(positions):
        if position is None or not position[0].is_weighted:
            continue
        automaton, state = position
        tokens, costs = automaton.token_costs(state)
        if len(tokens):
            weighed = logits.to(precise, copy=True) if weighed is logits else weighed
            where = torch.from_numpy(tokens).to(logits.device, torch.int64)
            weighed[row, where] -= torch.from_numpy(costs).to(logits.device, precise)
    return weighed
