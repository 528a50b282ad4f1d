"""Distinct: `uniqueItems`, where the items come from a finite set.

    Distinct(values, used)     all items from here on are different values of these, none of them used
    Distinctness.resolved(F)   F with `Distinct` in place of `UniqueItems`, or without it

Whether all items of an array differ depends on all of them, so in general no automaton of bounded size can tell. It can
where there are few values: then a state is the set of those that have come. Where positions can never hold equal
values, as in a tuple of a number and a string, there is nothing to be told. What the items may be is said by the
statements that stand beside `UniqueItems`, in one conjunction or around the disjunction that it stands in.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

from automata.errors import UnsupportedSchema
from constraints.json_schema.finite import Value, equal_to, finite_values, item_at
from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    And,
    Formula,
    ItemAt,
    Length,
    Never,
    Not,
    Or,
    UniqueItems,
    conjunction,
    disjunction,
    negation,
)
from constraints.json_schema.levels.outcomes import holds
from constraints.json_schema.levels.outlines import Outlines

# Values that items may have, and sets of values that may have come.
MAX_VALUES, MAX_SETS = 64, 4096
# Positions that are compared with each other.
_MAX_POSITIONS = 32


class Distinct(Formula):
    """The items are different values of a finite set, none of them used before."""

    __slots__ = ()

    def __init__(self, values: tuple[Formula, ...], used: frozenset[int]) -> None:
        super().__init__(values, used)

    @property
    def values(self) -> tuple[Formula, ...]:
        values: tuple[Formula, ...] = self._fields[0]
        return values

    @property
    def used(self) -> frozenset[int]:
        used: frozenset[int] = self._fields[1]
        return used

    def derivative(self) -> Formula:
        """What must hold of the next item and of those behind it."""
        found: Formula = FALSE
        for number in reversed(range(len(self.values))):
            value = holds(self.values[number])
            rest = FALSE if number in self.used else Distinct(self.values, self.used | {number})
            found = disjunction([conjunction([value, rest]), conjunction([negation(value), found])])
        return found


class Distinctness:
    """Finds out what items may be."""

    def __init__(self, outlines: Outlines) -> None:
        self.outlines = outlines

    def resolved(self, formula: Formula, beside: tuple[Formula, ...] = ()) -> Formula:
        """A formula about arrays without `UniqueItems`; `beside` is what holds where it stands.

        Raises:
            UnsupportedSchema: whether items are unique depends on too many values.
        """
        if isinstance(formula, And):
            own = (*beside, *formula.parts)
            return conjunction([self.resolved(part, own) for part in formula.parts])
        if isinstance(formula, Or):
            return disjunction([self.resolved(part, beside) for part in formula.parts])
        if isinstance(formula, Not):
            return negation(self.resolved(formula.part, beside))
        return self.unique(formula, beside) if isinstance(formula, UniqueItems) else formula

    def unique(self, formula: UniqueItems, beside: tuple[Formula, ...]) -> Formula:
        """What stands for `UniqueItems`."""
        longest = self.longest(beside)
        if longest is not None and longest <= 1:
            return TRUE
        values = self.values(beside, longest)
        if values is not None:
            most = len(values) if longest is None else min(longest, len(values))
            if sum(comb(len(values), count) for count in range(most + 1)) <= MAX_SETS:
                return Distinct(tuple(map(equal_to, sorted(values, key=repr))), frozenset())
        if longest is not None and longest <= _MAX_POSITIONS and self.all_differ(beside, longest):
            return TRUE
        raise UnsupportedSchema("needs memory of all items", pointer=formula.pointer, keyword="uniqueItems")

    def longest(self, beside: tuple[Formula, ...]) -> int | None:
        """How many items there may be, if that is known."""
        highs = [part.high for part in beside if isinstance(part, Length) and part.high is not None]
        highs += [part.index for part in beside if isinstance(part, ItemAt) and self.nothing(part.item)]
        return min(highs, default=None)

    def nothing(self, formula: Formula) -> bool:
        """Whether no value satisfies the formula for sure."""
        return type(formula) is Never or self.outlines(formula).is_empty

    def values(self, beside: tuple[Formula, ...], longest: int | None) -> set[Value] | None:
        """The values that items may have, if they are few."""
        last = max([part.index for part in beside if isinstance(part, ItemAt)], default=-1) + 1
        found: set[Value] = set()
        for place in range(last + 1 if longest is None else min(longest, last + 1)):
            more = finite_values(item_at(beside, place), self.outlines.restriction, MAX_VALUES)
            if more is None:
                return None
            found |= more
        return found

    def all_differ(self, beside: tuple[Formula, ...], longest: int) -> bool:
        """Whether no two positions can have the same value."""
        found = [self.outlines(item_at(beside, place)) for place in range(longest)]
        return all(one.meet(other).is_empty for one, other in combinations(found, 2))
