"""Budget: the masks of a lazy automaton of what can be completed within so many tokens.

A walk finds the distances behind all tokens that a row allows, less what is counted for the stack that lies below what
the row's walk looked at; so they are kept by row, and by the context of that stack. Where characters are counted, a row
stands for many states, and those to which no more of them are missing have the same distances as well.

Part of `tokenfst.lazy.automaton.LazyAutomaton`, whose tables it looks into, and whose lock it holds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from automata.transition.stacks import BELOW, SYMBOL
from tokenfst.kept import Kept
from tokenfst.lazy.near_walk import walk, words_of_runs
from tokenfst.lazy.nearness import Nearness
from tokenfst.lazy.network_distance import none_missing
from tokenfst.transition.loops import Ints

if TYPE_CHECKING:
    from tokenfst.lazy.automaton import LazyAutomaton
    from tokenfst.lazy.walker import Row

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
    """Distances and masks within budgets, for a lazy automaton."""

    def __init__(self, automaton: LazyAutomaton, nearness: Nearness) -> None:
        self._automaton = automaton
        self._nearness = nearness
        self._runs: Ints = np.zeros((len(automaton.vocabulary.token_of_rank), 3), np.int32)
        self._counts: Ints = np.zeros(2, np.int32)
        self._behind: Kept[Hashable, _Behind] = Kept(_MAX_BEHIND)
        self._masks: Kept[Hashable, Ints] = Kept(_MAX_MASKS)

    def distance(self, at: int, top: int) -> int:
        """How far the end is from a configuration, the end token counted."""
        return self._nearness.of(self._automaton.walker.machine, self._automaton.walker.cells, at, top)

    def words(self, row: Row, at: int, top: int, limit: int) -> Ints | None:
        """The mask of what is less than `limit` from the end, None where that is all that the row allows."""
        key, cost = self._key(row, at, top)
        behind = self._behind.get(key)
        if behind is None:
            behind = self._behind.keep(key, self._found(row, at, top, cost))
        number = bisect_left(behind.levels, limit - cost)
        if number == len(behind.levels):
            return None
        words = self._masks.get((key, number))
        if words is None:
            words = self._masks.keep((key, number), self._made(behind, limit - cost, row.final))
        return words

    def _key(self, row: Row, at: int, top: int) -> tuple[tuple[Row, int, int], int]:
        """What a row's distances are kept by, and what is to be added to them."""
        automaton = self._automaton
        if automaton.walker.counts and none_missing(at, automaton.walker.machine):
            at = automaton.walker.far(at)
        self._nearness.follow(automaton.walker.machine, automaton.walker.cells)
        for _ in range(row.depth):
            top = automaton.walker.cells.item(top, BELOW)
        context, cost = self._nearness.noted[top].tolist()
        return (row, at, context), cost

    def _found(self, row: Row, at: int, top: int, cost: int) -> _Behind:
        runs = self._walked(at, top)
        runs[:, 2] -= cost
        exceptions: dict[int, int | None] = {}
        if at == self._automaton.start:
            places = {token: divmod(to, 1 << 32) for token, to in self._automaton._first.items()}
            for token, (below, state) in places.items():
                exceptions[token] = self.distance(state, below) if below >= 0 else None
        others = [least for least in exceptions.values() if least is not None]
        levels = np.unique(np.append(runs[:, 2], np.array(others, np.int32)))
        return _Behind(runs, exceptions, levels.tolist())

    def _walked(self, at: int, top: int) -> Ints:
        """The runs of a configuration."""
        automaton, near, counts = self._automaton, self._nearness, self._counts
        vocabulary = automaton.vocabulary
        while True:
            if automaton.walker.cells.item(0, SYMBOL) + automaton.walker.room > len(automaton.walker.cells):
                automaton.walker.grow()
            near.follow(automaton.walker.machine, automaton.walker.cells)
            counts[:] = 0
            for nodes, characters in ((vocabulary.whole_trie, True), (vocabulary.partial_trie, False)):
                has_room = walk(
                    nodes,
                    characters,
                    automaton.walker.machine,
                    automaton.walker.cells,
                    automaton.walker.marks,
                    automaton._prepared.tries.path,
                    near.arrays,
                    near.noted,
                    near.wanted,
                    self._runs,
                    counts,
                    at,
                    top,
                )
                if not has_room:
                    break
            if not has_room:
                automaton.walker.grow_sets()
            elif counts[1]:
                near.tell(automaton.walker.machine, int(counts[1]))
            else:
                return self._runs[: counts[0]].copy()

    def _made(self, behind: _Behind, limit: int, final: bool) -> Ints:
        vocabulary = self._automaton.vocabulary
        words = vocabulary.eos_words.copy() if final else np.zeros_like(vocabulary.all_words)
        words_of_runs(behind.runs, limit, vocabulary.token_of_rank, words)
        for token, least in behind.exceptions.items():
            bit = np.uint32(1 << (token & 31)).view(np.int32)
            words[token >> 5] &= ~bit
            if least is not None and least < limit:
                words[token >> 5] |= bit
        words.setflags(write=False)
        return words
