"""A complete text, and the comparison of texts of different lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# The longest length that is told apart, and the largest exponent: the one to the power of the other fits into a float.
_LONGEST: Final = 10**9
_LARGEST_PENALTY: Final = 32


@dataclass(frozen=True)
class Hypothesis:
    """A complete text.

    Attributes:
        text: the text; also `str(hypothesis)`.
        tokens: its tokens, including the end token.
        log_probability: the model's (not the sampler's) log-probability of the tokens given the prompt, in nats; for
            the end, it uses the total probability of all end tokens.
        score: the number by which texts are ranked.
        group: the group of beams that found the text.
    """

    text: str
    tokens: tuple[int, ...]
    log_probability: float
    score: float
    group: int = 0

    def __str__(self) -> str:
        return self.text


def check_penalty(penalty: float) -> None:
    """Raise ValueError unless any length to this power fits into a float."""
    if not -_LARGEST_PENALTY <= penalty <= _LARGEST_PENALTY:
        raise ValueError(f"length_penalty is from -{_LARGEST_PENALTY} to {_LARGEST_PENALTY}, not {penalty}")


def normalized(log_probability: float, length: int, penalty: float) -> float:
    """Return the log-probability divided by `length ** penalty`; for penalty 1 this is the mean over tokens."""
    return log_probability / float(min(length, _LONGEST) ** penalty)
