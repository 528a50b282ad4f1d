"""The settings of a sequence, and those of a batch as tensors.

    Sampling    the settings that a user gives: checked numbers, hashable
    Samplings   one column `[B, 1]` for each setting, or None if no sequence of the batch uses it

A setting that no sequence uses costs nothing: if its column is None, the program omits the step. A captured program
that serves changing batches is made with `every=True`, which keeps all columns, and its columns are written in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Final, SupportsIndex, TypedDict

import torch
from torch import Tensor

from decoding.devices import sent
from decoding.inputs.counts import token_count

# The value for no top-k: no vocabulary is larger.
_ALL: Final = 1 << 40
# The largest setting. It is far below the largest number of float32, the score of tokens that the model rules out,
# and its inverse is far above the smallest one: beyond it, sums and quotients of scores would no longer be numbers.
_HUGE: Final = 1e30


class SamplingOptions(TypedDict, total=False):
    """The settings of `Sampling` except the temperature and the seed, as keyword arguments."""

    top_k: int | None
    top_p: float
    min_p: float
    typical_p: float
    repetition_penalty: float
    presence_penalty: float
    frequency_penalty: float


def sampling_of(function: str, temperature: float, seed: int | None, options: SamplingOptions) -> Sampling:
    """Return the settings that a function was called with.

    Raises:
        TypeError: the function has no such option; or as for `Sampling`.
        ValueError: as for `Sampling`.
    """
    if unknown := sorted(options.keys() - SamplingOptions.__annotations__.keys()):
        raise TypeError(
            f"{function} has no option {unknown[0]!r}: its options are those of decoding.Sampling; `generate` passes "
            "others to the model"
        )
    return Sampling(temperature, seed=seed, **options)


@dataclass(frozen=True)
class Sampling:
    """How one sequence is sampled. The defaults leave the model's distribution unchanged.

    Attributes:
        temperature: the divisor of the logits; 0 takes the likeliest allowed token, whatever the settings for
            truncation are.
        top_k: keep only the k likeliest tokens; None for all (Fan, Lewis & Dauphin 2018).
        top_p: keep only the likeliest tokens that together have at least this probability (nucleus sampling: Holtzman
            et al. 2020).
        min_p: keep only tokens with at least this share of the likeliest token's probability (Nguyen et al. 2024).
        typical_p: keep only the tokens whose surprisal is nearest to the entropy and that together have at least this
            probability (Meister et al. 2023).
        repetition_penalty: the logits of tokens that occurred in the prompt or the text are divided by this number if
            they are positive, and multiplied by it if they are negative (Keskar et al. 2019, section 4.1).
        presence_penalty: subtracted from the logits of tokens that occurred in the text.
        frequency_penalty: subtracted from the logits once for each occurrence of the token in the text.
        seed: the seed of the sequence (`Noise`); None for one drawn from torch's generator.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: a number is out of its range; the message names the setting and the range.
            TypeError: `top_k` or `seed` is not an integer, or another setting is not a number.
        """
        if self.seed is not None and not isinstance(self.seed, SupportsIndex):
            raise TypeError(f"seed is an integer or None, not {self.seed!r}")
        for name in self.__dataclass_fields__:
            if name not in ("top_k", "seed") and not isinstance(value := getattr(self, name), Real):
                raise TypeError(f"{name} is a number, not {value!r}")
        _require(self.temperature >= 0, "temperature", self.temperature, "0 or more")
        _require_moderate("temperature", self.temperature)
        if self.top_k is not None:
            object.__setattr__(self, "top_k", token_count("top_k", self.top_k))
        _require(self.top_k is None or self.top_k >= 1, "top_k", self.top_k, "1 or more")
        _require(0 < self.top_p <= 1, "top_p", self.top_p, "above 0 and at most 1")
        _require(0 <= self.min_p <= 1, "min_p", self.min_p, "from 0 to 1")
        _require(0 < self.typical_p <= 1, "typical_p", self.typical_p, "above 0 and at most 1")
        penalty = self.repetition_penalty
        _require(penalty > 0, "repetition_penalty", penalty, "above 0")
        _require(penalty >= 1 / _HUGE, "repetition_penalty", penalty, f"{1 / _HUGE:g} or more")
        for name in "repetition_penalty", "presence_penalty", "frequency_penalty":
            _require_moderate(name, getattr(self, name))

    def with_seed(self, seed: int | None) -> Sampling:
        """Return the same settings with another seed."""
        return replace(self, seed=seed)

    def on(self, device: torch.device | str) -> Samplings:
        """Return the settings as columns `[1, 1]`, for a batch of any size."""
        return Samplings.of([self], device)


def _require(holds: bool, name: str, value: object, expected: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {expected}, and {value!r} is not")


def _require_moderate(name: str, value: float) -> None:
    _require(math.isfinite(value), name, value, "finite")
    _require(abs(value) <= _HUGE, name, value, f"from {-_HUGE:g} to {_HUGE:g}")


@dataclass(frozen=True)
class Samplings:
    """The settings of B sequences: columns `[B, 1]` float32, `top_k` int64; None if no sequence uses the setting.

    Attributes:
        widest: the largest `top_k`, if every sequence that samples has one: then this many columns are sorted, not V.
    """

    temperature: Tensor | None = None
    top_k: Tensor | None = None
    top_p: Tensor | None = None
    min_p: Tensor | None = None
    typical_p: Tensor | None = None
    repetition_penalty: Tensor | None = None
    presence_penalty: Tensor | None = None
    frequency_penalty: Tensor | None = None
    widest: int | None = field(default=None, kw_only=True)

    @staticmethod
    def of(samplings: Sequence[Sampling], device: torch.device | str = "cpu", *, every: bool = False) -> Samplings:
        """Return the columns of a batch.

        Args:
            samplings: the settings of each sequence; a single one is for a batch of any size.
            device: the device of the columns.
            every: whether to keep the columns that no sequence uses, for a program that is captured once.
        """

        def column(value: Callable[[Sampling], float], neutral: float, dtype: torch.dtype) -> Tensor | None:
            values = [value(sampling) for sampling in samplings]
            if not every and all(number == neutral for number in values):
                return None
            if len(values) == 1:
                # A fill can be captured in a CUDA graph or compiled, a copy from the host cannot.
                return torch.full((1, 1), values[0], dtype=dtype, device=device)
            return sent(torch.tensor(values, dtype=dtype)[:, None], device)

        return Samplings(
            column(lambda one: one.temperature, 1, torch.float32),
            # At temperature 0 truncation changes nothing.
            column(
                lambda one: _ALL if one.top_k is None or one.temperature == 0 else min(one.top_k, _ALL),
                _ALL,
                torch.int64,
            ),
            # A share that float32 takes for 0 would keep nothing.
            column(lambda one: max(one.top_p, 1 / _HUGE) if one.temperature else 1, 1, torch.float32),
            column(lambda one: one.min_p if one.temperature else 0, 0, torch.float32),
            column(lambda one: max(one.typical_p, 1 / _HUGE) if one.temperature else 1, 1, torch.float32),
            column(lambda one: one.repetition_penalty, 1, torch.float32),
            column(lambda one: one.presence_penalty, 0, torch.float32),
            column(lambda one: one.frequency_penalty, 0, torch.float32),
            widest=None if every else _widest(samplings),
        )


def _widest(samplings: Sequence[Sampling]) -> int | None:
    widest = 0
    for sampling in samplings:
        if sampling.temperature == 0:
            continue
        if sampling.top_k is None:
            return None
        widest = max(widest, sampling.top_k)
    return widest or None
