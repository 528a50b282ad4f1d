"""Shannon expansion: from derivatives with statements about the next value to the values that lead to each state.

    Holds(S)             the next value satisfies S; occurs only in derivatives
    ShannonExpansion     for a vector of derivatives: the residuals, and the values that lead to each residual

The statements about the next value are assumed one by one, as true and as false. The remaining formulas are the
residual, and the assumptions describe the values. A vector with the same residual for all values is not split. Cases
that no value satisfies are left out if outlines show it: with a constant `"type"` in each of fifty variants, there are
fifty cases and not 2^50.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from automata.errors import LimitExceeded
from automata.limits import spend
from constraints.json_schema.containers.automaton import Vector
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    Always,
    And,
    Formula,
    Never,
    Not,
    Or,
    Substitution,
    conjunction,
    disjunction,
    field,
    negation,
    parts_of,
    statements,
)
from constraints.json_schema.formulas.finite import Value, constant_of
from constraints.json_schema.formulas.outlines import Outline, Outlines
from constraints.recursion import Task, run

# The most cases of one schema.
MAX_BRANCHES = 30_000
# The most parts of formulas that are visited to find them.
MAX_WORK = 700_000
TOO_MUCH_WORK = (
    "telling apart variants, what `contains` counts, or arrays and objects of an enum takes too much work; variants "
    "are told apart easily by a required member that is a different constant in each, or if each has "
    "additionalProperties: false; and values of an enum if each begins with a different string or number"
)
# A case counts as much work as this many parts.
_CASE = 10
# With this many statements or more, those that an assumption makes false are looked for.
_MANY = 4
# This many alternatives or more are told apart at once if each asks for one constant. Fewer are expanded one by one,
# and the work that this takes decides whether an object is cheap to read in any order.
_MANY_CONSTANTS = 32


class Holds(Formula):
    """The next value satisfies `value`."""

    __slots__ = ()
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
        work: the number of parts of formulas that have been visited; each case counts as `_CASE` of them.
        most: the limit on `work`.
    """

    def __init__(self, outlines: Outlines, most: int | None = None) -> None:
        """Make the expansion of a schema. `most` is the limit on the work; None for `MAX_WORK`."""
        self.outlines = outlines
        self.branches = self.work = 0
        self.most = MAX_WORK if most is None else most
        self._known: dict[Vector, list[tuple[Formula, Vector]]] = {}

    def restart(self, most: int | None = None) -> None:
        """Count from 0 again, but keep the known expansions. `most` is the new limit on the work; None for the old."""
        self.branches = self.work = 0
        self.most = self.most if most is None else most

    @contextmanager
    def trial(self, most: int) -> Iterator[None]:
        """Let vectors be expanded with at most `most` more work, which does not count afterwards."""
        before = self.branches, self.work, self.most
        self.most = self.work + most
        try:
            yield
        finally:
            self.branches, self.work, self.most = before

    def replaced(self, vector: Vector, statement: Callable[[Formula], Formula] | dict[Formula, Formula]) -> Vector:
        """Return a vector with its statements replaced, by a function or from a dict, and count the work.

        Raises:
            LimitExceeded: the work exceeds its limit.
        """
        substitution = Substitution(statement)
        found = substitution.all(vector)
        self.work += len(vector) + substitution.work
        if self.work > self.most:
            raise LimitExceeded(TOO_MUCH_WORK)
        return found

    def __call__(self, vector: Vector) -> list[tuple[Formula, Vector]]:
        """Return the residuals that are not FALSE throughout, each with the formula of the values that leave it.

        Raises:
            LimitExceeded: there are more than `MAX_BRANCHES` cases, with those of earlier vectors, or too much work.
        """
        found = self._known.get(vector)
        if found is None:
            found = self._known[vector] = self._cases(vector)
        return found

    def _cases(self, vector: Vector) -> list[tuple[Formula, Vector]]:
        if len(vector) == 1 and (quick := _all_or_nothing(vector[0])) is not None:
            value, residual = quick
            return [] if type(residual) is Never or type(value) is Never else [(value, (residual,))]
        if (parts := _by_constant(vector)) is not None:
            return self._alternatives(parts)
        found = run(self._expanded(vector, None))
        return [(value, residual) for residual, value in found.items() if type(value) is not Never]

    def _alternatives(self, parts: list[tuple[Formula, Vector]]) -> list[tuple[Formula, Vector]]:
        """Return the cases of constants with their residuals, one constant for each."""
        self._count(len(parts))
        self.work += sum(len(residual) - 1 for _, residual in parts)
        if self.work > self.most:
            raise LimitExceeded(TOO_MUCH_WORK)
        found: dict[Vector, list[Formula]] = {}
        for value, residual in parts:
            if not is_dead(residual):
                found.setdefault(residual, []).append(value)
        return [(disjunction(values), vector) for vector, values in found.items()]

    def _expanded(self, vector: Vector, path: Outline | None) -> Task[dict[Vector, Formula]]:
        """Return the values that leave each residual.

        Args:
            vector: the derivatives.
            path: the outline of the values that satisfy the assumptions so far; None for all values.
        """
        self._count(1)
        if is_dead(vector):
            return {}
        statement = next(filter(None, map(_first_holds, vector)), None)
        if statement is None:
            return {vector: TRUE}
        without, given = self.replaced(vector, {statement: FALSE}), self.replaced(vector, {statement: TRUE})
        if is_dead(given) and is_dead(without):
            return {}
        inside, outside = self._meet(path, statement.value), self._meet(path, negation(statement.value))
        found: dict[Vector, Formula]
        if inside.is_empty or outside.is_empty:
            found = yield self._expanded(without if inside.is_empty else given, path)
            return found
        first: dict[Vector, Formula] = yield self._expanded(self._decided(given, inside, statement.value), inside)
        second: dict[Vector, Formula] = yield self._expanded(without, outside)
        return {
            residual: _either(statement.value, first.get(residual, FALSE), second.get(residual, FALSE))
            for residual in {**first, **second}
        }

    def _count(self, cases: int) -> None:
        spend(20 * cases)
        self.branches += cases
        self.work += _CASE * cases
        if self.branches > MAX_BRANCHES:
            raise LimitExceeded(f"variants tell apart more than {MAX_BRANCHES:,} cases of values")

    def _meet(self, path: Outline | None, value: Formula) -> Outline:
        found = self.outlines(value)
        return found if path is None else path.meet(found)

    def _decided(self, vector: Vector, path: Outline, value: Formula) -> Vector:
        """Return the vector for the values that satisfy a formula and lie within an outline: of many statements, those
        that exclude the formula or the outline become FALSE."""
        found = dict.fromkeys(part for formula in vector for part in statements(formula) if isinstance(part, Holds))
        if len(found) < _MANY:
            return vector
        outlines = self.outlines
        false = [
            statement
            for statement in found
            if path.meet(outlines(statement.value)).is_empty or outlines.exclude(value, statement.value)
        ]
        return self.replaced(vector, dict.fromkeys(false, FALSE)) if false else vector


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


