"""Residence: which automata are in an arena that may not have room for all automata of the requests.

An engine does not say when a request has ended, only that its slot is taken by another one, and it may leave a request
out of its steps for a while. So an automaton stays in the arena as long as there is room. If another one needs the
room, the least recently used automaton is removed, and is copied back when a step uses it again. States of sequences
stay valid, because they do not depend on where tables are in memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from automata.errors import LimitExceeded
from decoding.arena import FREE_SLOT, Arena
from decoding.arena.block import Block


class Residence:
    """The automata that are in an arena.

    Attributes:
        arena: the arena; nothing else may add automata to it.
    """

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        # By `id`, least recently used first. The block is kept, so that no other object gets the same `id`.
        self._slots: OrderedDict[int, tuple[int, Block]] = OrderedDict()

    def slot(self, block: Block) -> int | None:
        """Return the arena's slot of an automaton, or None if the automaton is not in the arena."""
        found = self._slots.get(id(block))
        return None if found is None else found[0]

    def use(self, blocks: Collection[Block]) -> None:
        """Note that a step uses some automata that are in the arena."""
        for block in blocks:
            self._slots.move_to_end(id(block))

    def bring(self, block: Block, beside: Collection[Block]) -> int:
        """Copy an automaton into the arena, if it is not there.

        Args:
            block: the block of the automaton.
            beside: automata that must stay; others may be removed.

        Returns:
            The arena's slot of the automaton.

        Raises:
            LimitExceeded: there is no room in addition to those that must stay.
            EmptyLanguage: every text needs a higher stack than the arena allows.
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
        """Return whether the arena could hold an automaton if it held no other."""
        is_carried = not block.is_ambiguous or self.arena.configurations > 1
        return is_carried and 4 * len(block.words) <= self.arena.max_bytes - self.arena.slot_sizes[FREE_SLOT]
