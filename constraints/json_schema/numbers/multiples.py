"""Multiples of a step, digit by digit.

A step is a * 10^k with an integer a that is no multiple of ten. What is kept of the digits is a remainder by a, and no
remainder by the powers of ten, which would be a million states for a million:

    k >= 0    the remainder of the digits before the last z, which are zeros, with z up to k; the fraction is zeros
    k < 0     the remainder of all digits; in the fraction also how many of its -k digits have come, behind which only
              zeros may stand
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

FAILED: Final = -1

_ALL = list(range(10))


class Step:
    """Reads digits and knows whether they are a multiple. States are numbers: remainder * width + position."""

    def __init__(self, step: Fraction) -> None:
        self.size = step
        coefficient, power = _scaled(step)
        self.coefficient, self.power = coefficient, power
        self.width = abs(power) + 1
        # Before any digit stand zeros, as many as one likes.
        self.first = max(power, 0)
        without_twos_and_fives, twos, fives = coefficient, 0, 0
        while without_twos_and_fives % 2 == 0:
            without_twos_and_fives, twos = without_twos_and_fives // 2, twos + 1
        while without_twos_and_fives % 5 == 0:
            without_twos_and_fives, fives = without_twos_and_fives // 5, fives + 1
        self.odd = without_twos_and_fives
        # d * 10^e with a digit d is a multiple from here on if `odd` divides d, and below 10^lowest it is less than
        # the step.
        self.highest = power + max(twos, fives)
        self.lowest = len(str(coefficient)) - 1 + power

    def next_digits(self, state: int) -> list[int]:
        """Digits that differ from their neighbors, in the integer part."""
        return self._differ(state != FAILED and (self.coefficient > 1 or self.power > 0))

    def after(self, state: int, digit: int) -> int:
        """One more digit of the integer part."""
        rest, zeros = divmod(state, self.width)
        if self.power <= 0:
            return (10 * rest + digit) % self.coefficient * self.width
        if digit:
            return (rest * pow(10, zeros + 1, self.coefficient) + digit) % self.coefficient * self.width
        return state + 1 if zeros < self.power else rest * 10 % self.coefficient * self.width + zeros

    def at_point(self, state: int, scaled: bool) -> int:
        """The integer part has ended. Unless an exponent may follow (`scaled`), all that is left of the remainder by an
        integer is whether it is zero."""
        if self.power < 0 or scaled:
            return state
        return self.first if self.holds(state) else FAILED

    def next_fraction_digits(self, state: int) -> list[int]:
        """Digits that differ from their neighbors, in the fraction."""
        within = self.power < 0 and state % self.width < -self.power
        return self._differ(state != FAILED and (self.coefficient > 1 or not within), only_zero=not within)

    def after_fraction(self, state: int, digit: int) -> int:
        """One more digit of the fraction."""
        if state == FAILED:
            return FAILED
        rest, position = divmod(state, self.width)
        if self.power < 0 and position < -self.power:
            return (10 * rest + digit) % self.coefficient * self.width + position + 1
        return FAILED if digit else state

    def holds(self, state: int) -> bool:
        """Whether the number that ends here is a multiple."""
        if state == FAILED:
            return False
        rest, position = divmod(state, self.width)
        if self.power >= 0:
            return rest == 0 and position == self.power
        return rest * pow(10, -self.power - position, self.coefficient) % self.coefficient == 0

    def with_exponent(self, state: int, exponent: int, whole: bool) -> bool | None:
        """Whether the number is a multiple when its digits, of which one stands before the point and is no zero, and
        which are zeros behind it where `whole`, are followed by an exponent; None where this is not known."""
        if exponent < self.lowest:
            return False
        if whole and exponent >= self.highest:
            return state // self.width % self.odd == 0
        return None

    def _differ(self, differ: bool, only_zero: bool = False) -> list[int]:
        if not differ:
            return []
        return [0] if only_zero or self.coefficient == 1 else _ALL


def _scaled(step: Fraction) -> tuple[int, int]:
    """The step as a * 10^k, where ten does not divide a; of a step without end in decimal digits, such as 2/3, the step
    (2) of those of its multiples that have an end."""
    numerator, denominator, power = step.numerator, step.denominator, 0
    while denominator % 10 == 0:
        denominator, power = denominator // 10, power - 1
    for factor, other in ((2, 5), (5, 2)):
        while denominator % factor == 0:
            denominator, numerator, power = denominator // factor, numerator * other, power - 1
    while numerator % 10 == 0:
        numerator, power = numerator // 10, power + 1
    return numerator, power
