"""Ranges of numbers as expressions over their digits.

    same_length(low, high)      digit strings between two bounds of the same length
    naturals(low, high)         nonnegative integers, without leading zeros
    behind_the_point(...)       the digits of fractions between two bounds

The two bounds have some leading digits in common. After the first digit in which they differ, a number is compared with
only one of them, and after a digit that differs from that bound's digit, with neither. Expressions are built from the
last digit to the first, because a bound may have more digits than Python's stack has frames.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from automata.expressions import EMPTY, EPSILON, Expr, alternation, char_set, concat, repeat
from automata.texts import common_prefix_length


@cache
def digit(low: int = 0, high: int = 9) -> Expr:
    """Return the language of one digit in a range; the range may be empty."""
    return char_set((0x30 + low, 0x30 + high)) if low <= high else EMPTY


@cache
def _digits(low: int, high: int | None) -> Expr:
    return repeat(digit(), low, high)


def same_length(low: str, high: str) -> Expr:
    """Return the digit strings from `low` to `high`, which have the same length."""
    if low > high:
        return EMPTY
    shared = common_prefix_length(low, high)
    if shared == len(low):
        return concat(low)
    own, other, rest = low[shared:], high[shared:], len(low) - shared - 1
    if set(own) == {"0"} and set(other) == {"9"}:
        return concat(low[:shared], _digits(rest + 1, rest + 1))
    between = concat(digit(int(own[0]) + 1, int(other[0]) - 1), _digits(rest, rest))
    return concat(
        low[:shared],
        alternation(concat(own[0], _at_least(own[1:])), between, concat(other[0], _at_most(other[1:]))),
    )


def _at_least(low: str) -> Expr:
    """Return the digit strings of the same length that are not less than `low`."""
    zeros = len(low) - len(low.rstrip("0"))
    found = _digits(zeros, zeros)
    for size, own in enumerate(reversed(low.rstrip("0")), zeros):
        found = alternation(concat(own, found), concat(digit(int(own) + 1), _digits(size, size)))
    return found


def _at_most(high: str) -> Expr:
    """Return the digit strings of the same length that are not greater than `high`."""
    nines = len(high) - len(high.rstrip("9"))
    found = _digits(nines, nines)
    for size, own in enumerate(reversed(high.rstrip("9")), nines):
        found = alternation(concat(digit(0, int(own) - 1), _digits(size, size)), concat(own, found))
    return found


def naturals(low: int, high: int | None) -> Expr:
    """Return the integers from `low` (at least 0) to `high`, without leading zeros; None for `high` means no bound."""
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
        some: the strings with at least one digit.
        none: whether the empty string is allowed.
    """

    some: Expr
    none: bool

    def or_none(self) -> Expr:
        """Return `some` and, if `none`, the empty string."""
        return alternation(self.some, EPSILON) if self.none else self.some


def behind_the_point(low: str | None, high: str | None, places: int | None) -> Tail:
    """Return the digits of fractions from `low` to `high`, at most `places` digits; None means no bound."""
    least, greatest = (low or "").rstrip("0"), None if high is None else high.rstrip("0")
    if greatest is None:
        return _not_below(least, places)
    shared = common_prefix_length(least, greatest)
    if least > greatest or (places is not None and places < shared):
        return Tail(EMPTY, False)
    tail = _between(least[shared:], greatest[shared:], None if places is None else places - shared)
    return Tail(concat(least[:shared], tail.or_none()), False) if shared else tail


def _between(low: str, high: str, places: int | None) -> Tail:
    """Return the digits of fractions between bounds that differ in the first digit, or if `low` has no digits."""
    if not low:
        return _not_above(high, places)
    if places == 0:
        return Tail(EMPTY, False)
    rest = None if places is None else places - 1
    some = alternation(
        concat(low[0], _not_below(low[1:], rest).or_none()),
        concat(digit(int(low[0]) + 1, int(high[0]) - 1), _any(rest).or_none()),
        concat(high[0], _not_above(high[1:], rest).or_none()),
    )
    return Tail(some, False)


def _any(places: int | None) -> Tail:
    return Tail(EMPTY if places == 0 else repeat(digit(), 1, places), True)


def _not_below(low: str, places: int | None) -> Tail:
    """Return the digits of fractions that are not less than `low`."""
    digits = low[:places]
    rest = None if places is None else places - len(digits)
    tail = _any(rest) if digits == low else Tail(EMPTY, False)
    for own in reversed(digits):
        tail = Tail(alternation(concat(own, tail.or_none()), concat(digit(int(own) + 1), _any(rest).or_none())), False)
        rest = None if rest is None else rest + 1
    return tail


def _not_above(high: str, places: int | None) -> Tail:
    """Return the digits of fractions that are not greater than `high`."""
    digits = high[:places]
    rest = None if places is None else places - len(digits)
    tail = Tail(EMPTY if rest == 0 else repeat("0", 1, rest), True)
    for own in reversed(digits):
        tail = Tail(
            alternation(concat(digit(0, int(own) - 1), _any(rest).or_none()), concat(own, tail.or_none())), True
        )
        rest = None if rest is None else rest + 1
    return tail
