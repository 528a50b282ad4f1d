"""Distinct: `uniqueItems`, if the items come from a finite set.

    Distinct(values, used)     all further items are different values from `values`, and none of them is in `used`
    Distinctness.resolved(F)   F with `UniqueItems` replaced by `Distinct`, or left out, if the meaning is the same
    remembered(V, ...)         formulas without `UniqueItems`, and the one that all of their arrays have to satisfy

Whether all items of an array differ depends on all of them, so in general this takes an automaton of unbounded size. If
the values are listed and few, a state is the set of values so far. If no two positions can have equal values, as in a
tuple of a number and a string, nothing has to be remembered. The values of the items are found in the statements next
to `UniqueItems`: those in the same conjunction, and in the conjunctions around it.

Any other array is read with a memory of its items (`tokenfst.unique_items`), if all arrays at its place must have
different items, that is, if no array satisfies the formulas with `UniqueItems` taken as false. If some arrays must and
others need not, they are variants, each with a rule of its own, which are read side by side. If items must not all
differ, a mask would have to know whether one of them can still be repeated, so that is refused.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

from automata.errors import UnsupportedSchema
from constraints.json_schema.containers.automaton import Vector
from constraints.json_schema.containers.shannon import holds
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
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
    statements,
)
from constraints.json_schema.formulas.finite import Value, equal_to, finite_values, item_at
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.statements import ItemAt, ItemCount, Kind, UniqueItems
from constraints.recursion import Task, run

# The most values of the items, and the most sets of values that an array may have so far; and the most sets times the
# number of values that are arrays, since each set has rules of its own for those.
MAX_VALUES, MAX_SETS, MAX_RULES_OF_ARRAYS = 64, 4096, 1024
# The most positions that are compared with each other.
_MAX_POSITIONS = 32


_ANYWHERE = UniqueItems("")


class Distinct(Formula):
    """The items are different values of a finite set, none of them used before."""

    __slots__ = ()
    values: tuple[Formula, ...] = field(0)
    used: frozenset[int] = field(1)

    def __init__(self, values: tuple[Formula, ...], used: frozenset[int]) -> None:
        super().__init__(values, used)

    def derivative(self) -> Formula:
        """Return what must hold for the next item and for those after it."""
        found: Formula = FALSE
        for number in reversed(range(len(self.values))):
            value = holds(self.values[number])
            rest = FALSE if number in self.used else Distinct(self.values, self.used | {number})
            found = disjunction([conjunction([value, rest]), conjunction([negation(value), found])])
        return found


class Distinctness:
    """Finds out which values items may have."""

    def __init__(self, outlines: Outlines) -> None:
        self.outlines = outlines

    def resolved(self, formula: Formula) -> Formula:
        """Return a formula about arrays in which `UniqueItems` is left only where it takes a memory of the items."""
        return run(self._resolved(formula, ()))

    def _resolved(self, formula: Formula, beside: tuple[Formula, ...]) -> Task[Formula]:
        """Resolve a formula; `beside` has the parts of all conjunctions around it."""
        if isinstance(formula, UniqueItems):
            return self._unique(formula, beside)
        if not isinstance(formula, And | Or | Not):
            return formula
        if isinstance(formula, And):
            beside = (*beside, *formula.parts)
        parts: list[Formula] = []
        for part in formula.fields:
            parts += [(yield self._resolved(part, beside))]
        if isinstance(formula, Not):
            return negation(parts[0])
        return conjunction(parts) if isinstance(formula, And) else disjunction(parts)

    def _unique(self, formula: UniqueItems, beside: tuple[Formula, ...]) -> Formula:
        """Return what takes the place of `UniqueItems`."""
        longest = self._longest(beside)
        if longest is not None and longest <= 1:
            return TRUE
        values = self._values(beside, longest)
        if values is not None:
            most = len(values) if longest is None else min(longest, len(values))
            num_arrays = sum(kind is Kind.ARRAY for kind, _ in values)
            num_sets = sum(comb(len(values), count) for count in range(most + 1))
            if num_sets <= MAX_SETS and num_sets * num_arrays <= MAX_RULES_OF_ARRAYS:
                return Distinct(tuple(map(equal_to, sorted(values, key=repr))), frozenset())
        if longest is not None and longest <= _MAX_POSITIONS and self._all_differ(beside, longest):
            return TRUE
        return formula

    def _longest(self, beside: tuple[Formula, ...]) -> int | None:
        """Return the largest number of items, if it is known."""
        highs = [part.high for part in beside if isinstance(part, ItemCount) and part.high is not None]
        highs += [part.index for part in beside if isinstance(part, ItemAt) and self._is_empty(part.item)]
        return min(highs, default=None)

    def _is_empty(self, formula: Formula) -> bool:
        return type(formula) is Never or self.outlines(formula).is_empty

    def _values(self, beside: tuple[Formula, ...], longest: int | None) -> set[Value] | None:
        """Return the values that items may have; None if there may be many."""
        last = max([part.index for part in beside if isinstance(part, ItemAt)], default=-1) + 1
        found: set[Value] = set()
        for place in range(last + 1 if longest is None else min(longest, last + 1)):
            more = finite_values(item_at(beside, place), self.outlines.restriction, MAX_VALUES)
            if more is None:
                return None
            found |= more
        return found

    def _all_differ(self, beside: tuple[Formula, ...], longest: int) -> bool:
        """Return whether no two positions can have the same value."""
        found = [self.outlines(item_at(beside, place)) for place in range(longest)]
        return all(one.meet(other).is_empty for one, other in combinations(found, 2))


def remembered(vector: Vector, distinctness: Distinctness) -> tuple[Vector, UniqueItems | None]:
    """Return formulas about arrays without `UniqueItems`; and that statement, if it takes a memory of the items and
    every array has to satisfy it, or else None.

    Raises:
        UnsupportedSchema: it takes a memory, and the items of some array need not or must not all differ.
    """
    resolved = tuple(map(distinctness.resolved, vector))
    found = next((part for formula in resolved for part in statements(formula) if isinstance(part, UniqueItems)), None)
    if found is None:
        return resolved, None
    # If only some arrays need a memory, all may use one, so try the original formulas as well.
    for formulas in (resolved, vector):
        if_true, if_false = _taken(formulas, TRUE), _taken(formulas, FALSE)
        if all(type(formula) is Never for formula in if_false):
            return if_true, found
        if if_true == if_false:
            return if_true, None
    must_repeat = all(type(formula) is Never for formula in _taken(vector, TRUE))
    raise UnsupportedSchema(
        "needs memory of all items, since two of them must be equal where it does not hold: under `not`, or to tell "
        "variants apart"
        if must_repeat
        else "needs memory of all items, in some of the arrays that may stand here and not in others, and there are "
        "too many variants of these to read side by side",
        pointer=found.pointer,
        keyword="uniqueItems",
    )


def without_places(vector: Vector) -> Vector:
    """Return formulas in which all `UniqueItems` are equal, whatever their pointers were."""
    return _taken(vector, _ANYWHERE)


def _taken(vector: Vector, value: Formula) -> Vector:
    return Substitution(lambda part: value if isinstance(part, UniqueItems) else part).all(vector)
