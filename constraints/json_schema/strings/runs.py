"""Runs: a function on numbers with few different values, as rows `[R, 3]` of first number, last number and value.

Rows ascend, do not overlap, and have other values than a neighbour that they touch; a number in no row has no value.
"""

from __future__ import annotations

import numpy as np

from automata.jit import kernel, plain_kernel
from automata.arrays import IntArray

FIRST, LAST, TARGET = range(3)


@kernel
def add_run(runs: IntArray, count: int, first: int, last: int, target: int) -> tuple[IntArray, int]:
    """Adds a run behind the `count` there are; returns the rows, which are others where there was no room."""
    if count and runs[count - 1, TARGET] == target and runs[count - 1, LAST] + 1 == first:
        runs[count - 1, LAST] = last
        return runs, count
    if count == len(runs):
        longer = np.empty((2 * count, 3), np.int32)
        longer[:count] = runs
        runs = longer
    runs[count, FIRST], runs[count, LAST], runs[count, TARGET] = first, last, target
    return runs, count + 1


@kernel
def cut_run(runs: IntArray, first: int, last: int) -> IntArray:
    """The runs of the numbers from `first` to `last`, which become numbers from 0 up."""
    kept = np.empty_like(runs)
    count = 0
    for run in range(len(runs)):
        low, high = max(runs[run, FIRST], first), min(runs[run, LAST], last)
        if low <= high:
            kept[count, FIRST], kept[count, LAST], kept[count, TARGET] = low - first, high - first, runs[run, TARGET]
            count += 1
    return kept[:count]


@plain_kernel
def value_at(runs: IntArray, number: int) -> int:
    """The value of a number, -1 where it has none."""
    low, high = 0, len(runs)
    while low < high:
        middle = (low + high) // 2
        if runs[middle, LAST] < number:
            low = middle + 1
        else:
            high = middle
    return int(runs[low, TARGET]) if low < len(runs) and runs[low, FIRST] <= number else -1
