"""Budget: the masks of a lazy automaton of what can be completed within so many tokens.

A walk finds the distances behind all tokens that a row allows, less what is counted for the stack that lies below what
the row's walk looked at; so they are kept by row, and by the context of that stack. Where characters are counted, a row
stands for many states, and those to which no more of them are missing have the same distances as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from automata.pushdown.stacks import BELOW
from tokenfst.kept import Kept
from tokenfst.lazy.near_walk import words_of_runs
from tokenfst.lazy.nearness import Nearness
from tokenfst.lazy.walker import STACK_SHIFT, STATE, Row, Walker
from tokenfst.loops import Ints
from tokenfst.vocabulary import Vocabulary

# 4 KiB to 1 MiB each, and 16 KiB each, with a vocabulary of 128,000 tokens.
_MAX_BEHIND, _MAX_MASKS = 1 << 9, 1 << 10


class _Behind(NamedTuple):
    """What lies behind the tokens of a row, less what is counted for the stack below.

    Attributes:
        runs: `[R, 3]`, first rank, one past the last, and the distance of those tokens, the end token counted.
        exceptions: what the tokens at the start of a text that are exceptions have instead, None where they are not
            allowed.
        levels: the different distances, ascending.
    """

    runs: Ints
    exceptions: dict[int, int | None]
    levels: list[int]


class Budget:
    """Distances and masks within budgets, for a lazy automaton; whoever calls it holds the vocabulary's lock."""

    def __init__(
        self, walker: Walker, vocabulary: Vocabulary, nearness: Nearness, exceptions: dict[tuple[int, int], int]
    ) -> None:
        """Takes what steps, the distances, and where tokens lead from states in which they are exceptions to the
        decoder's rule, DEAD for nowhere."""
        self._walker, self._vocabulary, self._nearness, self._exceptions = walker, vocabulary, nearness, exceptions
        self._behind: Kept[Hashable, _Behind] = Kept(_MAX_BEHIND)
        self._masks: Kept[Hashable, Ints] = Kept(_MAX_MASKS)

    def distance(self, state: int) -> int:
        """How far the end is from a state, the end token counted."""
        return self._nearness.of(self._walker.machine, self._walker.cells, state & STATE, state >> STACK_SHIFT)

    def words(self, row: Row, state: int, limit: int) -> Ints | None:
        """The mask of what is less than `limit` from the end, None where that is all that a state's row allows."""
        key, cost = self._key(row, state & STATE, state >> STACK_SHIFT)
        behind = self._behind.get(key)
        if behind is None:
            behind = self._behind.keep(key, self._found(state, cost))
        number = bisect_left(behind.levels, limit - cost)
        if number == len(behind.levels):
            return None
        words = self._masks.get((key, number))
        if words is None:
            words = self._masks.keep((key, number), self._made(behind, limit - cost, row.final))
        return words

    def _key(self, row: Row, at: int, top: int) -> tuple[tuple[Row, int, int], int]:
        """What a row's distances are kept by, and what is to be added to them."""
        at = self._walker.alike(at)
        self._nearness.follow(self._walker.machine, self._walker.cells)
        for _ in range(row.depth):
            top = self._walker.cells.item(top, BELOW)
        context, cost = self._nearness.noted[top].tolist()
        return (row, at, context), cost

    def _found(self, state: int, cost: int) -> _Behind:
        runs = self._walker.distances(state & STATE, state >> STACK_SHIFT, self._nearness)
        runs[:, 2] -= cost
        # There is no stack where an exception is.
        exceptions = {
            token: self.distance(reached) if reached >= 0 else None
            for (source, token), reached in self._exceptions.items()
            if source == state
        }
        others = [least for least in exceptions.values() if least is not None]
        levels = np.unique(np.append(runs[:, 2], np.array(others, np.int32)))
        return _Behind(runs, exceptions, levels.tolist())

    def _made(self, behind: _Behind, limit: int, final: bool) -> Ints:
        vocabulary = self._vocabulary
        words = vocabulary.eos_words.copy() if final else np.zeros_like(vocabulary.all_words)
        words_of_runs(behind.runs, limit, vocabulary.token_of_rank, words)
        for token, least in behind.exceptions.items():
            bit = np.uint32(1 << (token & 31)).view(np.int32)
            words[token >> 5] &= ~bit
            if least is not None and least < limit:
                words[token >> 5] |= bit
        words.setflags(write=False)
        return words
