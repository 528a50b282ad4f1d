"""How hard a constraint is for a model: the probability that it removes, step by step.

    measures(...)     what a mask does to one step of a batch, as tensors
    Difficulty        the steps of a loop; adding one waits for nothing
    TextDifficulty    one text's steps, and their sums

The probability mass that a mask removes says how much the model wanted what it may not write (handbook, "Handling
Constraint Conflicts": its difficulty score is the mass that is forbidden over the mass that is allowed, `odds` here).
In bits, -log2 of the mass that is allowed is the surprise of the step, and surprises add up: 2 to the minus their sum
over a text is the probability that the model, left alone, had stayed within the constraint all along its way. DOMINO
(definition 2.1) counts interventions instead: the steps at which what the model would have written was forbidden.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor


class Measures(NamedTuple):
    """One step of B sequences; all `[B]`, float32 but for the last.

    Attributes:
        removed: the probability of all forbidden tokens.
        surprise: -log2 of the probability of all allowed tokens, in bits; infinite if it is zero.
        entropy_before: of the model's distribution, in bits.
        entropy_after: of the distribution among allowed tokens, in bits; 0 if none has any probability.
        intervened: bool, whether the token that the model wanted is forbidden.
    """

    removed: Tensor
    surprise: Tensor
    entropy_before: Tensor
    entropy_after: Tensor
    intervened: Tensor


def measures(logits: Tensor, mask: Tensor, wanted: Tensor | None = None) -> Measures:
    """Measure one step; static shapes, nothing read on the host.

    Args:
        logits: `[B, V]` as the model gave them, of any precision.
        mask: `[B, V]` bool, the tokens that are allowed.
        wanted: `[B]` int64, the tokens that the model would have written, such as those that the same noise draws
            without the mask, and -1 for none; None for the likeliest.
    """
    logs = log_probabilities(logits)
    allowed = logs.masked_fill(~mask, -torch.inf)
    kept = allowed.logsumexp(1)
    preferred = logs.argmax(1) if wanted is None else wanted
    after = allowed - kept.masked_fill(kept == -torch.inf, 0.0)[:, None]
    return Measures(
        removed=logs.masked_fill(mask, -torch.inf).logsumexp(1).exp().clamp(max=1.0),
        # Rounding may take the sum of all above 1.
        surprise=(-kept / math.log(2)).clamp(min=0.0),
        entropy_before=_bits(logs),
        entropy_after=_bits(after),
        intervened=(preferred >= 0) & ~mask.gather(1, preferred.clamp(min=0)[:, None])[:, 0],
    )


def log_probabilities(logits: Tensor) -> Tensor:
    """Return the model's log-probabilities, `[B, V]` float32: minus infinity for NaN, and for a row of nothing else."""
    scores = logits.float().nan_to_num(nan=-torch.inf, neginf=-torch.inf).log_softmax(1)
    return scores.nan_to_num(nan=-torch.inf, neginf=-torch.inf)


def _bits(logs: Tensor) -> Tensor:
    """Return the entropy of each row of log-probabilities, in bits, `[B]`."""
    entropy: Tensor = torch.special.entr(logs.exp()).sum(1)
    return entropy / math.log(2)


@dataclass(frozen=True)
class TextDifficulty:
    """One text, a value for each of its tokens, the end token included; units as of `Measures`."""

    removed: tuple[float, ...]
    surprise: tuple[float, ...]
    entropy_before: tuple[float, ...]
    entropy_after: tuple[float, ...]
    intervened: tuple[bool, ...]

    @property
    def odds(self) -> tuple[float, ...]:
        """The handbook's difficulty score of each step: forbidden mass over allowed mass."""
        return tuple(mass * 2**bits for mass, bits in zip(self.removed, self.surprise, strict=True))

    @property
    def interventions(self) -> int:
        """How often the model was kept from what it wanted."""
        return sum(self.intervened)

    @property
    def total_surprise(self) -> float:
        """The bits of all steps together."""
        return math.fsum(self.surprise)

    @property
    def mean_removed(self) -> float:
        """The mass removed at a step, on average; 0 for a text without steps."""
        return math.fsum(self.removed) / max(len(self.removed), 1)


@dataclass
class Difficulty:
    """The steps of a loop, as they come.

    Attributes:
        steps: for each step its measures, and which text each row belongs to, `[B]` int64 or None for row 0, 1, ...
    """

    steps: list[tuple[Measures, Tensor | None]] = field(default_factory=list)

    def add(self, logits: Tensor, mask: Tensor, wanted: Tensor | None = None, texts: Tensor | None = None) -> None:
        """Add a step of a batch.

        Args:
            logits, mask, wanted: as of `measures`.
            texts: `[B]` int64, the number of each row's text, or -1 for a row that writes none, because its text has
                ended; None for row 0, 1, ...
        """
        self.steps.append((measures(logits, mask, wanted), texts))

    def texts(self) -> list[TextDifficulty]:
        """Return the texts 0, 1, ... up to the last that has a step; this reads all steps from the device."""
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
