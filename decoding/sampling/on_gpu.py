"""The distribution and the draw on a GPU, by kernels of their own (`decoding.sampling.kernels`).

    chances(...)     probabilities at a temperature, without truncation
    winners(...)     the tokens that win the race

Nothing is read on the host and no shape depends on values, so both can be captured in a CUDA graph, and `torch.compile`
takes them into its graph. Triton is imported when it is first used: where there is no GPU, it may not be there.
"""

from __future__ import annotations

import torch
from torch import Tensor

from decoding.on_triton import on_device, power_of_two

# The tokens of a chunk.
_TOKENS = 2048


def chances(logits: Tensor, mask: Tensor | None, temperature: Tensor, end_token: int | None) -> Tensor:
    """Return probabilities, `[B, V]` float32, as `decoding.sampling.distribution.probabilities` defines them.

    Args:
        logits: `[B, V]`.
        mask: `[B, V]` bool.
        temperature: `[B, 1]` or `[1, 1]` float32.
        end_token: what a row is given that allows nothing.
    """
    from decoding.sampling import kernels

    logits = _in_rows(logits)
    batch, width = logits.shape
    grid = batch, -(-width // _TOKENS)
    tops, sums = logits.new_empty(grid, dtype=torch.float32), logits.new_empty(grid, dtype=torch.float32)
    best = logits.new_empty(grid, dtype=torch.int32)
    result = logits.new_empty((batch, width), dtype=torch.float32)
    masked = logits if mask is None else _in_rows(mask).view(torch.uint8)
    scores = logits, logits.stride(0), masked, masked.stride(0), width
    temperatures = temperature, _row_stride(temperature)
    options = {"MASKED": mask is not None, "TOKENS": _TOKENS}
    chunks = power_of_two(grid[1])
    end = -1 if end_token is None else end_token
    with on_device(logits.device):
        kernels.find_tops[grid](tops, best, *scores, **options)
        kernels.add_weights[grid](sums, tops, *temperatures, *scores, **options, CHUNKS=chunks)
        kernels.write_chances[grid](result, tops, best, sums, end, *temperatures, *scores, **options, CHUNKS=chunks)
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
            speeds, fastest, probabilities, _row_stride(probabilities), seeds, steps, _row_stride(steps), stream,
            number, width, HAS_STEPS=isinstance(step, Tensor), TOKENS=_TOKENS,
        )  # fmt: skip
        kernels.find_winners[(batch,)](tokens, speeds, fastest, grid[1], CHUNKS=power_of_two(grid[1]), num_warps=1)
    return tokens


def _in_rows(numbers: Tensor) -> Tensor:
    """Return a matrix whose rows are contiguous."""
    return numbers if numbers.stride(1) == 1 else numbers.contiguous()


def _row_stride(column: Tensor) -> int:
    """Return the distance of rows; 0 where one holds for all."""
    return column.stride(0) if column.ndim and len(column) > 1 else 0
