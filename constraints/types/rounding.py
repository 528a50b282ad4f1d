"""Bounds as the numbers that they are compared with, and bounds of floats as bounds of the decimal numbers written.

A bound may be of another type than the numbers that it bounds. Pydantic converts it to their type first, and so does
`converted`: for a Decimal, the float 0.1 is a tenth; for a float, Decimal("0.1") is the float 0.1.

A reader rounds the written number to the nearest float. So `x < 1` holds for the number 0.99999999999999999999, but not
for the float 1.0 that it is read as; and the decimal number 0.1 is less than the float 0.1. Therefore the lower bound
of the written number is the shortest spelling of the least float within the bounds, and is inclusive. This is correct
because rounding keeps order: a greater number is read as this float or a greater one, and the `repr` of any other float
within the bounds is greater. The upper bound mirrors this.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from automata.errors import UnsatisfiableSchema
from constraints.types.shapes import Bounds


def converted(value: Any, kind: type[int] | type[float] | type[Decimal], *, step: bool = False) -> Fraction:
    """Return a bound, or a step, as a number of the type that it applies to.

    Raises:
        ValueError, OverflowError: it is not a finite number of that type.
    """
    number = float(value) if kind is float else value
    # A step of floats is checked with a tolerance, and 0.1 is meant as a tenth.
    is_decimal = isinstance(number, float) and (step or kind is Decimal)
    return Fraction(repr(number) if is_decimal else number)


def rounding_into(bounds: Bounds) -> Bounds:
    """Return bounds for written decimal numbers: those within them are read as floats within the given bounds.

    The `repr` of each float within the given bounds is within the returned ones.

    Raises:
        UnsatisfiableSchema: no finite float is within the bounds.
    """
    if bounds.low is not None:
        bounds = replace(bounds, low=_first(bounds.low, bounds.low_exclusive), low_exclusive=False)
    if bounds.high is not None:
        bounds = replace(bounds, high=-_first(-bounds.high, bounds.high_exclusive), high_exclusive=False)
    return bounds


def _first(low: Fraction, exclusive: bool) -> Fraction:
    """Return the shortest spelling of the least float that is at least `low`, or greater if `low` is excluded."""
    if low < -Fraction(sys.float_info.max):
        found = -sys.float_info.max
    else:
        found = float(low) if low <= Fraction(sys.float_info.max) else math.inf
        if Fraction(found if math.isfinite(found) else sys.float_info.max) < low or (exclusive and found == low):
            found = math.nextafter(found, math.inf)
    if math.isinf(found):
        raise UnsatisfiableSchema("no finite float is within the bounds")
    return Fraction(repr(found))
