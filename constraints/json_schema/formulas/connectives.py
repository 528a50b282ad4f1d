"""Formulas: statements about one JSON value, and their boolean combinations.

    Formula
    ├── Always, Never       TRUE and FALSE
    ├── Not, And, Or        made, and simplified, by `negation`, `conjunction` and `disjunction`
    └── statements          `formulas.statements`

A JSON Schema is a formula: `allOf`, `anyOf`, `oneOf`, `not`, `if` and `dependentSchemas` are conjunctions, disjunctions
and negations of the formulas of their schemas. Formulas are immutable and compared by structure; their hashes are
computed once. The order of parts is kept, because it is the order of the schema's properties. Formulas that have been
found to be equal share their fields, so that comparing them again takes no time.

Formulas are directed acyclic graphs of any depth: equal parts are shared, for example by both alternatives of a
`oneOf`. So the functions on them use a work stack and visit each combination once:

    statements(F)       the statements in a formula
    truth(F, f)         the formula's truth, from the truth of its statements
    Substitution(f)     the formula with every statement replaced
    fold                a value of any type, from those of the statements
    rebuilt             the formula with each of its parts replaced

A schema has thousands of formulas, so the native core makes, compares and folds them (`native/constraints/formulas`).
"""

from __future__ import annotations

from collections.abc import Callable

from constraints._native import (
    Formula,
    Substitution,
    conjunction,
    disjunction,
    field,
    fold,
    negation,
    parts_of,
    set_connectives,
    signed_statements,
    statements,
)
from constraints.recursion import Task

__all__ = [
    "FALSE",
    "TRUE",
    "Always",
    "And",
    "Formula",
    "Never",
    "Not",
    "Or",
    "Substitution",
    "conjunction",
    "disjunction",
    "field",
    "fold",
    "negation",
    "parts_of",
    "rebuilt",
    "signed_statements",
    "statements",
    "truth",
]


class Always(Formula):
    """True of every value; use `TRUE`."""

    __slots__ = ()


class Never(Formula):
    """True of no value; use `FALSE`."""

    __slots__ = ()


class Not(Formula):
    """The part is not true; use `negation`."""

    __slots__ = ()
    part: Formula = field(0)


class And(Formula):
    """All parts are true, of which there are at least two; use `conjunction`."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The parts."""
        return self.fields


class Or(Formula):
    """Some part is true, of which there are at least two; use `disjunction`."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The parts."""
        return self.fields


TRUE, FALSE = set_connectives(Always, Never, Not, And, Or)
_CONNECTIVES = frozenset((And, Or, Not))


def truth(formula: Formula, statement: Callable[[Formula], bool]) -> bool:
    """Return the truth of a formula.

    Args:
        formula: the formula.
        statement: gives the truth of each statement that is neither TRUE nor FALSE.
    """
    kind = type(formula)
    if kind is And and _CONNECTIVES.isdisjoint(map(type, formula.fields)):
        return all(map(statement, formula.fields))
    if kind in _CONNECTIVES:
        found: bool = fold(formula, lambda part: truth(part, statement), _truth)
        return found
    return kind is Always or (kind is not Never and statement(formula))


def _truth(formula: Formula, values: list[bool]) -> bool:
    kind = type(formula)
    if kind is Not:
        return not values[0]
    return all(values) if kind is And else any(values)


def rebuilt(formula: Formula, part: Callable[[Formula], Task[Formula]]) -> Task[Formula]:
    """Make a formula of the same type again, with each formula among its fields replaced."""
    fields = list(formula.fields)
    for place, own in enumerate(fields):
        if isinstance(own, Formula):
            fields[place] = yield part(own)
    return type(formula)(*fields)
