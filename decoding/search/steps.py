"""One step of all rows on the device: the likeliest allowed tokens of each, read by the host at once.

The states are the host's, so each step sends masks to the device and reads back a few candidates for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from decoding.difficulty import log_probabilities
from decoding.inputs.constraints import check_width
from decoding.masking.costs import subtract_costs
from tokenfst.token_automaton import TokenAutomaton


class Position(NamedTuple):
    """The state of a row in its automaton."""

    automaton: TokenAutomaton
    state: Any


class Continuations(NamedTuple):
    """The tokens that may continue a row.

    Attributes:
        tokens: the likeliest of the allowed tokens and their log-probabilities, likeliest first; none ends the text.
        end: the likeliest end token, and the log-probability of all of them together; None if the text may not end.
    """

    tokens: list[tuple[int, float]]
    end: tuple[int, float] | None


class Step(NamedTuple):
    """All rows at one step.

    Attributes:
        scores: `[R, V]` float32, the model's log-probabilities less costs; minus infinity for logits that are NaN.
        allowed: `[R, V]` bool, the allowed tokens.
        ends: `[R, V]` bool, the end tokens among them.
    """

    scores: Tensor
    allowed: Tensor
    ends: Tensor

    @staticmethod
    def of(logits: Tensor, positions: Sequence[Position], remaining: int) -> Step:
        """Return the step of R rows.

        Args:
            logits: `[R, V]`.
            positions: the position of each row.
            remaining: the number of tokens that may still be written, including the end token.

        Raises:
            ValueError, VocabularyError: the logits do not fit the vocabulary (`check_width`).
        """
        allowed, ends = np.zeros((2, *logits.shape), np.bool_)
        for row, (automaton, state) in enumerate(positions):
            size, end_ids = len(automaton.vocabulary), list(automaton.vocabulary.eos_ids)
            check_width(logits.shape[1], automaton.vocabulary)
            allowed[row, :size] = automaton.mask(state, remaining)
            ends[row, end_ids] = allowed[row, end_ids]
        return Step(
            subtract_costs(log_probabilities(logits), positions),
            torch.from_numpy(allowed).to(logits.device),
            torch.from_numpy(ends).to(logits.device),
        )

    def end_scores(self) -> Tensor:
        """Return the log-probability of all end tokens together, `[R]`."""
        return self.scores.masked_fill(~self.ends, -torch.inf).logsumexp(1)

    def continuations(self, number: int) -> list[Continuations]:
        """Return the `number` likeliest tokens that continue each row, and its end."""
        unfinished = _ranked(self.scores, self.allowed & ~self.ends, min(number, self.scores.shape[1]))
        last_tokens, last_scores = _ranked(self.scores, self.ends, 1), self.end_scores().tolist()
        return [
            Continuations(tokens, (last[0][0], score) if last else None)
            for tokens, last, score in zip(unfinished, last_tokens, last_scores, strict=True)
        ]


def _ranked(scores: Tensor, allowed: Tensor, number: int) -> list[list[tuple[int, float]]]:
    """Return the likeliest allowed tokens of each row; allowed ones that the model rules out come last."""
    lowest = torch.finfo(torch.float32).min
    values, tokens = scores.clamp(min=lowest).masked_fill(~allowed, -torch.inf).topk(number, dim=1)
    return [
        [
            (token, value if value > lowest else float("-inf"))
            for token, value in zip(row_tokens, row_values, strict=True)
            if value >= lowest
        ]
        for row_tokens, row_values in zip(tokens.tolist(), values.tolist(), strict=True)
    ]
