"""Outlines: a quick look at which values a formula may allow, by kind, and one by one where they are few.

An outline may allow more than its formula, never less; so what is empty here has no values. It tells apart what
schemas tell variants apart by: kinds, constants and enumerations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from constraints.json_schema.formula import And, Formula, Never, Not, NumberIn, StringIn
from constraints.json_schema.numbers import number_matches
from constraints.json_schema.restriction import Restriction
from constraints.json_schema.strings import string_matches


@dataclass(frozen=True, slots=True)
class Several:
    """Some values of a kind: these, or all but these."""

    values: frozenset[Hashable]
    excluded: bool

    def meet(self, other: Several) -> Several:
        """The values in both."""
        if self.excluded and other.excluded:
            return Several(self.values | other.values, True)
        if self.excluded:
            return Several(other.values - self.values, False)
        return Several(self.values - other.values if other.excluded else self.values & other.values, False)


_NOTHING, _ANYTHING = Several(frozenset(), False), Several(frozenset(), True)

# What kinds there may be, as bits: null, true, false, arrays, objects.
_NULL, _TRUE, _FALSE, _ARRAY, _OBJECT = 1, 2, 4, 8, 16


@dataclass(frozen=True, slots=True)
class Outline:
    """More or less which values there may be."""

    others: int
    numbers: Several
    strings: Several

    @property
    def is_empty(self) -> bool:
        """Whether there is none for sure."""
        return not self.others and self.numbers == _NOTHING and self.strings == _NOTHING

    def meet(self, other: Outline) -> Outline:
        """What both allow."""
        return Outline(self.others & other.others, self.numbers.meet(other.numbers), self.strings.meet(other.strings))


Matches: TypeAlias = Callable[[Formula, Any], bool]


class Outlines:
    """The outlines of formulas, remembered."""

    def __init__(self, restriction: Restriction) -> None:
        self.restriction = restriction
        self.done: dict[Formula, Outline] = {}

    def __call__(self, formula: Formula) -> Outline:
        """The outline of a formula."""
        found = self.done.get(formula)
        if found is None:
            found = self.done[formula] = self._outline(formula)
        return found

    def _outline(self, formula: Formula) -> Outline:
        to = self.restriction
        others = _NULL * to.null(formula)
        others |= sum(_TRUE if value else _FALSE for value in to.booleans(formula))
        others |= _ARRAY * (type(to.array(formula)) is not Never) | _OBJECT * (type(to.object(formula)) is not Never)
        return Outline(
            others,
            _several(to.number(formula), NumberIn, number_matches),
            _several(to.string(formula), StringIn, string_matches),
        )


def _several(formula: Formula, listing: type[NumberIn] | type[StringIn], matches: Matches) -> Several:
    """Which numbers or strings a formula about them may allow."""
    if type(formula) is Never:
        return _NOTHING
    listed = listed_values(formula, listing)
    if listed is not None:
        return Several(frozenset(value for value in listed if matches(formula, value)), False)
    if isinstance(formula, Not):
        excluded = listed_values(formula.part, listing)
        if excluded is not None:
            return Several(frozenset(value for value in excluded if matches(formula.part, value)), True)
    return _ANYTHING


def listed_values(formula: Formula, listing: type[Formula]) -> frozenset[str] | frozenset[Fraction] | None:
    """A finite set that holds all values of a formula about numbers or strings, if one can be read off."""
    if isinstance(formula, listing):
        values: frozenset[str] | frozenset[Fraction] = formula._fields[0]
        return values
    if isinstance(formula, And):
        found = [listed for part in formula.parts if (listed := listed_values(part, listing)) is not None]
        return min(found, key=len, default=None)
    return None
