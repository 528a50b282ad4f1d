"""Comparing digits, as they are read, with magnitudes.

The number of an integer's digits is not known before they end, so after n digits the state is how they compare with the
first n digits of each cut that has at least n digits; a cut with fewer digits is smaller. At the decimal point, the
integers are compared; for a cut that is equal so far, the rest of its fraction is kept; ten times the rest, rounded
down, is the next digit. So the decimals of a cut need not end.

    integer digits    (n, places): n up to one more than the longest cut has; places, for each cut: how its first n
                      digits compare, ABOVE if it has fewer
    fraction digits   for each cut: above, below, or the rest of its fraction
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from constraints.json_schema.numbers.knowledge import ABOVE, ANYWHERE, AT, BELOW

# In fractions: the magnitude is known to lie below the cut, or above; other values are remainders of the cut.
_IS_BELOW: Final = -1
_IS_ABOVE: Final = -2

Prefix: TypeAlias = tuple[int, tuple[int, ...]]
Left: TypeAlias = tuple[int, ...]


class Cut(NamedTuple):
    """A magnitude, to be compared with digits.

    Attributes:
        digits: of its integer part; "0" for a magnitude below 1.
        left: its fraction times `denominator`.
        denominator: of the fraction.
    """

    digits: str
    left: int
    denominator: int


def cut_of(numerator: int, denominator: int) -> Cut:
    """Return a magnitude as a cut."""
    whole, left = divmod(numerator, denominator)
    return Cut(str(whole), left, denominator)


class Comparison:
    """Compares digits with cuts."""

    def __init__(self, cuts: Sequence[Cut]) -> None:
        self.cuts = cuts
        self.longest = max([len(cut.digits) for cut in self.cuts], default=0)
        self.first: Prefix = (0, (AT,) * len(self.cuts))
        self._after: dict[Prefix, list[Prefix]] = {}
        self._same: dict[Prefix, Prefix] = {}

    # Digits of the integer part.

    def next_digits(self, prefix: Prefix) -> list[int]:
        """Return the next digits of the cuts that are equal so far."""
        count, places = prefix
        return [
            ord(cut.digits[count]) - 48
            for cut, place in zip(self.cuts, places, strict=True)
            if place == AT and count < len(cut.digits)
        ]

    def after(self, prefix: Prefix) -> list[Prefix]:
        """Return the states after one more digit, by digit."""
        found = self._after.get(prefix)
        if found is None:
            # Equal states are kept once, because they are long with many cuts.
            found = self._after[prefix] = [self._same.setdefault(each, each) for each in self._after_digits(prefix)]
        return found

    def _after_digits(self, prefix: Prefix) -> list[Prefix]:
        count, places = prefix
        if count > self.longest:
            return [prefix] * 10
        after = [ABOVE if count >= len(cut.digits) else place for cut, place in zip(self.cuts, places, strict=True)]
        # Of many cuts few are equal so far.
        equal = [(number, int(self.cuts[number].digits[count])) for number, place in enumerate(after) if place == AT]
        found = []
        for digit in range(10):
            for number, other in equal:
                after[number] = AT if digit == other else ABOVE if digit > other else BELOW
            found.append((min(count + 1, self.longest + 1), tuple(after)))
        return found

    def beyond(self, prefix: Prefix) -> tuple[int, ...]:
        """Return where the magnitude may lie if at least one more digit of the integer part follows."""
        return tuple([ABOVE if prefix[0] >= len(cut.digits) else ANYWHERE for cut in self.cuts])

    # Digits of the fraction.

    def at_point(self, prefix: Prefix) -> Left:
        """Return the state at the end of the integer part."""
        count, places = prefix
        return tuple(
            [
                _IS_BELOW if count < len(cut.digits) or place == BELOW else _IS_ABOVE if place == ABOVE else cut.left
                for cut, place in zip(self.cuts, places, strict=True)
            ]
        )

    def next_fraction_digits(self, left: Left) -> list[int]:
        """Return the next digits of the cuts that are equal so far."""
        return [10 * rest // cut.denominator for cut, rest in zip(self.cuts, left, strict=True) if rest >= 0]

    def after_fraction(self, left: Left, digit: int) -> Left:
        """Return the state after one more digit."""
        found = list(left)
        for number, rest in enumerate(left):
            if rest >= 0:
                other, rest = divmod(10 * rest, self.cuts[number].denominator)
                found[number] = rest if digit == other else _IS_BELOW if digit < other else _IS_ABOVE
        return tuple(found)

    @staticmethod
    def at_end(left: Left) -> tuple[int, ...]:
        """Return where the magnitude lies if the digits end here."""
        return tuple([(BELOW if rest == _IS_BELOW or rest > 0 else AT if rest == 0 else ABOVE) for rest in left])

    @staticmethod
    def beyond_fraction(left: Left) -> tuple[int, ...]:
        """Return where the magnitude may lie if more digits may follow."""
        return tuple(
            [
                BELOW if rest == _IS_BELOW else ABOVE if rest == _IS_ABOVE else ANYWHERE if rest else AT | ABOVE
                for rest in left
            ]
        )
