"""The minimal byte automaton of one character of a set, over UTF-8 (RFC 3629).

A set of code points that take n continuation bytes is a set of numbers below 64 ** n under each lead byte. Cutting it
by its leading digit in base 64 gives the arcs of one state and, under each arc, a set of numbers below 64 ** (n - 1):
states with equal sets are one state, so the automaton is deterministic and minimal, however many ranges the set has
(`\\w` over all of Unicode has more than 700). Overlong forms cannot occur, because a code point is only placed under
lead bytes of its own length. Surrogates cannot occur, because sets of characters do not contain them.
"""

from __future__ import annotations

from itertools import groupby
from typing import Final, NamedTuple

from automata.cache import kept
from automata.expressions import ranges as rg
from automata.expressions.ranges import Ranges


class Arc(NamedTuple):
    """An arc from `source` to `target` for every byte from `low` to `high`, both included."""

    source: int
    low: int
    high: int
    target: int


class CharacterArcs(NamedTuple):
    """An automaton of characters: state 0 is the start, state 1 the only final one."""

    num_states: int
    arcs: tuple[Arc, ...]

    @property
    def nbytes(self) -> int:
        """The approximate memory of the arcs in bytes."""
        return _ARC_BYTES * len(self.arcs)


_ARC_BYTES: Final = 100
# First and last code point, lead byte of the first block of 64 ** n, and n, the number of continuation bytes.
_LENGTHS = ((0x80, 0x7FF, 0xC0, 1), (0x800, 0xFFFF, 0xE0, 2), (0x10000, 0x10FFFF, 0xF0, 3))


@kept(4096)
def character_arcs(ranges: Ranges) -> CharacterArcs:
    """Return the automaton of one character of some ranges."""
    arcs = [Arc(0, low, high, 1) for low, high in rg.intersect(ranges, ((0, 0x7F),))]
    states: dict[tuple[int, Ranges], int] = {(0, ((0, 0),)): 1}
    for first, last, lead, continuation in _LENGTHS:
        block = 64**continuation
        for low, high, rest in _digits(rg.intersect(ranges, ((first, last),)), block):
            arcs.append(Arc(0, lead + low, lead + high, _state(continuation, rest, states, arcs)))
    return CharacterArcs(1 + len(states), tuple(arcs))


def _state(continuation: int, ranges: Ranges, states: dict[tuple[int, Ranges], int], arcs: list[Arc]) -> int:
    """Return the state that accepts the numbers of `ranges`, all below 64 ** continuation, as that many bytes."""
    key = (continuation, ranges)
    if key not in states:
        source = states[key] = 1 + len(states)
        for low, high, rest in _digits(ranges, 64 ** (continuation - 1)):
            arcs.append(Arc(source, 0x80 + low, 0x80 + high, _state(continuation - 1, rest, states, arcs)))
    return states[key]


def _digits(ranges: Ranges, block: int) -> list[tuple[int, int, Ranges]]:
    """Cut numbers into digit and rest: (first digit, last digit, ranges of the rest), for each run of digits that share
    one set of rests."""
    rests: dict[int, list[tuple[int, int]]] = {}
    whole = [(0, block - 1)]
    for low, high in ranges:
        first, last = low // block, high // block
        for digit in range(first, last + 1):
            start = low - digit * block if digit == first else 0
            end = high - digit * block if digit == last else block - 1
            if (start, end) == whole[0]:
                rests[digit] = whole
            else:
                rests.setdefault(digit, []).append((start, end))
    runs: list[tuple[int, int, Ranges]] = []
    for rest, digits in groupby(sorted(rests), key=lambda digit: tuple(rests[digit])):
        members = list(digits)
        runs.extend((low, high, rest) for low, high in rg.from_sorted(members))
    return runs
