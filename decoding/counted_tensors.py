"""The transitions of a token automaton with a register as torch tensors: guards are comparisons.

    mask        the edges of each state's place, padded to the most, those whose guard holds scattered to classes
    advance     a binary search for the edge of (place, class, register) among all edges
    budget      a binary search for (place, register) among the runs of equal distance

Shapes depend on the batch alone, and no value is read on the host, as in `decoding.tensors`. The dead state is
R + 1 in the register at place 0, for which no guard holds.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from automata.counted.register_distance import Steps
from tokenfst.counted.transitions import Counted


class CountedTable:
    """Guarded edges sorted by key `[E]`, (place x K + class) x (R + 1) + least register value."""

    def __init__(self, transitions: Counted, dead: int, device: torch.device) -> None:
        self.dead, self.num_places = dead, transitions.num_places
        self.num_classes, self.values = transitions.num_classes, transitions.max_register + 1
        self.offsets = torch.from_numpy(transitions.row_offsets.astype(np.int64)).to(device)
        self.key = torch.from_numpy(transitions.keys()).to(device)
        columns = (transitions.edge_class, transitions.low, transitions.high, transitions.edge_target)
        self.number, self.low, self.high, self.place = (
            torch.from_numpy(column.astype(np.int64)).to(device) for column in columns
        )
        action = transitions.action.astype(np.int64)
        # The register after an edge is what it holds before, or nothing, plus this.
        self.keeps = torch.from_numpy((action >= 0).astype(np.int64)).to(device)
        self.adds = torch.from_numpy(np.where(action >= 0, action, ~action)).to(device)
        self.columns = torch.arange(int(np.diff(transitions.row_offsets).max()), device=device)

    def targets(self, states: Tensor) -> Tensor:
        """The state that each class leads to, `[B, K]`."""
        place, register = states % self.num_places, (states // self.num_places)[:, None]
        edge = self.offsets[place][:, None] + self.columns
        inside = edge < self.offsets[place + 1][:, None]
        edge = edge.clamp(max=len(self.key) - 1)
        is_open = inside & (self.low[edge] <= register) & (register <= self.high[edge])
        # What is not open is scattered to a column that is cut off.
        row = torch.full((len(states), self.num_classes + 1), self.dead, device=states.device)
        row.scatter_(1, torch.where(is_open, self.number[edge], self.num_classes), self._after(edge, register))
        return row[:, :-1]

    def target(self, states: Tensor, classes: Tensor) -> Tensor:
        """The state that one class leads to, `[B]`."""
        register = states // self.num_places
        row = states % self.num_places * self.num_classes + classes
        edge = (torch.searchsorted(self.key, row * self.values + register, right=True) - 1).clamp(min=0)
        is_open = (self.key[edge] // self.values == row) & (register >= self.low[edge]) & (register <= self.high[edge])
        return torch.where(is_open, self._after(edge, register), self.dead)

    def _after(self, edge: Tensor, register: Tensor) -> Tensor:
        return (self.keeps[edge] * register + self.adds[edge]) * self.num_places + self.place[edge]


class CountedDistance:
    """The least number of tokens to the end, by runs of equal distance `[S]`."""

    def __init__(self, runs: Steps, transitions: Counted, device: torch.device) -> None:
        self.num_places, self.values = transitions.num_places, transitions.max_register + 1
        self.key = torch.from_numpy(runs.key).to(device)
        self.value = torch.from_numpy(runs.value.astype(np.int64)).to(device)

    def __getitem__(self, states: Tensor) -> Tensor:
        """The least number of tokens from each state, of any shape; what it is for the dead state says nothing."""
        wanted = states % self.num_places * self.values + states // self.num_places
        return self.value[torch.searchsorted(self.key, wanted, right=True) - 1]
