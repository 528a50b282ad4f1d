"""Reading: whether a pushdown automaton accepts a text, with all configurations side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.arrays import ByteArray
from automata.jit import kernel, plain_kernel
from automata.arrays import IntArray
from automata.pushdown.stacks import BELOW, SYMBOL, cell_on, with_room


class Steps(NamedTuple):
    """The tables of `PushdownAutomaton`, its sequences one after the other.

    Attributes:
        num_columns: how many columns a state has.
        offsets, pops, pushes, target: which steps a state has on a column, and what they do.
        begin, symbols: sequence p is `symbols[begin[p] : begin[p + 1]]`.
    """

    num_columns: int
    offsets: IntArray
    pops: IntArray
    pushes: IntArray
    target: IntArray
    begin: IntArray
    symbols: IntArray


@kernel
def sequences(parent: IntArray, symbol: IntArray) -> tuple[IntArray, IntArray]:
    """Where each sequence of a trie begins, `[P + 1]`, and the symbols of them all."""
    begin = np.zeros(len(parent) + 1, np.int32)
    for sequence in range(len(parent)):
        at, size = sequence, 0
        while at:
            at, size = parent[at], size + 1
        begin[sequence + 1] = begin[sequence] + size
    symbols = np.empty(begin[-1], np.int32)
    for sequence in range(len(parent)):
        at, place = sequence, begin[sequence + 1]
        while at:
            place -= 1
            symbols[place] = symbol[at]
            at = parent[at]
    return begin, symbols


@kernel
def accepted(
    text: ByteArray,
    start: int,
    byte_class: ByteArray,
    num_classes: int,
    num_columns: int,
    offsets: IntArray,
    pops: IntArray,
    pushes: IntArray,
    target: IntArray,
    parent: IntArray,
    symbol: IntArray,
    max_configurations: int,
) -> tuple[bool, int]:
    """Whether a text is accepted; and how many bytes lead to more configurations than may be carried, -1 where none do.

    The arguments are what `PushdownAutomaton` has.
    """
    begin, symbols = sequences(parent, symbol)
    steps = Steps(num_columns, offsets, pops, pushes, target, begin, symbols)
    cells, slots = np.zeros((64, 3), np.int32), np.zeros(128, np.int32)
    cells[0, SYMBOL] = 1
    found, before, count = np.zeros((4, 2), np.int32), np.zeros((4, 2), np.int32), 1
    found[0, 0] = start
    for place in range(len(text)):
        before, found, num_before, count = found, before, count, 0
        for number in range(num_before):
            cell = before[number, 0] * num_columns + byte_class[text[place]]
            for step in range(offsets[cell], offsets[cell + 1]):
                below = popped(steps, step, cells, before[number, 1])
                if below < 0:
                    continue
                if pushes[step]:
                    below, cells, slots = pushed(steps, step, cells, slots, below)
                if not _known(found, count, target[step], below):
                    if count == len(found):
                        found = np.concatenate((found, found))
                    found[count, 0], found[count, 1] = target[step], below
                    count += 1
        if count > max_configurations:
            return False, place + 1
    for number in range(count):
        cell = found[number, 0] * num_columns + num_classes
        for step in range(offsets[cell], offsets[cell + 1]):
            if popped(steps, step, cells, found[number, 1]) >= 0:
                return True, -1
    return False, -1


@plain_kernel
def popped(steps: Steps, step: int, cells: IntArray, top: int) -> int:
    """The stack below what a step pops, -1 where something else is on top."""
    sequence = steps.pops[step]
    for place in range(steps.begin[sequence], steps.begin[sequence + 1]):
        if top == 0 or cells[top, SYMBOL] != steps.symbols[place]:
            return -1
        top = cells[top, BELOW]
    return int(top)


@kernel
def pushed(steps: Steps, step: int, cells: IntArray, slots: IntArray, top: int) -> tuple[int, IntArray, IntArray]:
    """The stack with what a step pushes, and the cells and slots, which may have been made anew."""
    sequence = steps.pushes[step]
    first, last = steps.begin[sequence], steps.begin[sequence + 1]
    if cells[0, SYMBOL] + last - first > len(cells):
        cells, slots = with_room(cells, last - first)
    for place in range(first, last):
        top = cell_on(cells, slots, steps.symbols[place], top)
    return top, cells, slots


@plain_kernel
def _known(found: IntArray, count: int, state: int, top: int) -> bool:
    known = False
    for number in range(count):
        known = known or (found[number, 0] == state and found[number, 1] == top)
    return known
