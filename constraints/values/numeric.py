"""Integers and decimal numbers within bounds, in plain spelling: no exponent, no sign other than "-", and no -0."""

from __future__ import annotations

from decimal import Decimal

from automata.compile.compiler import compile_expr
from automata.expressions import EMPTY, Expr, alternation, concat, difference, repeat
from constraints.values.digits import behind_the_point, naturals
from constraints.values.value import Value

# The maximum number of digits of a bound before and after the point: Python converts no more to and from text.
_MAX_DIGITS = 4_300
_LARGEST = 10**_MAX_DIGITS - 1
_TOO_LONG = f"a bound has at most {_MAX_DIGITS:,} digits before and after the point"
_ZERO = concat("-0", repeat(concat(".", repeat("0", 1)), 0, 1))


def integer(low: int | None = None, high: int | None = None) -> Value[int]:
    """Return the constraint of an integer, including both bounds; without bounds, of any number of digits.

    Raises:
        TypeError: a bound is not an integer.
        ValueError: there is no integer between the bounds, or a bound has more than 4,300 digits.
    """
    for bound in (low, high):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise TypeError(f"a bound of integers is an int, not {bound!r}")
        if bound is not None and abs(bound) > _LARGEST:
            raise ValueError(_TOO_LONG)
    if low is not None and high is not None and low > high:
        raise ValueError(f"no integer lies between {low} and {high}")
    positive = EMPTY if high is not None and high < 0 else naturals(max(low or 0, 0), high)
    negative = EMPTY
    if low is None or low < 0:
        least = 1 if high is None or high >= 0 else -high
        negative = concat("-", naturals(least, None if low is None else -low))
    return Value(alternation(positive, negative), int)


def decimal(
    low: Decimal | int | None = None, high: Decimal | int | None = None, *, places: int | None = None
) -> Value[Decimal]:
    """Return the constraint of a decimal number, including both bounds; without bounds, of any number of digits.

    Args:
        low, high: the bounds; floats are refused, because few of them equal the decimal number that they display.
        places: the maximum number of digits after the point; 0 means no point, None any number of digits.

    Raises:
        TypeError: a bound is neither a Decimal nor an int, or `places` is not an int.
        ValueError: there is no such number between the bounds, a bound is not finite or has more than 4,300 digits, or
            `places` is negative.
    """
    least, greatest = _bound(low), _bound(high)
    if places is not None and (isinstance(places, bool) or not isinstance(places, int)):
        raise TypeError(f"`places` is a number of digits, not {places!r}")
    if places is not None and places < 0:
        raise ValueError("`places` is not negative")
    positive = EMPTY
    if greatest is None or greatest >= 0:
        positive = _magnitudes(least if least is not None and least > 0 else Decimal(0), greatest, places)
    negative = EMPTY
    if least is None or least < 0:
        nearest = greatest.copy_negate() if greatest is not None and greatest < 0 else Decimal(0)
        written = concat("-", _magnitudes(nearest, None if least is None else least.copy_negate(), places))
        negative = written if nearest else difference(written, _ZERO)
    value = Value(alternation(positive, negative), Decimal)
    if least is not None and greatest is not None and compile_expr(value.expr).is_empty:
        what = "decimal number" if places is None else f"decimal number with {places} places"
        raise ValueError(f"no {what} lies between {low} and {high}")
    return value


def _bound(value: Decimal | int | None) -> Decimal | None:
    if value is None:
        return None
    if isinstance(value, float | str):
        kind = type(value).__name__
        raise TypeError(f"a bound is a Decimal or an int, and not a {kind}: Decimal('{value}')?")
    if isinstance(value, bool) or not isinstance(value, Decimal | int):
        raise TypeError(f"a bound is a Decimal or an int, not {value!r}")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(_TOO_LONG)
    bound = Decimal(value)
    if not bound.is_finite():
        raise ValueError(f"a bound is finite, and {value} is not")
    *_, exponent = bound.as_tuple()
    if bound.adjusted() >= _MAX_DIGITS or (isinstance(exponent, int) and exponent < -_MAX_DIGITS):
        raise ValueError(_TOO_LONG)
    return bound


def _magnitudes(low: Decimal, high: Decimal | None, places: int | None) -> Expr:
    """Return numbers from `low`, which is not negative, to `high`."""
    least, low_tail = _split_at_point(low)
    greatest, high_tail = _split_at_point(high) if high is not None else (None, None)
    if greatest is not None and least > greatest:
        return EMPTY
    if least == greatest:
        return _number(naturals(least, least), low_tail, high_tail, places)
    first = _number(naturals(least, least), low_tail, None, places)
    if greatest is None:
        return alternation(first, _number(naturals(least + 1, None), None, None, places))
    return alternation(
        first,
        _number(naturals(least + 1, greatest - 1), None, None, places),
        _number(naturals(greatest, greatest), None, high_tail, places),
    )


def _split_at_point(value: Decimal) -> tuple[int, str]:
    """Return the integer part, and the digits after the point."""
    whole, _, fraction = f"{value:f}".partition(".")
    return int(whole), fraction


def _number(whole: Expr, low: str | None, high: str | None, places: int | None) -> Expr:
    tail = behind_the_point(low, high, places)
    fraction = concat(".", tail.some)
    return concat(whole, repeat(fraction, 0, 1) if tail.none else fraction)
