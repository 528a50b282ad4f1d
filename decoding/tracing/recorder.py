"""Recorder: a logits processor that masks as usual, and keeps the likeliest tokens of each step, before and after.

A call gets the scores of a step, and only the next call shows which tokens were chosen. So a step is completed when the
next one begins, and the last one when `steps` reads all of them from the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import torch
from torch import Tensor

from decoding.difficulty import log_probabilities, measures
from decoding.masking.processor import ConstraintLogitsProcessor, InPlace

# How many of the likeliest tokens are kept, before the mask and after it.
TOP: Final = 10


class RecordedStep(NamedTuple):
    """One step of B rows, with N <= 2 * TOP + 1 candidates, the chosen token last; a token may occur several times.

    Attributes:
        tokens: `[B, N]` int64.
        before, after: `[B, N]` float32, probabilities.
        allowed: `[B, N]` bool.
        num_allowed: `[B]` int64.
        removed, surprise: `[B]` float32, as in `decoding.difficulty.Measures`.
    """

    tokens: Tensor
    before: Tensor
    after: Tensor
    allowed: Tensor
    num_allowed: Tensor
    removed: Tensor
    surprise: Tensor


class _Open(NamedTuple):
    """A step whose tokens are not chosen yet: `[B, V]` each, except `top`, `[B, N - 1]`."""

    before: Tensor
    after: Tensor
    mask: Tensor
    top: Tensor


class Recorder(InPlace):
    """Masks scores and records them, for loops that write one token per call and whose rows keep their places."""

    def __init__(self, processor: ConstraintLogitsProcessor) -> None:
        super().__init__(processor)
        self._steps: list[RecordedStep] = []
        self._open: _Open | None = None
        self._length = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Mask the scores in place, and keep the likeliest tokens.

        Raises:
            ValueError: the rows are not one token longer than in the previous call.
            Exception: as for `ConstraintLogitsProcessor.apply_`.
        """
        if self._open is not None:
            if input_ids.shape[1] != self._length + 1:
                raise ValueError("a trace follows texts that grow by one token at a time, and these do not")
            self._close(self._open, input_ids[:, -1])
        before = log_probabilities(scores)
        # Other processors may have forbidden tokens, so the mask of the constraint cannot be read from the scores.
        mask = self._processor.apply_(input_ids, torch.zeros_like(scores, dtype=torch.float32)).isfinite()
        masked = super().__call__(input_ids, scores)
        after = log_probabilities(masked)
        number = min(TOP, scores.shape[1])
        top = [each.topk(number, dim=1).indices for each in (before, after)]
        self._open, self._length = _Open(before, after, mask, torch.cat(top, 1)), input_ids.shape[1]
        return masked

    def _close(self, step: _Open, chosen: Tensor) -> None:
        before, after, mask, top = step
        tokens = torch.cat([top, chosen.to(top.device)[:, None]], 1)
        found = measures(before, mask)
        self._steps.append(
            RecordedStep(
                tokens,
                before.gather(1, tokens).exp(),
                after.gather(1, tokens).exp(),
                mask.gather(1, tokens),
                mask.sum(1),
                found.removed,
                found.surprise,
            )
        )

    def steps(self, written: Sequence[Sequence[int]]) -> list[RecordedStep]:
        """Read the steps from the device, and return them on the host.

        Args:
            written: `[B, T]`, the tokens of each row after its prompt; rows that ended earlier are padded.
        """
        if self._open is not None:
            self._close(self._open, torch.tensor([row[-1] for row in written]))
            self._open = None
        return [RecordedStep(*(part.cpu() for part in step)) for step in self._steps]
