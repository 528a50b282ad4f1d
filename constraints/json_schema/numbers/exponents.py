"""Exponents as text: an optional sign and digits, possibly with leading zeros, whose value is in a set.

    Exponents       a set of integers: ascending disjoint intervals, None for no bound
    exponent_automaton   its deterministic automaton; state 0 is after the "e"

States are distinguished by their continuations: for every number of further digits, which of the possible results are
in the set (the Myhill-Nerode theorem). There are few states, however large the bounds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, TypeAlias

Exponents: TypeAlias = tuple[tuple[int | None, int | None], ...]
# The same from 0 up.
_Naturals: TypeAlias = tuple[tuple[int, int | None], ...]
# A set of numbers, and the value of the digits so far; -1 if there are none.
_State: TypeAlias = tuple[_Naturals, int]


class ExponentAutomaton(NamedTuple):
    """A deterministic automaton over ranges of bytes.

    Attributes:
        num_states: Q; state 0 is the start.
        arcs: source, lowest byte, highest byte and target in turn.
        ends: the final states.
    """

    num_states: int
    arcs: tuple[int, ...]
    ends: tuple[int, ...]


@lru_cache(4096)
def exponent_automaton(exponents: Exponents) -> ExponentAutomaton:
    """Return the automaton of the spellings of some exponents, after the "e"."""
    positive, negative = _naturals(exponents), _naturals(tuple((_minus(high), _minus(low)) for low, high in exponents))
    if negative and negative[-1][1] == 0:  # no program writes -0 for 0
        negative = ()
    numbers: dict[object, int] = {}
    states: list[_State] = []

    def number(values: _Naturals, value: int) -> int:
        key = _class_of(values, value)
        if key not in numbers:
            numbers[key] = len(states) + 1
            states.append((values, value))
        return numbers[key]

    arcs, ends = [], []
    for sign, values in ((0x2B, positive), (0x2D, negative)):
        if values:
            arcs += [0, sign, sign, number(values, -1)]
    at, state = 0, (positive, -1)
    while True:
        values, value = state
        if value >= 0 and _holds(values, value):
            ends.append(at)
        for digit in range(10) if values else ():
            reached = 10 * max(value, 0) + digit
            if _may_hold(values, reached):
                _add(arcs, at, 0x30 + digit, number(values, reached))
        if at == len(states):
            return ExponentAutomaton(at + 1, tuple(arcs), tuple(ends))
        state, at = states[at], at + 1


def _add(arcs: list[int], source: int, byte: int, target: int) -> None:
    """Add an arc, or widen the one before where that leads to the same state."""
    if arcs and arcs[-4] == source and arcs[-2:] == [byte - 1, target]:
        arcs[-2] = byte
        return
    arcs += [source, byte, byte, target]


def _minus(bound: int | None) -> int | None:
    return None if bound is None else -bound


def _naturals(exponents: Exponents) -> _Naturals:
    """Return the intervals of numbers that are not negative, in order."""
    found = [(max(low or 0, 0), high) for low, high in exponents if high is None or high >= 0]
    return tuple(sorted(found))


def _holds(values: _Naturals, value: int) -> bool:
    return any(low <= value and (high is None or value <= high) for low, high in values)


def _ended(values: _Naturals) -> int:
    """Return a number from which on either all numbers are in the set, or none is."""
    return max([low if high is None else high + 1 for low, high in values], default=0)


def _may_hold(values: _Naturals, value: int) -> bool:
    """Return whether some number that begins with these digits is in the set."""
    return not value or values[-1][1] is None or any(_blocks(values, value))


def _class_of(values: _Naturals, value: int) -> object:
    """Return a key that is equal for states after which the same texts may follow."""
    return (values, value) if value <= 0 else _blocks(values, value)


def _blocks(values: _Naturals, value: int) -> tuple[_Naturals, ...]:
    """Return which numbers that begin with these digits, which are not all zeros, are in the set: those with no further
    digit, with one, and so on, each time less the smallest number of that length.

    Once all longer numbers are in the set, or none is, one last entry stands for all further lengths.
    """
    found: list[_Naturals] = []
    first, size, ended = value, 1, _ended(values)
    while True:
        block = tuple(
            [
                (max(low - first, 0), size - 1 if high is None else min(high - first, size - 1))
                for low, high in values
                if low < first + size and (high is None or high >= first)
            ]
        )
        found.append(block)
        if first >= ended:
            return (*found, (((0, None),) if block else ()))
        first, size = 10 * first, 10 * size
