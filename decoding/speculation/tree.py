"""Tree: proposed tokens, each after the text or after another proposed token.

A chain is a tree in which no place has two children. Every place (the text, which is place -1, or a node) keeps the
state of the automaton there, so no step has to be undone: after a refused node, writing continues from the state of its
parent (Koo, Liu & He 2024, section 5.3, the history of states). The mask of a place is made on first use, once for both
the draft model and the target model.

    Text                                             a text that is being written, as it is before the tree
    Tree                                             the tokens that proposers add and the verification walks along
    tree_masks(automaton, state, tokens, parents)    the masks of all places of a tree in one call, for other loops

Rejected: one state that is rolled back (every automaton would need an inverse of its step).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
from torch import Tensor

from automata.arrays import IntArray
from automata.errors import TokenNotAllowed, TooManyConfigurations
from decoding.sampling import Sampling
from tokenfst.token_automaton import TokenAutomaton

S = TypeVar("S")

# The place before the first node: the text as it is.
ROOT: Final = -1


class Text(NamedTuple):
    """A text that is being written.

    Attributes:
        tokens: the tokens of the prompt, and those written after it.
        num_prompt: the number of tokens of the prompt.
        sampling: how the text is sampled.
        seed: the seed of its noise.
        row: its number among the texts that are written together.
    """

    tokens: Sequence[int] = ()
    num_prompt: int = 0
    sampling: Sampling = Sampling()
    seed: int = 0
    row: int = 0

    @property
    def step(self) -> int:
        """The number of tokens written so far."""
        return len(self.tokens) - self.num_prompt


class Tree(Generic[S]):
    """Proposed tokens after one text. Nodes are numbered as they are added; -1 is the text itself.

    Attributes:
        automaton: the automaton of the text.
        text: the text before the tree.
        tokens, parents: for each node, its token and the place after which it comes.
        probabilities: for each node, the distribution `[V]` from which it was drawn; None if it was not drawn.
        shares: for each node, the probability that its proposer gives to it at its place.
        likelihood: for each node, the product of the shares on the path to it.
        certain: for each node, whether it is accepted without verification.
        num_masks: the number of masks made so far.
    """

    def __init__(
        self,
        automaton: TokenAutomaton,
        state: S,
        text: Text = Text(),  # noqa: B008 (immutable)
        *,
        remaining: int | None = None,
        max_nodes: int | None = None,
    ) -> None:
        """Make a tree without nodes.

        Args:
            automaton: the automaton of the text.
            state: the automaton's state after the text.
            text: the text before the tree, for proposers that use it.
            remaining: the number of tokens that may still be written, including the end token; None means no limit.
            max_nodes: the maximum number of nodes; None means no limit.
        """
        self.automaton = automaton
        self.text = text
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.probabilities: list[Tensor | None] = []
        self.shares: list[float] = []
        self.likelihood: list[float] = []
        self.certain: list[bool] = []
        self.num_masks = 0
        self._remaining, self._max_nodes = remaining, max_nodes
        # By place, the text first.
        self._states: list[S] = [state]
        self._depth = [0]
        self._children: list[list[int]] = [[]]
        self._masks: list[IntArray | None] = [None]

    def __len__(self) -> int:
        """Return N, the number of nodes."""
        return len(self.tokens)

    # Adding

    def add(
        self,
        parent: int,
        token: int,
        *,
        share: float = 1.0,
        probabilities: Tensor | None = None,
        certain: bool = False,
    ) -> int | None:
        """Add a token after a place.

        Args:
            parent: the place.
            token: the token.
            share: the probability that the proposer gives to the token at this place.
            probabilities: `[V]`, the distribution from which the first token of the place was drawn, if it was drawn.
                Further tokens are then drawn without those before them. Its value at the token is the share.
            certain: whether the token is accepted without verification.

        Returns:
            The node; None if there is no room, or the automaton forbids the token or cannot follow it, because the
            grammar is too ambiguous there.
        """
        if len(self) == self._max_nodes or not self.is_open(parent):
            return None
        try:
            state = self.automaton.advance(self._states[parent + 1], token)
        except (TokenNotAllowed, TooManyConfigurations):
            return None
        node = len(self)
        self.tokens.append(token)
        self.parents.append(parent)
        self.probabilities.append(probabilities)
        self.shares.append(share)
        self.likelihood.append(share * (self.likelihood[parent] if parent != ROOT else 1.0))
        self.certain.append(certain)
        self._states.append(state)
        self._depth.append(self._depth[parent + 1] + 1)
        self._children.append([])
        self._masks.append(None)
        self._children[parent + 1].append(node)
        return node

    # Places

    def is_open(self, place: int) -> bool:
        """Return whether a token may follow a place: the place is not an end token, and tokens remain."""
        if place != ROOT and self.tokens[place] in self.automaton.vocabulary.eos_ids:
            return False
        remaining = self.remaining(place)
        return remaining is None or remaining > 0

    def leaves(self) -> list[int]:
        """Return the open places without children, in ascending order; none if there is no room for more nodes."""
        if len(self) == self._max_nodes:
            return []
        return [place for place in range(ROOT, len(self)) if not self._children[place + 1] and self.is_open(place)]

    def asked(self) -> list[int]:
        """Return the open places where the model is asked, in ascending order: those that are not settled."""
        return [place for place in range(ROOT, len(self)) if self.is_open(place) and not self.is_settled(place)]

    def is_settled(self, place: int) -> bool:
        """Return whether a node that is accepted without verification comes after a place."""
        children = self._children[place + 1]
        return bool(children) and self.certain[children[0]]

    def children(self, place: int) -> list[int]:
        """Return the nodes that come after a place, in the order in which they were added."""
        return self._children[place + 1]

    def state(self, place: int) -> S:
        """Return the automaton's state at a place."""
        return self._states[place + 1]

    def depth(self, place: int) -> int:
        """Return how many tokens lie between the text and a place, its own included."""
        return self._depth[place + 1]

    def remaining(self, place: int) -> int | None:
        """Return how many tokens may still be written after a place; None means no limit."""
        return None if self._remaining is None else self._remaining - self._depth[place + 1]

    def token_before(self, place: int) -> int | None:
        """Return the last token of the text up to a place, its own included; None at the start of the text."""
        if place != ROOT:
            return self.tokens[place]
        return self.text.tokens[-1] if self.text.step else None

    def path(self, place: int) -> list[int]:
        """Return the nodes from the text to a place, the place included."""
        nodes = []
        while place != ROOT:
            nodes.append(place)
            place = self.parents[place]
        return nodes[::-1]

    # Masks

    def mask(self, place: int) -> IntArray:
        """Return the mask of an open place, the tokens that may follow it, `[W]` packed words; do not change it."""
        words = self._masks[place + 1]
        if words is None:
            words = self._masks[place + 1] = np.empty(len(self.automaton.vocabulary.all_words), np.int32)
            self.automaton.fill_bitmask(self._states[place + 1], words, self.remaining(place))
            self.num_masks += 1
        return words

    def allows(self, place: int, token: int) -> bool:
        """Return whether the mask of an open place allows a token."""
        return 0 <= token < len(self.automaton.vocabulary) and bool(self.mask(place)[token >> 5] >> (token & 31) & 1)


