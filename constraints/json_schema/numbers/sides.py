"""One sign's numbers: where they are cut, and for which exponents a mantissa satisfies the formula.

`m * 10^e` with 1 <= m < 10 compares with a cut `b * 10^k` as e does with k, and where they are equal as m with b. So
for what is known of m, the exponents for which the formula holds are a finite union of intervals.

Exponents from -4 to 15 are written by neither Python nor JavaScript, and comparing mantissas there would double the
states of every bound. So they are left out, unless the formula holds for all exponents from -1 down, or from 0 up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from constraints.json_schema.formula import Formula
from constraints.json_schema.numbers.exponents import Exponents
from constraints.json_schema.numbers.multiples import Step
from constraints.json_schema.numbers.order import Comparison, Left
from constraints.json_schema.numbers.statements import ABOVE, ANYWHERE, AT, BELOW, Knowledge, branch

# Exponents between these are written by nobody.
LAST_NEGATIVE: Final = -5
FIRST_POSITIVE: Final = 16

ALL: Final[Exponents] = ((None, None),)
NONE: Final[Exponents] = ()
_NEGATIVE: Final = (None, -1)
_POSITIVE: Final = (0, None)


class Side:
    """The numbers of one sign.

    Attributes:
        cuts: their comparison with the cuts.
        mantissas: the comparison of mantissas with those of cuts so large or small that exponents are written there.
        truth: what the formula says of them.
        unknown: that nothing is known of multiples.
        takes_exponents: false where no number but zero that is written with an exponent satisfies the formula.
    """

    def __init__(
        self,
        formula: Formula,
        statements: Sequence[Formula],
        steps: Sequence[Step],
        sizes: Sequence[Fraction],
        negative: bool,
    ) -> None:
        cuts, self.truth = branch(formula, statements, sizes, negative)
        self.steps = steps
        self.cuts = Comparison(cuts)
        scaled = [_scaled(cut) if cut else None for cut in cuts]
        written = [cut for cut in scaled if cut and not LAST_NEGATIVE < cut[1] < FIRST_POSITIVE]
        self.mantissas = Comparison([mantissa for mantissa, _ in written])
        self._scales = [
            None if cut is None else (cut[1], written.index(cut) if cut in written else None, cut[0] == 1)
            for cut in scaled
        ]
        self._edges = {edge for cut in scaled if cut for edge in (cut[1], cut[1] + 1)}
        self._edges |= {LAST_NEGATIVE + 1, 0, FIRST_POSITIVE}
        self._edges |= {edge for step in steps for edge in (step.lowest, step.highest)}
        self._of_zero = Knowledge(tuple([BELOW if cut else AT for cut in cuts]), True, False, (True,) * len(steps))
        self._found: dict[object, Exponents] = {}
        self.unknown: tuple[bool | None, ...] = (None,) * len(steps)
        self._above = tuple([ANYWHERE if cut else ABOVE for cut in cuts])
        self.takes_exponents = self.truth(Knowledge(self._above, None, False, self.unknown)) is not False

    def exponents(self, mantissa: Left | None, zero: bool, whole: bool, multiples: tuple[int, ...]) -> Exponents:
        """The exponents behind a mantissa for which the formula holds, as far as they are accepted.

        Args:
            mantissa: how it compares, or None where it does not have one digit before the point, which is no zero.
            zero: whether all its digits are zeros.
            whole: whether all its digits behind the point are zeros.
            multiples: the state of each step.
        """
        if zero:
            return self._of_any(True) if self.truth(self._of_zero) else NONE
        key = (mantissa, whole, multiples)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._of_any(whole) if mantissa is None else self._of(mantissa, whole, multiples)
        return found

    def _of_any(self, whole: bool) -> Exponents:
        """Of numbers of any size but zero."""
        if self.truth(Knowledge(self._above, None, False, self.unknown)):
            return ALL
        return (_POSITIVE,) if whole and self.truth(Knowledge(self._above, True, False, self.unknown)) else NONE

    def _of(self, mantissa: Left, whole: bool, multiples: tuple[int, ...]) -> Exponents:
        compared = self.mantissas.at_end(mantissa)
        edges = sorted(self._edges)
        found: list[tuple[int | None, int | None]] = []
        for low, high in zip([None, *edges], [*edges, None], strict=True):
            exponent = low if low is not None else edges[0] - 1
            places = tuple(
                [
                    ABOVE
                    if scale is None or exponent > scale[0]
                    else BELOW
                    if exponent < scale[0]
                    else compared[scale[1]]
                    if scale[1] is not None
                    else AT | ABOVE
                    if scale[2]
                    else ANYWHERE
                    for scale in self._scales
                ]
            )
            integer = False if exponent < 0 else whole or None
            held = tuple(
                [step.with_exponent(state, exponent, whole) for step, state in zip(self.steps, multiples, strict=True)]
            )
            if self.truth(Knowledge(places, integer, False, held)):
                found.append((low, None if high is None else high - 1))
        return _written(found)


def _written(found: list[tuple[int | None, int | None]]) -> Exponents:
    """Of adjacent intervals, which all begin or end at 0 if they could hold it, those that are accepted."""
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


def _scaled(value: Fraction) -> tuple[Fraction, int]:
    """b and k with value = b * 10^k and 1 <= b < 10."""
    power = len(str(value.numerator)) - len(str(value.denominator))
    mantissa = value / Fraction(10) ** power
    return (mantissa * 10, power - 1) if mantissa < 1 else (mantissa, power)
