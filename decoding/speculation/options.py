"""Speculation: settings with which `generate` takes fewer forward passes, and statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from decoding.inputs.counts import token_count
from decoding.speculation.draft import DraftModel
from decoding.speculation.proposer import Proposer
from decoding.speculation.reader import CachedModel
from decoding.speculation.statistics import Statistics


@dataclass
class Speculation:
    """Makes `generate` propose several tokens at once and verify them in one forward pass of the model.

    The distribution of texts is the same as without speculation. If proposals are not drawn (no `draft_model`), the
    tokens of the texts are also the same, whatever is proposed, except for the last bits of the model's logits. Neither
    holds for `ForcedText` that is not verified.

    Attributes:
        proposers: the proposers, in the order in which they are asked (`decoding.speculation`).
        draft_model: a smaller causal language model of `transformers` over the same vocabulary, asked last; or None.
        draft_widths: the number of tokens that the draft model proposes after each place, level by level
            (`DraftModel`).
        max_proposed: the maximum number of tokens proposed at once for a text.
        opportunistic: whether to make a mask only if the first draw is refused, or a proposer asks for the mask; not
            possible with a setting that truncates the distribution.
        statistics: the statistics of the last call of `generate`.
    """

    proposers: Sequence[Proposer] = ()
    draft_model: Any = None
    draft_widths: Sequence[int] = (1, 1, 1, 1)
    max_proposed: int = 32
    opportunistic: bool = False
    statistics: Statistics = field(default_factory=Statistics, init=False)

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: a width is less than 1, or `max_proposed` less than 0.
            TypeError: a number is not an integer, `proposers` is not a list, or an element of it is not a proposer.
        """
        self.max_proposed = token_count("max_proposed", self.max_proposed, least=0)
        for name, several in (("proposers", self.proposers), ("draft_widths", self.draft_widths)):
            if not isinstance(several, Sequence) or isinstance(several, str):
                raise TypeError(f"`{name}` is a list, even if there is one: [{several!r}]")
        for proposer in self.proposers:
            if not hasattr(proposer, "propose"):
                raise TypeError(f"{proposer!r} is not a proposer: it has no method `propose`")
        self.draft_widths = [
            token_count("each of the widths of a draft", width, least=1) for width in self.draft_widths
        ]

    def proposers_for(self, batch: int) -> list[Proposer]:
        """Return all proposers for a batch of texts; the draft model comes last."""
        if self.draft_model is None:
            return list(self.proposers)
        return [*self.proposers, DraftModel(CachedModel(self.draft_model, batch), self.draft_widths)]
