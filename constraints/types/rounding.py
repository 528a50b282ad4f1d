"""Bounds of floats as bounds of the decimal numbers that are written.

A reader rounds what is written to the nearest float, to the even one where two are as near. So `x < 1` holds for the
text 0.99999999999999999999 only before it is read: it is read as 1.0. What may be written is what is rounded to a float
within the bounds: everything from half way between the first such float and the one before it on, itself included if
the tie goes to the first.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from constraints.types.shapes import Bounds


def rounding_into(bounds: Bounds) -> Bounds:
    """The decimal numbers that are read as floats within these bounds."""
    if bounds.low is not None:
        low, exclusive = _least_rounding_up(bounds.low, bounds.low_exclusive)
        bounds = replace(bounds, low=low, low_exclusive=exclusive)
    if bounds.high is not None:
        low, exclusive = _least_rounding_up(-bounds.high, bounds.high_exclusive)
        bounds = replace(bounds, high=-low, high_exclusive=exclusive)
    return bounds


def _least_rounding_up(low: Fraction, exclusive: bool) -> tuple[Fraction, bool]:
    """Where the numbers begin that are read as floats of at least `low`, and whether that is exclusive."""
    if low == 0:
        # What is nearer to 0 than half the smallest float is taken for what it is; `constraints.types.typed` says so.
        return low, exclusive
    first = _first_float(low, exclusive)
    middle = (Fraction(first) + Fraction(math.nextafter(first, -math.inf))) / 2
    return middle, float(middle) != first


def _first_float(low: Fraction, exclusive: bool) -> float:
    found = float(low)
    if Fraction(found) < low or (exclusive and Fraction(found) == low):
        found = math.nextafter(found, math.inf)
    return found
