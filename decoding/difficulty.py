"""How hard a constraint is for a model: the probability that it removes, step by step.

    measures(...)     the effect of a mask on one step of a batch, as tensors
    Difficulty        the steps of a loop; adding a step does not wait for the device
    TextDifficulty    the steps of one text, and their sums

The probability mass that a mask removes shows how much the model wanted to write forbidden tokens (Language AI
Handbook, "Handling Constraint Conflicts": its difficulty score is the forbidden mass divided by the allowed mass, here
`odds`). The surprise of a step, in bits, is -log2 of the allowed mass. Surprises add up: if their sum over a text is s,
then 2^-s is the product of the allowed masses, the probability of staying within the constraint at every step along
this text. DOMINO (definition 2.1) counts interventions instead: the steps at which the token that the model wanted was
forbidden.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor


class Measures(NamedTuple):
    """One step of B sequences; all `[B]`, float32 except the last.

    Attributes:
        removed: the total probability of the forbidden tokens.
        surprise: -log2 of the total probability of the allowed tokens, in bits; infinite if that is zero.
        entropy_before: the entropy of the model's distribution, in bits.
        entropy_after: the entropy of the distribution over the allowed tokens, in bits; 0 if all have probability 0.
        intervened: bool, whether the token that the model wanted is forbidden.
    """

    removed: Tensor
    surprise: Tensor
    entropy_before: Tensor
    entropy_after: Tensor
    intervened: Tensor


def measures(logits: Tensor, mask: Tensor, wanted: Tensor | None = None) -> Measures:
    """Measure one step; shapes are static, and the host reads nothing.

    Args:
        logits: `[B, V]`, the model's logits, of any precision.
        mask: `[B, V]` bool, the allowed tokens.
        wanted: `[B]` int64, the tokens that the model would have written, such as those drawn with the same noise but
            without the mask, or -1 for none; None takes the likeliest tokens.
    """
    logs = log_probabilities(logits)
    allowed = logs.masked_fill(~mask, -torch.inf)
    kept = allowed.logsumexp(1)
    preferred = logs.argmax(1) if wanted is None else wanted
    after = allowed - kept.masked_fill(kept == -torch.inf, 0.0)[:, None]
    return Measures(
        removed=logs.masked_fill(mask, -torch.inf).logsumexp(1).exp().clamp(max=1.0),
        # Rounding may bring the sum of all to more than 1.
        surprise=(-kept / math.log(2)).clamp(min=0.0),
        entropy_before=_bits(logs),
        entropy_after=_bits(after),
        intervened=(preferred >= 0) & ~mask.gather(1, preferred.clamp(min=0)[:, None])[:, 0],
    )


def log_probabilities(logits: Tensor) -> Tensor:
    """Return the model's log-probabilities, `[B, V]` float32; -inf for NaN, and in rows that are all NaN or -inf."""
    scores = logits.float().nan_to_num(nan=-torch.inf, neginf=-torch.inf).log_softmax(1)
    return scores.nan_to_num(nan=-torch.inf, neginf=-torch.inf)


def _bits(logs: Tensor) -> Tensor:
    """Return the entropy of each row of log-probabilities, in bits, `[B]`."""
    entropy: Tensor = torch.special.entr(logs.exp()).sum(1)
    return entropy / math.log(2)


@dataclass(frozen=True)
class TextDifficulty:
    """One text, with a value for each of its tokens, including the end token; units are those of `Measures`."""

    removed: tuple[float, ...]
    surprise: tuple[float, ...]
    entropy_before: tuple[float, ...]
    entropy_after: tuple[float, ...]
    intervened: tuple[bool, ...]

    @property
    def odds(self) -> tuple[float, ...]:
        """The difficulty score of each step (Language AI Handbook): forbidden mass divided by allowed mass."""
        return tuple(mass * 2**bits for mass, bits in zip(self.removed, self.surprise, strict=True))

    @property
    def interventions(self) -> int:
        """The number of steps at which the token that the model wanted was forbidden."""
        return sum(self.intervened)

    @property
    def total_surprise(self) -> float:
        """The sum of the surprises of all steps, in bits."""
        return math.fsum(self.surprise)

    @property
    def mean_removed(self) -> float:
        """The mean probability mass removed per step; 0 for a text without steps."""
        return math.fsum(self.removed) / max(len(self.removed), 1)


@dataclass
class Difficulty:
    """The steps of a generation loop, added one by one.

    Attributes:
        steps: for each step its measures, and the number of each row's text, `[B]` int64, or None for 0, 1, ...
    """

    steps: list[tuple[Measures, Tensor | None]] = field(default_factory=list)

    def add(self, logits: Tensor, mask: Tensor, wanted: Tensor | None = None, texts: Tensor | None = None) -> None:
        """Add a step of a batch.

        Args:
            logits, mask, wanted: as for `measures`.
            texts: `[B]` int64, the number of each row's text, or -1 for a row whose text has ended; None for 0, 1, ...
        """
        self.steps.append((measures(logits, mask, wanted), texts))

    def texts(self) -> list[TextDifficulty]:
        """Return the texts 0, 1, ... up to the last that has a step; reads all steps from the device."""
        values: dict[int, list[tuple[float, ...]]] = {}
        for step, texts in self.steps:
            owners = range(len(step.removed)) if texts is None else texts.tolist()
            rows = zip(*(measure.tolist() for measure in step), strict=True)
            for text, row in zip(owners, rows, strict=True):
                if text >= 0:
                    values.setdefault(text, []).append(row)
        return [_text(values.get(text, [])) for text in range(max(values, default=-1) + 1)]


def _text(rows: list[tuple[float, ...]]) -> TextDifficulty:
    columns = list(zip(*rows, strict=True)) or [()] * len(Measures._fields)
    *numbers, intervened = columns
    removed, surprise, before, after = numbers
    return TextDifficulty(removed, surprise, before, after, tuple(map(bool, intervened)))
