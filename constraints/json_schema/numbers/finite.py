"""Formulas that finitely many numbers satisfy, and the spellings of those, as expressions.

Most bounded formulas of schemas are of this kind: listed values, and integers from 1 to 5. Writing their spellings out
takes a tenth of the time of finding an automaton's states, and is the same language.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor
from typing import Final

from automata.expr import EPSILON, Expr, alternation, char_set, concat, repeat, strings
from constraints.json_schema.formula import And, Formula, IsInteger, Maximum, Minimum, NumberIn, Or
from constraints.json_schema.numbers.sides import FIRST_POSITIVE, LAST_NEGATIVE
from constraints.json_schema.numbers.statements import atoms, number_matches

# The largest range of integers that is written out, one by one.
MAX_RANGE: Final = 16

_ZEROS: Final = repeat("0", 0)
_POINT_ZEROS: Final = repeat(concat(".", repeat("0", 1)), 0, 1)
_E: Final = char_set("eE")
_PLUS: Final = repeat("+", 0, 1)


def finite_values(formula: Formula) -> frozenset[Fraction] | None:
    """The numbers that satisfy a formula, where it shows that they are few; how they are written must not matter."""
    match formula:
        case NumberIn(values=values):
            return values
        case Or(parts=parts):
            found = [finite_values(part) for part in parts]
            sets = [values for values in found if values is not None]
            return frozenset().union(*sets) if len(sets) == len(found) else None
        case And(parts=parts) if IsInteger(True) not in atoms(formula):
            listed = [part.values for part in parts if isinstance(part, NumberIn)]
            few = listed[0] if listed else _range(parts)
            return None if few is None else frozenset(value for value in few if number_matches(formula, value))
    return None


def _range(parts: tuple[Formula, ...]) -> frozenset[Fraction] | None:
    """The integers within bounds, if they are few."""
    if IsInteger() not in parts:
        return None
    lows = [part.bound for part in parts if type(part) is Minimum]
    highs = [part.bound for part in parts if type(part) is Maximum]
    if not lows or not highs:
        return None
    low, high = ceil(max(lows)), floor(min(highs))
    return frozenset(map(Fraction, range(low, high + 1))) if high - low < MAX_RANGE else None


def spellings(values: Iterable[Fraction]) -> Expr:
    """What the automaton of these values accepts (`spelling`)."""
    integers: list[str] = []
    others: list[Expr] = []
    for value in sorted(values):
        decimal = _decimal(abs(value))
        if decimal is None:
            continue
        digits, power = decimal
        signs = ("-",) if value < 0 else ("",) if value else ("", "-")
        if power >= 0:
            integers += [f"{sign}{digits}{'0' * power}" for sign in signs]
        else:
            padded = digits.rjust(1 - power, "0")
            others.append(concat(f"{signs[0]}{padded[:power]}.{padded[power:]}", _ZEROS))
        exponent = power + len(digits) - 1
        if value and not LAST_NEGATIVE < exponent < FIRST_POSITIVE:
            others.append(_scientific(signs[0], digits, exponent))
    if integers:
        # Few are cheaper to lay out than to compile as a list first.
        whole = strings(integers) if len(integers) > MAX_RANGE else alternation(*integers)
        others.append(concat(whole, _POINT_ZEROS))
    return alternation(*others)


def _scientific(sign: str, digits: str, exponent: int) -> Expr:
    significant = digits.rstrip("0")
    mantissa = concat(significant[0], _POINT_ZEROS)
    if len(significant) > 1:
        mantissa = concat(f"{significant[0]}.{significant[1:]}", _ZEROS)
    return concat(sign or EPSILON, mantissa, _E, "-" if exponent < 0 else _PLUS, _ZEROS, str(abs(exponent)))


def _decimal(value: Fraction) -> tuple[str, int] | None:
    """Digits d and a power k with value = d * 10^k, where k is 0 or less; None for a number without end."""
    denominator, power = value.denominator, 0
    while denominator % 10 == 0:
        denominator, power = denominator // 10, power - 1
    while denominator % 2 == 0 or denominator % 5 == 0:
        denominator, power = denominator // (2 if denominator % 2 == 0 else 5), power - 1
    scaled = value * Fraction(10) ** -power
    return (str(scaled.numerator), power) if scaled.denominator == 1 else None
