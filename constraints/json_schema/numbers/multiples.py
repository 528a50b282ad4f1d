"""Multiples of a step, digit by digit.

A step is a * 10^k with an integer a that is not a multiple of ten. The state of the digits is a remainder modulo a, and
not modulo the power of ten, which would take a million states for a million:

    k >= 0    the remainder of the digits before the last z, which are zeros, with z up to k; the fraction is zeros
    k < 0     the remainder of all digits; in the fraction also how many of its -k digits have come, after which only
              zeros may follow

Remainders after which the same digits make a multiple are one state. With j digits to come, fewer than 10^j numbers may
be added to a remainder, so many remainders lead to no multiple of a: of 86,400, whose a is 864, some 140 are left.
Alexeev ("Minimal DFA for testing divisibility", 2004) counts those that are left, and no automaton has fewer states. So
a step with a small a is cheap whatever the power of ten; a power of two is cheaper than its size (4,096 takes some 410
states, 65,536 some 2,830); a large prime takes as many states as it is large.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

# The most states of digits that are explored, before minimization.
MAX_STATES: Final = 30_000
FAILED: Final = -1

_ALL = list(range(10))


class Step:
    """Reads digits and tells whether they are a multiple of a step. A state is remainder * width + position."""

    def __init__(self, step: Fraction) -> None:
        self.size = step
        coefficient, power = _coefficient_and_power(step)
        self.coefficient, self.power = coefficient, power
        self.width = abs(power) + 1
        # The first remainder seen of each class, in the integer part and by place in the fraction; and the first of the
        # class of each remainder.
        self._classes: dict[tuple[int, ...], int] = {}
        self._fractions: dict[tuple[int, int], int] = {}
        self._seen: dict[int, int] = {}
        self._after: dict[int, list[int]] = {}
        self._holds: dict[int, bool] = {}
        # Any number of zeros may be thought of before the first digit.
        self.first = max(power, 0)
        without_twos_and_fives, twos, fives = coefficient, 0, 0
        while without_twos_and_fives % 2 == 0:
            without_twos_and_fives, twos = without_twos_and_fives // 2, twos + 1
        while without_twos_and_fives % 5 == 0:
            without_twos_and_fives, fives = without_twos_and_fives // 5, fives + 1
        self.odd = without_twos_and_fives
        self.fewest = _fewest_states(coefficient, max(-power, 0), twos, fives)
        # d * 10^e with a digit d is a multiple from here on if `odd` divides d, and below 10^lowest it is less than
        # the step.
        self.highest = power + max(twos, fives)
        self.lowest = len(str(coefficient)) - 1 + power

    def next_digits(self, state: int) -> list[int]:
        """Return the digits whose effect differs from their neighbours', in the integer part."""
        return self._differ(state != FAILED and (self.coefficient > 1 or self.power > 0))

    def after(self, state: int) -> list[int]:
        """Return the states after one more digit of the integer part, by digit."""
        found = self._after.get(state)
        if found is None:
            found = self._after[state] = [self._after_digit(state, digit) for digit in range(10)]
        return found

    def _after_digit(self, state: int, digit: int) -> int:
        rest, zeros = divmod(state, self.width)
        if self.power <= 0:
            return self._merged(10 * rest + digit) * self.width
        if digit:
            return self._merged(rest * pow(10, zeros + 1, self.coefficient) + digit) * self.width
        return state + 1 if zeros < self.power else self._merged(10 * rest) * self.width + zeros

    def at_point(self, state: int, scaled: bool) -> int:
        """Return the state at the end of the integer part. Unless an exponent may follow (`scaled`), only whether the
        remainder by an integer is zero is kept."""
        if scaled:
            return state
        if self.power < 0:
            return self._behind_point(state // self.width, 0)
        return self.first if self.holds(state) else FAILED

    def next_fraction_digits(self, state: int) -> list[int]:
        """Return the digits whose effect differs from their neighbours', in the fraction."""
        within = self.power < 0 and state % self.width < -self.power
        return self._differ(state != FAILED and (self.coefficient > 1 or not within), only_zero=not within)

    def after_fraction(self, state: int, digit: int, whole: bool) -> int:
        """Return the state after one more digit of the fraction, whose digits are all zeros where `whole`."""
        if state == FAILED:
            return FAILED
        rest, position = divmod(state, self.width)
        if self.power < 0 and position < -self.power:
            rest = (10 * rest + digit) % self.coefficient
            return rest * self.width + position + 1 if whole else self._behind_point(rest, position + 1)
        return FAILED if digit else state

    def _behind_point(self, rest: int, position: int) -> int:
        """Return the state of a remainder after `position` digits of a fraction, where no exponent depends on it: that
        of the first remainder seen with which the digits to come make the same multiples."""
        room = -self.power - position
        needed = -rest * pow(10, room, self.coefficient) % self.coefficient
        if needed >= 10**room:
            return FAILED
        return self._fractions.setdefault((position, needed), rest) * self.width + position

    def _merged(self, number: int) -> int:
        """Return the remainder that represents all those after which the same digits make a multiple."""
        rest = number % self.coefficient
        if self.fewest > MAX_STATES:
            return rest
        found = self._seen.get(rest)
        if found is None:
            found = self._seen[rest] = self._classes.setdefault(self._class(rest), rest)
        return found

    def _class(self, rest: int) -> tuple[int, ...]:
        """Return, for each number of digits to come, what they must add, if they can."""
        size = 10 ** max(-self.power, 0)
        rest, found = rest * size % self.coefficient, []
        while size < self.coefficient:
            needed = -rest % self.coefficient
            found.append(needed if needed < size else FAILED)
            rest, size = 10 * rest % self.coefficient, 10 * size
        return (*found, rest)

    def holds(self, state: int) -> bool:
        """Return whether the number that ends here is a multiple."""
        found = self._holds.get(state)
        if found is None:
            found = self._holds[state] = self._is_multiple(state)
        return found

    def _is_multiple(self, state: int) -> bool:
        if state == FAILED:
            return False
        rest, position = divmod(state, self.width)
        if self.power >= 0:
            return rest == 0 and position == self.power
        return rest * pow(10, -self.power - position, self.coefficient) % self.coefficient == 0

    def with_exponent(self, state: int, exponent: int, whole: bool) -> bool | None:
        """Return whether a number with an exponent is a multiple; None if this is not known.

        Its digits have led to `state`: one before the point, which is not a zero, and zeros after it where `whole`."""
        if exponent < self.lowest:
            return False
        if whole and exponent >= self.highest:
            return state // self.width % self.odd == 0
        return None

    def _differ(self, differ: bool, only_zero: bool = False) -> list[int]:
        if not differ:
            return []
        return [0] if only_zero or self.coefficient == 1 else _ALL


def _coefficient_and_power(step: Fraction) -> tuple[int, int]:
    """Return a and k of a step a * 10^k, where ten does not divide a; for a step whose decimals do not end, such as
    2/3, those of the step (2) of its multiples whose decimals do."""
    numerator, denominator, power = step.numerator, step.denominator, 0
    while denominator % 10 == 0:
        denominator, power = denominator // 10, power - 1
    for factor, other in ((2, 5), (5, 2)):
        while denominator % factor == 0:
            denominator, numerator, power = denominator // factor, numerator * other, power - 1
    while numerator % 10 == 0:
        numerator, power = numerator // 10, power + 1
    return numerator, power


def _fewest_states(coefficient: int, places: int, twos: int, fives: int) -> int:
    """Return how many remainders are told apart where a fraction has `places` places: with the best bound on a number
    of digits, those that fewer digits make a multiple, and all others by their remainder without twos and fives."""
    fewest, told_apart, size = coefficient * 10, 0, 1
    for digits in range(places + max(twos, fives) + 1):
        common = 2 ** min(digits, twos) * 5 ** min(digits, fives)
        if digits >= places:
            fewest = min(fewest, told_apart + coefficient // common)
        if told_apart > fewest:
            break
        told_apart += min(size, coefficient) // common
        size *= 10
    return fewest
