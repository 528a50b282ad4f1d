"""Numbers: formulas about numbers become regular languages of their JSON spellings.

knowledge     the truth of a formula, from what is known about a number so far
order, multiples, exponents -> sides -> spelling      the automaton of the spellings, found digit by digit
finite        the same for few numbers, by listing them

number_language(formula)          the spellings of all numbers for which a formula holds
bounded_number_language(formula)  those with a bounded number of digits
in_digits_alone(formula)          a formula of the same numbers, with integers in digits alone
number_matches(formula, number)   whether a formula holds for one number
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.cache import kept
from automata.compile.compiler import compile_expr
from automata.expressions import EMPTY, Expr, alternation, char_set, concat, repeat
from automata.queries import is_finite
from constraints.json_schema.formulas.connectives import FALSE, TRUE, And, Formula, Or, conjunction
from constraints.json_schema.formulas.statements import IsInteger, Minimum, MultipleOf, NumberIn
from constraints.json_schema.numbers.finite import digits_on_a_side, finite_language
from constraints.json_schema.numbers.knowledge import atoms, check, number_matches
from constraints.json_schema.numbers.spelling import number_automaton

__all__ = [
    "ANY_NUMBER",
    "Integers",
    "bounded_number_language",
    "in_digits_alone",
    "number_language",
    "number_matches",
]

# How integers may be written: as JSON Schema takes them, as in 1.0 and 1e3, or with digits alone.
Integers: TypeAlias = Literal["any", "digits"]

_DIGIT = char_set("0123456789")
_WHOLE = alternation("0", concat(char_set("123456789"), repeat(_DIGIT, 0)))
_POINT = concat(".", repeat(_DIGIT, 1))
_EXPONENT = concat(char_set("eE"), repeat(char_set("+-"), 0, 1), repeat(_DIGIT, 1))

# RFC 8259, section 6.
ANY_NUMBER: Final[Expr] = concat(repeat("-", 0, 1), _WHOLE, repeat(_POINT, 0, 1), repeat(_EXPONENT, 0, 1))

# The languages of IsInteger.
_PLAIN_INTEGER: Final[Expr] = concat(repeat("-", 0, 1), _WHOLE)
_ANY_INTEGER: Final[Expr] = concat(
    _PLAIN_INTEGER,
    repeat(concat(".", repeat("0", 1)), 0, 1),
    repeat(concat(char_set("eE"), repeat("+", 0, 1), repeat(_DIGIT, 1)), 0, 1),
)


@kept(16_384)
def number_language(formula: Formula) -> Expr | ByteAutomaton:
    """Return the JSON spellings of all numbers for which a formula about numbers holds.

    Every spelling in the language is that of a number that satisfies the formula; `numbers.spelling` lists the
    spellings with exponents that are left out.

    Raises:
        TypeError: the formula says something about values that are not numbers.
        LimitExceeded: multiples of a step with too many remainders, or a bound with too many digits.
    """
    if formula == TRUE:
        return ANY_NUMBER
    if formula == FALSE:
        return EMPTY
    if isinstance(formula, IsInteger):
        return _PLAIN_INTEGER if formula.plain else _ANY_INTEGER
    check(formula)
    language = finite_language(formula)
    return number_automaton(formula) if language is None else language


def in_digits_alone(formula: Formula) -> Formula:
    """Return a formula of the same numbers; if it requires integers, they have no fraction and no exponent."""
    if isinstance(formula, IsInteger):
        return IsInteger(plain=True)
    return conjunction((formula, IsInteger(plain=True))) if _requires_integer(formula) else formula


def _requires_integer(formula: Formula) -> bool:
    match formula:
        case IsInteger():
            return True
        case NumberIn():
            return all(value.denominator == 1 for value in formula.values)
        case And():
            return any(map(_requires_integer, formula.parts))
        case Or():
            return all(map(_requires_integer, formula.parts))
    return False


@kept(4096)
def bounded_number_language(formula: Formula, max_digits: int) -> Expr | ByteAutomaton:
    """Return the JSON spellings of numbers for which a formula holds, with a bounded number of digits.

    An infinite language is restricted to at most `max_digits` digits before the point and as many after it. If a number
    that the formula names has more digits on either side, that many are allowed on both sides: the mantissa of
    1.2345e300 has digits after the point, and the number itself has none. An exponent has at most two digits, or as
    many as it takes to write this maximum. If no spelling is that short, the whole language is returned.

    Raises: as for `number_language`.
    """
    language = number_language(formula)
    if is_finite(language):
        return language
    named = (number for statement in atoms(formula) for number in _named(statement))
    most = max(max_digits, *map(digits_on_a_side, named), 1)
    digits, sign = repeat(_DIGIT, 1, most), repeat(char_set("+-"), 0, 1)
    exponent = concat(char_set("eE"), sign, repeat(_DIGIT, 1, max(2, len(str(most)))))
    within = concat(repeat("-", 0, 1), digits, repeat(concat(".", digits), 0, 1), repeat(exponent, 0, 1))
    found = language & within
    bounded = found if isinstance(found, ByteAutomaton) else compile_expr(found)
    return language if bounded.is_empty else bounded


def _named(statement: Formula) -> Iterable[Fraction]:
    """Return the numbers that a statement names."""
    match statement:
        case NumberIn():
            return statement.values
        case Minimum():
            return (statement.bound,)
        case MultipleOf():
            return (statement.step,)
    return ()
