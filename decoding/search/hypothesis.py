"""A complete text, and how texts of different length compare."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A complete text.

    Attributes:
        text: the text; `str(hypothesis)` gives it too.
        tokens: its tokens, with the end token.
        log_probability: of the tokens given the prompt, in nats, by the model and not by the sampler; the end counts as
            what all end tokens have together.
        score: what it is ranked by.
        group: the group of beams that found it.
    """

    text: str
    tokens: tuple[int, ...]
    log_probability: float
    score: float
    group: int = 0

    def __str__(self) -> str:
        return self.text


def normalized(log_probability: float, length: int, penalty: float) -> float:
    """Return the log-probability divided by `length ** penalty`: 0 is the plain one, 1 the mean over tokens."""
    return log_probability / float(length**penalty)
