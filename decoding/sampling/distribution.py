"""The exact distribution that a token is drawn from."""

from __future__ import annotations

import torch
from torch import Tensor

from decoding.sampling.parameters import Sampling, Samplings
from decoding.sampling.penalties import History, penalized
from decoding.sampling.truncation import truncated


def probabilities(
    logits: Tensor,
    mask: Tensor | None,
    sampling: Sampling | Samplings,
    history: History | None = None,
    *,
    end_token: int | None = None,
) -> Tensor:
    """Penalizes, masks, scales and truncates, in this order (handbook, "Constrained Sampling Strategies").

    Args:
        logits: `[B, V]` float32, float16 or bfloat16, from the model. Minus infinity is a probability of zero, and so
            is what is not a number; plus infinity is a very large logit.
        mask: `[B, V]` bool, the tokens that are allowed; None for all whose logit is not minus infinity.
        sampling: the settings of all sequences, or of each.
        history: what penalties on repetition look back on; without it there are none.
        end_token: what a row is given that allows nothing.

    Returns:
        `[B, V]` float32. Each row sums to 1 and is zero wherever the mask is false. At temperature 0 it is 1 for the
        likeliest allowed token, the one with the lowest id among equals. Where the model gives all allowed tokens a
        probability of zero, they are equally likely. A row that allows nothing is 1 for the end token, and zero
        everywhere if there is none; `choose` then says `NOTHING`. No value is ever not a number.

    Raises:
        ValueError: the mask has another shape than the logits.
    """
    if mask is not None and mask.shape != logits.shape:
        raise ValueError(f"the mask has the shape {tuple(mask.shape)}, and the logits have {tuple(logits.shape)}")
    samplings = sampling.on(logits.device) if isinstance(sampling, Sampling) else sampling
    scores = logits.float()
    if history is not None:
        scores = penalized(scores, samplings, history)
    scores, possible = _masked(scores, mask)
    result = _sampled(scores, samplings)
    if samplings.temperature is not None:
        likeliest = torch.zeros_like(result).scatter_(1, scores.argmax(1, keepdim=True), 1.0)
        result = torch.where(samplings.temperature == 0, likeliest, result)
    return torch.where(possible, result, _otherwise(result, end_token))


def _masked(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """The scores of allowed tokens, the largest of them 0, and which rows allow any, `[B, 1]` bool.

    A row that allows none is all zeros, so that what follows stays finite.
    """
    scores = scores.nan_to_num(nan=-torch.inf, posinf=torch.finfo(torch.float32).max, neginf=-torch.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    largest = scores.amax(1, keepdim=True)
    impossible = largest == -torch.inf
    scores = scores - largest.masked_fill(impossible, 0.0)
    if mask is None:
        return scores.masked_fill(impossible, 0.0), ~impossible
    possible = mask.any(1, keepdim=True)
    return scores.masked_fill(impossible & (mask | ~possible), 0.0), possible


def _sampled(scores: Tensor, samplings: Samplings) -> Tensor:
    """The distribution of rows that are sampled; rows of temperature 0 have some distribution."""
    if samplings.temperature is not None:
        lowest = torch.finfo(torch.float32).tiny
        scores = scores / samplings.temperature.clamp(min=lowest)
    return truncated(scores, samplings).softmax(1)


def _otherwise(result: Tensor, end_token: int | None) -> Tensor:
    """What rows hold that allow nothing, `[B, V]` or `[V]`."""
    row = torch.zeros(result.shape[1], device=result.device)
    return row if end_token is None else row.index_fill(0, torch.full((1,), end_token, device=result.device), 1.0)
