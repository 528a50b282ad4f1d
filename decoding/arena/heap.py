"""The memory of the arena: one tensor of words, and which parts of it are taken.

Blocks lie first fit. When there is room enough but not in one piece, blocks are moved together (`Arena.compact`): what
is in a block does not say where it lies, so moving is a copy and one number.
"""

from __future__ import annotations

import torch
from torch import Tensor

from automata.errors import LimitExceeded


class Heap:
    """Words on a device, and the blocks among them.

    Attributes:
        words: `[H]` int32.
        blocks: by slot, the place and the size of each block.
    """

    def __init__(self, num_words: int, device: torch.device) -> None:
        self.words = torch.zeros(num_words, dtype=torch.int32, device=device)
        self.blocks: dict[int, tuple[int, int]] = {}

    @property
    def taken(self) -> int:
        """How many words blocks take."""
        return sum(size for _, size in self.blocks.values())

    def put(self, slot: int, block: Tensor) -> int | None:
        """Copies a block in, `[n]` int32, and says where it lies; None where no gap is wide enough.

        Raises:
            LimitExceeded: all gaps together are too small.
        """
        size, room = len(block), len(self.words) - self.taken
        if size > room:
            raise LimitExceeded(
                f"the automaton takes {4 * size:,} bytes of the arena, and {4 * room:,} of {4 * len(self.words):,} "
                "are free (`max_bytes`)"
            )
        begin = 0
        for place, taken in sorted(self.blocks.values()):
            if place - begin >= size:
                break
            begin = place + taken
        if begin + size > len(self.words):
            return None
        self.words[begin : begin + size] = block.to(self.words.device)
        self.blocks[slot] = (begin, size)
        return begin

    def compact(self) -> dict[int, int]:
        """Moves all blocks to the beginning, and says where they lie now, by slot."""
        end = 0
        for slot, (place, size) in sorted(self.blocks.items(), key=lambda block: block[1]):
            if place != end:
                # In pieces no longer than the way, so that nothing is overwritten before it is read.
                step = place - end
                for begin in range(0, size, step):
                    piece = self.words[place + begin : place + min(begin + step, size)]
                    self.words[end + begin : end + begin + len(piece)] = piece
                self.blocks[slot] = (end, size)
            end += size
        return {slot: place for slot, (place, _) in self.blocks.items()}
