"""Formulas: connectives are true where Python's operators are, equality is structural, and depth does not matter."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from fractions import Fraction
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata import Limits
from automata.errors import LimitExceeded, SchemaError
from automata.limits import Work
from constraints._native import ToKind
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    And,
    Formula,
    Not,
    Or,
    Substitution,
    conjunction,
    disjunction,
    fold,
    negation,
    parts_of,
    signed_statements,
    statements,
    truth,
)
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import (
    IsInteger,
    Kind,
    Maximum,
    Members,
    Minimum,
    MultipleOf,
    OfKind,
    Reference,
    StringIn,
    TextLength,
)

STATEMENTS: list[Formula] = [MultipleOf(Fraction(number)) for number in range(4)]
ASSIGNMENTS = [
    dict(zip(STATEMENTS, values, strict=True)) for values in itertools.product((False, True), repeat=len(STATEMENTS))
]

# A formula, and its truth under an assignment, worked out by Python alone.
Pair = tuple[Formula, Callable[[dict[Formula, bool]], bool]]


def pairs(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    several = st.lists(inner, max_size=4)
    return st.one_of(
        inner.map(lambda one: (negation(one[0]), lambda given: not one[1](given))),
        several.map(lambda all_: (conjunction([f for f, _ in all_]), lambda given: all(t(given) for _, t in all_))),
        several.map(lambda all_: (disjunction(f for f, _ in all_), lambda given: any(t(given) for _, t in all_))),
    )


LEAVES: list[Pair] = [
    (TRUE, lambda given: True),
    (FALSE, lambda given: False),
    *((own, itemgetter(own)) for own in STATEMENTS),
]
formulas = st.recursive(st.sampled_from(LEAVES), pairs, max_leaves=12)


@given(formulas)
def test_connectives_are_true_where_pythons_operators_are(pair: Pair) -> None:
    formula, expected = pair
    for given_ in ASSIGNMENTS:
        assert truth(formula, given_.__getitem__) == expected(given_)


@given(formulas, formulas)
def test_statements_are_replaced_everywhere(pair: Pair, other: Pair) -> None:
    formula, expected = pair
    by_dict = Substitution({STATEMENTS[0]: other[0]})
    by_function = Substitution(lambda part: other[0] if part == STATEMENTS[0] else part)
    found = by_dict(formula)
    assert found == by_function(formula)
    assert by_dict.all([formula, TRUE]) == (found, TRUE)
    for given_ in ASSIGNMENTS:
        replaced = given_ | {STATEMENTS[0]: other[1](given_)}
        assert truth(found, given_.__getitem__) == expected(replaced)
    assert Substitution(lambda part: part)(formula) is formula


def simplest(formula: Formula) -> Any:
    """A formula as tuples, which Python compares and hashes."""
    return (type(formula), *(simplest(part) if isinstance(part, Formula) else part for part in formula.fields))


@given(formulas, formulas)
def test_formulas_are_equal_where_their_fields_are(pair: Pair, other: Pair) -> None:
    one, two = pair[0], other[0]
    assert (one == two) == (simplest(one) == simplest(two))
    assert (one != two) == (simplest(one) != simplest(two))
    copy = pickle.loads(pickle.dumps(one))
    assert copy == one
    assert hash(copy) == hash(one)
    assert len({one, copy, two}) == len({simplest(one), simplest(two)})


@given(formulas)
def test_statements_are_listed_from_left_to_right(pair: Pair) -> None:
    formula = pair[0]

    def signed(part: Formula, denied: bool) -> list[tuple[Formula, bool]]:
        if not isinstance(part, And | Or | Not):
            return [(part, denied)]
        return [found for inner in part.fields for found in signed(inner, denied != isinstance(part, Not))]

    expected = signed(formula, False)
    # A connective that occurs several times is looked at once.
    assert set(signed_statements(formula)) == set(expected)
    assert set(statements(formula)) == {part for part, _ in expected}
    if len(set(expected)) == len(expected):
        assert signed_statements(formula) == expected
        assert statements(formula) == [part for part, _ in expected]


def test_parts_come_in_order_and_once() -> None:
    a, b, c, _ = STATEMENTS
    assert parts_of(conjunction([b, conjunction([a, b]), c])) == (b, a, c)
    assert parts_of(disjunction([a, b])) == (disjunction([a, b]),)
    assert conjunction([a, negation(a)]) is FALSE
    assert disjunction([negation(a), b, a]) is TRUE
    assert conjunction([]) is TRUE
    assert disjunction([]) is FALSE
    assert negation(negation(a)) is a
    assert conjunction([TRUE, a]) is a


def untyped(value: Any) -> Any:
    """What a caller without a type checker could pass."""
    return value


def test_types_with_equal_fields_differ() -> None:
    assert Minimum(Fraction(1)) != Maximum(Fraction(1))
    assert untyped(And(*STATEMENTS)) != Or(*STATEMENTS)
    assert untyped(IsInteger()) != (False,)
    with pytest.raises(TypeError):
        assert untyped(IsInteger()) < IsInteger(True)


def nested(depth: int) -> Formula:
    found: Formula = StringIn(frozenset(["a"]))
    for _ in range(depth):
        found = Not(Members(found, TRUE))
    return found


def test_formulas_of_any_depth_are_compared_and_freed() -> None:
    # Results have names here, since pytest would write out the formulas of what fails.
    one, other, deeper = nested(100_000), nested(100_000), nested(100_001)
    found = [one == other, one != deeper]
    found += [one == other for _ in range(1_000)]  # at once, since they share their fields now
    assert all(found)
    shared: Formula = STATEMENTS[0]
    for number in range(200):
        shared = Or(And(shared, MultipleOf(Fraction(number + 9))), And(shared, MultipleOf(Fraction(number + 500))))
    listed = len(statements(shared))
    ways = fold(shared, lambda part: 1, lambda part, values: sum(values))
    is_false = Substitution({STATEMENTS[0]: FALSE})(shared) is FALSE
    assert (listed, is_false) == (402, True)
    assert ways > 2**200


def test_formulas_are_immutable() -> None:
    formula = StringIn(frozenset(["a"]))
    for name in ("fields", "texts", "other"):
        with pytest.raises(AttributeError):
            setattr(formula, name, ())
    with pytest.raises(TypeError, match="once"):
        untyped(formula).__init__(frozenset())
    with pytest.raises(TypeError, match="unhashable"):
        StringIn(untyped({"a"}))
    assert repr(conjunction([formula, IsInteger()])) == "And(StringIn(frozenset({'a'})), IsInteger(False))"


def test_what_is_no_formula_is_refused() -> None:
    for call in (negation, parts_of, statements, signed_statements, Substitution({})):
        with pytest.raises(TypeError, match="a formula was expected"):
            untyped(call)(1)
    with pytest.raises(TypeError, match="a formula was expected"):
        conjunction(untyped([TRUE, "a", FALSE]))
    with pytest.raises(TypeError):
        conjunction(untyped(1))
    with pytest.raises(TypeError, match="a dict or a function"):
        Substitution(untyped(1))
    with pytest.raises(TypeError, match="a formula was expected"):
        Substitution(untyped(lambda part: 1))(conjunction(STATEMENTS))


def test_errors_of_functions_come_through() -> None:
    def fails(part: Formula) -> Formula:
        raise KeyError(part)

    for call in (Substitution(fails), lambda formula: fold(formula, fails, lambda part, values: None)):
        with pytest.raises(KeyError):
            call(conjunction(STATEMENTS))


def test_a_formula_that_was_never_given_fields_has_none() -> None:
    unmade = StringIn.__new__(StringIn)
    assert not hasattr(unmade, "fields")
    assert unmade != StringIn(frozenset())
    assert repr(unmade) == "StringIn()"
    with pytest.raises(IndexError):
        unmade.texts  # noqa: B018


def test_parts_count_towards_the_time() -> None:
    def join_without_end() -> None:
        while True:
            conjunction(STATEMENTS)

    with Work(Limits(seconds=0.05)).current(), pytest.raises(LimitExceeded, match="seconds"):
        join_without_end()


def test_a_reference_is_what_its_definition_says_of_a_kind() -> None:
    short, small = TextLength(0, 3), Maximum(Fraction(9))
    restriction = Restriction({"a": conjunction([short, Reference("b")]), "b": disjunction([small, OfKind(Kind.NULL)])})
    both = conjunction([Reference("a"), IsInteger()])
    assert restriction.string(both) == short
    assert restriction.number(both) == conjunction([small, IsInteger()])
    assert restriction.null(conjunction([both, OfKind(Kind.NULL)]))
    assert restriction.booleans(conjunction([both, OfKind(Kind.NULL)])) == ()
    assert restriction.array(negation(Reference("a"))) is FALSE


def test_a_reference_that_leads_back_to_itself_is_refused_where_it_is_met() -> None:
    restriction = Restriction({"a": conjunction([OfKind(Kind.STRING), Not(Reference("b"))]), "b": Reference("a")})
    for _ in range(2):
        with pytest.raises(SchemaError, match="leads back to itself"):
            restriction.string(Reference("a"))
        # No number is a string, whatever else is said.
        assert restriction.number(Reference("a")) is FALSE
    with pytest.raises(KeyError):
        restriction.string(Reference("c"))
    unrefused = ToKind(Kind.STRING, frozenset(), OfKind, Reference, {"a": Reference("a")}, lambda key: None)
    with pytest.raises(ValueError, match="leads back to itself"):
        unrefused(Reference("a"))
