"""Steps of pushdown automata: the sequences that they pop and push, and tables of them."""

from __future__ import annotations

import numpy as np

from automata.arrays import IntArray

# Symbols from the bottom up.
Stack = tuple[int, ...]


class Sequences:
    """Sequences of symbols, each once, in one trie; symbols are numbered as they come."""

    def __init__(self, parent: IntArray, last: IntArray, symbols: IntArray) -> None:
        """Starts with sequences that there are: sequence p is sequence `parent[p]`, and then symbol `last[p]`."""
        self.parent: list[int] = parent.tolist()
        self.last: list[int] = last.tolist()
        self.symbol: dict[int, int] = {symbol: number for number, symbol in enumerate(symbols.tolist())}
        names: list[int] = symbols.tolist()
        stacks: list[Stack] = [()]
        for before, number in zip(self.parent[1:], self.last[1:], strict=True):
            stacks.append((*stacks[before], names[number]))
        self.stacks = stacks
        self.number = {stack: number for number, stack in enumerate(stacks)}

    def of(self, stack: Stack) -> int:
        """The number of a sequence."""
        found = self.number.get(stack)
        if found is None:
            parent = self.of(stack[:-1])
            symbol = self.symbol.setdefault(stack[-1], len(self.symbol))
            found = self.number[stack] = len(self.parent)
            self.parent.append(parent)
            self.last.append(symbol)
            self.stacks.append(stack)
        return found


def unique(table: IntArray) -> IntArray:
    """The rows of a table in order, each once."""
    table = table[np.lexsort(table.T[::-1])]
    same = (table[1:] == table[:-1]).all(axis=1)
    return table[np.append(True, ~same)[: len(table)]]
