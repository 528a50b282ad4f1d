"""What `test_kernels.py` runs with TRITON_INTERPRET=1: distributions and draws by kernels beside tensor operations."""

from __future__ import annotations

from itertools import cycle, product
from types import SimpleNamespace
from typing import Any

import quick_interpreter  # noqa: F401
import torch
import triton
import triton.language as tl

from decoding.sampling import NOTHING, Noise, Sampling, Samplings, choose, kernels, on_gpu, probabilities

INF, NAN = float("inf"), float("nan")
WIDTHS = [1, 16, 37]
TEMPERATURES = [[1.0], [0.3], [0.0], [1.0, 0.0, 1e-30, 2.5, 0.7, 1.0, 0.0, 3.0]]


def log1p(x: Any) -> Any:
    """The interpreter has none of a GPU's own functions (the sum: Goldberg 1991, theorem 4)."""
    near = 1.0 + x
    return tl.where(near == 1.0, x, tl.log(near) * x / tl.where(near == 1.0, 1.0, near - 1.0))


def logits_of(width: int, dtype: torch.dtype) -> torch.Tensor:
    logits = 3 * torch.randn(8, width)
    logits[1, ::2] = -INF
    logits[2, 1::3], logits[2, 0] = NAN, INF
    logits[3] = -INF
    logits[4] = NAN
    logits[5] = 0.5  # all are equally likely
    return logits.to(dtype)


def check_distributions() -> None:
    dtypes, ends = cycle([torch.float32, torch.bfloat16, torch.float16]), cycle([None, None, 0, 0])
    # Each temperature and each type is met with a mask and without one.
    are_masked = cycle([False, False, False, True, True, True])
    for width, numbers in product(WIDTHS, TEMPERATURES):
        dtype, end, masked = next(dtypes), next(ends), next(are_masked)
        logits, mask = logits_of(width, dtype), torch.rand(8, width) < 0.6 if masked else None
        if mask is not None:
            mask[6] = False
        samplings = Samplings.of([Sampling(temperature=number) for number in numbers], every=True)
        temperature = samplings.temperature
        assert temperature is not None
        own = Samplings(temperature=temperature)
        found = on_gpu.chances(logits, mask, own, end)
        expected = probabilities(logits, mask, own, end_token=end)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)
        assert torch.equal(found > 0, expected > 0), (width, dtype, numbers, masked)


def check_truncation() -> None:
    settings: list[dict[str, Any]] = [{"top_k": 3}, {"top_p": 0.7}, {"min_p": 0.2}, {"top_k": 9, "top_p": 0.83}]
    settings += [{"top_k": 5, "min_p": 0.3}, {"top_p": 1e-6}, {"top_k": 1000, "top_p": 0.999, "min_p": 1.0}]
    mixed = [Sampling(), *(Sampling(temperature=0.7, **one) for one in settings)]
    dtypes = cycle([torch.float32, torch.bfloat16])
    runs = [(37, mixed, True), (17, mixed, False), (1, mixed, True)]
    runs += [(17, [Sampling(temperature=1.3, **one)], False) for one in settings[:4]]
    for width, samplings, masked in runs:
        # Few different numbers, so that many are equal where rows are cut.
        logits = logits_of(width, next(dtypes))
        logits[6:] = logits[6:].float().round().to(logits.dtype)
        if len(samplings) == 1:  # the other rows have been met with all samplings
            logits = logits[4:]
        mask = torch.rand(8, width) < 0.6 if masked else None
        columns = Samplings.of(samplings)
        found = on_gpu.chances(logits, mask, columns, 0)
        expected = probabilities(logits, mask, columns, end_token=0)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)
        assert torch.equal(found > 0, expected > 0), (width, samplings, masked)


def check_draws() -> None:
    noise = Noise.of([0, 1, -5, 2**63, None, 12345678901234567, 7, 8])
    places: list[tuple[int | torch.Tensor, int]]
    places = [(0, 0), (10**12, 10**6), (torch.tensor(4), 10**6), (torch.arange(8) * 10**11, 0)]
    for width, (step, stream) in zip(WIDTHS + WIDTHS[-1:], places, strict=True):
        chances = torch.rand(8, width).softmax(1) * (torch.rand(8, width) < 0.7)
        chances[2] = 0
        for own in (chances, chances[:1], torch.ones(width, 8).t()[:8]):
            found = on_gpu.winners(own, noise.seeds, step, stream)
            assert torch.equal(found, choose(own, noise, step, stream)), (width, step, stream)
        assert choose(chances, noise, step, stream)[2] == NOTHING


if __name__ == "__main__":
    torch.manual_seed(0)
    interpreted: Any = kernels
    interpreted.libdevice, on_gpu._TOKENS = SimpleNamespace(log1p=triton.jit(log1p)), 16
    check_distributions()
    check_truncation()
    check_draws()
