"""Minimal byte automata from an NFA, or from two automata: the constructions of the native core.

    determinized        the minimal automaton of an NFA
    product             the intersection or the difference of two automata
    combination         intersections and differences of several automata
    word_list           the minimal automaton of a list of words

The limit on states is higher if the given automata are large themselves (`Work.max_states`).
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from automata import _native
from automata._native import ByteTables
from automata.arrays import places_in
from automata.byte_automaton import DENSE_BYTES, ByteAutomaton
from automata.compile.nfa import NfaBuilder
from automata.errors import LimitExceeded
from automata.limits import Work


def determinized(fragment: NfaBuilder, work: Work) -> ByteAutomaton:
    """Determinize and minimize an NFA.

    Raises:
        LimitExceeded: the automaton has more states than allowed, or a limit of memory or time was exceeded.
        Cancelled: the compilation was cancelled.
    """
    labels = tuple(sorted(fragment.labels))
    max_states = work.max_states(fragment.num_copied_states)
    tables = *fragment.tables(), len(labels), max_states, DENSE_BYTES, work.budget
    return _with_labels(_native.minimal(fragment.num_states, *tables), labels)


def product(left: ByteAutomaton, right: ByteAutomaton, work: Work, *, difference: bool) -> ByteAutomaton:
    """Intersect two automata, or subtract the right one from the left one.

    Raises: as for `determinized`.
    """
    if left.is_empty or right.is_empty:
        return left if difference or left.is_empty else right
    labels = tuple(sorted({*left.labels, *right.labels}))
    sides = left.tables, places_in(left.labels, labels), right.tables, places_in(right.labels, labels)
    max_states = work.max_states(left.num_states + right.num_states)
    return _with_labels(_native.product(*sides, difference, max_states, DENSE_BYTES, work.budget), labels)


class Operand(NamedTuple):
    """An automaton, and whether its texts are subtracted from those of the others."""

    automaton: ByteAutomaton
    is_subtracted: bool


def combination(operands: Sequence[Operand], work: Work) -> ByteAutomaton:
    """Intersect several automata and subtract others; the first is not subtracted.

    The states of a product multiply, so the two smallest automata are always combined next. If that makes an
    intermediate automaton too large, all are combined in order instead: the first one may keep the others small.

    Raises: as for `determinized`.
    """
    labels = {label for operand in operands for label in operand.automaton.labels}
    if len(operands) > 2:
        heap = [(operand.automaton.num_states, place, operand) for place, operand in enumerate(operands)]
        heapify(heap)
        try:
            while len(heap) > 2:
                _, place, one = heappop(heap)
                both = _together(one, heappop(heap)[2], labels, work)
                heappush(heap, (both.automaton.num_states, place, both))
            operands = [operand for _, _, operand in sorted(heap)]
        except LimitExceeded as error:
            if error.limit not in ("states", "memory"):
                raise
    result = operands[0]
    for other in operands[1:]:
        result = _together(result, other, labels, work)
    return result.automaton


def _together(one: Operand, other: Operand, labels: set[str], work: Work) -> Operand:
    """Combine two operands. Two subtracted ones become all sequences of bytes and `labels` that are in neither."""
    if one.is_subtracted and other.is_subtracted:
        everything = _all_texts(labels)
        one = Operand(product(everything, one.automaton, work, difference=True), False)
    elif one.is_subtracted:
        one, other = other, one
    return Operand(product(one.automaton, other.automaton, work, difference=other.is_subtracted), False)


def _all_texts(labels: set[str]) -> ByteAutomaton:
    """Return the automaton of every sequence of bytes and of these labels."""
    names = tuple(sorted(labels))
    loop, final = np.zeros((1, 1), np.int32), np.ones(1, bool)
    by_label = np.zeros((1, len(names)), np.int32)
    return ByteAutomaton(ByteTables.dense(0, np.zeros(256, np.uint8), loop, final, by_label), names)


def word_list(words: tuple[bytes, ...], work: Work) -> ByteAutomaton:
    """Build the minimal automaton of distinct words in ascending order.

    Raises: as for `determinized`.
    """
    return ByteAutomaton(_native.word_list(words, DENSE_BYTES, work.budget))


def _with_labels(tables: ByteTables, labels: tuple[str, ...]) -> ByteAutomaton:
    if labels:
        tables, used = tables.without_unused_labels()
        labels = tuple(labels[number] for number in used)
    return ByteAutomaton(tables, labels)
