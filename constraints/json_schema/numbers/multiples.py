"""Multiples of a step, digit by digit.

A step is a * 10^k with an integer a that is not a multiple of ten. The state of the digits is a remainder modulo a, and
not modulo the power of ten, which would take a million states for a million:

    k >= 0    z, the number of zeros at the end, up to k, and the remainder of the digits before them; in the fraction
              only zeros may follow
    k < 0     the remainder of all digits; in the fraction also how many of its first -k digits have been read, after
              which only zeros may follow

Remainders after which the same digits make a multiple are one state. With j digits to follow, only a number below 10^j
can be added to a remainder, so many remainders lead to no multiple of a: of 86,400, whose a is 864, some 140 are left.
Alexeev ("Minimal DFA for testing divisibility", 2004) counts those that are left, and no automaton has fewer states. So
a step with a small a is cheap whatever the power of ten; a power of two is cheaper than its size (4,096 takes some 410
states, 65,536 some 2,830); a large prime p takes p states.
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
        # A class is represented by the first of its remainders that is seen. By class, in the integer part, and by
        # position and class, in the fraction: the representative. By remainder, in the integer part: the same.
        self._classes: dict[tuple[int, ...], int] = {}
        self._fractions: dict[tuple[int, int], int] = {}
        self._seen: dict[int, int] = {}
        self._after: dict[int, list[int]] = {}
        self._holds: dict[int, bool] = {}
        # The state after zeros alone, since leading zeros do not change a number.
        self.first = max(power, 0)
        without_twos_and_fives, twos, fives = coefficient, 0, 0
        while without_twos_and_fives % 2 == 0:
            without_twos_and_fives, twos = without_twos_and_fives // 2, twos + 1
        while without_twos_and_fives % 5 == 0:
            without_twos_and_fives, fives = without_twos_and_fives // 5, fives + 1
        self.odd = without_twos_and_fives
        self.fewest = _fewest_states(coefficient, max(-power, 0), twos, fives)
        # For a digit d, d * 10^e with e >= highest is a multiple if and only if `odd` divides d. With e < lowest, a
        # number m * 10^e with m < 10 is less than the step.
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
        """Return the state at the end of the integer part.

        If an exponent may follow (`scaled`), the state is kept as it is. Otherwise, for k >= 0 only the fact remains
        whether the number is a multiple, and for k < 0 remainders are merged as in `_behind_point`.
        """
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
        """Return the state after one more digit of the fraction; `whole` if all its digits so far, with this one, are
        zeros, so that an exponent may depend on the exact remainder."""
        if state == FAILED:
            return FAILED
        rest, position = divmod(state, self.width)
        if self.power < 0 and position < -self.power:
            rest = (10 * rest + digit) % self.coefficient
            return rest * self.width + position + 1 if whole else self._behind_point(rest, position + 1)
        return FAILED if digit else state

    def _behind_point(self, rest: int, position: int) -> int:
        """Return the state of a remainder after `position` digits of a fraction, if no exponent depends on it.

        All remainders that the same further digits make a multiple have the state of the first of them that is seen;
        it is `FAILED` if no digits can.
        """
        room = -self.power - position
        needed = -rest * pow(10, room, self.coefficient) % self.coefficient
        if needed >= 10**room:
            return FAILED
        return self._fractions.setdefault((position, needed), rest) * self.width + position

    def _merged(self, number: int) -> int:
        """Return the remainder that represents all those after which the same digits make a multiple. If there are too
        many states even so, nothing is merged."""
        rest = number % self.coefficient
        if self.fewest > MAX_STATES:
            return rest
        found = self._seen.get(rest)
        if found is None:
            found = self._seen[rest] = self._classes.setdefault(self._class(rest), rest)
        return found

    def _class(self, rest: int) -> tuple[int, ...]:
        """Return, for each number of digits to follow, the number that they must form to make a multiple, or `FAILED`
        if they cannot; and as the last entry the remainder once enough digits follow to complete any remainder."""
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

        Its mantissa has led to `state`. It has one digit before the point, which is not a zero; `whole` if all digits
        after the point are zeros."""
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
    """Return a and k of a step a * 10^k, where ten does not divide a. If the decimals of the step do not end, as for
    2/3, only some of its multiples can be written, which are the multiples of another step (2): return a and k of that.
    """
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
    """Return the number of classes of remainders by a = `coefficient`, where a fraction has `places` places.

    It is the minimum over j of a sum: the classes that fewer than j digits can make a multiple, and a / gcd(a, 10^j)
    for all others.
    """
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
