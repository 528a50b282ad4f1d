"""DraftModel: a smaller model that proposes what it would write itself (Koo, Liu & He 2024, section 5.3).

It is constrained by the same masks as the target model: the tree makes the mask of each place once, for both. Proposals
are drawn from the draft model's constrained distribution, which nodes store for the acceptance rule. At temperature 0
the likeliest tokens are proposed, and nothing is drawn.

    widths    the number of tokens proposed after each place, level by level: (1, 1, 1, 1) is a chain of four tokens,
              (3, 1, 1) three chains of three. Several tokens are drawn without replacement, by one race: the first is
              drawn from q, the next from q without the first, and so on (Kool, van Hoof & Welling 2019).

Each level takes one forward pass for all texts together. This pass also reads the tokens that other proposers have
added in the meantime, such as forced ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from decoding.masking.costs import subtract_costs
from decoding.sampling import Sampling, Samplings, probabilities
from decoding.speculation.reader import Reader, reading_of
from decoding.speculation.tree import ROOT, Tree
from decoding.speculation.verify import DRAFT_STREAM, bool_masks, noise_at
from tokenfst.token_automaton import TokenAutomaton


class DraftModel:
    """Proposes the tokens that a smaller model draws.

    Attributes:
        reader: the model with its cache, for all texts that are written together.
        widths: the number of tokens proposed after each place, level by level.
    """

    def __init__(self, reader: Reader, widths: Sequence[int] = (1, 1, 1, 1)) -> None:
        """Make a proposer.

        Args:
            reader: the model, over the target's vocabulary; its logits may have another width.
            widths: the number of tokens proposed after each place, level by level.

        Raises:
            ValueError: there are no levels, or a level has no tokens.
        """
        if not widths or min(widths) < 1:
            raise ValueError(f"widths are a list of at least one number, each 1 or more, not {tuple(widths)}")
        self.reader = reader
        self.widths = tuple(widths)
        # For each tree, the level of each node that this proposer added.
        self._levels: WeakKeyDictionary[Tree[Any], dict[int, int]] = WeakKeyDictionary()

    @property
    def forwards(self) -> int:
        """The number of forward passes of the model so far."""
        return self.reader.forwards

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Add a level of tokens after each leaf that has fewer levels of this proposer above it than `widths` has."""
        asked = [(tree, self._unfinished(tree)) for tree in trees]
        asked = [(tree, leaves) for tree, leaves in asked if leaves]
        if not asked:
            return
        logits = torch.cat(self.reader.read([reading_of(tree, leaves) for tree, leaves in asked]))
        places = [(tree, place) for tree, leaves in asked for place in leaves]
        drawn = _distribution(places, logits)
        for (tree, place), row, ranked in zip(places, drawn, self._ranked(places, drawn), strict=True):
            self._add(tree, place, row, ranked[: self.widths[self._level(tree, place)]])

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        """Do nothing: this proposer does not learn."""

    def _unfinished(self, tree: Tree[Any]) -> list[int]:
        return [leaf for leaf in tree.leaves() if self._level(tree, leaf) < len(self.widths)]

    def _add(self, tree: Tree[Any], place: int, row: Tensor, ranked: Sequence[tuple[int, float]]) -> None:
        greedy, level = tree.text.sampling.temperature == 0, self._level(tree, place) + 1
        for token, share in ranked:
            if share > 0:
                node = tree.add(place, token, share=share, probabilities=None if greedy else row)
                if node is not None:
                    self._levels.setdefault(tree, {})[node] = level

    def _ranked(self, places: Sequence[tuple[Tree[Any], int]], drawn: Tensor) -> list[list[tuple[int, float]]]:
        """Return the tokens that are proposed at each place, in order, each with its probability."""
        greedy = torch.tensor([tree.text.sampling.temperature == 0 for tree, _ in places], device=drawn.device)
        noise, steps = noise_at(places, drawn.device)
        race = drawn / noise.exponential(drawn.shape[1], steps, DRAFT_STREAM)
        first = torch.where(greedy[:, None], drawn, race).topk(min(max(self.widths), drawn.shape[1]), dim=1).indices
        pairs = zip(first.tolist(), drawn.gather(1, first).tolist(), strict=True)
        return [list(zip(tokens, shares, strict=True)) for tokens, shares in pairs]

    def _level(self, tree: Tree[Any], place: int) -> int:
        """Return how many levels of this proposer's nodes are on the path to a place."""
        levels = self._levels.get(tree, {})
        while place != ROOT and place not in levels:
            place = tree.parents[place]
        return levels.get(place, 0)


def _distribution(places: Sequence[tuple[Tree[Any], int]], logits: Tensor) -> Tensor:
    """Return the distributions to draw from, `[P, V]`; at temperature 0 the model's own, to be ranked."""
    mask = bool_masks(np.stack([tree.mask(place) for tree, place in places]), logits.shape[1], logits.device)
    samplings = [tree.text.sampling for tree, _ in places]
    columns = Samplings.of([sampling if sampling.temperature else Sampling() for sampling in samplings], logits.device)
    weighed = subtract_costs(logits, [(tree.automaton, tree.state(place)) for tree, place in places])
    return probabilities(weighed, mask, columns)
