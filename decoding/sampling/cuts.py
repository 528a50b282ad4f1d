"""Where top-k, top-p and min-p cut the rows of a batch, on a GPU (`decoding.sampling.cut_kernels`).

    Cut          which tokens of each row are kept
    Sums         the weight that a cut keeps of each chunk
    cut_of(...)  from distances and settings to a cut
    weighed(...) from a cut to its sums

Each of the three settings results in a cut, starting from the cut of the setting before it. Min-p needs no search.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from decoding.devices import power_of_two, row_stride
from decoding.sampling import cut_kernels
from decoding.sampling.parameters import Samplings


class Cut(NamedTuple):
    """What is kept of each row: the tokens before a threshold, and how many of those at it, `[B]` int32 each."""

    thresholds: Tensor
    kept_ties: Tensor


class Sums(NamedTuple):
    """What a cut keeps of each chunk, `[B, C]`: the weight before it, float32, and the tokens at it, int32."""

    weights: Tensor
    ties: Tensor


def cut_of(distances: Tensor, samplings: Samplings, tokens: int) -> Cut:
    """Return where rows are cut.

    Args:
        distances: `[B, V]` float32, as `cut_kernels.write_distances` leaves them.
        samplings: the settings.
        tokens: the number of tokens of a chunk.
    """
    kept_ties = torch.zeros(len(distances), dtype=torch.int32, device=distances.device)
    cut = Cut(torch.full_like(kept_ties, cut_kernels.BEYOND_KEYS), kept_ties)
    if samplings.top_k is not None:
        cut = _searched(distances, samplings.top_k, cut, tokens)
    if samplings.top_p is not None:
        cut = _searched(distances, samplings.top_p, cut, tokens)
    if samplings.min_p is not None:
        # Beyond the key of the greatest distance that is kept. Without its sign, a distance of 0 has the key 0.
        limits = (samplings.min_p.log().abs().view(torch.int32) + 1)[:, 0]
        cut = Cut(cut.thresholds.minimum(limits), cut.kept_ties.where(cut.thresholds < limits, 0))
    return cut


def weighed(distances: Tensor, cut: Cut, tokens: int) -> Sums:
    """Return what a cut keeps of each chunk of `tokens` tokens."""
    batch, width = distances.shape
    grid = batch, -(-width // tokens)
    sums = Sums(distances.new_empty(grid), distances.new_empty(grid, dtype=torch.int32))
    cut_kernels.weigh[grid](*sums, cut.thresholds, distances, width, TOKENS=tokens)
    return sums


def _searched(distances: Tensor, needs: Tensor, before: Cut, tokens: int) -> Cut:
    """Return the cut of top-k or, if the column `needs` of the settings holds probabilities, that of top-p."""
    batch, width = distances.shape
    num_chunks = -(-width // tokens)
    by_weight = needs.is_floating_point()
    states = distances.new_empty((2, batch, cut_kernels.NUM_FIELDS), dtype=torch.int32)
    counts = distances.new_empty((2, batch, num_chunks, cut_kernels.INTERVALS), dtype=torch.int32)
    weights = torch.empty_like(counts, dtype=torch.float32) if by_weight else counts
    sums = weighed(distances, before, tokens) if by_weight else (counts, counts)
    needed = needs, row_stride(needs), *sums, *before
    options = {"BY_WEIGHT": by_weight, "INTERVALS": cut_kernels.INTERVALS, "CHUNKS": power_of_two(num_chunks)}
    # Each launch reads what the one before it wrote, in the other half.
    own, old, old_bits = 0, 1, 0
    for number, open_bits in enumerate(cut_kernels.OPEN_BITS):
        own, old = old, own
        cut_kernels.narrow[(batch, num_chunks)](
            states[own], counts[own], weights[own], states[old], counts[old], weights[old], open_bits, old_bits,
            *needed, distances, width, FIRST=number == 0, TOKENS=tokens, **options,
        )  # fmt: skip
        old_bits = open_bits
    found = Cut(*states.new_empty((2, batch)).unbind())
    cut_kernels.finish[(batch,)](
        *found, states[own], counts[own], weights[own], *needed, width, num_chunks, **options, num_warps=1
    )
    return found
