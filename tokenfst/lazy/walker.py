"""Walker: the walks of one program over one vocabulary, and the room that they need.

The kernels (`tokenfst.lazy.rows`) stop where there is no room for more cells or more sets. What they have done until
then stays valid, so room is made and they are called again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from automata.arrays import ByteArray
from automata.transition.stacks import HEIGHT, SYMBOL, with_room
from tokenfst.lazy.covers import COVERS, find_cover, find_covered
from tokenfst.lazy.prepared import QUOTED, Prepared
from tokenfst.lazy.program import Program
from tokenfst.lazy.rows import (
    COUNT,
    FINAL,
    LOWEST,
    MARK_WORDS,
    NEEDS_ROOM,
    NOTE_WORDS,
    TEXT,
    TEXT_LOOPS,
    TEXT_TARGET,
    fill,
    find_beside,
    find_difference,
    find_row,
    may_end,
    read_token,
)
from tokenfst.lazy.sets import grown
from tokenfst.lazy.subsets import far_set
from tokenfst.transition.loops import DEAD, Ints

# A row with more tokens than this has words of its own.
_MOST_FLIPS = 1 << 12

STACK_SHIFT: Final = 32
STATE: Final = (1 << STACK_SHIFT) - 1


class Row:
    """A mask: `base` with the bits of the tokens `flips` flipped; `depth` symbols of the stack were looked at."""

    __slots__ = ("base", "depth", "final", "flips")

    def __init__(self, base: Ints, flips: Ints, final: bool, depth: int) -> None:
        self.base, self.flips, self.final, self.depth = base, flips, final, depth


class Walker:
    """Steps through a program, and finds the rows of its configurations; whoever calls it holds the vocabulary's lock.

    Attributes:
        machine: the program's tables.
        cells: the stacks.
        room: how many cells a token may take.
        counts: whether characters are counted.
        marks: what is known of each state, its loops first (`tokenfst.lazy.rows.find_row`).
    """

    def __init__(self, program: Program, kept: Prepared, longest: int) -> None:
        """Takes the most bytes that are read at once, by tokens and by exceptions to the decoder's rule."""
        self._prepared = kept
        self.machine = program.machine
        self.room = longest * program.most_pushed
        self.cells: Ints = np.zeros((1, 3), np.int32)
        self.cells[0, SYMBOL] = 1
        self._slots: Ints = np.zeros(4, np.int32)
        if program.most_pushed:
            self.cells, self._slots = with_room(self.cells, 2 * self.room)
        self.counts = program.counts
        self.marks: Ints = np.zeros((len(self.machine.table), MARK_WORDS), np.int32)
        self._stamps: Ints = np.zeros(len(self.machine.table) + 1, np.int32)
        self._note = np.zeros(NOTE_WORDS, np.int32)
        self._noted = self._note.data
        self._walks, self._tables = tuple(kept.tries), tuple(self.machine)

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes, without the vocabulary's, which all its automata share."""
        own = self.cells, self._slots, self.marks
        return sum(array.nbytes for array in (*self.machine, *own))

    def may_end(self, state: int) -> bool:
        """Whether the text may end in a state."""
        return bool(may_end(state & STATE, self.machine, self.cells, state >> STACK_SHIFT, 0)[0])

    def read(self, data: ByteArray, offsets: Ints, token: int, state: int) -> int:
        """The state after a token of those whose bytes are given, DEAD where it is not allowed."""
        while True:
            reached: int = read_token(
                data,
                offsets,
                self._tables,
                self.cells,
                self._slots,
                self.room,
                token,
                state & STATE,
                state >> STACK_SHIFT,
            )
            if reached >= DEAD:
                return reached
            self.grow()

    def grow(self) -> None:
        """Makes room for what a kernel had no room for."""
        if self.cells.item(0, SYMBOL) + 2 * self.room > len(self.cells):
            self.cells, self._slots = with_room(self.cells, max(2 * self.room, len(self.cells)))
        else:
            self.grow_sets()

    def grow_sets(self) -> None:
        """Makes room for more sets."""
        self.machine = grown(self.machine)
        self._tables = tuple(self.machine)
        self._stamps = np.zeros(len(self.machine.table) + 1, np.int32)
        added = len(self.machine.table) - len(self.marks)
        self.marks = np.concatenate([self.marks, np.zeros((added, MARK_WORDS), np.int32)])

    def far(self, at: int) -> int:
        """The state that has the same row, and counts no more than tokens can tell."""
        if not self.counts:
            return at
        while (far := far_set(at, self._prepared.longest, self.machine)) < 0:
            self.grow_sets()
        return int(far)

    def row(self, at: int, top: int, row_of: Callable[[int], Row]) -> Row:
        """The row of a configuration, found by a walk, for which other rows may be asked for."""
        if self._found(find_row, True, at, top) == TEXT:
            row = self._text_row(at, top, row_of)
            if row is not None:
                return row
            self._found(find_row, False, at, top)
        return self._noted_row(self._prepared.nothing, top)

    def _found(self, find: Callable[..., int], *arguments: Any) -> int:
        """What a walk has come to, with as much room as it takes."""
        walks, note, room = self._walks, self._note, self.room
        while (does := find(walks, self._tables, self.cells, self.marks, note, room, *arguments)) == NEEDS_ROOM:
            self.grow()
        return does

    def _text_row(self, at: int, top: int, row_of: Callable[[int], Row]) -> Row | None:
        """The row of a text-like state, None where it takes a walk over everything."""
        noted = self._noted
        target: int = noted[TEXT_TARGET]
        if target != at and noted[TEXT_LOOPS]:
            other = row_of(top << STACK_SHIFT | target)
            self._found(find_difference, at, target, top)
            return self._noted_row(other.base, top, other)
        key = tuple(noted[:TEXT_TARGET])
        if key != QUOTED:
            row = self._covered_row(at, top)
            if row is not None:
                return row
        text = self._prepared.text(key)
        if text is None:
            return None
        self._found(find_beside, *(text.rests if target == at else text.by_length), text.key, at, top)
        length: int = noted[TEXT_TARGET]
        if length < 0:
            return None
        return self._noted_row(text.words if target == at else text.up_to(length), top)

    def _covered_row(self, at: int, top: int) -> Row | None:
        """The row of a state behind which quoted text may go on in any way, None where it is no such state."""
        quoted = self._prepared.text(QUOTED)
        if quoted is None:
            return None
        while (cover := find_cover(self._walks, self._tables, quoted.key, self._stamps, at)) < 0:
            self.grow_sets()
        free = max([length for length in COVERS if length <= cover], default=0)
        if not free:
            return None
        self._found(find_covered, *quoted.beyond(free), quoted.key, at, top)
        return self._noted_row(quoted.up_to(free), top)

    def _noted_row(self, base: Ints, top: int, other: Row | None = None) -> Row:
        """The row that a walk has found, beside what `base` has, or beside another row that it was compared with."""
        noted, ends = self._noted, self._prepared.ends
        count, final = noted[COUNT], bool(noted[FINAL])
        depth = self.cells.item(top, HEIGHT) + 1 - noted[LOWEST]
        found = self._prepared.tries.found[:count]
        if other is not None:
            depth = max(depth, other.depth)
            found = np.concatenate([other.flips[len(ends) if other.final else 0 :], found])
        if len(found) > _MOST_FLIPS:
            words = np.empty_like(base)
            fill(base, found, words)
            words.setflags(write=False)
            base, found = words, found[:0]
        flips = np.concatenate([ends, found]) if final else found.copy()
        return Row(base, flips, final, depth)
