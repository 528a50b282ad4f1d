"""Sorted, disjoint, non-adjacent closed integer ranges: the one representation of sets of code points and of bytes."""

from __future__ import annotations

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

MAX_CODE_POINT = 0x10FFFF
# Surrogates are code points but not characters: UTF-8 cannot encode them (RFC 3629, section 3).
ALL_CHARACTERS: Ranges = ((0, 0xD7FF), (0xE000, MAX_CODE_POINT))


def normalize(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sort ranges, and merge those that overlap or are adjacent; a range whose end lies before its start is empty."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if high < low:
            continue
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def intersect(left: Ranges, right: Ranges) -> Ranges:
    """Return the integers that are in both."""
    result: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low <= high:
            result.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(result)


def subtract(left: Ranges, right: Ranges) -> Ranges:
    """Return the integers that are in `left` and not in `right`."""
    result: list[tuple[int, int]] = []
    j = 0
    for low, high in left:
        while j < len(right) and right[j][1] < low:
            j += 1
        k = j
        while k < len(right) and right[k][0] <= high:
            if low < right[k][0]:
                result.append((low, right[k][0] - 1))
            low = right[k][1] + 1
            k += 1
        if low <= high:
            result.append((low, high))
    return tuple(result)


def from_sorted(values: Iterable[int]) -> Ranges:
    """Return the ranges of ascending integers."""
    result: list[tuple[int, int]] = []
    for value in values:
        if result and result[-1][1] == value - 1:
            result[-1] = (result[-1][0], value)
        else:
            result.append((value, value))
    return tuple(result)
