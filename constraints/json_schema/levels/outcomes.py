"""Outcomes: from formulas with statements about the value at hand to the values that lead to each state.

    Holds(S)             the value at hand satisfies S; occurs in derivatives alone
    Outcomes             for a vector of derivatives: which values leave which residuals, by Shannon's expansion

One statement about the value at hand after the other is taken as true and as false, and what remains is the residual;
the values are described by what was taken. Where all values lead to the same residual nothing is split, and what no
value can satisfy is left out as far as `outlines` can tell: with `"type"` as a constant in each of fifty variants,
there are fifty outcomes and not 2^50.
"""

from __future__ import annotations

from collections.abc import Mapping

from automata.errors import LimitExceeded
from automata.limits import spend
from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    Always,
    And,
    Formula,
    Never,
    Not,
    Or,
    conjunction,
    disjunction,
    negation,
)
from constraints.json_schema.levels.level import Change, Vector
from constraints.json_schema.levels.outlines import Outline, Outlines

# Cases of all places of one schema together.
MAX_BRANCHES = 30_000
# From so many statements on, those that a choice decides are looked for.
_MANY = 4


class Holds(Formula):
    """The value at hand satisfies `value`."""

    __slots__ = ()

    def __init__(self, value: Formula) -> None:
        super().__init__(value)

    @property
    def value(self) -> Formula:
        value: Formula = self._fields[0]
        return value


def holds(value: Formula) -> Formula:
    """`Holds`, or the value where it is written as true or false; so that a formula and its negation are one statement,
    the negation is taken outside."""
    if isinstance(value, Always | Never):
        return value
    return Not(Holds(value.part)) if isinstance(value, Not) else Holds(value)


class Outcomes:
    """Expands vectors of derivatives; what is known of the values' formulas is shared."""

    def __init__(self, outlines: Outlines) -> None:
        self.outlines = outlines
        self.branches = 0

    def __call__(self, vector: Vector) -> list[tuple[Formula, Vector]]:
        """The residuals, none of them false everywhere, and the values that leave them, in the order of the parts.

        Raises:
            LimitExceeded: there are more than `MAX_BRANCHES` cases, with those of all places before.
        """
        if len(vector) == 1 and (quick := _all_or_nothing(vector[0])) is not None:
            value, residual = quick
            return [] if type(residual) is Never or type(value) is Never else [(value, (residual,))]
        found = _Expansion(self).expand(vector, ())
        return [(value, residual) for residual, value in found.items() if type(value) is not Never]


def _all_or_nothing(formula: Formula) -> tuple[Formula, Formula] | None:
    """The value and the residual of a conjunction of statements about the value and others without any."""
    parts = formula._fields if type(formula) is And else (formula,)
    values, rest = [], []
    for part in parts:
        if type(part) is Holds:
            values.append(part.value)
        elif type(part) is Not and type(part.part) is Holds:
            values.append(negation(part.part.value))
        elif first_holds(part) is None:
            rest.append(part)
        else:
            return None
    if len(values) == 1:
        return values[0], conjunction(rest)
    return conjunction(values), conjunction(rest)


def first_holds(formula: Formula) -> Holds | None:
    """The first statement about the value at hand."""
    kind = type(formula)
    if kind is Holds:
        assert isinstance(formula, Holds)
        return formula
    if kind is And or kind is Or or kind is Not:
        for part in formula._fields:
            found = first_holds(part)
            if found is not None:
                return found
    return None


def _assigned(vector: Vector, known: Mapping[Formula, Formula]) -> Vector:
    """The vector with some statements about the value at hand taken as true or as false."""
    return Change(lambda statement: known.get(statement, statement)).all(vector)


class _Expansion:
    """The expansion of one vector."""

    def __init__(self, outcomes: Outcomes) -> None:
        self.outcomes = outcomes
        self.outlines = outcomes.outlines
        self.known: dict[tuple[Formula, ...], Outline] = {}

    def expand(self, vector: Vector, path: tuple[Formula, ...]) -> dict[Vector, Formula]:
        """The values, among those that satisfy the path, that leave each residual."""
        spend(20)
        self.outcomes.branches += 1
        if self.outcomes.branches > MAX_BRANCHES:
            raise LimitExceeded(f"variants tell apart more than {MAX_BRANCHES:,} cases of values")
        if _is_dead(vector):
            return {}
        statement = next(filter(None, map(first_holds, vector)), None)
        if statement is None:
            return {vector: TRUE}
        value, opposite = statement.value, negation(statement.value)
        without, given = _assigned(vector, {statement: FALSE}), _assigned(vector, {statement: TRUE})
        if _is_dead(given) and _is_dead(without):
            return {}
        if self.impossible((*path, value)):
            return self.expand(without, path)
        if self.impossible((*path, opposite)):
            return self.expand(given, path)
        first = self.expand(self.known_in(given, (*path, value)), (*path, value))
        second = self.expand(without, (*path, opposite))
        return {
            residual: _either(value, first.get(residual, FALSE), second.get(residual, FALSE))
            for residual in {**first, **second}
        }

    def known_in(self, vector: Vector, path: tuple[Formula, ...]) -> Vector:
        """The vector with all statements that the path decides taken as what they are, at once."""
        found: dict[Formula, None] = {}
        for formula in vector:
            _collect(formula, found, set())
        if len(found) < _MANY:
            return vector
        here = self.outline(path)
        known: dict[Formula, Formula] = {}
        for statement in found:
            assert isinstance(statement, Holds)
            if here.meet(self.outlines(statement.value)).is_empty:
                known[statement] = FALSE
        return _assigned(vector, known)

    def impossible(self, path: tuple[Formula, ...]) -> bool:
        """Whether it is known that no value satisfies all of the path."""
        return self.outline(path).is_empty

    def outline(self, path: tuple[Formula, ...]) -> Outline:
        found = self.known.get(path)
        if found is None:
            found = self.outlines(path[-1])
            if len(path) > 1:
                found = self.outline(path[:-1]).meet(found)
            self.known[path] = found
        return found


def _is_dead(vector: Vector) -> bool:
    return all(type(formula) is Never for formula in vector)


def _collect(formula: Formula, found: dict[Formula, None], seen: set[Formula]) -> None:
    """All statements about the value at hand."""
    kind = type(formula)
    if kind is Holds:
        found[formula] = None
    elif (kind is And or kind is Or or kind is Not) and formula not in seen:
        seen.add(formula)
        for part in formula._fields:
            _collect(part, found, seen)


def _either(value: Formula, given: Formula, otherwise: Formula) -> Formula:
    """`given` where the value satisfies `value`, and `otherwise` where it does not."""
    if given == otherwise:
        return given
    if given == TRUE:
        return disjunction([value, otherwise])
    if otherwise == TRUE:
        return disjunction([negation(value), given])
    return disjunction([conjunction([value, given]), conjunction([negation(value), otherwise])])
