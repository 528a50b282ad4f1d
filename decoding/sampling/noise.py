"""Random numbers that belong to a sequence, and the draw that uses them.

    key    = hash(seed, stream, step)                one number for each sequence
    word_i = mix(key + (i + 1) gamma)                SplitMix64 (Steele, Lea & Flood 2014, figure 17)
    token  = argmax p_v / E_v                        E_v exponential, from word v / 2: an exponential race (Gumbel-max)

A number is a function of seed, stream, step and token, and a draw changes no state. So a sequence has the same draws
alone or in any batch, on any device, and a step that is taken back draws the same again. The race needs a number for
each token, whereas a search in the cumulative sums needs one for each sequence. In return, its outcome does not depend
on how a device rounds sums, and it couples draws: if a mask allows the token that wins among all tokens, this token
also wins among the allowed ones. So if the token drawn without a constraint is valid, the constraint does not change
it.

This does not cover the model: its logits may differ in the last bits, depending on the batch around a sequence.

Uniform numbers have 31 bits and keep them near 0, where races are decided. With 24 bits, as usual for float32, the
fastest of 100,000 tokens would often be tied with another.

Rejected: noise that stores its step (a loop that does not advance it would silently repeat draws); draws that advance
the step (a step could be neither repeated nor taken back).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Final

import torch
from torch import Tensor

from decoding.devices import sent, triton_works
from decoding.sampling import split_mix
from decoding.sampling.on_gpu import winners

# What `choose` returns for a row that allows nothing.
NOTHING: Final = -1

# SplitMix64's constants, as signed numbers.
_GAMMA: Final = split_mix.GAMMA - (1 << 64)
_FIRST: Final = split_mix.FIRST - (1 << 64)
_SECOND: Final = split_mix.SECOND - (1 << 64)
_WORD: Final = (1 << 64) - 1


@dataclass(frozen=True)
class Noise:
    """The random numbers of B sequences. Every draw names its step, so no two steps share numbers by accident.

    Attributes:
        seeds: `[B]` int64, the seed of each sequence.
    """

    seeds: Tensor

    @staticmethod
    def of(seeds: Sequence[int | None], device: torch.device | str = "cpu") -> Noise:
        """Return the noise of sequences with the given seeds, modulo 2^64; for None, torch's generator draws a seed."""
        chosen = [_drawn_seed() if seed is None else _signed(index(seed)) for seed in seeds]
        return Noise(sent(torch.tensor(chosen, dtype=torch.int64), device))

    def uniform(self, step: Tensor | int, stream: int = 0) -> Tensor:
        """Return one number for each sequence, `[B]` float32, above 0 and below 1.

        Args:
            step: the number of tokens drawn before, `[B]` int64 or one number for all.
            stream: numbers of different streams are independent of each other.
        """
        return _uniform(_words(self._keys(step, stream), 1))[:, 0]

    def exponential(self, width: int, step: Tensor | int, stream: int = 0) -> Tensor:
        """Return numbers of the exponential distribution with mean 1, `[B, width]` float32; all are above 0.

        A number does not depend on the width. Arguments are those of `uniform`.
        """
        return _uniform(_words(self._keys(step, stream), width)).neg_().log1p_().neg_()

    def _keys(self, step: Tensor | int, stream: int) -> Tensor:
        # Each part is mixed before the next is added, so that different parts do not add up to the same key.
        stream_keys = _mixed(self.seeds + _GAMMA) + _signed(_GAMMA * (stream + 1))
        shift = (step + 1) * _GAMMA
        return _mixed(_mixed(stream_keys) + (_signed(shift) if isinstance(shift, int) else shift))


def choose(probabilities: Tensor, noise: Noise, step: Tensor | int, stream: int = 0) -> Tensor:
    """Draw a token for each row by an exponential race, `[B]` int64.

    Args:
        probabilities: `[B, V]` float32; rows need not be normalized.
        noise: the rows' random numbers.
        step: the number of tokens drawn before, `[B]` int64 or one number for all. The same step repeats the draw. In a
            compiled or captured program it must be a tensor, because a number would become a constant of the program.
        stream: the stream of the noise to use.

    Returns:
        A token whose probability is above 0, or `NOTHING` (-1) for a row of zeros.
    """
    if probabilities.is_cuda and triton_works(probabilities.device):
        return winners(probabilities, noise.seeds, step, stream)
    speed = noise.exponential(probabilities.shape[1], step, stream).reciprocal_().mul_(probabilities)
    fastest, tokens = speed.max(1)
    return torch.where(fastest > 0, tokens, NOTHING)


def derived_seed(seed: int, number: int) -> int:
    """Return the seed for sequence `number` (0, 1, ...) of several sequences that share a seed."""
    mixed = _mixed(torch.tensor(_signed(seed)) + _GAMMA)
    return int(_mixed(mixed + _signed(_GAMMA * (number + 1))))


def _drawn_seed() -> int:
    return int(torch.randint(-(1 << 63), (1 << 63) - 1, ()))


def _signed(number: int) -> int:
    """Return the number modulo 2^64, from -2^63 to 2^63 - 1."""
    number &= _WORD
    return number - (1 << 64) if number >> 63 else number


def _words(keys: Tensor, width: int) -> Tensor:
    """Return SplitMix64's output for each key, two numbers of 32 bits from each word, `[B, width]` int32."""
    # ~i is -(i + 1). As a plain multiple of arange, torch.compile would take it for an index and round it on the CPU.
    below = torch.arange((width + 1) // 2, device=keys.device).bitwise_not()
    return _mixed(keys[:, None] - below * _GAMMA).view(torch.int32)[:, :width]


def _mixed(word: Tensor) -> Tensor:
    """Apply SplitMix64's finalizer (Stafford's variant 13), which is one to one on 64 bits."""
    word = _folded(word, 30).mul_(_FIRST)
    word = _folded(word, 27).mul_(_SECOND)
    return _folded(word, 31)


def _folded(word: Tensor, bits: int) -> Tensor:
    """Return the word XOR itself shifted to the right, filled with zeros; torch's own shift fills with the sign."""
    return (word >> bits).bitwise_and_((1 << (64 - bits)) - 1).bitwise_xor_(word)


def _uniform(words: Tensor) -> Tensor:
    """Return 31 bits of each word as a number above 0 and below 1, float32."""
    return (words & 0x7FFFFFFF).float().add_(0.5).mul_(2.0**-31).clamp_(max=1 - 2.0**-24)
