"""Sequences of symbols that the steps of pushdown automata pop and push."""

from __future__ import annotations

from automata.arrays import IntArray
from automata.limits import Work

# Symbols, from the bottom up.
Stack = tuple[int, ...]


class Sequences:
    """Sequences of symbols, each once, in one trie: sequence p is sequence `parent[p]` followed by symbol `last[p]`."""

    def __init__(self, parent: IntArray, last: IntArray, work: Work) -> None:
        self.parent: list[int] = parent.tolist()
        self.last: list[int] = last.tolist()
        self.stacks: list[Stack] = [()]
        for before, symbol in work.watched(zip(self.parent[1:], self.last[1:], strict=True)):
            self.stacks.append((*self.stacks[before], symbol))
        self.number = {stack: number for number, stack in enumerate(self.stacks)}

    def of(self, stack: Stack) -> int:
        """Return the number of a sequence; add it if it is new."""
        found = self.number.get(stack)
        if found is None:
            parent = self.of(stack[:-1])
            found = self.number[stack] = len(self.parent)
            self.parent.append(parent)
            self.last.append(stack[-1])
            self.stacks.append(stack)
        return found
