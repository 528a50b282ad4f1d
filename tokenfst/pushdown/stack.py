"""Stacks that are never changed: one symbol more is a new cell on the old ones, so keeping an old stack costs nothing.

A stack may be a million symbols high, so nothing here recurses: a cell keeps its hash and its height, comparing walks
down until the cells are the same, and a copy for another process is the list of symbols. None is the empty stack.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

_SHOWN = 8
_NOTHING = (None, 0, 0)


class Cell:
    """The topmost symbol of a stack, and the stack below it; immutable.

    Attributes:
        symbol: the symbol on top.
        below: the stack under it, None where that is empty.
        height: how many symbols the stack has.
        noted: what `tokenfst.pushdown.stack_distance` keeps here: who keeps it, and what the stack means for distances.
            The only thing that changes.
    """

    __slots__ = ("_hash", "below", "height", "noted", "symbol")

    def __init__(self, symbol: int, below: Stack) -> None:
        self.symbol = symbol
        self.below = below
        self.noted: tuple[object, int, int] = _NOTHING
        if below is None:
            self.height, self._hash = 1, hash((symbol, -1))
        else:
            self.height, self._hash = below.height + 1, hash((symbol, below._hash))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cell):
            return NotImplemented
        if self.height != other.height:
            return False
        first: Stack = self
        second: Stack = other
        while first is not second:
            if first is None or second is None or first._hash != second._hash or first.symbol != second.symbol:
                return False
            first, second = first.below, second.below
        return True

    def __repr__(self) -> str:
        top, cell = list[str](), self
        while len(top) < _SHOWN:
            top.append(str(cell.symbol))
            if cell.below is None:
                return f"<{' '.join(reversed(top))}>"
            cell = cell.below
        return f"<... {' '.join(reversed(top))}>"

    def __reduce__(self) -> tuple[object, ...]:
        return stack_of, (symbols(self),)

    def __deepcopy__(self, memo: object) -> Cell:
        return self


Stack: TypeAlias = Cell | None


def stack_of(symbols: Iterable[int], below: Stack = None) -> Stack:
    """A stack with these symbols on it, the last one on top."""
    for symbol in symbols:
        below = Cell(symbol, below)
    return below


def symbols(stack: Stack) -> list[int]:
    """The symbols of a stack, the topmost last."""
    found = []
    while stack is not None:
        found.append(stack.symbol)
        stack = stack.below
    return found[::-1]
