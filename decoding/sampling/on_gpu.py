"""The distribution and the draw on a GPU, as kernels (`decoding.sampling.kernels`).

    chances(...)     probabilities, except for typical sampling
    winners(...)     the tokens that win the race

The host reads nothing and no shape depends on values, so both can be captured in a CUDA graph, and `torch.compile` can
include them in its graph. Triton is imported on first use, because it may be missing on machines without a GPU.
"""

from __future__ import annotations

import torch
from torch import Tensor

from decoding.devices import on_device, power_of_two, row_stride
from decoding.sampling.parameters import Samplings

# The number of tokens of a chunk.
_TOKENS = 2048


def chances(logits: Tensor, mask: Tensor | None, samplings: Samplings, end_token: int | None) -> Tensor:
    """Return probabilities, `[B, V]` float32, as `decoding.sampling.distribution.probabilities` defines them.

    Args:
        logits: `[B, V]`, after penalties.
        mask: `[B, V]` bool.
        samplings: the settings, without `typical_p`.
        end_token: the token of a row that allows nothing; None for no token.
    """
    from decoding.sampling import kernels

    logits = _in_rows(logits)
    batch, width = logits.shape
    grid = batch, -(-width // _TOKENS)
    tops, best = logits.new_empty(grid, dtype=torch.float32), logits.new_empty(grid, dtype=torch.int32)
    result = logits.new_empty((batch, width), dtype=torch.float32)
    masked = logits if mask is None else _in_rows(mask).view(torch.uint8)
    scores = logits, logits.stride(0), masked, masked.stride(0), width
    temperature = logits.new_ones(1, 1, dtype=torch.float32) if samplings.temperature is None else samplings.temperature
    temperatures = temperature, row_stride(temperature)
    options = {"MASKED": mask is not None, "TOKENS": _TOKENS}
    chunks = power_of_two(grid[1])
    end = -1 if end_token is None else end_token
    with on_device(logits.device):
        kernels.find_tops[grid](tops, best, *scores, **options)
        if samplings.top_k is None and samplings.top_p is None and samplings.min_p is None:
            weights = torch.empty_like(tops)
            kernels.add_weights[grid](weights, tops, *temperatures, *scores, **options, CHUNKS=chunks)
            kernels.write_chances[grid](
                result, tops, best, weights, end, *temperatures, *scores, **options, CHUNKS=chunks
            )
        else:
            from decoding.sampling import cut_kernels, cuts

            cut_kernels.write_distances[grid](result, tops, *temperatures, *scores, **options, CHUNKS=chunks)
            cut = cuts.cut_of(result, samplings, _TOKENS)
            sums = cuts.weighed(result, cut, _TOKENS)
            cut_kernels.write_kept[grid](
                result, *sums, *cut, tops, best, end, *temperatures, width, TOKENS=_TOKENS, CHUNKS=chunks
            )
    return result


def winners(probabilities: Tensor, seeds: Tensor, step: Tensor | int, stream: int) -> Tensor:
    """Return the token that wins the race in each row, `[B]` int64, or -1.

    Args:
        probabilities: `[B, V]` float32, or `[1, V]` for all rows.
        seeds: `[B]` int64.
        step, stream: as for `decoding.sampling.noise.choose`.
    """
    from decoding.sampling import kernels

    probabilities, seeds = _in_rows(probabilities), seeds.contiguous()
    batch, width = len(seeds), probabilities.shape[1]
    grid = batch, -(-width // _TOKENS)
    speeds = probabilities.new_empty(grid)
    fastest, tokens = seeds.new_empty(grid, dtype=torch.int32), seeds.new_empty(batch)
    steps, number = (step.to(seeds.device), 0) if isinstance(step, Tensor) else (seeds, step)
    with on_device(seeds.device):
        kernels.race[grid](
            speeds, fastest, probabilities, row_stride(probabilities), seeds, steps, row_stride(steps), stream,
            number, width, HAS_STEPS=isinstance(step, Tensor), TOKENS=_TOKENS,
        )  # fmt: skip
        kernels.find_winners[(batch,)](tokens, speeds, fastest, grid[1], CHUNKS=power_of_two(grid[1]), num_warps=1)
    return tokens


def _in_rows(numbers: Tensor) -> Tensor:
    """Return a matrix whose rows are contiguous."""
    return numbers if numbers.stride(1) == 1 else numbers.contiguous()
