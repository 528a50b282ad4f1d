"""The exact distribution from which a token is drawn."""

from __future__ import annotations

import torch
from torch import Tensor

from decoding.devices import triton_works
from decoding.sampling.on_gpu import chances
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
    """Penalize, mask, scale and truncate, in this order (Language AI Handbook, "Constrained Sampling Strategies").

    Args:
        logits: `[B, V]` float32, float16 or bfloat16, from the model. Minus infinity and NaN mean a probability of
            zero; plus infinity counts as a very large logit.
        mask: `[B, V]` bool, the allowed tokens; None allows all tokens whose logit is not minus infinity.
        sampling: the settings of all sequences, or of each.
        history: the earlier tokens, for repetition penalties; without it there are no such penalties.
        end_token: the token that a row gets if it allows nothing.

    Returns:
        `[B, V]` float32. Each row sums to 1 and is zero wherever the mask is false. At temperature 0 it is 1 for the
        likeliest allowed token, with the lowest id among equals. If the model gives all allowed tokens a probability of
        zero, they are equally likely. A row that allows nothing is 1 for the end token, and zero everywhere if there is
        none; `choose` then returns `NOTHING`. No value is ever NaN.

    Raises:
        ValueError: the shapes of mask and logits differ.
    """
    if mask is not None and mask.shape != logits.shape:
        raise ValueError(f"the mask has the shape {tuple(mask.shape)}, and the logits have {tuple(logits.shape)}")
    samplings = sampling.on(logits.device) if isinstance(sampling, Sampling) else sampling
    scores = logits if history is None else penalized(logits.float(), samplings, history)
    has_kernels = samplings.typical_p is None and not scores.requires_grad
    if has_kernels and scores.is_cuda and triton_works(scores.device):
        return chances(scores, mask, samplings, end_token)
    scores, impossible = _masked(scores, mask)
    best = scores.argmax(1, keepdim=True)
    if samplings.temperature is not None:
        scores.div_(samplings.temperature.clamp(min=torch.finfo(torch.float32).tiny))
    result = truncated(scores, samplings).softmax(1)
    if samplings.temperature is not None:
        greedy = samplings.temperature == 0
        chance = torch.where(greedy, 1.0, result.gather(1, best))
        result.masked_fill_(greedy, 0.0).scatter_(1, best, chance)
    result.masked_fill_(impossible, 0.0)
    if end_token is not None:
        result[:, end_token] += impossible[:, 0]
    return result


def _masked(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the scores of allowed tokens, the largest 0, in new memory; and which rows allow none, `[B, 1]` bool.

    A token that the mask allows and the model rules out has the lowest finite score: it counts only if there are no
    others. Rows that allow nothing are NaN from here on, until they are replaced.
    """
    largest = torch.finfo(torch.float32).max
    least = -torch.inf if mask is None else -largest
    scores = scores.float().nan_to_num(nan=least, posinf=largest, neginf=least)
    if mask is not None:
        scores.masked_fill_(~mask, -torch.inf)
    top = scores.amax(1, keepdim=True)
    return scores.sub_(top), top == -torch.inf
