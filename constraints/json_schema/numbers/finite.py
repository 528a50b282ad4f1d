"""Finite: the spellings of the numbers that satisfy a formula, if the formula shows that there are finitely many.

Most bounded formulas of schemas show this: listed values, integers within bounds, and multiples within bounds. Writing
out their spellings takes a fraction of the time of exploring an automaton, and results in the same language, but for a
few more spellings with exponents. For multiples of a large step it is the only way, because their automaton has a state
for each remainder.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import Final

from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.expressions import EPSILON, Expr, alternation, char_set, concat, repeat, strings
from constraints.json_schema.formulas.connectives import And, Formula, Or
from constraints.json_schema.formulas.statements import IsInteger, Maximum, Minimum, MultipleOf, NumberIn
from constraints.json_schema.numbers.knowledge import atoms, number_matches
from constraints.json_schema.numbers.sides import FIRST_POSITIVE, LAST_NEGATIVE
from constraints.values.digits import naturals

# The most numbers that are written out one by one; longer lists are compiled.
MAX_RANGE: Final = 16
# The most multiples of a step that are looked for within bounds.
MAX_MULTIPLES: Final = 1_000
# From this bound on, the expression of a range has many times the size of its minimal automaton.
_MANY: Final = 10**6

_ZEROS: Final = repeat("0", 0)
_POINT_ZEROS: Final = repeat(concat(".", repeat("0", 1)), 0, 1)
_E: Final = char_set("eE")
_PLUS: Final = repeat("+", 0, 1)


def finite_language(formula: Formula) -> Expr | ByteAutomaton | None:
    """Return the spellings of the numbers that satisfy a formula, or None if it does not show that they are few.

    These are the spellings that the automaton of `numbers.spelling` accepts. Numbers that are listed one by one also
    have exponents for which it would have to count digits: 1.5e+16 as an integer, 1.5e-7 as a multiple of 1e-8."""
    found = _integer_bounds(formula)
    if found is None:
        integers = _listed_integers(formula)
        values = _values(formula) if integers is None else integers
        if values is None and (values := _multiples(formula)) is None:
            return None
        written = _listed(values, plain=integers is not None)
        return written if len(values) <= MAX_RANGE else compile_expr(written)
    low, high, plain = found
    if high - low < MAX_RANGE:
        return _listed(map(Fraction, range(low, high + 1)), plain=plain)
    return _between(low, high, plain=plain) if max(-low, high) < _MANY else None


def _integer_bounds(formula: Formula) -> tuple[int, int, bool] | None:
    """Return the bounds of integers, and whether they are written in digits alone, if the formula says nothing else;
    otherwise None."""
    if not isinstance(formula, And):
        return None
    integral = [part for part in formula.parts if isinstance(part, IsInteger)]
    lows = [_least(part) for part in formula.parts if type(part) is Minimum]
    highs = [-_least(Minimum(-part.bound, part.exclusive)) for part in formula.parts if type(part) is Maximum]
    if not integral or not lows or not highs or len(integral) + len(lows) + len(highs) < len(formula.parts):
        return None
    return max(lows), min(highs), any(part.plain for part in integral)


def _least(part: Minimum) -> int:
    """Return the least integer within a bound."""
    return floor(part.bound) + 1 if part.exclusive else ceil(part.bound)


def _listed_integers(formula: Formula) -> frozenset[Fraction] | None:
    """Return the numbers that satisfy a formula, if it lists them and says that they are integers in digits alone;
    otherwise None."""
    if not isinstance(formula, And) or IsInteger(True) not in formula.parts:
        return None
    rest = [part for part in formula.parts if part != IsInteger(True)]
    listed = next((part.values for part in rest if isinstance(part, NumberIn)), None)
    if listed is None or any(IsInteger(True) in atoms(part) for part in rest):
        return None
    return frozenset(value for value in listed if value.denominator == 1 and number_matches(formula, value))


def _values(formula: Formula) -> frozenset[Fraction] | None:
    """Return the numbers that satisfy a formula, if it lists them and does not say how they are written; otherwise
    None."""
    match formula:
        case NumberIn(values=values):
            return values
        case Or(parts=parts):
            found = [_values(part) for part in parts]
            sets = [values for values in found if values is not None]
            return frozenset().union(*sets) if len(sets) == len(found) else None
        case And(parts=parts) if IsInteger(True) not in atoms(formula):
            listed = next((part.values for part in parts if isinstance(part, NumberIn)), None)
            return listed and frozenset(value for value in listed if number_matches(formula, value))
    return None


def _multiples(formula: Formula) -> frozenset[Fraction] | None:
    """Return the numbers that satisfy a conjunction with a step and two bounds, if they are few; otherwise None."""
    if not isinstance(formula, And) or IsInteger(True) in atoms(formula):
        return None
    step = _common_multiple(formula.parts)
    low = max((part.bound for part in formula.parts if type(part) is Minimum), default=None)
    high = min((part.bound for part in formula.parts if type(part) is Maximum), default=None)
    if step is None or low is None or high is None or high - low > step * MAX_MULTIPLES:
        return None
    multiples = (number * step for number in range(ceil(low / step), floor(high / step) + 1))
    return frozenset(value for value in multiples if number_matches(formula, value))


def _common_multiple(parts: Iterable[Formula]) -> Fraction | None:
    """Return the least number of which all multiples of several steps are multiples; None if there are no steps."""
    steps = [part.step for part in parts if isinstance(part, MultipleOf)]
    if not steps:
        return None
    steps += [Fraction(1) for part in parts if isinstance(part, IsInteger)]
    return Fraction(lcm(*[step.numerator for step in steps]), gcd(*[step.denominator for step in steps]))


def _between(low: int, high: int, *, plain: bool) -> Expr:
    """Return the spellings of the integers of a range, which have no exponents."""
    parts: list[Expr] = []
    if high >= 0:
        parts.append(naturals(max(low, 0), high))
    if low <= 0:
        parts.append(concat("-", naturals(max(-high, 0), -low)))
    return concat(alternation(*parts), EPSILON if plain else _POINT_ZEROS)


def _listed(values: Iterable[Fraction], *, plain: bool) -> Expr:
    """Return the spellings of some numbers; with `plain`, these are integers, written in digits alone."""
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
        if value and not plain and not LAST_NEGATIVE < exponent < FIRST_POSITIVE:
            others.append(_scientific(signs[0], digits, exponent))
    if integers:
        # A few are cheaper to lay out than to compile as a list.
        whole = strings(integers) if len(integers) > MAX_RANGE else alternation(*integers)
        others.append(concat(whole, EPSILON if plain else _POINT_ZEROS))
    return alternation(*others)


def _scientific(sign: str, digits: str, exponent: int) -> Expr:
    significant = digits.rstrip("0")
    mantissa = concat(significant[0], _POINT_ZEROS)
    if len(significant) > 1:
        mantissa = concat(f"{significant[0]}.{significant[1:]}", _ZEROS)
    return concat(sign or EPSILON, mantissa, _E, "-" if exponent < 0 else _PLUS, _ZEROS, str(abs(exponent)))


def digits_on_a_side(value: Fraction) -> int:
    """Return how many digits a number has before the point or after it, whichever are more; those before it if the
    decimals do not end."""
    whole, decimal = len(str(int(abs(value)))), _decimal(value)
    return whole if decimal is None else max(whole, -decimal[1])


def _decimal(value: Fraction) -> tuple[str, int] | None:
    """Return digits d and a power k <= 0 with value = d * 10^k; None if the decimals do not end."""
    denominator, power = value.denominator, 0
    while denominator % 10 == 0:
        denominator, power = denominator // 10, power - 1
    while denominator % 2 == 0 or denominator % 5 == 0:
        denominator, power = denominator // (2 if denominator % 2 == 0 else 5), power - 1
    scaled = value * Fraction(10) ** -power
    return (str(scaled.numerator), power) if scaled.denominator == 1 else None
