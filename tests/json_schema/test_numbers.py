"""Numbers: every short spelling of JSON numbers against fractions, and what Python and JavaScript write.

The oracle of a spelling is RFC 8259's grammar as a regular expression, and its value as a fraction. A language is right
if it accepts no spelling whose value does not satisfy the formula, and all those without an exponent whose value does.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from itertools import product
from math import gcd

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import ByteAutomaton, LimitExceeded, compile_expr, equivalent, parse
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    And,
    Formula,
    Not,
    Or,
    conjunction,
    disjunction,
    negation,
)
from constraints.json_schema.formulas.statements import IsInteger, Kind, Maximum, Minimum, MultipleOf, NumberIn, OfKind
from constraints.json_schema.numbers import number_language, number_matches
from constraints.json_schema.numbers.spelling import number_automaton

NUMBER = re.compile(r"(-?(?:0|[1-9]\d*)(?:\.\d+)?)(?:[eE]([+-]?\d+))?")
ALPHABET = "-.0159e"
LENGTH = 6


def f(text: str) -> Fraction:
    return Fraction(text)


def value_of(text: str) -> Fraction | None:
    """The value of a spelling; None for text that is not a number."""
    found = NUMBER.fullmatch(text)
    return Fraction(found[1]) * Fraction(10) ** int(found[2] or 0) if found else None


@cache
def spellings() -> list[tuple[str, Fraction]]:
    """Every spelling over a small alphabet."""
    texts = ("".join(letters) for size in range(1, LENGTH + 1) for letters in product(ALPHABET, repeat=size))
    values = ((text, value_of(text)) for text in texts if not re.search(r"e\d{3}|e-\d{2}|[^-]-|[.e]{2}|^-?00", text))
    return [(text, value) for text, value in values if value is not None]


@cache
def language(formula: Formula) -> ByteAutomaton:
    found = number_language(formula)
    return found if isinstance(found, ByteAutomaton) else compile_expr(found)


def holds(formula: Formula, text: str, value: Fraction) -> bool:
    """The truth of a formula for a spelling."""
    match formula:
        case IsInteger(plain=True):
            return re.fullmatch(r"-?\d+", text) is not None
        case Not(part=part):
            return not holds(part, text, value)
        case And(parts=parts):
            return all(holds(part, text, value) for part in parts)
        case Or(parts=parts):
            return any(holds(part, text, value) for part in parts)
    return number_matches(formula, value)


def check(formula: Formula, text: str, value: Fraction) -> None:
    expected, accepted = holds(formula, text, value), language(formula).accepts(text.encode())
    if "e" in text.lower():
        assert expected or not accepted, (formula, text)
    else:
        assert expected == accepted, (formula, text)


BOUNDS = ["0", "1", "5", "10", "-1", "-90", "0.5", "-0.05", "15.9", "99", "1/3", "100000", "1e-5", "1e16", "-3e17"]
STEPS = [
    *("1", "2", "3", "7", "10", "100", "0.01", "0.5", "0.25", "1.5", "12", "36", "50", "2/3", "10000000", "1e-8"),
    *("64", "96", "75", "1.28", "0.375", "6.25", "4096"),
]
ATOMS: list[Formula] = [
    TRUE,
    FALSE,
    IsInteger(),
    IsInteger(True),
    *(kind(f(bound), exclusive) for kind in (Minimum, Maximum) for bound in BOUNDS for exclusive in (False, True)),
    *(MultipleOf(f(step)) for step in STEPS),
    *(NumberIn(frozenset(map(f, values.split()))) for values in ("0", "5", "-1 0.5 1e-5", "1 5 9 10 1e16", "1/3 9")),
]
COMBINED: list[Formula] = [
    conjunction([IsInteger(), Minimum(f("1")), Maximum(f("65535"))]),
    conjunction([IsInteger(), Minimum(f("0"))]),
    conjunction([IsInteger(), Minimum(f("-5")), Maximum(f("5"), True), negation(NumberIn(frozenset([f("1")])))]),
    conjunction([IsInteger(), negation(IsInteger(True))]),
    conjunction([Minimum(f("0")), Maximum(f("1"))]),
    conjunction([Minimum(f("-90")), Maximum(f("90"))]),
    conjunction([Minimum(f("0")), MultipleOf(f("0.01"))]),
    conjunction([MultipleOf(f("5")), negation(MultipleOf(f("3"))), Maximum(f("500"))]),
    conjunction([MultipleOf(f("0.5")), negation(IsInteger())]),
    conjunction([MultipleOf(f("6.25")), negation(MultipleOf(f("3.75")))]),
    conjunction([MultipleOf(f("64")), Minimum(f("-1000"))]),
    conjunction([Minimum(f("0"), True), negation(IsInteger())]),
    conjunction([Minimum(f("1e-7")), Maximum(f("1e20"))]),
    disjunction([Maximum(f("-1")), conjunction([Minimum(f("1")), IsInteger()])]),
]


@pytest.mark.parametrize("formula", ATOMS + COMBINED, ids=str)
def test_every_short_spelling(formula: Formula) -> None:
    """Of a formula, and of its negation."""
    assert len(spellings()) > 8000
    one, other = accepted(language(formula)), accepted(language(negation(formula)))
    known: dict[tuple[Fraction, bool], bool] = {}
    for (text, value), found, denied in zip(spellings(), one, other, strict=True):
        key = value, text.lstrip("-").isdigit()
        if key not in known:
            known[key] = holds(formula, text, value)
        expected = known[key]
        if "e" in text:
            assert not (denied if expected else found), (formula, text)
        else:
            assert (found, denied) == (expected, not expected), (formula, text)


def accepted(automaton: ByteAutomaton) -> list[bool]:
    """Of each short spelling, whether it is accepted."""
    # One row for each state, and a last one for none, which is also -1.
    rows = np.vstack([automaton.by_byte(), np.full((1, 256), -1)])
    states = np.full(len(spellings()), automaton.start)
    for column in padded().T:
        states = np.where(column, rows[states, column], states)
    found: list[bool] = np.append(automaton.final, False)[states].tolist()
    return found


@cache
def padded() -> npt.NDArray[np.intp]:
    """The bytes of every short spelling, and zeros behind them."""
    return np.array([list(text.encode().ljust(LENGTH, b"\0")) for text, _ in spellings()])


numbers = st.one_of(
    st.sampled_from(BOUNDS).map(f),
    st.integers(-1000, 1000).map(Fraction),
    st.decimals(-100, 100, places=2).map(Fraction),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: Fraction(repr(value))),
)
atoms = st.one_of(
    st.sampled_from(ATOMS),
    st.builds(Minimum, numbers, st.booleans()),
    st.builds(Maximum, numbers, st.booleans()),
    st.builds(lambda values: NumberIn(frozenset(values)), st.lists(numbers, max_size=4)),
)
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        inner.map(negation),
        st.lists(inner, min_size=2, max_size=3).map(conjunction),
        st.lists(inner, min_size=2, max_size=3).map(disjunction),
    ),
    max_leaves=6,
)


@st.composite
def written(draw: st.DrawFn) -> str:
    """A spelling: from Python's writer, or from the grammar."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return json.dumps(draw(st.integers() | st.floats(allow_nan=False, allow_infinity=False)))
    if kind == 1:
        return f"{draw(st.decimals(-1000, 1000, places=3)):f}"
    if kind == 2:
        bound = draw(numbers)
        return str(bound.numerator) if bound.denominator == 1 else f"{float(bound):.17e}"
    return draw(st.from_regex(r"\A-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?\Z"))


