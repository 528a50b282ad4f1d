"""Ranges of numbers as expressions over their digits.

    same_length(low, high)      digit strings between two of the same length
    naturals(low, high)         integers from 0 up, without leading zeros
    behind_the_point(...)       digits of a fraction between two

Two bounds share the digits in front; after the first where they differ, only one of them is left to compare with, and
after any digit that is not that bound's own, none.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from automata.expressions import EMPTY, EPSILON, Expr, alternation, char_set, concat, repeat


@cache
def digit(low: int = 0, high: int = 9) -> Expr:
    """Return one digit of a range; the range may be empty."""
    return char_set((0x30 + low, 0x30 + high)) if low <= high else EMPTY


@cache
def _digits(low: int, high: int | None) -> Expr:
    return repeat(digit(), low, high)


def same_length(low: str, high: str) -> Expr:
    """Return the digit strings from `low` to `high`, which have the same length."""
    if low > high:
        return EMPTY
    if not low:
        return EPSILON
    first, last, rest = int(low[0]), int(high[0]), len(low) - 1
    if set(low) == {"0"} and set(high) == {"9"}:
        return _digits(rest + 1, rest + 1)
    if first == last:
        return concat(low[0], same_length(low[1:], high[1:]))
    return alternation(
        concat(low[0], same_length(low[1:], "9" * rest)),
        concat(digit(first + 1, last - 1), _digits(rest, rest)),
        concat(high[0], same_length("0" * rest, high[1:])),
    )


def naturals(low: int, high: int | None) -> Expr:
    """Return the integers from `low`, which is not negative, to `high`, without leading zeros; None means no bound."""
    if high is not None and high < low:
        return EMPTY
    if low == 0:
        return alternation("0", naturals(1, high))
    shortest = len(str(low))
    if high is None:
        longer = concat(digit(1), _digits(shortest, None))
        return alternation(same_length(str(low), "9" * shortest), longer)
    longest = len(str(high))
    if shortest == longest:
        return same_length(str(low), str(high))
    between = concat(digit(1), _digits(shortest, longest - 2)) if longest - shortest > 1 else EMPTY
    return alternation(
        same_length(str(low), "9" * shortest), between, same_length("1" + "0" * (longest - 1), str(high))
    )


class Tail(NamedTuple):
    """Digits after a point.

    Attributes:
        some: the strings of at least one digit.
        none: whether there may be no digit.
    """

    some: Expr
    none: bool


def behind_the_point(low: str | None, high: str | None, places: int | None) -> Tail:
    """Return the digits of fractions from `low` to `high`, at most `places` of them; a bound of None means no bound."""
    low = low and low.rstrip("0")
    high = None if high is None else high.rstrip("0")
    if low and high is not None and low > high:
        return Tail(EMPTY, False)
    if places == 0:
        return Tail(EMPTY, not low)
    if high == "":
        return Tail(repeat("0", 1, places), True)
    if not low and high is None:
        return Tail(repeat(digit(), 1, places), True)
    first = int(low[0]) if low else 0
    last = 9 if high is None else int(high[:1] or "0")
    rest = None if places is None else places - 1

    def behind(own: str | None, other: str | None) -> Expr:
        tail = behind_the_point(own, other, rest)
        return alternation(tail.some, EPSILON) if tail.none else tail.some

    own, other = low and low[1:], None if high is None else high[1:]
    if first == last:
        some = concat(str(first), behind(own, other))
    else:
        some = alternation(
            concat(str(first), behind(own, None)) if low else EMPTY,
            concat(digit(first + bool(low), last - (high is not None)), behind(None, None)),
            concat(str(last), behind(None, other)) if high is not None else EMPTY,
        )
    return Tail(some, not low)
