"""The verification: which part of a tree the model accepts, and which token it writes after that part.

The rule is speculative sampling (Leviathan, Kalman & Matias 2023; Chen et al. 2023) on the constrained distribution p
of each place, from the text downwards. So every token that is written has the same distribution as with plain
constrained sampling, whatever was proposed.

    proposed without being drawn     draw from p and write the token; if it is one of the nodes here, continue after it
    drawn from q                     accept the token with probability min(1, p/q); else p becomes the residual
                                     max(p - q, 0), renormalized, for the next node here and finally for the draw
    certain                          accepted without verification

A draw depends only on the noise of the text and the step, so proposals that are not drawn do not change the text: its
tokens are those that plain sampling writes with the same seed.

Several nodes of one place that were drawn from q were drawn without replacement: each was drawn from q without those
before it. The rule for the second node is that of the first, with the residual instead of p.

Opportunistic masking (DOMINO, section 3.5) draws from the distribution u before the mask, and asks the automaton about
this one token; the mask is made only if the token is refused. With A the allowed tokens and plain sampling,

    P(x) = u(x) + (1 - u(A)) u(x) / u(A) = u(x) / u(A)    for x in A,

which is p. The draw is a race in which each token has its own noise, so even the drawn token is the same: if the token
that wins among all tokens is allowed, it also wins among the allowed ones. With truncation this does not hold: the top
k of the allowed tokens differ from the allowed tokens among the top k (of which there may be none), and likewise for
top-p, min-p and typical sampling, so opportunistic masking is not available with these. It is available with costs,
penalties and temperature, which change each logit separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from automata.arrays import IntArray
from automata.errors import TokenNotAllowed
from decoding.arena.bits import tokens_of_byte, unpacked
from decoding.inputs.constraints import check_width, dead_end
from decoding.masking.costs import subtract_costs
from decoding.sampling import NOTHING, History, Noise, Sampling, Samplings, choose, probabilities
from decoding.sampling.penalties import penalized
from decoding.speculation.tree import ROOT, Tree

# Streams of the noise, besides that of plain draws.
DRAFT_STREAM: Final = 1
ACCEPT_STREAM: Final = 2


class Verdict(NamedTuple):
    """The tokens to write.

    Attributes:
        nodes: the accepted nodes, from the text downwards.
        token: the token after them; None if the last of them ends the text.
    """

    nodes: list[int]
    token: int | None


def bool_masks(words: IntArray, width: int, device: torch.device) -> Tensor:
    """Return masks as booleans, `[P, V]`.

    Args:
        words: `[P, W]` int32, packed.
        width: V of the logits; tokens past the vocabulary are not allowed.
        device: the device of the result.
    """
    mask = unpacked(torch.from_numpy(words).to(device), width, tokens_of_byte(device))
    return torch.nn.functional.pad(mask, (0, width - mask.shape[1]))


def check_opportunistic(sampling: Sampling) -> None:
    """Check that opportunistic masking does not change the distribution.

    Raises:
        ValueError: the distribution is truncated.
    """
    truncates = sampling.top_k is not None or sampling.top_p < 1 or sampling.min_p > 0 or sampling.typical_p < 1
    if truncates and sampling.temperature > 0:
        raise ValueError("opportunistic masking and truncation do not go together: what is cut off depends on the mask")


class Verification:
    """The draws at the places of some trees where the model is asked (`Tree.asked`).

    The draws for all places of all trees are made at once, even if some turn out not to be needed.
    """

    def __init__(self, trees: Sequence[Tree[Any]], logits: Sequence[Tensor], *, opportunistic: bool = False) -> None:
        """Draw a token at every place.

        Args:
            trees: the tree of each text.
            logits: `[P, V]` for each tree, from the model, for its P places that are asked.
            opportunistic: whether a mask is made only if the first draw is refused.

        Raises:
            ValueError, VocabularyError: the logits do not fit the vocabulary (`check_width`).
        """
        self._trees, self._opportunistic = trees, opportunistic
        self._places = [(number, place) for number, tree in enumerate(trees) for place in tree.asked()]
        self._row_of = {pair: row for row, pair in enumerate(self._places)}
        self._coins: dict[tuple[int, int], list[float]] = {}
        if self._places:
            together, every = torch.cat(list(logits)), [*range(len(self._places))]
            for tree in trees:
                check_width(together.shape[1], tree.automaton.vocabulary)
            self._scores = self._weighed(together)
            self._probabilities = self._distribution(every, masked=not opportunistic)
            self._tokens: list[int] = choose(self._probabilities, *self._noise(every)).tolist()
            self._coins = self._coins_of()

    def verdict(self, number: int) -> Verdict:
        """Return the part of one of the trees that the model accepts, and the token after it.

        Raises:
            IncompleteOutput: no token may follow that part.
        """
        tree, place, nodes = self._trees[number], ROOT, list[int]()
        while True:
            node, token = self._step(number, place)
            if token == NOTHING:
                raise dead_end()
            if node is None:
                return Verdict(nodes, token)
            nodes.append(node)
            if not tree.is_open(node):
                return Verdict(nodes, None)
            place = node

    def _step(self, number: int, place: int) -> tuple[int | None, int]:
        """Return the node after a place that is accepted, or None and the token that is written there."""
        tree = self._trees[number]
        children = tree.children(place)
        if tree.is_settled(place):
            return children[0], tree.tokens[children[0]]
        if (number, place) in self._coins:
            return self._accepted(number, place)
        token = self._drawn(tree, self._row_of[number, place], place)
        return next((node for node in children if tree.tokens[node] == token), None), token

    def _drawn(self, tree: Tree[Any], row: int, place: int) -> int:
        """Return the token that the noise draws at a place."""
        token = self._tokens[row]
        if not self._opportunistic or _is_allowed(tree, place, token):
            return token
        return int(choose(self._distribution([row], masked=True), *self._noise([row])))

    def _coins_of(self) -> dict[tuple[int, int], list[float]]:
        """Return, for each place with drawn nodes, the target's probability of the first node, then uniform numbers.

        There is a uniform number for each node. Both are computed for all places at once, because most decisions are
        about the first node.
        """
        drawn = [pair for pair in self._places if self._drawn_nodes(*pair)]
        if not drawn:
            return {}
        rows, nodes = [self._row_of[pair] for pair in drawn], [self._drawn_nodes(*pair) for pair in drawn]
        target = self._distribution(rows, masked=True) if self._opportunistic else self._probabilities[rows]
        first = [[self._trees[number].tokens[below[0]]] for (number, _), below in zip(drawn, nodes, strict=True)]
        likely = target.gather(1, torch.tensor(first, device=target.device))
        # An exponential number is distributed like -log of a uniform one, which is below 1 here: a token that is drawn
        # for certain is never refused.
        noise, steps = self._noise(rows)
        coins = noise.exponential(max(map(len, nodes)), steps, ACCEPT_STREAM).neg().exp().clamp(max=1 - 2.0**-24)
        return dict(zip(drawn, torch.cat([likely, coins], 1).tolist(), strict=True))

    def _drawn_nodes(self, number: int, place: int) -> list[int]:
        tree = self._trees[number]
        nodes = tree.children(place)
        return nodes if nodes and tree.probabilities[nodes[0]] is not None else []

    def _accepted(self, number: int, place: int) -> tuple[int | None, int]:
        """Return what `_step` returns, by speculative sampling over nodes that were drawn without replacement."""
        tree, row = self._trees[number], self._row_of[number, place]
        likely, *coins = self._coins[number, place]
        first, *others = tree.children(place)
        if coins[0] * tree.shares[first] < likely:
            return first, tree.tokens[first]
        left = self._distribution([row], masked=True)[0] if self._opportunistic else self._probabilities[row]
        drawn = _fitted(tree.probabilities[first], left)
        left, refused = _residual(left, drawn), first
        for coin, node in zip(coins[1:], others, strict=False):
            drawn[tree.tokens[refused]] = 0
            drawn /= drawn.sum()
            if coin * float(drawn[tree.tokens[node]]) < float(left[tree.tokens[node]]):
                return node, tree.tokens[node]
            left, refused = _residual(left, drawn), node
        return None, int(choose(left[None], *self._noise([row])))

    def _weighed(self, logits: Tensor) -> Tensor:
        """Return the logits of all places with their penalties, less the costs of tokens, `[P, V]`."""
        pairs = self._pairs(range(len(self._places)))
        if (history := _history(pairs, logits.device)) is not None:
            logits = penalized(logits.float(), _samplings(pairs, logits.device), history)
        return subtract_costs(logits, [(tree.automaton, tree.state(place)) for tree, place in pairs])

    def _distribution(self, rows: Sequence[int], *, masked: bool) -> Tensor:
        """Return the distributions from which the tokens of some rows are drawn, `[R, V]`."""
        scores = self._scores if len(rows) == len(self._places) else self._scores[list(rows)]
        pairs, mask = self._pairs(rows), None
        if masked:
            words = np.stack([tree.mask(place) for tree, place in pairs])
            mask = bool_masks(words, scores.shape[1], scores.device)
        return probabilities(scores, mask, _samplings(pairs, scores.device))

    def _noise(self, rows: Sequence[int]) -> tuple[Noise, Tensor]:
        return noise_at(self._pairs(rows), self._scores.device)

    def _pairs(self, rows: Sequence[int]) -> list[tuple[Tree[Any], int]]:
        """Return the tree and the place of some rows."""
        return [(self._trees[number], place) for number, place in map(self._places.__getitem__, rows)]


def noise_at(places: Sequence[tuple[Tree[Any], int]], device: torch.device) -> tuple[Noise, Tensor]:
    """Return the noise of the draws at some places of trees, and their steps."""
    seeds = torch.tensor([tree.text.seed for tree, _ in places], device=device)
    steps = torch.tensor([tree.text.step + tree.depth(place) for tree, place in places], device=device)
    return Noise(seeds), steps


def _samplings(places: Sequence[tuple[Tree[Any], int]], device: torch.device) -> Samplings:
    """Return the settings of the texts, once if they are the same for all."""
    samplings = [tree.text.sampling for tree, _ in places]
    same = all(sampling == samplings[0] for sampling in samplings)
    return Samplings.of(samplings[:1] if same else samplings, device)


def _history(places: Sequence[tuple[Tree[Any], int]], device: torch.device) -> History | None:
    """Return what has been written up to some places; None if no setting needs it."""
    if not any(_penalizes(tree.text.sampling) for tree, _ in places):
        return None
    written, prompts = list[Sequence[int]](), list[Sequence[int]]()
    for tree, place in places:
        text = tree.text
        prompts.append(text.tokens[: text.num_prompt])
        written.append([*text.tokens[text.num_prompt :], *(tree.tokens[node] for node in tree.path(place))])
    return History.of(written, prompts, device)


def _residual(left: Tensor, drawn: Tensor) -> Tensor:
    """Return the distribution to draw from after a token drawn from `drawn` was refused, `[V]`."""
    residual = (left - drawn).clamp_(min=0)
    total = residual.sum()
    return residual / total if total > 0 else left  # equal except for rounding, so any token may be refused


def _fitted(drawn: Tensor | None, like: Tensor) -> Tensor:
    """Return a copy of `drawn` with the width of `like`; past the vocabulary, probabilities are zero."""
    assert drawn is not None
    width = min(len(drawn), len(like))
    fitted = torch.zeros_like(like)
    fitted[:width] = drawn[:width]
    return fitted


def _is_allowed(tree: Tree[Any], place: int, token: int) -> bool:
    """Return whether the automaton allows a token, and the text can still be completed in time after it."""
    if not 0 <= token < len(tree.automaton.vocabulary):
        return False
    try:
        state = tree.automaton.advance(tree.state(place), token)
    except TokenNotAllowed:
        return False
    remaining = tree.remaining(place)
    return remaining is None or tree.automaton.fits(state, remaining - 1)


def _penalizes(sampling: Sampling) -> bool:
    penalties = sampling.repetition_penalty, sampling.presence_penalty, sampling.frequency_penalty
    return penalties != (1, 0, 0)
