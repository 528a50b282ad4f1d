"""Shannon expansion: from derivatives with statements about the next value to the values that lead to each state.

    Holds(S)             the next value satisfies S; occurs in derivatives alone
    ShannonExpansion     for a vector of derivatives: the residuals, and the values that leave each

The statements about the next value are taken one by one, as true and as false. What remains is the residual; the values
are described by the statements that were taken. A vector whose residual is the same for all values is not split, and
cases that no value satisfies are left out as far as outlines show: with a constant `"type"` in each of fifty variants
there are fifty cases and not 2^50.
"""

from __future__ import annotations

from collections.abc import Mapping

from automata.errors import LimitExceeded
from automata.limits import spend
from constraints.json_schema.containers.automaton import Vector
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    Always,
    Formula,
    Never,
    Not,
    Substitution,
    conjunction,
    disjunction,
    field,
    negation,
    parts_of,
    statements,
)
from constraints.json_schema.formulas.outlines import Outline, Outlines
from constraints.recursion import Task, run

# The most cases of one schema.
MAX_BRANCHES = 30_000
# From this many statements on, those that a choice decides are looked for.
_MANY = 4


class Holds(Formula):
    """The next value satisfies `value`."""

    __slots__ = ()
    nests = True
    value: Formula = field(0)

    def __init__(self, value: Formula) -> None:
        super().__init__(value)


def holds(value: Formula) -> Formula:
    """Return `Holds`, or TRUE or FALSE for these. The negation of a value is the negation of its `Holds`, so that a
    formula and its negation are one statement."""
    if isinstance(value, Always | Never):
        return value
    return Not(Holds(value.part)) if isinstance(value, Not) else Holds(value)


class ShannonExpansion:
    """Expands vectors of derivatives.

    Attributes:
        outlines: the outlines of the values' formulas.
        branches: the number of cases so far.
    """

    def __init__(self, outlines: Outlines) -> None:
        self.outlines = outlines
        self.branches = 0

    def __call__(self, vector: Vector) -> list[tuple[Formula, Vector]]:
        """Return the residuals that are not FALSE throughout, each with the values that leave it.

        Raises:
            LimitExceeded: there are more than `MAX_BRANCHES` cases, with those of earlier vectors.
        """
        if len(vector) == 1 and (quick := _all_or_nothing(vector[0])) is not None:
            value, residual = quick
            return [] if type(residual) is Never or type(value) is Never else [(value, (residual,))]
        found = run(self._expanded(vector, None))
        return [(value, residual) for residual, value in found.items() if type(value) is not Never]

    def _expanded(self, vector: Vector, path: Outline | None) -> Task[dict[Vector, Formula]]:
        """Return the values that leave each residual.

        Args:
            vector: the derivatives.
            path: the outline of the values that satisfy what was taken so far; None for all values.
        """
        spend(20)
        self.branches += 1
        if self.branches > MAX_BRANCHES:
            raise LimitExceeded(f"variants tell apart more than {MAX_BRANCHES:,} cases of values")
        if _is_dead(vector):
            return {}
        statement = next(filter(None, map(_first_holds, vector)), None)
        if statement is None:
            return {vector: TRUE}
        without, given = _assigned(vector, {statement: FALSE}), _assigned(vector, {statement: TRUE})
        if _is_dead(given) and _is_dead(without):
            return {}
        inside, outside = self._meet(path, statement.value), self._meet(path, negation(statement.value))
        found: dict[Vector, Formula]
        if inside.is_empty or outside.is_empty:
            found = yield self._expanded(without if inside.is_empty else given, path)
            return found
        first: dict[Vector, Formula] = yield self._expanded(self._decided(given, inside), inside)
        second: dict[Vector, Formula] = yield self._expanded(without, outside)
        return {
            residual: _either(statement.value, first.get(residual, FALSE), second.get(residual, FALSE))
            for residual in {**first, **second}
        }

    def _meet(self, path: Outline | None, value: Formula) -> Outline:
        found = self.outlines(value)
        return found if path is None else path.meet(found)

    def _decided(self, vector: Vector, path: Outline) -> Vector:
        """Return the vector with the statements that no value of an outline satisfies taken as false."""
        found = dict.fromkeys(part for formula in vector for part in statements(formula) if isinstance(part, Holds))
        if len(found) < _MANY:
            return vector
        false = [statement for statement in found if path.meet(self.outlines(statement.value)).is_empty]
        return _assigned(vector, dict.fromkeys(false, FALSE)) if false else vector


def _all_or_nothing(formula: Formula) -> tuple[Formula, Formula] | None:
    """Return the value and the residual of a conjunction, if each part is about the next value alone or not at all."""
    values, rest = [], []
    for part in parts_of(formula):
        if type(part) is Holds:
            values.append(part.value)
        elif type(part) is Not and type(part.part) is Holds:
            values.append(negation(part.part.value))
        elif _first_holds(part) is None:
            rest.append(part)
        else:
            return None
    return values[0] if len(values) == 1 else conjunction(values), conjunction(rest)


def _first_holds(formula: Formula) -> Holds | None:
    """Return the first statement about the next value."""
    for part in statements(formula):
        if type(part) is Holds:
            return part
    return None


def _assigned(vector: Vector, known: Mapping[Formula, Formula]) -> Vector:
    """Return the vector with some statements taken as true or as false."""
    return Substitution(lambda statement: known.get(statement, statement)).all(vector)


def _is_dead(vector: Vector) -> bool:
    return all(type(formula) is Never for formula in vector)


def _either(value: Formula, given: Formula, otherwise: Formula) -> Formula:
    """Return `given` where the value satisfies `value`, and `otherwise` where it does not."""
    if given == otherwise:
        return given
    if given == TRUE:
        return disjunction([value, otherwise])
    if otherwise == TRUE:
        return disjunction([negation(value), given])
    return disjunction([conjunction([value, given]), conjunction([negation(value), otherwise])])
