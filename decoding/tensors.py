"""A token automaton as torch tensors: masks and steps for a batch, on any device.

    mask        next[state] >= 0, gathered by token class:    [B] -> [B, K] -> [B, V]
    advance     next[state, token_class[token]]:              [B], [B] -> [B]

Both are a fixed number of gathers with shapes that depend on nothing but the batch, and neither reads a value back to
the host, so they can stand inside `torch.compile` and a CUDA graph. Two states are added to the automaton's own: the
state after the end takes any token and stays, because batches go on after some of their sequences have ended; and a
token that is not allowed leads to `dead`, which allows nothing.

Where the transitions are sparse, a step is a binary search for state x K + class among all edges, and a mask scatters
the row's classes, padded to the longest row. States that hold a count are told apart by comparisons
(`decoding.counted_tensors`).

Rejected: a mask for each state as a `[Q, V]` tensor (a thousand times the memory); reading the state on the host.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from decoding.counted_tensors import CountedDistance, CountedTable
from tokenfst.automaton import TokenAutomaton
from tokenfst.counted.automaton import CountedAutomaton
from tokenfst.counted.transitions import Counted
from tokenfst.token_classes import END, NEVER
from tokenfst.transitions import Csr, Dense, Transitions


class AutomatonTensors:
    """The tensors of one automaton on one device; Q states, K classes, V tokens.

    Attributes:
        width: V, at least the vocabulary's; tokens past the vocabulary are never allowed.
        start, end, dead: the states before the first token, after the end, and after a token that was not allowed.
        is_end: `[V]` bool, the end tokens.
    """

    def __init__(self, automaton: TokenAutomaton, device: torch.device | str = "cpu", width: int | None = None) -> None:
        """Copies an automaton to a device.

        Args:
            automaton: the automaton.
            device: where the tensors live.
            width: the width of the model's logits, where it is more than the vocabulary's.

        Raises:
            ValueError: `width` is less than the vocabulary's.
        """
        size = len(automaton.vocabulary)
        self.width = size if width is None else width
        if self.width < size:
            raise ValueError(f"logits of width {self.width} do not cover the vocabulary of {size}")
        self.device = torch.device(device)
        self.start, self.end, self.dead = automaton.start, automaton.end_state, automaton.num_states
        classes = np.full(self.width, NEVER, np.int64)
        classes[:size] = automaton.token_class
        self.token_class = torch.from_numpy(classes).to(self.device)
        self.is_end = self.token_class == END
        # The least number of tokens from each state to the end.
        self.min_tokens = _distance(automaton, self.device)
        self._table = _table(automaton.transitions, self.dead, self.device)

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
        targets = self._table.targets(states)
        allowed = targets != self.dead
        if remaining is not None:
            limit = remaining[:, None] if isinstance(remaining, Tensor) else remaining
            allowed = allowed & (self.min_tokens[targets] < limit)
        return allowed.index_select(1, self.token_class)

    def advance(self, states: Tensor, tokens: Tensor) -> Tensor:
        """The state after one more token for each sequence, `[B]` int64.

        Args:
            states: `[B]` int64.
            tokens: `[B]` int64, below V.
        """
        reached = self._table.target(states, self.token_class[tokens])
        return torch.where(states == self.end, self.end, reached)


def _distance(automaton: TokenAutomaton, device: torch.device) -> Tensor | CountedDistance:
    if isinstance(automaton, CountedAutomaton):
        return CountedDistance(automaton.min_tokens_steps, automaton.transitions, device)
    # No number is enough for the dead state.
    least = np.append(automaton.min_tokens_by_state, np.iinfo(np.int32).max)
    return torch.from_numpy(least.astype(np.int64)).to(device)


def _table(transitions: Transitions, dead: int, device: torch.device) -> _DenseTable | _SparseTable | CountedTable:
    if isinstance(transitions, Counted):
        return CountedTable(transitions, dead, device)
    if isinstance(transitions, Dense):
        return _DenseTable(transitions, dead, device)
    return _SparseTable(transitions, dead, device)


class _DenseTable:
    """next `[Q + 1, K]`, in which `dead` stands for no transition."""

    def __init__(self, transitions: Dense, dead: int, device: torch.device) -> None:
        table = np.full((dead + 1, transitions.num_classes), dead, np.int64)
        table[:dead] = np.where(transitions.next < 0, dead, transitions.next)
        self.next = torch.from_numpy(table).to(device)

    def targets(self, states: Tensor) -> Tensor:
        """The state that each class leads to, `[B, K]`."""
        return self.next.index_select(0, states)

    def target(self, states: Tensor, classes: Tensor) -> Tensor:
        """The state that one class leads to, `[B]`."""
        return self.next[states, classes]


class _SparseTable:
    """Edges sorted by state and class: key `[E]` is state x K + class, class and target `[E]`; 16 bytes an edge."""

    def __init__(self, transitions: Csr, dead: int, device: torch.device) -> None:
        source, number, target = transitions.edges()
        self.dead, self.num_classes = dead, transitions.num_classes
        # The dead state has a row of its own, which is empty.
        offsets = np.append(transitions.row_offsets, transitions.row_offsets[-1])
        self.offsets = torch.from_numpy(offsets).to(device)
        self.key = torch.from_numpy(source.astype(np.int64) * self.num_classes + number).to(device)
        self.number = torch.from_numpy(number.astype(np.int32)).to(device)
        self.reached = torch.from_numpy(target.astype(np.int32)).to(device)
        self.places = torch.arange(int(np.diff(offsets).max()), device=device)

    def targets(self, states: Tensor) -> Tensor:
        """The state that each class leads to, `[B, K]`."""
        edge = self.offsets[states][:, None] + self.places
        inside = edge < self.offsets[states + 1][:, None]
        edge = edge.clamp(max=len(self.key) - 1)
        # What lies past a row's end is scattered to a column that is cut off.
        row = torch.full((len(states), self.num_classes + 1), self.dead, device=states.device)
        row.scatter_(1, torch.where(inside, self.number[edge].long(), self.num_classes), self.reached[edge].long())
        return row[:, :-1]

    def target(self, states: Tensor, classes: Tensor) -> Tensor:
        """The state that one class leads to, `[B]`."""
        wanted = states * self.num_classes + classes
        edge = torch.searchsorted(self.key, wanted).clamp(max=len(self.key) - 1)
        return torch.where(self.key[edge] == wanted, self.reached[edge].long(), self.dead)
