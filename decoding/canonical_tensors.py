"""A canonical automaton as torch tensors: masks and steps for a batch, on any device.

    state       row x V + last token                                  [B]
    apart, any  the row's edges, padded to the longest row, scattered by class and gathered by token    [B, K] -> [B, V]
    blocked     the last token's intervals of positions, padded to the most that a token has, as +1 and -1 in a row of
                V + 1 zeros; its running sum, gathered by each token's position                         [B, I] -> [B, V]
    mask        apart | (any & ~blocked)

Shapes depend on nothing but the batch, and nothing is read back to the host. As in the arena, the state after the
end takes any token and stays, and a token that is not allowed leads to `dead`, which allows nothing.

Rejected: the pairs as a `[V, V]` tensor; a mask for each token (2 GiB for 131,072 tokens).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tokenfst.canonical.automaton import ANY, APART, NO_END, CanonicalTokenAutomaton


class CanonicalTensors:
    """The tensors of one canonical automaton on one device; S rows, K classes, V tokens.

    Attributes:
        width: V, at least the vocabulary's; tokens past the vocabulary are never allowed.
        start, end, dead: the states before the first token, after the end, and after a token that was not allowed.
        is_end: `[V]` bool, the end tokens.
    """

    def __init__(
        self, automaton: CanonicalTokenAutomaton, device: torch.device | str = "cpu", width: int | None = None
    ) -> None:
        """Copies an automaton to a device.

        Args:
            automaton: the automaton.
            device: where the tensors live.
            width: the width of the model's logits, where it is more than the vocabulary's.

        Raises:
            ValueError: `width` is less than the vocabulary's.
        """
        self.size = len(automaton.vocabulary)
        self.width = self.size if width is None else width
        if self.width < self.size:
            raise ValueError(f"logits of width {self.width} do not cover the vocabulary of {self.size}")
        self.device = torch.device(device)
        self.start, self.end, self.dead = automaton.start, automaton.end_state, automaton.num_states
        self.num_classes = automaton.num_classes
        rows, pairs = automaton.rows, automaton.pairs
        # The dead row comes last: it has no edges. Tokens that are never written have a class of their own, and so has
        # one more edge that no row has, for look-ups that find none; likewise one more interval.
        counts = np.append(np.diff(rows.offsets), 0)
        source = np.repeat(np.arange(len(counts) + 1), np.append(counts, 1))
        number = np.append(rows.number, self.num_classes)
        self.offsets = self._long(np.concatenate([[0], np.cumsum(counts)]))
        self.key = self._long(source * (self.num_classes + 1) + number)
        self.number = self._long(number)
        self.targets = self._long(np.column_stack([rows.targets, [-1, -1]]))
        self.least = self._long(np.column_stack([rows.least, [NO_END, NO_END]]))
        self.places = torch.arange(int(counts.max()), device=self.device)
        self.final = torch.from_numpy(np.append(rows.final, False)).to(self.device)
        self.needs_token = torch.from_numpy(np.append(automaton.needs_token, False)).to(self.device)
        classes, positions = np.full(self.width, self.num_classes), np.zeros(self.width, np.int64)
        classes[: self.size] = np.where(automaton.class_of < 0, self.num_classes, automaton.class_of)
        positions[: self.size] = pairs.position
        self.class_of, self.position = self._long(classes), self._long(positions)
        self.is_end = torch.zeros(self.width, dtype=torch.bool, device=self.device)
        self.is_end[list(automaton.vocabulary.eos_ids)] = True
        self.pair_offsets = self._long(pairs.offsets)
        self.intervals = self._long(np.column_stack([pairs.intervals.T, [0, 0]]))
        owner = np.repeat(np.arange(self.size), np.diff(pairs.offsets))
        self.interval_key = self._long(np.append(owner * self.size + pairs.intervals[:, 0], self.size**2))
        self.interval_places = torch.arange(int(np.diff(pairs.offsets).max()), device=self.device)

    def _long(self, array: np.ndarray[tuple[int, ...], np.dtype[np.integer]]) -> Tensor:
        return torch.from_numpy(array.astype(np.int64)).to(self.device)

    def starts(self, batch: int) -> Tensor:
        """The start state for each sequence, `[B]` int64."""
        return torch.full((batch,), self.start, dtype=torch.int64, device=self.device)

    def astray(self, states: Tensor) -> Tensor:
        """Which sequences hold a token that was not allowed, `[B]` bool."""
        return states == self.dead

    def mask(self, states: Tensor, remaining: Tensor | int | None = None) -> Tensor:
        """The tokens allowed in each state, `[B, V]` bool.

        Args:
            states: `[B]` int64.
            remaining: how many tokens may still be written, the next one and the end token included, `[B]` or one
                number: then a token is allowed only if the text can still be completed after it.
        """
        row, last = states // self.size, states % self.size
        limit = torch.full_like(states, NO_END) if remaining is None else torch.zeros_like(states) + remaining
        apart, either = (self._least(row, kind) < limit[:, None] for kind in (APART, ANY))
        allowed = apart[:, self.class_of] | (either[:, self.class_of] & ~self._blocked(last))
        return allowed | (self.is_end & (self.final[row] & (limit > 0))[:, None])

    def _least(self, row: Tensor, kind: int) -> Tensor:
        """How many tokens there are to go behind each class, `[B, K + 1]`; `NO_END` where it is not allowed."""
        edge = self.offsets[row][:, None] + self.places
        inside = edge < self.offsets[row + 1][:, None]
        edge = edge.clamp(max=len(self.number) - 1)
        # What lies past a row's end is scattered to the column of tokens that are never written.
        least = torch.full((len(row), self.num_classes + 1), NO_END, device=self.device)
        least.scatter_(1, torch.where(inside, self.number[edge], self.num_classes), self.least[kind][edge])
        least[:, -1] = NO_END
        return least

    def _blocked(self, last: Tensor) -> Tensor:
        """The tokens that must not follow inside a piece, `[B, V]` bool."""
        place = self.pair_offsets[last][:, None] + self.interval_places
        inside = place < self.pair_offsets[last + 1][:, None]
        low, high = self.intervals[:, place.clamp(max=self.intervals.shape[1] - 1)]
        change = torch.zeros((len(last), self.size + 1), dtype=torch.int32, device=self.device)
        step = inside.to(torch.int32)
        change.scatter_add_(1, low, step)
        change.scatter_add_(1, high, -step)
        return (change.cumsum(1) > 0)[:, self.position]

    def advance(self, states: Tensor, tokens: Tensor) -> Tensor:
        """The state after one more token for each sequence, `[B]` int64.

        Args:
            states: `[B]` int64.
            tokens: `[B]` int64, below V.
        """
        row, last = states // self.size, states % self.size
        wanted = row * (self.num_classes + 1) + self.class_of[tokens]
        edge = torch.searchsorted(self.key, wanted).clamp(max=len(self.key) - 1)
        apart, either = self.targets[:, edge]
        target = torch.where(self._follows(last, tokens), either, apart)
        allowed = (self.key[edge] == wanted) & (target >= 0)
        token = torch.where(self.needs_token[target.clamp(min=0)], tokens, 0)
        reached = torch.where(allowed, target * self.size + token, self.dead)
        ending = self.is_end[tokens] & self.final[row] | (states == self.end)
        return torch.where(ending, self.end, reached)

    def _follows(self, last: Tensor, tokens: Tensor) -> Tensor:
        """Whether each token may follow the last one inside a piece, `[B]` bool."""
        position = self.position[tokens]
        place = torch.searchsorted(self.interval_key, last * self.size + position, right=True) - 1
        inside = (place >= self.pair_offsets[last]) & (position < self.intervals[1][place.clamp(min=0)])
        return ~inside
