"""Random numbers that belong to a sequence, and the draw they decide.

    key    = hash(seed, stream, step)                one number for each sequence
    word_i = mix(key + (i + 1) gamma)                SplitMix64 (Steele, Lea & Flood 2014, figure 17)
    token  = argmax p_v / E_v                        E_v exponential, from word v / 2: an exponential race (Gumbel-max)

There is no state that draws would change: a number is a function of seed, stream, step and token. So a sequence draws
the same alone or in any batch, on any device, and a step that is taken back draws the same again. The race needs a
number for each token, where a search in the cumulative sums needs one for each sequence; in return its outcome does not
hang on how a device rounds sums, and it couples draws: if the token that wins among all tokens is one that a mask
allows, it wins among the allowed ones too. Exact constraining then changes nothing where the model was valid, token by
token.

The model is not part of this promise: its logits may differ in the last bits with the batch around a sequence.

Uniform numbers have 31 bits and keep them near 0, where races are decided: with 24 bits, as usual for float32, the
fastest of 100,000 tokens would often be as fast as another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

# What `choose` says where nothing is allowed.
NOTHING: Final = -1

# SplitMix64's constants, as signed numbers.
_GAMMA: Final = 0x9E3779B97F4A7C15 - (1 << 64)
_FIRST: Final = 0xBF58476D1CE4E5B9 - (1 << 64)
_SECOND: Final = 0x94D049BB133111EB - (1 << 64)
_WORD: Final = (1 << 64) - 1


@dataclass(frozen=True)
class Noise:
    """The random numbers of B sequences at one step each.

    Attributes:
        seeds: `[B]` int64, each sequence's own.
        steps: `[B]` int64, how many tokens it has drawn.
    """

    seeds: Tensor
    steps: Tensor

    @staticmethod
    def of(seeds: Sequence[int | None], device: torch.device | str = "cpu") -> Noise:
        """The noise of new sequences; None for a seed from torch's generator."""
        chosen = [_drawn_seed() if seed is None else _signed(seed) for seed in seeds]
        rows = torch.tensor(chosen, dtype=torch.int64).to(device)
        return Noise(rows, torch.zeros_like(rows))

    def at(self, steps: Tensor | int) -> Noise:
        """The noise of other steps, `[B]` or one number for all."""
        return Noise(self.seeds, torch.zeros_like(self.seeds) + steps)

    def next(self) -> Noise:
        """The noise of the next step."""
        return Noise(self.seeds, self.steps + 1)

    def select(self, rows: Tensor) -> Noise:
        """The noise of some of the sequences, `[R]` int64."""
        return Noise(self.seeds.index_select(0, rows), self.steps.index_select(0, rows))

    def uniform(self, stream: int = 0) -> Tensor:
        """One number for each sequence, `[B]` float32, above 0 and below 1; streams are independent of each other."""
        return _uniform(_words(self._keys(stream), 1))[:, 0]

    def exponential(self, width: int, stream: int = 0) -> Tensor:
        """Numbers of the exponential distribution with mean 1, `[B, width]` float32; all are above 0.

        A number does not depend on the width.
        """
        return _uniform(_words(self._keys(stream), width)).neg_().log1p_().neg_()

    def _keys(self, stream: int) -> Tensor:
        # Each part is mixed before the next is added, so that no two of them add up to the same.
        stream_keys = _mixed(self.seeds + _GAMMA) + _signed(_GAMMA * (stream + 1))
        return _mixed(_mixed(stream_keys) + (self.steps + 1) * _GAMMA)


def choose(probabilities: Tensor, noise: Noise, stream: int = 0) -> Tensor:
    """Draws a token for each row by an exponential race, `[B]` int64.

    Args:
        probabilities: `[B, V]` float32; rows need not be normalized.
        noise: the rows' random numbers.
        stream: which of the noise's streams decides.

    Returns:
        A token whose probability is above 0, or `NOTHING` (-1) for a row of zeros.
    """
    speed = noise.exponential(probabilities.shape[1], stream).reciprocal_().mul_(probabilities)
    fastest, tokens = speed.max(1)
    return torch.where(fastest > 0, tokens, NOTHING)


def derived_seed(seed: int, number: int) -> int:
    """The seed of one of several sequences that share a seed, told apart by `number`: 0, 1, ..."""
    mixed = _mixed(torch.tensor(_signed(seed)) + _GAMMA)
    return int(_mixed(mixed + _signed(_GAMMA * (number + 1))))


def _drawn_seed() -> int:
    return int(torch.randint(-(1 << 63), (1 << 63) - 1, ()))


def _signed(number: int) -> int:
    """The number modulo 2^64, from -2^63 to 2^63 - 1."""
    number &= _WORD
    return number - (1 << 64) if number >> 63 else number


def _words(keys: Tensor, width: int) -> Tensor:
    """SplitMix64's output for each key, two numbers of 32 bits from each word, `[B, width]` int32."""
    # ~i is -(i + 1). As a plain multiple of arange, torch.compile would take it for an index and round it on the CPU.
    below = torch.arange((width + 1) // 2, device=keys.device).bitwise_not()
    return _mixed(keys[:, None] - below * _GAMMA).view(torch.int32)[:, :width]


def _mixed(word: Tensor) -> Tensor:
    """SplitMix64's finalizer (variant 13 of Stafford's), one to one on 64 bits."""
    word = _folded(word, 30).mul_(_FIRST)
    word = _folded(word, 27).mul_(_SECOND)
    return _folded(word, 31)


def _folded(word: Tensor, bits: int) -> Tensor:
    """The word, exclusive-or itself shifted to the right with zeros; torch's own shift fills with the sign."""
    return (word >> bits).bitwise_and_((1 << (64 - bits)) - 1).bitwise_xor_(word)


def _uniform(words: Tensor) -> Tensor:
    """31 bits of each word as a number above 0 and below 1, float32."""
    return (words & 0x7FFFFFFF).float().add_(0.5).mul_(2.0**-31).clamp_(max=1 - 2.0**-24)
