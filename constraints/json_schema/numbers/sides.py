"""The numbers of one sign: their cuts, and the exponents for which a mantissa satisfies the formula.

`m * 10^e` with 1 <= m < 10 compares with a cut `b * 10^k` as e does with k or, if these are equal, as m does with b. So
for given knowledge of m, the exponents for which the formula holds are a finite union of intervals.

Neither Python nor JavaScript writes exponents from -4 to 15, and comparing mantissas there would double the states of
every bound. So they are left out, unless the formula holds for all exponents from -1 down, or from 0 up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.numbers.exponents import Exponents
from constraints.json_schema.numbers.knowledge import ABOVE, ANYWHERE, AT, BELOW, Knowledge, Truth, branch
from constraints.json_schema.numbers.multiples import Step
from constraints.json_schema.numbers.order import Comparison, Left, cut_of

# Exponents between these are not written by any program.
LAST_NEGATIVE: Final = -5
FIRST_POSITIVE: Final = 16

ALL: Final[Exponents] = ((None, None),)
NONE: Final[Exponents] = ()
_NEGATIVE: Final = (None, -1)
_POSITIVE: Final = (0, None)


class _Scaled(NamedTuple):
    """A magnitude as b * 10^k, with 1 <= b < 10."""

    numerator: int  # of b
    denominator: int
    power: int


class _Range(NamedTuple):
    """Exponents between two of those at which anything changes.

    Attributes:
        low, high: both included; None means no bound.
        exponent: one of them.
        places: for each cut, where m * 10^e lies, whatever m is.
        own: for each cut with k = e whose exponent may be written, its number and that of its mantissa.
    """

    low: int | None
    high: int | None
    exponent: int
    places: tuple[int, ...]
    own: tuple[tuple[int, int], ...]


class Side:
    """The numbers of one sign.

    Attributes:
        cuts: their comparison with the cuts.
        mantissas: the comparison of mantissas with those of cuts so large or small that exponents are written there.
        truth: what the formula says about them.
        unknown: the knowledge of multiples, if nothing is known: None for each step.
        hopeless: whether no number of this sign, nor zero, satisfies the formula.
    """

    def __init__(
        self,
        formula: Formula,
        statements: Sequence[Formula],
        steps: Sequence[Step],
        sizes: Sequence[Fraction],
        negative: bool,
    ) -> None:
        cuts, truth = branch(formula, statements, sizes, negative)
        # With remainders, the same knowledge recurs in many states.
        self.truth: Truth = cache(truth) if steps else truth
        self.steps = steps
        self.cuts = Comparison([cut_of(cut.numerator, cut.denominator) for cut in cuts])
        scaled = [_scaled(cut) if cut else None for cut in cuts]
        written = [cut for cut in scaled if cut and not LAST_NEGATIVE < cut.power < FIRST_POSITIVE]
        self.mantissas = Comparison([cut_of(cut.numerator, cut.denominator) for cut in written])
        self.unknown: tuple[bool | None, ...] = (None,) * len(steps)
        anywhere = (ANYWHERE,) * len(cuts)
        self.hopeless = self.truth(Knowledge(anywhere, None, None, self.unknown)) is False
        self._of_zero = Knowledge(tuple([BELOW if cut else AT for cut in cuts]), True, False, (True,) * len(steps))
        self._not_zero = tuple([ANYWHERE if cut else ABOVE for cut in cuts])
        self._ranges = () if self.hopeless else _exponent_ranges(scaled, written, steps)
        self._takes_exponents = any(map(self._may_take, self._ranges))
        self._found: dict[object, Exponents] = {}

    def _may_take(self, exponents: _Range) -> bool:
        """Return whether a mantissa with one of these exponents may be accepted."""
        if LAST_NEGATIVE < exponents.exponent < FIRST_POSITIVE:
            return False
        multiples = tuple([None if exponents.exponent >= step.lowest else False for step in self.steps])
        integer = None if exponents.exponent >= 0 else False
        return self.truth(Knowledge(exponents.places, integer, False, multiples)) is not False

    def hopeful(
        self,
        places: tuple[int, ...],
        mantissa: Left | None,
        whole: bool,
        plain: bool | None,
        multiples: tuple[bool | None, ...],
    ) -> bool:
        """Return whether some continuation may satisfy the formula; False only if none does."""
        if mantissa is not None and self._takes_exponents:
            return True
        return self.truth(Knowledge(places, None if whole else False, plain, multiples)) is not False

    def exponents(self, mantissa: Left | None, zero: bool, whole: bool, multiples: tuple[int, ...]) -> Exponents:
        """Return the exponents after a mantissa for which the formula holds, as far as they are accepted.

        Args:
            mantissa: how it compares; None unless it has one digit before the point, which is not a zero.
            zero: whether all its digits are zeros.
            whole: whether all its digits after the point are zeros.
            multiples: the state of each step.
        """
        if not self._takes_exponents:
            return NONE
        if zero:
            return self._of_any(True) if self.truth(self._of_zero) else NONE
        if mantissa is None:
            return self._of_any(whole)
        key = (mantissa, whole, multiples)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._of(mantissa, whole, multiples)
        return found

    def _of_any(self, whole: bool) -> Exponents:
        """Return the exponents that are accepted after any mantissa but zero."""
        if self.truth(Knowledge(self._not_zero, None, False, self.unknown)):
            return ALL
        return (_POSITIVE,) if whole and self.truth(Knowledge(self._not_zero, True, False, self.unknown)) else NONE

    def _of(self, mantissa: Left, whole: bool, multiples: tuple[int, ...]) -> Exponents:
        compared = self.mantissas.at_end(mantissa)
        found: list[tuple[int | None, int | None]] = []
        for low, high, exponent, places, own in self._ranges:
            if own:
                exact = list(places)
                for cut, number in own:
                    exact[cut] = compared[number]
                places = tuple(exact)
            held = [
                step.with_exponent(state, exponent, whole) for step, state in zip(self.steps, multiples, strict=True)
            ]
            integer = False if exponent < 0 else whole or None
            if self.truth(Knowledge(places, integer, False, tuple(held))):
                found.append((low, high))
        return _written(found)


def _exponent_ranges(
    scaled: Sequence[_Scaled | None], written: Sequence[_Scaled], steps: Sequence[Step]
) -> tuple[_Range, ...]:
    """Return ranges that cover all exponents, so that nothing changes within a range."""
    edges = {LAST_NEGATIVE + 1, 0, FIRST_POSITIVE}
    edges.update([cut.power + more for cut in scaled if cut for more in (0, 1)])
    edges.update([edge for step in steps for edge in (step.lowest, step.highest)])
    starts = sorted(edges)
    found = [_range(None, starts[0] - 1, scaled, written)]
    found += [_range(low, high - 1, scaled, written) for low, high in pairwise(starts)]
    return (*found, _range(starts[-1], None, scaled, written))


def _range(low: int | None, high: int | None, scaled: Sequence[_Scaled | None], written: Sequence[_Scaled]) -> _Range:
    exponent = low if low is not None else high or 0
    places, own = [], []
    for number, cut in enumerate(scaled):
        if cut is None or exponent > cut.power:
            places.append(ABOVE)
        elif exponent < cut.power:
            places.append(BELOW)
        else:
            places.append(AT | ABOVE if cut.numerator == cut.denominator else ANYWHERE)
            if cut in written:
                own.append((number, written.index(cut)))
    return _Range(low, high, exponent, tuple(places), tuple(own))


def _written(found: list[tuple[int | None, int | None]]) -> Exponents:
    """Return the exponents that are accepted, from ascending intervals, none of which crosses 0, for which the formula
    holds: without those from -4 to 15, except in an interval of all exponents from -1 down, or from 0 up."""
    joined: list[tuple[int | None, int | None]] = []
    for low, high in found:
        if joined and joined[-1][1] is not None and low == joined[-1][1] + 1 and low != 0:
            low = joined.pop()[0]
        joined.append((low, high))
    if joined == [_NEGATIVE, _POSITIVE]:
        return ALL
    kept: list[tuple[int | None, int | None]] = []
    for low, high in joined:
        if (low, high) in (_NEGATIVE, _POSITIVE):
            kept.append((low, high))
        elif high is not None and high < 0:
            if low is None or low <= LAST_NEGATIVE:
                kept.append((low, min(high, LAST_NEGATIVE)))
        elif high is None or high >= FIRST_POSITIVE:
            kept.append((max(low or 0, FIRST_POSITIVE), high))
    return tuple(kept)


def _scaled(value: Fraction) -> _Scaled:
    """Return b and k with value = b * 10^k and 1 <= b < 10."""
    numerator, denominator = value.numerator, value.denominator
    power = len(str(numerator)) - len(str(denominator))
    numerator, denominator = numerator * 10 ** max(-power, 0), denominator * 10 ** max(power, 0)
    if numerator < denominator:
        numerator, power = 10 * numerator, power - 1
    return _Scaled(numerator, denominator, power)
