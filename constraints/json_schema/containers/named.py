"""Named: the statements of a formula about listed names, collected by name.

    Named(number)     a conjunction of statements about one listed name each, by its number in `Table`
    Table             what each `Named` says about each name: what its value must satisfy, and whether it is required
    prepared(F)       F with `Named` in place of such statements

An object with 500 properties is described by a thousand statements, of which two concern each member. A formula in
which one `Named` stands for all of them is small, and the derivative by a member looks up the statements that it needs.
`Named` stays as it is while one of its names may still occur, and becomes TRUE after that. The names that may still
occur tell which of its requirements are settled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    Always,
    And,
    Formula,
    Not,
    Or,
    conjunction,
    field,
    negation,
    parts_of,
)
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import MemberCount, Members, StringIn, bounded
from constraints.recursion import Task, run


class Named(Formula):
    """What `Table` says under this number."""

    __slots__ = ()
    number: int = field(0)

    def __init__(self, number: int) -> None:
        super().__init__(number)


class Requirement(NamedTuple):
    """What is required of the member with a name: what its value must satisfy, and whether it must be there.

    The formulas are kept as they stand in the schema, since outcomes are made from them."""

    values: tuple[Formula, ...]
    required: bool


# Only variants with up to this many statements are compared with all others.
_ABSORBING = 4

_Single = tuple[str, Formula, bool]


class Table:
    """What each `Named` says.

    Attributes:
        requirements: the requirements, by number and then by name.
    """

    def __init__(self, restriction: Restriction) -> None:
        self.restriction = restriction
        self.requirements: list[dict[str, Requirement]] = []
        self.numbers: dict[frozenset[tuple[str, Requirement]], Named] = {}
        # By conjunction or disjunction: what it is once prepared. These may have parts in common.
        self._known: dict[Formula, Formula] = {}

    def prepared(self, formula: Formula) -> Formula:
        """Return a formula with `Named` in it.

        Names become formulas about strings alone, and statements that are always true are left out."""
        return run(self._prepared(formula))

    def _prepared(self, formula: Formula) -> Task[Formula]:
        if isinstance(formula, And | Or):
            if formula not in self._known:
                self._known[formula] = yield from self._compound(formula)
            return self._known[formula]
        if isinstance(formula, Not):
            return negation((yield self._prepared(formula.part)))
        if isinstance(formula, Members):
            if isinstance(formula.names, StringIn):
                return self._named(_singles(formula))
            names = self.restriction.string(formula.names)
            return TRUE if names == FALSE or formula.value == TRUE else Members(names, formula.value)
        return bounded(MemberCount, formula.low, formula.high) if isinstance(formula, MemberCount) else formula

    def _compound(self, formula: And | Or) -> Task[Formula]:
        if isinstance(formula, And):
            return (yield from self._joined(formula.parts))
        return negation((yield from self._joined(tuple(map(negation, _without_absorbed(formula.parts))))))

    def _joined(self, parts: tuple[Formula, ...]) -> Task[Formula]:
        """Return a conjunction, with all its statements about single names as one."""
        singles: list[_Single] = []
        rest: list[Formula] = []
        for part in parts:
            found = _singles(part)
            if found:
                singles += found
            else:
                rest.append((yield self._prepared(part)))
        return conjunction([self._named(singles), *rest]) if singles else conjunction(rest)

    def _named(self, singles: Iterable[_Single]) -> Formula:
        """Return one statement for several about single names."""
        values: dict[str, dict[Formula, None]] = {}
        required = set()
        for name, value, is_required in singles:
            own = values.setdefault(name, {})
            if type(value) is not Always:
                own[value] = None
            if is_required:
                required.add(name)
        requirements = {
            name: Requirement(tuple(own), name in required) for name, own in values.items() if own or name in required
        }
        if not requirements:
            return TRUE
        if any(FALSE in requirements[name].values for name in required):
            return FALSE
        key = frozenset(requirements.items())
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = Named(len(self.requirements))
            self.requirements.append(requirements)
        return found


def _without_absorbed(variants: tuple[Formula, ...]) -> list[Formula]:
    """Return variants without those that another variant absorbs: A or (A and B) is A.

    Only variants with few statements are tried as A."""
    sets = [frozenset([part for part in parts_of(variant) if not _is_idle(part)]) for variant in variants]
    small = [parts for parts in sets if len(parts) <= _ABSORBING]
    return [variant for variant, parts in zip(variants, sets, strict=True) if not any(other < parts for other in small)]


def _is_idle(part: Formula) -> bool:
    """Return whether a statement is true of every object."""
    return type(part) is Members and type(part.value) is Always


def _singles(formula: Formula) -> list[_Single]:
    """Return what a statement says about each listed name; nothing if it is a statement of another form."""
    if isinstance(formula, Members):
        if isinstance(formula.names, StringIn):
            return [(name, formula.value, False) for name in formula.names.texts]
    elif isinstance(formula, Not):
        part = formula.part
        if isinstance(part, Members) and isinstance(part.names, StringIn) and len(part.names.texts) == 1:
            return [(name, negation(part.value), True) for name in part.names.texts]
    return []
