"""Which tokens top-k, top-p, min-p and typical sampling keep.

Top-k and top-p both keep the n likeliest tokens, each with its own n. So the sorted *values* of a row are enough to
find n, and a comparison with the n-th value finds the tokens, without sorted ids and without a scatter. If several
tokens at the border are equally likely, those with the lower ids are kept, so that exactly n remain. Min-p compares
with the likeliest token, which every earlier truncation keeps. Each setting applies to the renormalized distribution
that the previous one left.

At least one token is always kept: the likeliest, or the most typical.
"""

from __future__ import annotations

import torch
from torch import Tensor

from decoding.sampling.parameters import Samplings


def truncated(scores: Tensor, samplings: Samplings) -> Tensor:
    """Return the scores of the tokens that are kept, minus infinity for others, `[B, V]`, in place.

    Args:
        scores: `[B, V]` float32, logarithms of weights, of which the largest in each row is 0.
        samplings: the settings.
    """
    number = _number_kept(scores, samplings)
    if number is not None:
        scores = scores.masked_fill_(~_largest(scores, *number), -torch.inf)
    if samplings.min_p is not None:
        scores = scores.masked_fill_(scores < samplings.min_p.log(), -torch.inf)
    if samplings.typical_p is not None:
        scores = scores.masked_fill_(~_typical(scores, samplings.typical_p), -torch.inf)
    return scores


def _number_kept(scores: Tensor, samplings: Samplings) -> tuple[Tensor, Tensor] | None:
    """Return the number of tokens that top-k and top-p keep, and the score of the last, `[B, 1]` each; None for all."""
    if samplings.top_k is None and samplings.top_p is None:
        return None
    width = scores.shape[1]
    if samplings.widest is not None and samplings.widest < width:
        ranked = scores.topk(samplings.widest, dim=1).values
    else:
        ranked = scores.sort(dim=1, descending=True).values
    number = torch.full((len(scores), 1), ranked.shape[1], device=scores.device)
    if samplings.top_k is not None:
        number = number.minimum(samplings.top_k)
    if samplings.top_p is not None:
        number = _nucleus(ranked, number, samplings.top_p)
    return number, ranked.gather(1, number - 1)


def _nucleus(ranked: Tensor, number: Tensor, top_p: Tensor) -> Tensor:
    """Return how many of the first `number` tokens have the share `top_p` of their probability, `[B, 1]` int64."""
    inside = torch.arange(ranked.shape[1], device=ranked.device) < number
    weights = ranked.exp() * inside
    before = weights.cumsum(1) - weights
    least = (inside & (before < top_p * weights.sum(1, keepdim=True))).sum(1, keepdim=True).clamp(min=1)
    # At 1 all are kept: because of rounding, the sum of all may be reached before the last ones.
    return torch.where(top_p < 1, least, number)


def _largest(scores: Tensor, number: Tensor, last: Tensor) -> Tensor:
    """Return the `number` largest scores of each row, the lower ids first among equals, `[B, V]` bool."""
    above, equal = scores > last, scores == last
    room = number - above.sum(1, keepdim=True)
    return above | (equal & (equal.cumsum(1, dtype=torch.int32) <= room))


def _typical(scores: Tensor, typical_p: Tensor) -> Tensor:
    """Return the tokens whose surprisal is nearest to the entropy (Meister et al. 2023, equation 11), `[B, V]` bool."""
    logs = scores.log_softmax(1)
    probabilities = logs.exp()
    entropy = torch.special.entr(probabilities).sum(1, keepdim=True)
    order = (-logs - entropy).abs().argsort(dim=1, stable=True)
    ranked = probabilities.gather(1, order)
    before = ranked.cumsum(1) - ranked
    kept = (before < typical_p) | (typical_p >= 1)
    return torch.zeros_like(kept).scatter_(1, order, kept)
