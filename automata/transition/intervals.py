"""Bytes cut into intervals that no arc tells apart: the alphabet that automata are built over.

An automaton with `[^"]` has some twenty intervals where it has 256 bytes. Labels are symbols of their own behind them.
"""

from __future__ import annotations

import numpy as np

from automata.jit import kernel
from automata.arrays import BoolArray, IntArray

# Symbols of ranges from here up are labels.
FIRST_LABEL = 256
# Columns of ranges.
SOURCE, LOW, HIGH, TARGET = range(4)


@kernel
def over_intervals(ranges: IntArray, num_labels: int, max_bytes: int) -> tuple[IntArray, bool, IntArray]:
    """Arcs over ranges of bytes as arcs over intervals, by the coarsest cut of the bytes that splits no range.

    Args:
        ranges: `[A, 4]`, source, lowest and highest byte or label, and target.
        num_labels: L.
        max_bytes: arcs are written out where they take no more memory than this.

    Returns:
        The ascending interval of each byte, and of each label behind, `[256 + L]`; whether the arcs were
        written out; and the arcs `[3, N]`, source, interval and target, in the order of the ranges.
    """
    cuts = np.zeros(257, np.bool_)
    for arc in range(len(ranges)):
        if ranges[arc, LOW] < FIRST_LABEL:
            cuts[ranges[arc, LOW]] = cuts[ranges[arc, HIGH] + 1] = True
    interval = np.zeros(256 + num_labels, np.int32)
    for byte in range(1, 256):
        interval[byte] = interval[byte - 1] + cuts[byte]
    for label in range(FIRST_LABEL, FIRST_LABEL + num_labels):
        interval[label] = interval[label - 1] + 1
    num_arcs = 0
    for arc in range(len(ranges)):
        num_arcs += interval[ranges[arc, HIGH]] - interval[ranges[arc, LOW]] + 1
    if 12 * num_arcs > max_bytes:
        return interval, False, np.empty((3, 0), np.int32)
    arcs = np.empty((3, num_arcs), np.int32)
    at = 0
    for arc in range(len(ranges)):
        for symbol in range(interval[ranges[arc, LOW]], interval[ranges[arc, HIGH]] + 1):
            arcs[0, at], arcs[1, at], arcs[2, at] = ranges[arc, SOURCE], symbol, ranges[arc, TARGET]
            at += 1
    return interval, True, arcs
