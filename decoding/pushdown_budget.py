"""How many tokens a text with a stack still takes, for a batch: which tokens leave room for the rest.

    contexts    from the lowest symbol up, what each part of the stack means for the distance, and what it costs
                (`tokenfst.pushdown.distance`): `max_depth` steps of two gathers              [B, D + 1]
    rest        the moves of each state's edges, padded to the most: cost of the stack that is left, and what follows
                on its context                                                              [B, X, R] -> [B, X]
    allowed     those below the limit, scattered to classes                                       [B, K]

The number of tokens is exact where the stack has room for the shortest text; the depth is looked at apart from it.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from decoding.pushdown_rows import ENDED, PushdownRows
from decoding.pushdown_steps import StepTables
from tokenfst.pushdown.distance import FAR, PushdownDistance
from tokenfst.token_classes import END


class Budget:
    """The tensors of distances."""

    def __init__(
        self, distance: PushdownDistance, rows: PushdownRows, steps: StepTables, num_classes: int, max_depth: int
    ) -> None:
        """Copies distances to the device of steps.

        Args:
            distance: the distances.
            rows: the edges of each state.
            steps: their moves.
            num_classes: K.
            max_depth: the most symbols on a stack.
        """
        self._steps, self._max_depth, self._num_classes = steps, max_depth, num_classes
        columns = [(0, 0), (0, 1)]
        # Below the lowest symbol nothing changes; and two moves more, as in the tables of steps.
        self._symbols = distance.next.shape[1] + 1
        self._next = self._long(np.pad(distance.next, columns).reshape(-1))
        self._cost = self._long(np.pad(distance.cost, columns).reshape(-1))
        rest = np.pad(distance.rest, [(0, 0), (0, 2)], constant_values=FAR)
        rest[:, -1] = 0
        self._num_moves = rest.shape[1]
        self._rest = self._long(rest.reshape(-1))
        # From the end, the end token leads to the end.
        sizes = np.diff(rows.offsets)
        sizes[ENDED] = 1
        self._offsets = self._long(np.cumsum([0, *sizes]))
        self._number = self._long(np.insert(rows.number, 0, END))
        self._outcome = self._long(np.insert(rows.outcome, 0, len(steps.moves) - 1))
        self._places = torch.arange(int(sizes.max()), device=steps.device)

    def _long(self, array: np.ndarray[tuple[int, ...], np.dtype[np.integer]]) -> Tensor:
        return torch.from_numpy(array.astype(np.int64)).to(self._steps.device)

    def allowed(self, state: Tensor, stack: Tensor, height: Tensor, limit: Tensor) -> Tensor:
        """The classes after which less than a number of tokens are left to write, `[n, K]` bool.

        Args:
            state: `[n]`.
            stack: `[n, D]`, from the lowest symbol up.
            height: `[n]`.
            limit: `[n]`.
        """
        context, cost = self._contexts(stack)
        edge = self._offsets[state][:, None] + self._places
        inside = edge < self._offsets[state + 1][:, None]
        edge = edge.clamp(max=len(self._number) - 1)
        move = self._steps.moves[self._outcome[edge]]
        # Edges past a row's end may pop what is not there.
        base = (height[:, None, None] - self._steps.pops[move]).clamp(min=0).flatten(1)
        rest = self._rest[context.gather(1, base) * self._num_moves + move.flatten(1)] + cost.gather(1, base)
        fits = inside & (rest.view_as(move).amin(2) < limit[:, None])
        # What lies past a row's end is scattered to a column that is cut off.
        row = torch.zeros((len(state), self._num_classes + 1), dtype=torch.bool, device=state.device)
        return row.scatter(1, torch.where(inside, self._number[edge], self._num_classes), fits)[:, :-1]

    def _contexts(self, stack: Tensor) -> tuple[Tensor, Tensor]:
        """Context and cost of the lowest 0, 1, ... symbols, `[n, D + 1]` each."""
        context = torch.zeros(len(stack), dtype=torch.int64, device=stack.device)
        contexts = [context]
        places: list[Tensor] = []
        for symbol in stack.long().unbind(1):
            place = torch.add(symbol, context, alpha=self._symbols)
            context = self._next.index_select(0, place)
            contexts.append(context)
            places.append(place)
        costs = torch.zeros((len(stack), len(contexts)), dtype=torch.int64, device=stack.device)
        if places:
            costs[:, 1:] = self._cost[torch.stack(places, 1)].cumsum(1)
        return torch.stack(contexts, 1), costs
