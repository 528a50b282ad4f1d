"""Labels as bytes, for algorithms that read only bytes.

A label stands for tokens. If these tokens write nothing, its arcs can be replaced by arcs over bytes that no text
contains: MARKER, which UTF-8 never uses (RFC 3629, section 1), and two bytes for the number of a token. An algorithm
over bytes then reads a text in which each of these tokens has written its three bytes.

    label_bytes          a number -> its bytes
    LabelNumbers         the numbers that each label stands for
    with_label_bytes     arcs over bytes and labels -> arcs over bytes; for pushdown automata see
                         `automata.pushdown.label_bytes`
    without_labels       the same for a byte automaton

Rejected: labels in these algorithms (each automaton, the searches for distances and the walks over tries would need a
second kind of arc, for only a few states).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from automata import _native
from automata.arrays import IntArray, int_rows
from automata.byte_automaton import DENSE_BYTES, ByteAutomaton
from automata.expressions.ranges import from_sorted
from automata.limits import Work

MARKER = 0xFF
# The number of different numbers that two bytes can write.
MAX_NUMBERS = 1 << 16

# By label, the numbers of its tokens, ascending.
LabelNumbers: TypeAlias = Mapping[str, Sequence[int]]

_FIRST_LABEL = 256


def label_bytes(number: int) -> bytes:
    """Return the bytes that stand for a number.

    >>> label_bytes(258)
    b'\\xff\\x01\\x02'
    """
    return bytes([MARKER, *number.to_bytes(2, "big")])


def with_label_bytes(
    num_states: int, arcs: IntArray, labels: tuple[str, ...], numbers: LabelNumbers
) -> tuple[int, IntArray]:
    """Replace the arcs over labels of an NFA with arcs over bytes.

    Args:
        num_states: the number of states.
        arcs: `[A, 4]`, source, lowest and highest byte, and target; label i is the byte 256 + i.
        labels: the labels.
        numbers: the numbers that each label stands for.

    Returns:
        The number of states, including the added ones, and the arcs.
    """
    labelled = arcs[:, 1] >= _FIRST_LABEL
    added: list[int] = []
    # The state after the marker, by label and target.
    after_marker: dict[tuple[int, int], int] = {}
    for source, symbol, _, target in arcs[labelled].tolist():
        if (symbol, target) not in after_marker:
            after_marker[symbol, target] = num_states
            by_first = by_first_byte(numbers[labels[symbol - _FIRST_LABEL]])
            for state, (first, last_bytes) in enumerate(by_first.items(), num_states + 1):
                added += (num_states, first, first, state)
                for low, high in from_sorted(last_bytes):
                    added += (state, low, high, target)
            num_states += 1 + len(by_first)
        added += (source, MARKER, MARKER, after_marker[symbol, target])
    return num_states, np.concatenate([arcs[~labelled], int_rows(added, 4)])


def by_first_byte(numbers: Sequence[int]) -> dict[int, list[int]]:
    """Return the second bytes of ascending numbers, by their first byte."""
    found: dict[int, list[int]] = {}
    for number in numbers:
        found.setdefault(number >> 8, []).append(number & 0xFF)
    return found


def without_labels(automaton: ByteAutomaton, numbers: LabelNumbers, work: Work) -> ByteAutomaton:
    """Return a byte automaton with its labels as bytes.

    Raises:
        LimitExceeded: it has more states than allowed, or a limit of memory or time was exceeded.
        Cancelled: the compilation was cancelled.
    """
    num_states, arcs, epsilon, _ = _native.nfa_fragment(automaton.tables, automaton.start, work.budget)
    num_states, arcs = with_label_bytes(num_states, arcs, automaton.labels, numbers)
    max_states = max(work.limits.states, 2 * num_states)
    return ByteAutomaton(_native.minimal(num_states, arcs, epsilon, 0, max_states, DENSE_BYTES, work.budget))
