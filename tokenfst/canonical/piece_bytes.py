"""Turn the automaton of pieces over characters into one over the bytes of UTF-8 (RFC 3629).

The code points of a block of 64 share all bytes but the last. The construction therefore takes the transitions of a
state in blocks: 64 targets by the last byte form one block, 64 such blocks by the byte before it form another one, and
so on. Each distinct block becomes a state inside a character. Boundaries of pieces lie between characters, so these
states have no transition by a boundary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import ByteArray, IntArray
from tokenfst.canonical.pieces import Pieces


class PieceBytes(NamedTuple):
    """The automaton of pieces over bytes, with P states, of which 0 is the start, and C classes of bytes.

    Attributes:
        byte_class: `[256]` uint8, the class of each byte.
        next: `[P, C]` int32, the state that a class leads to, or -1.
        split: `[P]` int32, the state after a boundary of pieces, or -1.
        final: `[P]` bool, whether the text may end.
    """

    byte_class: ByteArray
    next: IntArray
    split: IntArray
    final: npt.NDArray[np.bool_]


def spell_pieces(pieces: Pieces) -> PieceBytes:
    """Return the automaton over bytes of an automaton of pieces over characters."""
    num_states = len(pieces.final)
    # The last column is for characters that no text contains.
    by_kind = np.column_stack([pieces.next, np.full(num_states, -1, np.int32)])
    blocks, block_of = _distinct(pieces.kind.reshape(-1, 64))
    spelled = _Spelled(num_states)
    # [N, 17408]: by block of 64 code points, the state before the last byte of a character.
    last = spelled.states(by_kind[:, blocks])[:, block_of]
    three = last[:, :1024].reshape(num_states, 16, 64).copy()
    three[:, 0, :32] = -1  # overlong
    four = np.full((num_states, 5 * 64, 64), -1, np.int32)
    four[:, 16:272] = last[:, 1024:].reshape(num_states, 256, 64)
    table = np.full((num_states, 256), -1, np.int32)
    table[:, :0x80] = by_kind[:, pieces.kind[:0x80]]
    table[:, 0xC2:0xE0] = last[:, 2:32]
    table[:, 0xE0:0xF0] = spelled.states(three)
    table[:, 0xF0:0xF5] = spelled.states(spelled.states(four).reshape(num_states, 5, 64))
    inside = np.full((spelled.count - num_states, 256), -1, np.int32)
    inside[:, 0x80:0xC0] = np.concatenate(spelled.blocks)
    columns, byte_class = _distinct(np.vstack([table, inside]).T)
    padding = len(inside)
    return PieceBytes(
        byte_class.astype(np.uint8),
        np.ascontiguousarray(columns.T),
        np.append(pieces.split, np.full(padding, -1, np.int32)),
        np.append(pieces.final, np.zeros(padding, np.bool_)),
    )


class _Spelled:
    """The states inside characters, which are numbered from `count`.

    Attributes:
        count: one more than the greatest state.
        blocks: the targets of the states by the 64 continuation bytes, in order of creation.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.blocks: list[IntArray] = []

    def states(self, targets: IntArray) -> IntArray:
        """Return a state for each block of 64 targets, `[..., 64]` to `[...]`; -1 for a block without any target.

        Equal blocks of one call share a state.
        """
        blocks, which = _distinct(targets.reshape(-1, 64))
        number = np.full(len(blocks), -1, np.int32)
        lives = (blocks >= 0).any(axis=1)
        number[lives] = np.arange(self.count, self.count + lives.sum())
        self.count += int(lives.sum())
        self.blocks.append(blocks[lives])
        return number[which].reshape(targets.shape[:-1])


def _distinct(vectors: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of an array in order of appearance, and the index of each row among them."""
    known: dict[bytes, int] = {}
    which = np.array([known.setdefault(vector.tobytes(), len(known)) for vector in vectors], np.int32)
    first = np.zeros(len(known), np.int64)
    first[which[::-1]] = np.arange(len(vectors))[::-1]
    return vectors[first], which
