"""Knowledge: the truth of a formula about numbers, from what is known about a number so far.

A text is read from left to right, and the knowledge of its number grows with it. So the truth of a formula is a
function of knowledge, and is true, false, or not known yet (Kleene's strong logic: a conjunction is false as soon as
one part is).

    Knowledge     how the magnitude may compare with each cut, whether the number is an integer, a multiple of each step
    Branch        the numbers of one sign: the cuts, which are the magnitudes of bounds and of listed values, ascending,
                  and the formula as a function of knowledge

The comparison of a magnitude with a cut is a set of BELOW, AT and ABOVE; a bound is decided if all members agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from automata.errors import LimitExceeded
from constraints._native import KleeneFormula
from constraints.json_schema.formulas.connectives import Always, And, Formula, Never, Not, fold, statements, truth
from constraints.json_schema.formulas.statements import IsInteger, Maximum, Minimum, MultipleOf, NumberIn

BELOW: Final = 1
AT: Final = 2
ABOVE: Final = 4
ANYWHERE: Final = BELOW | AT | ABOVE

# The most bits of numerators and denominators: some three thousand digits, fewer than Python refuses to write.
_MAX_BITS: Final = 10_000


class Knowledge(NamedTuple):
    """What is known about a number.

    Attributes:
        places: for each cut, a set of BELOW, AT and ABOVE.
        integer: whether it is one, if that is known.
        plain: whether it is written without fraction and exponent, if that is known.
        multiples: for each step, whether it is a multiple, if that is known.
    """

    places: tuple[int, ...]
    integer: bool | None
    plain: bool | None
    multiples: tuple[bool | None, ...]


Truth: TypeAlias = Callable[[Knowledge], bool | None]


class Branch(NamedTuple):
    """The numbers of one sign; zero is in both.

    Attributes:
        cuts: ascending magnitudes.
        truth: the formula's truth for a number of this sign.
    """

    cuts: tuple[Fraction, ...]
    truth: Truth


def atoms(formula: Formula) -> Iterator[Formula]:
    """Yield the statements of a formula from left to right.

    Raises:
        TypeError: the formula says something about values that are not numbers.
    """
    for part in statements(formula):
        if isinstance(part, NumberIn | Minimum | MultipleOf | IsInteger):
            yield part
        elif not isinstance(part, Always | Never):
            raise TypeError(f"{part!r} is not a statement about numbers")


def check(formula: Formula) -> None:
    """Check the statements of a formula.

    Raises:
        TypeError: it says something about values that are not numbers.
        LimitExceeded: a number in it has too many digits.
    """
    for statement in atoms(formula):
        for value in (statement.step,) if isinstance(statement, MultipleOf) else _points(statement):
            if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
                raise LimitExceeded(f"a number of the formula has more than {_MAX_BITS:,} bits")


def number_matches(formula: Formula, value: Fraction) -> bool:
    """Return whether a formula holds for a number, however the number is spelled.

    Raises:
        TypeError: the formula says something about values that are not numbers.
    """

    def statement(part: Formula) -> bool:
        match part:
            case Maximum():
                return value < part.bound or (value == part.bound and not part.exclusive)
            case Minimum():
                return value > part.bound or (value == part.bound and not part.exclusive)
            case NumberIn():
                return value in part.values
            case MultipleOf():
                return (value / part.step).denominator == 1
            case IsInteger():
                return value.denominator == 1
        raise TypeError(f"{part!r} is not a statement about numbers")

    return truth(formula, statement)


def branch(formula: Formula, atoms: Sequence[Formula], steps: Sequence[Fraction], negative: bool) -> Branch:
    """Return what a formula with these statements and steps says about numbers of one sign."""
    values = {abs(value) for statement in atoms for value in _points(statement) if not value or (value < 0) == negative}
    cuts = tuple(sorted(values))
    return Branch(cuts, _TruthBuilder({cut: number for number, cut in enumerate(cuts)}, steps, negative).truth(formula))


def _points(statement: Formula) -> Iterable[Fraction]:
    if isinstance(statement, NumberIn):
        return statement.values
    return (statement.bound,) if isinstance(statement, Minimum) else ()


class _TruthBuilder:
    """Makes the truth of one formula, for numbers of one sign."""

    def __init__(self, cuts: dict[Fraction, int], steps: Sequence[Fraction], negative: bool) -> None:
        self.cuts, self.steps, self.negative = cuts, steps, negative
        self.made = KleeneFormula()

    def truth(self, formula: Formula) -> Truth:
        """Return the truth of the formula."""
        fold(formula, self.statement, self.combined)
        return self.made

    def combined(self, formula: Formula, parts: list[int]) -> int:
        if isinstance(formula, Not):
            return self.made.negation(parts[0])
        return self.made.every(parts) if isinstance(formula, And) else self.made.some(parts)

    def statement(self, formula: Formula) -> int:
        match formula:
            case Minimum():
                return self.bound(formula)
            case IsInteger(plain=True):
                return self.made.plain()
            case IsInteger():
                return self.made.integer()
            case NumberIn(values=values):
                return self.one_of(values)
            case MultipleOf(step=step):
                return self.made.integer() if step == 1 else self.made.multiple(self.steps.index(step))
        return self.made.constant(isinstance(formula, Always))

    def bound(self, formula: Minimum) -> int:
        upper = isinstance(formula, Maximum)
        if formula.bound and (formula.bound < 0) != self.negative:  # on the other side of zero
            return self.made.constant(upper == self.negative)
        # Of two negative numbers, the one of greater magnitude is less.
        places = (BELOW if upper != self.negative else ABOVE) | (0 if formula.exclusive else AT)
        return self.made.place(self.cuts[abs(formula.bound)], places)

    def one_of(self, values: frozenset[Fraction]) -> int:
        cuts = [self.cuts[abs(value)] for value in values if not value or (value < 0) == self.negative]
        return self.made.some([self.made.place(cut, AT) for cut in sorted(cuts)])
