"""Speculation: how `generate` spends fewer forward passes, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from decoding.speculation.draft import DraftModel
from decoding.speculation.proposer import Proposer
from decoding.speculation.reader import CachedModel
from decoding.speculation.statistics import Statistics


@dataclass
class Speculation:
    """Makes `generate` propose several tokens at once and verify them in one forward pass of the model.

    Texts are distributed as without it. If nothing is drawn (no `draft_model`), they are token by token the same,
    whatever is proposed, except for the last bits of the model's logits. `ForcedText` that is not verified is the
    exception to both.

    Attributes:
        proposers: what proposes tokens, in the order in which they are asked (`decoding.speculation`).
        draft_model: a smaller causal language model of `transformers` over the same vocabulary, asked last; or None.
        draft_widths: how many tokens the draft model proposes after each place, level by level (`DraftModel`).
        max_proposed: the most tokens proposed at once for a text.
        opportunistic: make a mask only where the first draw is refused, or a proposer asks for it; not with a setting
            that truncates the distribution.
        statistics: what the last call of `generate` took.
    """

    proposers: Sequence[Proposer] = ()
    draft_model: Any = None
    draft_widths: Sequence[int] = (1, 1, 1, 1)
    max_proposed: int = 32
    opportunistic: bool = False
    statistics: Statistics = field(default_factory=Statistics, init=False)

    def proposers_for(self, batch: int) -> list[Proposer]:
        """Return all proposers for a batch of texts, the draft model's last."""
        if self.draft_model is None:
            return list(self.proposers)
        return [*self.proposers, DraftModel(CachedModel(self.draft_model, batch), self.draft_widths)]