def tree_masks(
    automaton: TokenAutomaton,
    state: Any,
    tokens: Sequence[int],
    parents: Sequence[int],
    remaining: int | None = None,
) -> IntArray:
    """Return the masks of every place of a tree of tokens.

    Args:
        automaton: the automaton of the text.
        state: its state after the text.
        tokens: N tokens, parents before their children.
        parents: for each token, the index of the token that it follows; -1 is the text itself.
        remaining: the number of tokens that may still be written after the text, including the end token; None means
            no limit.

    Returns:
        `[N + 1, W]` int32, packed (`TokenAutomaton.fill_bitmask`): first the mask after the text, then the mask after
        each token. Nothing is allowed after an end token, after a token that its parent's mask forbids, or after one
        that an ambiguous grammar's automaton cannot follow (`TooManyConfigurations`).

    Raises:
        ValueError: a parent does not come before its child, or there are more or fewer parents than tokens.
    """
    if len(tokens) != len(parents):
        raise ValueError(f"there are {len(tokens)} tokens, and {len(parents)} parents")
    tree = Tree(automaton, state, remaining=remaining)
    masks = np.zeros((len(tokens) + 1, len(automaton.vocabulary.all_words)), np.int32)
    masks[0] = tree.mask(ROOT)
    node_of: list[int | None] = []
    for index, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
        if not ROOT <= parent < index:
            raise ValueError(f"token {index} comes after token {parent}, which is not before it")
        above = node_of[parent] if parent != ROOT else ROOT
        node = tree.add(above, token) if above is not None and tree.allows(above, token) else None
        node_of.append(node)
        if node is not None and tree.is_open(node):
            masks[index + 1] = tree.mask(node)
    return masks