@given(formulas, st.lists(written(), min_size=20, max_size=20))
def test_random_formulas(formula: Formula, texts: list[str]) -> None:
    for text in texts:
        value = value_of(text)
        assert value is not None
        check(formula, text, value)


@given(formulas)
def test_a_formula_and_its_negation_share_no_spelling(formula: Formula) -> None:
    one, other = language(formula), language(negation(formula))
    assert (one & other).is_empty
    plain = compile_expr(parse(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"))
    assert (plain - (one | other)).is_empty


@given(st.one_of(st.lists(numbers, min_size=1, max_size=30).map(lambda values: NumberIn(frozenset(values))), formulas))
def test_few_numbers_are_written_out_as_the_automaton_would(formula: Formula) -> None:
    if formula not in (TRUE, FALSE):
        assert equivalent(language(formula), number_automaton(formula))


@given(numbers, numbers, st.booleans(), st.booleans(), st.booleans())
def test_integers_within_bounds_are_written_out_as_the_automaton_would(
    low: Fraction, high: Fraction, above: bool, below: bool, plain: bool
) -> None:
    if abs(low) < 10**15 and abs(high) < 10**15:
        formula = conjunction([IsInteger(plain), Minimum(low, above), Maximum(high, below)])
        assert equivalent(language(formula), number_automaton(formula))


PLAIN = compile_expr(parse(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"))


@settings(max_examples=40)
@given(
    st.sampled_from(STEPS).map(f),
    numbers,
    st.integers(0, 30),
    st.sampled_from([TRUE, IsInteger(), negation(IsInteger()), MultipleOf(f("0.3")), MultipleOf(f("4"))]),
)
def test_multiples_within_bounds_are_written_out_as_the_automaton_would(
    step: Fraction, low: Fraction, count: int, other: Formula
) -> None:
    if abs(low) < 10**15:
        formula = conjunction([MultipleOf(step), Minimum(low), Maximum(low + count * step), other])
        written, automaton = language(formula), number_automaton(formula)
        assert equivalent(written & PLAIN, automaton & PLAIN)
        assert (automaton - written).is_empty


def fewest_states(step: int) -> int:
    """The states of the smallest automaton for the multiples of an integer (Alexeev 2004, theorem 1)."""
    least: int = min(
        step // gcd(step, 10**bound) + sum(10**digits // gcd(step, 10**digits) for digits in range(bound))
        for bound in range(step.bit_length() + 1)
    )
    return least


@pytest.mark.parametrize("step", [*range(2, 120), 128, 250, 375, 1024, 2400, 86_400])
def test_no_more_remainders_than_are_needed(step: int) -> None:
    """Digits that begin with no zero, or are one: with the start, and a zero that nothing follows."""
    digits = compile_expr(parse("0|[1-9][0-9]*"))
    multiples = language(MultipleOf(Fraction(step))) & digits
    assert multiples.num_states == fewest_states(step) + 2
    for value in [*range(300), *(step * number for number in range(20))]:
        assert multiples.accepts(str(value).encode()) == (value % step == 0)


def large_steps() -> list[tuple[str, str, str]]:
    return [
        ("1e300", "1" + "0" * 300, "1" + "0" * 299),
        ("3e200", "6" + "0" * 200, "7" + "0" * 200),
        ("604800", "6048000", "604801"),
        ("65536", "8589934592", "8589934593"),
        ("0.000001", "12.000001", "0.0000001"),
        ("123456", "12345600", "12345601"),
    ]


@pytest.mark.parametrize(("step", "multiple", "other"), large_steps(), ids=[step for step, _, _ in large_steps()])
def test_large_steps(step: str, multiple: str, other: str) -> None:
    automaton = language(MultipleOf(f(step)))
    assert automaton.accepts(multiple.encode())
    assert not automaton.accepts(other.encode())


def test_any_step_within_bounds() -> None:
    formula = conjunction([MultipleOf(f("99991")), Minimum(f("0")), Maximum(f("99000000"))])
    assert language(formula).accepts(b"98991090")
    assert not language(formula).accepts(b"98991091")
    assert not language(formula).accepts(b"99091081")


def test_several_steps_with_few_common_multiples_within_bounds() -> None:
    """The automaton of their digits would have a state for each combination of remainders."""
    steps, excluded = ("6.75", "19", "2.125"), ("2", "6.5", "5", "7", "11", "37")
    bounds = Minimum(f("-100000")), Maximum(f("-10000"))
    formula = conjunction(
        [*bounds, *(MultipleOf(f(step)) for step in steps), *(negation(MultipleOf(f(step))) for step in excluded)]
    )
    written = language(formula)
    assert [value for value in range(-100_000, -9_999) if written.accepts(str(value).encode())] == [-78489, -26163]
    assert not written.accepts(b"-26163.5")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_of_a_float_compares_with_bounds(value: float) -> None:
    """With no statement but bounds every spelling of Python's is decided, in one of the two languages."""
    text = json.dumps(value).encode()
    for bound in ("0", "-1", "1e-7", "5e17", "0.3"):
        above, below = Minimum(f(bound)), Maximum(f(bound), True)
        accepted = language(above).accepts(text), language(below).accepts(text)
        exact = Fraction(json.dumps(value)) >= f(bound)
        assert accepted == (exact, not exact)


@pytest.mark.parametrize(
    ("formula", "accepted", "rejected"),
    [
        (TRUE, "0 -0 1.5e3 10E-07 123 0.1", "01 .5 5. +1 1e 0x1 NaN -"),
        (IsInteger(), "3 3.0 -3.000 1e22 1e+22 -0 0.0 1E5 12e3", "1.5 1e-7 1.5e+16 3.0001 03"),
        (IsInteger(True), "3 -0 -17", "3.0 1e22 0.0"),
        (Minimum(f("0")), "0 -0 -0.0 1e-07 1E5 12e3 0.5e-3 0e5", "-1 -0.1 -1e-7 00"),
        (Minimum(f("0"), True), "0.001 5e-324 1e308", "0 -0 0.000 0e5"),
        (Maximum(f("1")), "1 1.000 0.5 1e-5 -1e300 -5", "1.0001 2 1e16"),
        (Maximum(Fraction(2**63 - 1)), "9223372036854775807 9223372036854775807.0", "9223372036854775808 1e19"),
        (Maximum(f("1e308")), f"1{'0' * 308} 1e308 9e307", f"1{'0' * 307}1 2e308 1.1e308 1e309"),
        (Maximum(f("1/3")), "0.3333 0.333333333333333333", "0.3334 0.333333333333333334"),
        (MultipleOf(f("0.01")), "0.01 12.34 5 5.000 0.0100 -3.5 1e16 -0", "0.001 12.345 1e-5 1.5e-9"),
        (MultipleOf(f("1e-8")), "12391239123 0.00000001 0.5", "0.000000015"),
        (MultipleOf(f("1000000")), "0 1000000 -3000000.0 1e16", "100000 1000001 500000 1000000.5"),
        (MultipleOf(f("360")), "0 360 720.0 3600 36000", "36 1800000001 100 400"),
        (NumberIn(frozenset([f("5")])), "5 5.0 5.000", "50 5.1 -5"),
        (NumberIn(frozenset([f("1.5e16")])), "15000000000000000 1.5e16 1.50E+016", "1.5e15 1.5e17 1.5"),
    ],
    ids=str,
)
def test_spellings(formula: Formula, accepted: str, rejected: str) -> None:
    for text in accepted.split():
        assert language(formula).accepts(text.encode()), text
    for text in rejected.split():
        assert not language(formula).accepts(text.encode()), text


def test_empty() -> None:
    for nothing in (
        FALSE,
        conjunction([Minimum(f("5")), Maximum(f("4"))]),
        conjunction([IsInteger(), Minimum(f("0"), True), Maximum(f("1"), True)]),
        NumberIn(frozenset([f("1/3")])),
    ):
        assert language(nothing).is_empty
    assert not language(conjunction([Minimum(f("5")), Maximum(f("5"))])).is_empty
    assert not language(TRUE).is_empty


def test_limits() -> None:
    with pytest.raises(
        LimitExceeded, match=r"multiples of 0.123456789 .* some 234,567,900 states, more than the 30,000"
    ):
        number_language(MultipleOf(f("0.123456789")))
    with pytest.raises(LimitExceeded, match=r"multiples of 1999 .* the other keywords, takes more than 30,000"):
        number_language(conjunction([MultipleOf(f("1999")), MultipleOf(f("1997"))]))
    with pytest.raises(LimitExceeded, match="bounds"):
        number_language(conjunction([Minimum(Fraction(1, 99_991)), IsInteger()]))
    for huge in (Minimum(Fraction(10) ** 4000), MultipleOf(Fraction(1, 10**4000)), NumberIn(frozenset([f("1e4000")]))):
        with pytest.raises(LimitExceeded, match="bits"):
            number_language(huge)
    for stranger in (conjunction([OfKind(Kind.NUMBER), IsInteger()]), negation(OfKind(Kind.NUMBER))):
        with pytest.raises(TypeError, match="OfKind"):
            number_language(stranger)
        with pytest.raises(TypeError, match="OfKind"):
            number_matches(stranger, f("1"))