def _by_constant(vector: Vector) -> list[tuple[Formula, Vector]] | None:
    """Return the constants that the alternatives of derivatives ask for as the next value, each with its residuals.

    Return None if there are few alternatives, or one of them asks for something else. The expansion would compare each
    of n constants with all others.
    """
    alternatives = [_alternatives_of(formula) or (formula,) for formula in vector]
    if sum(map(len, alternatives)) < _MANY_CONSTANTS:
        return None
    values: dict[Value, Formula] = {}
    residuals: dict[Value, dict[int, list[Formula]]] = {}
    for place, parts in enumerate(alternatives):
        for part in parts:
            if type(part) is Never:
                continue
            split = _all_or_nothing(part)
            constant = None if split is None else constant_of(split[0])
            if split is None or constant is None:
                return None
            values.setdefault(constant, split[0])
            residuals.setdefault(constant, {}).setdefault(place, []).append(split[1])
    found = []
    for constant, value in values.items():
        left: list[Formula] = [FALSE] * len(vector)
        for place, some in residuals[constant].items():
            left[place] = some[0] if len(some) == 1 else disjunction(some)
        found.append((value, tuple(left)))
    return found


def _alternatives_of(formula: Formula) -> Sequence[Formula]:
    """Return the parts of a disjunction, which may be written as a negated conjunction; none for another formula."""
    if type(formula) is Or:
        return formula.parts
    if type(formula) is Not and type(formula.part) is And:
        return [negation(part) for part in formula.part.parts]
    return ()


def _first_holds(formula: Formula) -> Holds | None:
    """Return the first statement about the next value."""
    for part in statements(formula):
        if type(part) is Holds:
            return part
    return None


def is_dead(vector: Vector) -> bool:
    """Return whether no formula of a vector can be satisfied."""
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
