"""Residence: which automata lie in an arena, where not all that requests use may fit.

An engine does not say when a request has ended, only that its place is taken by the next one, and it may leave a
request out of its steps for a while. So an automaton lies in the arena while steps use it; when another one needs the
room, the one that was used longest ago goes, and comes back when a step uses it again. States of sequences stay valid,
since they do not say where tables lie.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from automata.errors import LimitExceeded
from decoding.arena import FREE_SLOT, Arena
from decoding.arena.block import Block


class Residence:
    """The automata that lie in an arena.

    Attributes:
        arena: the arena, in which nobody else puts anything.
    """

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        # By identity, least recently used first. The block is kept, so that its identity stays its own.
        self._slots: OrderedDict[int, tuple[int, Block]] = OrderedDict()

    def slot(self, block: Block) -> int | None:
        """Return the arena's slot of an automaton, None if it is not there."""
        found = self._slots.get(id(block))
        return None if found is None else found[0]

    def use(self, blocks: Collection[Block]) -> None:
        """Note that a step uses some automata that are there."""
        for block in blocks:
            self._slots.move_to_end(id(block))

    def bring(self, block: Block, beside: Collection[Block]) -> int:
        """Copy an automaton into the arena, if it is not there.

        Args:
            block: the automaton.
            beside: automata that have to stay; others may go.

        Returns:
            The arena's slot of the automaton.

        Raises:
            LimitExceeded: there is no room beside those that have to stay.
            EmptyLanguage: every text needs a higher stack than the arena's.
        """
        found = self.slot(block)
        if found is not None:
            return found
        kept = {id(each) for each in beside}
        while True:
            try:
                slot = self.arena.enter(block)
            except LimitExceeded:
                oldest = next((key for key in self._slots if key not in kept), None)
                if oldest is None or not self._may_fit(block):
                    raise
                self.arena.drop(self._slots.pop(oldest)[0])
            else:
                self._slots[id(block)] = slot, block
                return slot

    def _may_fit(self, block: Block) -> bool:
        """Whether the arena could hold an automaton if it held no other."""
        is_carried = not block.is_ambiguous or self.arena.configurations > 1
        return is_carried and 4 * len(block.words) <= self.arena.max_bytes - self.arena.slot_sizes[FREE_SLOT]
