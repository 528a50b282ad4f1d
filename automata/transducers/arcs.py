"""The arcs of an FST, and their conversion from labels to bytes.

    Arcs                arcs that read and write runs of symbols, with costs
    Arcs.chained        arcs over sequences as chains of arcs over single symbols
    Arcs.joined         arcs with the same ends, over consecutive symbols, as one arc over a run
    Arcs.in_utf8        arcs over runs of code points as chains of arcs over runs of bytes

All arcs are treated at once, in numpy. `side` is `INPUT` or `OUTPUT`, the column of the first symbol of a run.

A run of code points is cut into pieces whose bytes are independent of each other: U+0800 to U+FFFF is the lead bytes
E1 to EF, each followed by any two continuation bytes, and E0 followed by A0 to BF and any continuation byte. Any
character takes nine pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from automata.acceptor_tables import CostArray
from automata.arrays import IntArray
from automata.transducer_tables import NOTHING, SAME
from automata.transducers.symbols import FIRST_NAME

INPUT: Final = 1
OUTPUT: Final = 3
_SOURCE: Final = 0
_TARGET: Final = 5
_FIRST_LABEL: Final = 256
# The first code points of 2, 3 and 4 bytes.
_BORDERS: Final = (0x80, 0x800, 0x10000)
_LEADS: Final = np.array([0, 0, 0xC0, 0xE0, 0xF0])

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Arcs:
    """Arcs between S states.

    Attributes:
        num_states: S.
        rows: `[A, 6]` int32, in the columns of `TransducerTables.arcs`; `NOTHING` twice on both sides is epsilon.
        costs: `[A]`.
    """

    num_states: int
    rows: IntArray
    costs: CostArray

    def chained(self, sequences: Sequence[Sequence[IntArray]]) -> Arcs:
        """Return each arc as a chain of arcs, which read and write the symbols of a sequence one by one. If one side
        has more symbols, the other side does nothing in the last arcs. The first arc has the cost.

        Args:
            sequences: for the input and for the output: `[A]`, the number of symbols of each arc; and the first and the
                last symbols of their runs, for all arcs in order. An arc that writes what it reads has no symbols on
                the output side.
        """
        sizes = np.maximum(np.maximum(sequences[0][0], sequences[1][0]), 1).astype(np.int64)
        of, place = _flat(sizes)
        rows = np.empty((len(of), 6), np.int32)
        for side, (counts, low, high) in zip((INPUT, OUTPUT), sequences, strict=True):
            first = np.cumsum(counts, dtype=np.int64) - counts
            present = place < counts[of]
            at = (first[of] + place)[present]
            rows[:, side : side + 2] = NOTHING
            rows[present, side], rows[present, side + 1] = low[at], high[at]
        is_same = (self.rows[of, OUTPUT] == SAME) & (rows[:, INPUT] != NOTHING)
        rows[is_same, OUTPUT : OUTPUT + 2] = SAME
        is_first, is_last = place == 0, place == sizes[of] - 1
        # The states between the arcs of a chain, in their order.
        inner = self.num_states + np.cumsum(~is_last) - ~is_last
        rows[:, _SOURCE] = np.where(is_first, self.rows[of, _SOURCE], inner - 1)
        rows[:, _TARGET] = np.where(is_last, self.rows[of, _TARGET], inner)
        return Arcs(int(self.num_states + sizes.sum() - len(sizes)), rows, np.where(is_first, self.costs[of], 0.0))

    def joined(self) -> Arcs:
        """Join arcs over consecutive symbols to arcs over runs of symbols."""
        return self._joined(OUTPUT)._joined(INPUT)

    def _joined(self, side: int) -> Arcs:
        """Join consecutive runs of one side, of arcs that are equal in everything else."""
        rows = self.rows
        ends = rows[:, _SOURCE].astype(np.int64) << 32 | rows[:, _TARGET]
        # Most arcs of a large lexicon are the only ones between their ends.
        order = np.argsort(ends, kind="stable")
        equal = ends[order][1:] == ends[order][:-1]
        several = np.zeros(len(rows), bool)
        several[order[1:][equal]] = several[order[:-1][equal]] = True
        several &= rows[:, side] >= 0
        if not several.any():
            return self
        own, costs = rows[several], self.costs[several]
        others = [column for column in range(6) if column not in (side, side + 1)]
        order = np.lexsort([own[:, side], costs, *(own[:, column] for column in others)])
        own, costs = own[order], costs[order]
        follows = (own[1:, others] == own[:-1, others]).all(axis=1) & (costs[1:] == costs[:-1])
        follows &= own[1:, side] == own[:-1, side + 1] + 1
        first = np.flatnonzero(np.append(True, ~follows))
        last = np.append(first[1:], len(own)) - 1
        joined = own[first]
        joined[:, side + 1] = own[last, side + 1]
        return Arcs(
            self.num_states,
            np.concatenate([rows[~several], joined]),
            np.concatenate([self.costs[~several], costs[first]]),
        )

    def in_utf8(self, sides: Sequence[int]) -> Arcs:
        """Replace arcs over code points with arcs over bytes, on these sides. Names of tokens stay as they are."""
        arcs = self
        for side in sides:
            arcs = arcs._in_pieces(side)
        if not sides or (arcs.rows[:, [INPUT + 1, OUTPUT + 1]] < _BORDERS[0]).all():
            return arcs
        return arcs.chained([_bytes(arcs.rows[:, side : side + 2], side in sides) for side in (INPUT, OUTPUT)])

    def _in_pieces(self, side: int) -> Arcs:
        """Cut runs into pieces whose bytes are independent of each other."""
        is_plain = (self.rows[:, side + 1] < _BORDERS[0]) | (self.rows[:, side] >= FIRST_NAME)
        if is_plain.all():
            return self
        own = self.rows[~is_plain]
        of, low, high = _pieces(own[:, side].astype(np.int64), own[:, side + 1].astype(np.int64))
        cut = own[of]
        cut[:, side], cut[:, side + 1] = low, high
        rows = np.concatenate([self.rows[is_plain], cut])
        return Arcs(self.num_states, rows, np.concatenate([self.costs[is_plain], self.costs[~is_plain][of]]))

    def with_labels(self, codes: IntArray) -> Arcs:
        """Return the arcs with symbols of labels in place of the codes of names: the name whose code is `codes[i]` is
        label i."""
        rows = self.rows.copy()
        symbols = rows[:, INPUT:_TARGET]
        is_name = symbols >= FIRST_NAME
        order = np.argsort(codes)
        symbols[is_name] = _FIRST_LABEL + order[np.searchsorted(codes[order], symbols[is_name])]
        return replace(self, rows=rows)


def _flat(sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Number the members of groups of these sizes: return the group of each member, and its place in the group."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    return of, np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _cut(of: Numbers, low: Numbers, high: Numbers, border: Any, is_cut: Any) -> tuple[Numbers, Numbers, Numbers]:
    """Cut the runs where `is_cut` in two, before a border."""
    return (
        np.concatenate([of, of[is_cut]]),
        np.concatenate([low, np.broadcast_to(border, low.shape)[is_cut]]),
        np.concatenate([np.where(is_cut, border - 1, high), high[is_cut]]),
    )


def _pieces(low: Numbers, high: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Cut runs of code points into pieces; return the run of each piece, its first and its last code point."""
    of = np.arange(len(low))
    for border in _BORDERS:
        of, low, high = _cut(of, low, high, border, (low < border) & (border <= high))
    for digits in (3, 2, 1):
        block = 64**digits
        # If a run spans several blocks, its part of the first block is cut off, and then its part of the last block,
        # unless it has the whole block. A run below U+0080 is one byte, and runs of characters with fewer digits lie in
        # one block.
        several = (low // block != high // block) & (low >= _BORDERS[0])
        of, low, high = _cut(of, low, high, (low // block + 1) * block, several & (low % block > 0))
        several = (low // block != high // block) & (low >= _BORDERS[0])
        of, low, high = _cut(of, low, high, high // block * block, several & (high % block < block - 1))
    return of, low, high


def _bytes(runs: IntArray, is_text: bool) -> tuple[IntArray, IntArray, IntArray]:
    """Return the number of bytes of each run on one side of arcs, and the first and the last bytes of all runs in
    order, as for `Arcs.chained`."""
    low, high = runs[:, 0], runs[:, 1]
    sizes = 1 + (low[:, None] >= _BORDERS).sum(axis=1)
    sizes[(low >= FIRST_NAME) | (not is_text)] = 1
    sizes[low < 0] = 0
    of, place = _flat(sizes)
    return sizes.astype(np.int32), *(_byte(codes[of], sizes[of], place) for codes in (low, high))


def _byte(codes: IntArray, sizes: Numbers, place: Numbers) -> IntArray:
    """Return the byte at a place in each code, which takes `sizes` bytes."""
    shifted = codes >> 6 * (sizes - 1 - place)
    is_continuation = place > 0
    lead = np.where(sizes > 1, _LEADS[sizes] | shifted, shifted)
    return np.where(is_continuation, 0x80 | (shifted & 0x3F), lead).astype(np.int32)
