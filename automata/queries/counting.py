"""The number of texts of each length in a language, and the text with each number; exact, in integers.

The number of texts of n bytes from a state to an end is the sum, over the arcs of the state, of the numbers for n - 1
bytes from their targets. So one product with the sparse matrix of arcs gives the next length, in time linear in the
arcs. Numbers are int64 as long as no sum can overflow, and Python's unbounded integers after that.

    lengths(automaton)          for each length, the number of texts from every state, `[Q]`
    total(automaton)            the number of all texts of a finite language
    Unranking(automaton, ...)   the texts of some lengths by number: by length, then in byte order

A uniform random text is the text of a uniform random number; no probability is ever computed.

Rejected: floating-point weights (not uniform, and they overflow at 300 bytes); a matrix power (it is dense: cubic in
the number of states, while lengths in practice are a few hundred).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import getsizeof
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.byte_automaton import ByteAutomaton
from automata.graph import bottom_up
from automata.limits import current_work
from automata.queries.walks import Walks

# int64, or Python integers as objects.
Numbers: TypeAlias = npt.NDArray[Any]

# A sum over the arcs of a state is at most 256 times its largest term.
_LARGEST_TERM = np.iinfo(np.int64).max // 256


def lengths(automaton: ByteAutomaton) -> Iterator[Numbers]:
    """Yield, for each length from 0 up, how many texts of this length lead from each state to an end, `[Q]`; stop after
    the longest text of a finite language.

    Raises:
        Cancelled, LimitExceeded: the current compilation has to stop; if there is none, one with default limits.
    """
    work = current_work()
    source, target, weight = _weighted(automaton)
    # Arcs are sorted by source, so those of a state are consecutive.
    sources, first = np.unique(source, return_index=True)
    numbers: Numbers = automaton.final.astype(np.int64)
    while numbers.any():
        yield numbers
        work.check()
        if numbers.dtype == np.int64 and numbers.max() > _LARGEST_TERM:
            numbers, weight = numbers.astype(object), weight.astype(object)
        before = np.zeros_like(numbers)
        if len(sources):
            before[sources] = np.add.reduceat(weight * numbers[target], first)
        numbers = before


def total(automaton: ByteAutomaton, *, most: int | None = None) -> int | None:
    """Count all texts, by one sum for each state, however long the texts are; return None if there are infinitely many.

    Args:
        automaton: the language.
        most: the number to return in place of any larger one, so that numbers stay small; None for the exact number.
    """
    source, target, weight = _weighted(automaton)
    order = bottom_up(automaton.num_states, source.astype(np.int32), target.astype(np.int32))
    if len(order) < automaton.num_states:
        return None
    bounds = np.searchsorted(source, np.arange(automaton.num_states + 1)).tolist()
    targets, weights = target.tolist(), weight.tolist()
    numbers: list[int] = automaton.final.astype(int).tolist()
    for state in current_work().watched(order.tolist()):
        number = numbers[state]
        number += sum(weights[arc] * numbers[targets[arc]] for arc in range(bounds[state], bounds[state + 1]))
        numbers[state] = number if most is None else min(number, most)
    return numbers[automaton.start] if numbers else 0


def _weighted(automaton: ByteAutomaton) -> tuple[Numbers, Numbers, Numbers]:
    """Return the pairs of states with an arc between them, by source, and the number of bytes that lead from one to the
    other, `[E]` each."""
    arcs, num_states = automaton.range_arcs(), max(automaton.num_states, 1)
    pairs, place = np.unique(arcs.source.astype(np.int64) * num_states + arcs.target, return_inverse=True)
    weight = np.zeros(len(pairs), np.int64)
    np.add.at(weight, place.reshape(-1), arcs.high - arcs.low + 1)
    return pairs // num_states, pairs % num_states, weight


def _longest(of_lengths: Sequence[int]) -> int:
    """Return the greatest of some lengths, without iterating over a range; -1 if there are none."""
    ends = (of_lengths[0], of_lengths[-1]) if isinstance(of_lengths, range) and of_lengths else of_lengths
    return max(ends, default=-1)


def _below(numbers: range, end: int) -> range:
    """Return the numbers of a range that are at least 0 and less than `end`, without iterating over it."""
    ascending = numbers if numbers.step > 0 else numbers[::-1]
    first, last = (max(0, -((ascending.start - bound) // ascending.step)) for bound in (0, end))
    return ascending[first:last] if numbers.step > 0 else ascending[first:last][::-1]


def _up_to(automaton: ByteAutomaton, longest: int) -> list[list[int]]:
    """Return the rows of `lengths` up to a length as plain Python integers, which cannot overflow.

    Raises: as for `lengths`.
    """
    rows, work = list[list[int]](), current_work()
    for row, _ in zip(lengths(automaton), range(longest + 1), strict=False):
        rows.append(row.tolist())
        work.budget.charge(sum(map(getsizeof, rows[-1]), getsizeof(rows[-1])))
    return rows


class Unranking:
    """The texts of some lengths by number, from 0 up: by length in the order given, then in byte order.

    Memory grows with the longest length times the states.

    Attributes:
        lengths: the lengths in the order given; of a range, those up to the longest text.
        total: the number of texts.
    """

    def __init__(self, automaton: ByteAutomaton, of_lengths: Sequence[int]) -> None:
        """Count the texts of every length.

        Args:
            automaton: the language.
            of_lengths: the lengths, in bytes.

        Raises:
            Cancelled, LimitExceeded: the current compilation has to stop; if there is none, one with default limits.
        """
        self.start = automaton.start
        self._walks = Walks(automaton)
        self._numbers = _up_to(automaton, _longest(of_lengths))
        # A range may go far beyond the longest text, where there is nothing to sum.
        self.lengths = _below(of_lengths, len(self._numbers)) if isinstance(of_lengths, range) else of_lengths
        self.total = sum(map(self.of_length, self.lengths))

    def of_length(self, length: int) -> int:
        """Return the number of texts of a length; 0 if it is negative."""
        return self._numbers[length][self.start] if 0 <= length < len(self._numbers) else 0

    def text(self, number: int) -> bytes:
        """Return the text of a number below `total`."""
        place = 0
        while number >= self.of_length(self.lengths[place]):
            number -= self.of_length(self.lengths[place])
            place += 1
        text, state = bytearray(), self.start
        for rest in range(self.lengths[place] - 1, -1, -1):
            numbers = self._numbers[rest]
            for low, high, target in self._walks.runs(state):
                each = numbers[target]
                if number < each * (high - low + 1):
                    break
                number -= each * (high - low + 1)
            text.append(low + number // each)
            number, state = number % each, target
        return bytes(text)
