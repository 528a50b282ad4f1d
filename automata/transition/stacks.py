"""Stacks: all stacks of a run as one trie, which only grows.

A stack is the number of a cell, so that a configuration is two integers, and equal configurations are equal integers. A
hundred thousand different stacks take some megabytes.

    cells    [N, 3]   the topmost symbol, the cell below it, and the height; cell 0 is the empty stack, and has the
                      number of cells in place of a symbol
    slots    [2 N]    hashed: which cell has a symbol on another cell
"""

from __future__ import annotations

import numpy as np

from automata.arrays import IntArray
from automata.jit import kernel, plain_kernel

SYMBOL, BELOW, HEIGHT = range(3)


@kernel
def kept(cells: IntArray, slots: IntArray, top: int, known: int) -> int:
    """The stack that a walk has made, in cells that are there for good."""
    count, cell = 0, top
    while cell >= known:
        cell = int(cells[cell, BELOW])
        count += 1
    added, at = np.empty(count, np.int32), top
    for place in range(count - 1, -1, -1):
        added[place] = cells[at, SYMBOL]
        at = cells[at, BELOW]
    for symbol in added:
        cell = cell_on(cells, slots, int(symbol), cell)
    return cell


@plain_kernel
def cell_on(cells: IntArray, slots: IntArray, symbol: int, below: int) -> int:
    """The cell with a symbol on another cell."""
    slot = _slot(slots, symbol, below)
    while slots[slot]:
        cell = slots[slot]
        if cells[cell, SYMBOL] == symbol and cells[cell, BELOW] == below:
            return int(cell)
        slot = (slot + 1) & (len(slots) - 1)
    cell = int(cells[0, SYMBOL])
    cells[cell, SYMBOL], cells[cell, BELOW], cells[cell, HEIGHT] = symbol, below, cells[below, HEIGHT] + 1
    slots[slot] = cell
    cells[0, SYMBOL] = cell + 1
    return int(cell)


@plain_kernel
def _slot(slots: IntArray, symbol: int, below: int) -> int:
    value = (np.uint64(below) << np.uint64(20) ^ np.uint64(symbol)) * np.uint64(0x9E3779B97F4A7C15)
    return int(np.int64(value >> np.uint64(33))) & (len(slots) - 1)


@kernel
def with_room(cells: IntArray, needed: int) -> tuple[IntArray, IntArray]:
    """The cells with room for more, and the slots that find them."""
    count, size = cells[0, SYMBOL], len(cells)
    while size < count + needed:
        size *= 2
    grown = np.zeros((size, 3), np.int32)
    grown[:count] = cells[:count]
    slots = np.zeros(2 * size, np.int32)
    for cell in range(1, count):
        slot = _slot(slots, grown[cell, SYMBOL], grown[cell, BELOW])
        while slots[slot]:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = cell
    return grown, slots
