"""The memory of the arena: one tensor of words, and the place of each slot's block in it.

Blocks are placed first fit. If there is enough room but no gap is large enough, blocks are moved together. Blocks are
relocatable, so moving one takes a copy and a change of one number.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from automata.arrays import IntArray
from automata.errors import LimitExceeded
from decoding.devices import sent

# The least number of words that are copied at a time.
_LEAST_PIECE: Final = 1 << 16


class Heap:
    """Words on a device, and the blocks among them.

    Attributes:
        words: `[H]` int32.
        places: `[S]` int64 on the device, where the block of each slot lies.
        sizes: `[S]` int64 on the host, the number of words of each block; 0 for slots that are not in use.
    """

    def __init__(self, num_words: int, num_slots: int, device: torch.device) -> None:
        self.words = torch.zeros(num_words, dtype=torch.int32, device=device)
        self.places = torch.zeros(num_slots, dtype=torch.int64, device=device)
        self.sizes: npt.NDArray[np.int64] = np.zeros(num_slots, np.int64)
        self._begins: dict[int, int] = {}  # the places of the slots in use, on the host
        # The move that is under way: the slot, from where, to where, how many words have been copied, and whether the
        # next piece is in the scratch buffer.
        self._moving: tuple[int, int, int, int, bool] | None = None
        self._scratch = self.words.new_empty(min(_LEAST_PIECE, num_words))

    @property
    def taken(self) -> int:
        """The number of words that blocks take."""
        return int(self.sizes.sum())

    @property
    def slots(self) -> list[int]:
        """The slots in use, ascending."""
        return sorted(self._begins)

    def check(self, slot: int) -> None:
        """Raise ValueError unless a slot is in use."""
        if slot not in self._begins:
            raise ValueError(f"slot {slot} is not in use; those in use are {self.slots}")

    def free_slot(self) -> int:
        """Return the first slot that is not in use.

        Raises:
            LimitExceeded: all slots are in use.
        """
        slot = next((slot for slot in range(len(self.sizes)) if slot not in self._begins), None)
        if slot is None:
            raise LimitExceeded(f"all {len(self.sizes):,} slots of the arena are in use (`max_slots`)")
        return slot

    def put(self, slot: int, block: IntArray) -> None:
        """Copy a block, `[n]`, into a slot; other blocks may be moved.

        Raises:
            LimitExceeded: there is not enough room.
        """
        size, room = len(block), len(self.words) - self.taken
        if size > room:
            raise LimitExceeded(
                f"the automaton takes {4 * size:,} bytes of the arena, and {4 * room:,} of {4 * len(self.words):,} "
                "are free (`max_bytes`)"
            )
        begin = self._gap(size)
        if begin + size > len(self.words):
            self.compact()
            begin = self._gap(size)
        # A copy within the host is too short to be shared among torch's threads.
        if self.words.device.type == "cpu":
            self.words.numpy()[begin : begin + size] = block
        else:
            self.words[begin : begin + size] = sent(torch.from_numpy(block), self.words.device)
        self._lies(slot, begin)
        self.sizes[slot] = size

    def drop(self, slot: int) -> None:
        """Forget the block of a slot.

        Raises:
            KeyError: the slot is not in use.
        """
        if slot not in self._begins:
            raise KeyError(slot)
        # In this order, so that a slot can be dropped again if an interrupt comes in between.
        self.sizes[slot] = 0
        del self._begins[slot]

    def compact(self) -> None:
        """Move all blocks to the beginning. If an interrupt comes, finish the move, and then raise it."""
        try:
            self._move_together()
        except KeyboardInterrupt:
            # A block that is only half moved is complete in neither place, and sequences would read wrong tables.
            self._move_together()
            raise

    def _move_together(self) -> None:
        """Move all blocks to the beginning, after finishing a move that was interrupted."""
        if self._moving is not None:
            self._move(*self._moving)
        end = 0
        for begin, slot in sorted((begin, slot) for slot, begin in self._begins.items()):
            if begin != end:
                self._move(slot, begin, end, 0, False)
            end += int(self.sizes[slot])

    def _lies(self, slot: int, begin: int) -> None:
        self._begins[slot] = begin
        self.places[slot].fill_(begin)  # an assignment would wait for a GPU

    def _gap(self, size: int) -> int:
        """Return the place of the first gap of `size` words, or the end of the last block."""
        end = 0
        for begin, slot in sorted((begin, slot) for slot, begin in self._begins.items()):
            if begin - end >= size:
                break
            end = begin + int(self.sizes[slot])
        return end

    def _move(self, slot: int, begin: int, to: int, past: int, is_read: bool) -> None:
        """Move the words of a slot from `begin` down to `to`, except the first `past` words, which have been moved.

        They are copied in pieces no longer than the distance of the move, so nothing is overwritten before it is read,
        and a piece that an interrupt cut short may be copied again. If the distance is short, longer pieces are copied
        through the scratch buffer; if `is_read` is true, the first one is there already.
        """
        size, distance = int(self.sizes[slot]), begin - to
        step = max(distance, len(self._scratch))
        for first in range(past, size, step):
            end = min(first + step, size)
            piece: Tensor = self.words[begin + first : begin + end]
            if distance < step:
                if not is_read:
                    self._moving = slot, begin, to, first, False
                    self._scratch[: end - first] = piece
                piece, is_read = self._scratch[: end - first], False
            self._moving = slot, begin, to, first, distance < step
            self.words[to + first : to + end] = piece
        self._lies(slot, to)
        self._moving = None
