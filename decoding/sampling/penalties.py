"""Repetition penalties, on the model's original logits.

Earlier tokens are kept as token ids and counted at each step: a table of counts `[B, V]` would have to be copied before
it can be rewound, whereas ids are rewound by dropping the last ones. The penalties come before the mask and do not
depend on it: a token that the constraint forces is written whatever its penalty, and one that a format needs often,
such as a quotation mark, is penalized like any other if there is a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from decoding.devices import sent
from decoding.sampling.parameters import Samplings


@dataclass(frozen=True)
class History:
    """The tokens of B sequences so far; -1 is padding, or a place that is not written yet.

    Attributes:
        written: `[B, T]` int64, the text; T may be the limit from the beginning, so that shapes do not change.
        prompt: `[B, P]` int64, the prompt, or None.
    """

    written: Tensor
    prompt: Tensor | None = None

    @staticmethod
    def blank(batch: int, max_new_tokens: int, prompt: Tensor | None = None, device: str = "cpu") -> History:
        """Return a history of `max_new_tokens` empty places."""
        return History(torch.full((batch, max_new_tokens), -1, device=device), prompt)

    @staticmethod
    def of(written: Sequence[Sequence[int]], prompts: Sequence[Sequence[int]], device: torch.device | str) -> History:
        """Return the history of texts given as lists of tokens."""
        return History(_padded(written, device), _padded(prompts, device))

    def put(self, step: int | Tensor, tokens: Tensor) -> None:
        """Write tokens `[B]` at position `step` of each text, in place; -1 removes a token."""
        # A fill does not wait for a device, a copy does.
        first = step if isinstance(step, Tensor) else torch.full((), step, device=tokens.device)
        places = first.expand(len(tokens))
        self.written.scatter_(1, places[:, None], tokens[:, None])


def penalized(logits: Tensor, samplings: Samplings, history: History) -> Tensor:
    """Return the logits with their penalties, `[B, V]`.

    Args:
        logits: `[B, V]` float32.
        samplings: the settings.
        history: the earlier tokens.
    """
    counts = None
    if samplings.presence_penalty is not None or samplings.frequency_penalty is not None:
        counts = _counts(history.written, logits)
    if samplings.repetition_penalty is not None:
        seen = (_counts(history.written, logits) if counts is None else counts) > 0
        if history.prompt is not None:
            seen = seen | (_counts(history.prompt, logits) > 0)
        penalty = samplings.repetition_penalty
        logits = torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)
    if counts is not None and samplings.frequency_penalty is not None:
        logits = logits - samplings.frequency_penalty * counts
    if counts is not None and samplings.presence_penalty is not None:
        logits = logits - samplings.presence_penalty * (counts > 0)
    return logits


def _padded(rows: Sequence[Sequence[int]], device: torch.device | str) -> Tensor:
    """Return token ids, `[B, T]` int64, with -1 after the end of shorter rows."""
    padded = np.full((len(rows), max(map(len, rows))), -1, np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return sent(torch.from_numpy(padded), device)


def _counts(tokens: Tensor, logits: Tensor) -> Tensor:
    """Return how often each token occurs in each row, `[B, V]` float32."""
    batch, width = logits.shape
    counts = torch.zeros(batch, width + 1, device=logits.device)
    # Padding is counted in an additional column, which is cut off; so are tokens of the prompt without a logit, which
    # the model reads and cannot write.
    places = torch.where((tokens < 0) | (tokens >= width), width, tokens)
    return counts.scatter_add_(1, places, torch.ones_like(places, dtype=counts.dtype))[:, :width]
