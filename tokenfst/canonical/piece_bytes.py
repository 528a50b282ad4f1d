"""The automaton of pieces over bytes: kinds of characters spelled in UTF-8 (RFC 3629).

Code points come in blocks of 64 that share all bytes but the last. So the automaton over characters becomes one over
bytes by looking at each state's transitions a block at a time: what the last byte leads to is a row of 64 states, what
the last byte but one leads to is a row of 64 such rows, and so on. Equal rows are one state. Boundaries of pieces lie
between characters, so states inside a character have no decision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import ByteArray, IntArray
from tokenfst.canonical.pieces import Pieces


class PieceBytes(NamedTuple):
    """The automaton of pieces over bytes: P states, of which 0 is the start.

    Attributes:
        byte_class: `[256]`, the class of each byte, below C.
        next: `[P, C]`, the state that a class leads to, or -1.
        split: `[P]`, the state after deciding that a piece ends here, or -1.
        final: `[P]`, whether the text may end here.
    """

    byte_class: ByteArray
    next: IntArray
    split: IntArray
    final: npt.NDArray[np.bool_]


def spell_pieces(pieces: Pieces) -> PieceBytes:
    """Spells the characters of an automaton of pieces."""
    num_states = len(pieces.final)
    # The last column is where characters lead that no text may hold.
    by_kind = np.column_stack([pieces.next, np.full(num_states, -1, np.int32)])
    blocks, block_of = _distinct(pieces.kind.reshape(-1, 64))
    spelled = _Spelled(num_states)
    # [N, 17408]: the state in which one byte is to come.
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
    inside[:, 0x80:0xC0] = np.concatenate(spelled.rows)
    columns, byte_class = _distinct(np.vstack([table, inside]).T)
    padding = len(inside)
    return PieceBytes(
        byte_class.astype(np.uint8),
        np.ascontiguousarray(columns.T),
        np.append(pieces.split, np.full(padding, -1, np.int32)),
        np.append(pieces.final, np.zeros(padding, np.bool_)),
    )


class _Spelled:
    """States inside characters, by what the next byte leads to."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows: list[IntArray] = []

    def states(self, targets: IntArray) -> IntArray:
        """A state for each row of 64 targets, `[..., 64]` to `[...]`: -1 where all are -1, one for equal rows."""
        rows, which = _distinct(targets.reshape(-1, 64))
        number = np.full(len(rows), -1, np.int32)
        lives = (rows >= 0).any(axis=1)
        number[lives] = np.arange(self.count, self.count + lives.sum())
        self.count += int(lives.sum())
        self.rows.append(rows[lives])
        return number[which].reshape(targets.shape[:-1])


def _distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Each of the rows once, in order of appearance, and which one of these every row is."""
    known: dict[bytes, int] = {}
    which = np.array([known.setdefault(row.tobytes(), len(known)) for row in rows], np.int32)
    first = np.zeros(len(known), np.int64)
    first[which[::-1]] = np.arange(len(rows))[::-1]
    return rows[first], which
