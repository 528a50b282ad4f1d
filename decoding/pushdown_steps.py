"""The steps of a pushdown token automaton as tensors: which moves a class makes, and the state that a move leads to.

    moves       outcome[state, class], and the moves of that outcome
    state       walk over the topmost symbols from the target of a move, then its row at the level of the height

The walk reads several symbols at a time, as digits of one number, as far as the table for that stays small: for the
grammar of JSON the four topmost symbols are one look-up.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from decoding.pushdown_rows import DEAD, ENDED, PushdownRows
from tokenfst.pushdown.tables import PushdownTables

_WALK_ENTRIES = 1 << 18
_DENSE_ENTRIES = 1 << 24


class StepTables:
    """Tables of moves, `[M + 2]`: the last two lead to the dead state, and from the end to itself.

    Attributes:
        pops, grows: how many symbols a move pops, and by how many the stack is higher after it.
        pushes: `[M + 2, N]`, the symbols pushed from the bottom up, padded; of the type that stacks have.
        target: where the walk begins.
        moves: `[O + 2, R]`, the moves of each outcome, likewise.
        reads: how many of the topmost symbols are read.
        bottom: what is read below the lowest symbol.
        longest: N, the most symbols that a move pushes.
        first: where the walk begins before the first token.
    """

    def __init__(self, rows: PushdownRows, tables: PushdownTables, max_depth: int, device: torch.device) -> None:
        self.device = device
        self.outcome = _outcome_table(rows, tables.num_classes, device)
        self._lay_moves(rows, tables)
        self._lay_walk(rows, tables)
        self._levels = rows.state_of.shape[1]
        self._state_of = self._long(rows.state_of.reshape(-1))
        free = max_depth - np.arange(max_depth + 1)
        self._level_of_height = self._long(np.searchsorted(rows.needs, free, side="right"))

    def _long(self, array: np.ndarray[tuple[int, ...], np.dtype[np.integer]]) -> Tensor:
        return torch.from_numpy(array.astype(np.int64)).to(self.device)

    def _lay_moves(self, rows: PushdownRows, tables: PushdownTables) -> None:
        sizes = np.diff(tables.push_offsets).astype(np.int64)
        self.longest = int(sizes.max())
        pushes = np.zeros((len(sizes), self.longest), np.uint8 if tables.num_symbols < 256 else np.int32)
        pushes[np.arange(self.longest) < sizes[:, None]] = tables.push_symbols
        push = np.append(tables.move_push, [0, 0])
        pops = np.append(tables.move_pops, [0, 0])
        self.pops, self.grows = self._long(pops), self._long(sizes[push] - pops)
        self.pushes = torch.from_numpy(pushes[push]).to(self.device)
        self.target = self._long(np.append(rows.root[tables.move_target], [DEAD, ENDED]))
        self.first = int(rows.root[tables.start])
        none, stays = np.full((2, rows.moves.shape[1]), len(tables.move_pops))
        stays[0] += 1
        self.moves = self._long(np.concatenate([rows.moves, [none, stays]]))

    def _lay_walk(self, rows: PushdownRows, tables: PushdownTables) -> None:
        table, self.bottom = rows.walk, tables.num_symbols
        base, stride = self.bottom + 1, 1
        while stride < tables.max_pops and table.size * base <= _WALK_ENTRIES:
            # The topmost symbol is the highest digit.
            table, stride = table[rows.walk].reshape(len(rows.walk), -1), stride + 1
        self._strides = -(-tables.max_pops // stride)
        self.reads = self._strides * stride
        self._digits = self._long(base ** np.arange(stride)[::-1])
        self._codes = table.shape[1]
        self._walk = self._long(table.reshape(-1))

    def state(self, node: Tensor, symbols: Tensor, height: Tensor) -> Tensor:
        """The state that follows a move, `[n]`.

        Args:
            node: `[n]`, the move's target.
            symbols: `[n, reads]`, the topmost symbols, the top first.
            height: `[n]`, at most the greatest depth.
        """
        if self.reads:
            code = (symbols.unflatten(1, (self._strides, -1)) * self._digits).sum(2)
            for stride in range(self._strides):
                node = self._walk.index_select(0, torch.add(code[:, stride], node, alpha=self._codes))
        level = self._level_of_height.index_select(0, height)
        return self._state_of.index_select(0, torch.add(level, node, alpha=self._levels))


def _outcome_table(rows: PushdownRows, num_classes: int, device: torch.device) -> _DenseOutcomes | _SparseOutcomes:
    """Outcomes by state and class; `O` for none, and `O + 1` from the end to itself."""
    size = len(rows.offsets) - 1
    if size * num_classes <= _DENSE_ENTRIES:
        return _DenseOutcomes(rows, num_classes, device)
    return _SparseOutcomes(rows, num_classes, device)


class _DenseOutcomes:
    """`[E, K]` int32."""

    def __init__(self, rows: PushdownRows, num_classes: int, device: torch.device) -> None:
        size, none = len(rows.offsets) - 1, len(rows.moves)
        table = np.full((size, num_classes), none, np.int32)
        table[np.repeat(np.arange(size), np.diff(rows.offsets)), rows.number] = rows.outcome
        table[ENDED] = none + 1
        self.num_classes = num_classes
        self.table = torch.from_numpy(table.reshape(-1)).to(device)

    def look_up(self, state: Tensor, number: Tensor) -> Tensor:
        """The outcome of one class in each state, `[n]`."""
        return self.table.index_select(0, torch.add(number, state, alpha=self.num_classes))


class _SparseOutcomes:
    """Edges sorted by key, state x K + class; 12 bytes an edge."""

    def __init__(self, rows: PushdownRows, num_classes: int, device: torch.device) -> None:
        size, none = len(rows.offsets) - 1, len(rows.moves)
        state = np.repeat(np.arange(size), np.diff(rows.offsets))
        key = np.concatenate([ENDED * num_classes + np.arange(num_classes), state * num_classes + rows.number])
        outcome = np.concatenate([np.full(num_classes, none + 1), rows.outcome])
        self.num_classes, self.none = num_classes, none
        self.key = torch.from_numpy(key).to(device)
        self.outcome = torch.from_numpy(outcome.astype(np.int32)).to(device)

    def look_up(self, state: Tensor, number: Tensor) -> Tensor:
        """The outcome of one class in each state, `[n]`."""
        wanted = torch.add(number, state, alpha=self.num_classes)
        edge = torch.searchsorted(self.key, wanted).clamp(max=len(self.key) - 1)
        return torch.where(self.key[edge] == wanted, self.outcome[edge], self.none)
