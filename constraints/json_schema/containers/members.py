"""MemberDerivatives: the derivatives of formulas about objects by a member.

The requirement is a vector of formulas over `Named`, `Members` and `MemberCount`; a set of listed names is an integer
with a bit for each name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from constraints.json_schema.containers.automaton import Move, Outcome, State, Vector
from constraints.json_schema.containers.named import Named, Table
from constraints.json_schema.containers.names import Names
from constraints.json_schema.containers.shannon import ShannonExpansion, holds
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    Formula,
    conjunction,
    disjunction,
    signed_statements,
    statements,
    truth,
)
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import MemberCount, Members, bounded, one_less


class MemberDerivatives:
    """The derivatives of formulas about objects.

    Attributes:
        bit: the bit of each listed name.
        all: the bits of all listed names.
        requirements, required: by number of `Named`, the names that it is about, and those that it requires,
            as bits.
    """

    def __init__(self, names: Sequence[str], restriction: Restriction, expansion: ShannonExpansion) -> None:
        self.expansion = expansion
        self.table = Table(restriction)
        self.names = Names(names)
        self.bit = {name: 1 << place for place, name in enumerate(names)}
        self.all = (1 << len(names)) - 1
        self.requirements: list[int] = []
        self.required: list[int] = []
        # By vector: for each `Named` in it, the names that it is about, and those that it requires.
        self._masks: dict[Vector, tuple[list[int], list[int]]] = {}
        # Derivatives. All that matters about the names that may still occur is which `Named` are about any of them.
        self._read: dict[tuple[Vector, str, tuple[bool, ...]], Vector] = {}
        self._skipped: dict[tuple[Vector, tuple[bool, ...], tuple[bool, ...]], Vector] = {}

    def prepared(self, vector: Vector) -> Vector:
        """Return the formulas with `Named` in them."""
        made = tuple(map(self.table.prepared, vector))
        for found in self.table.requirements[len(self.requirements) :]:
            self.requirements.append(sum(self.bit[name] for name in found))
            self.required.append(sum(self.bit[name] for name, what in found.items() if what.required))
        return made

    def read(self, vector: Vector, name: str, remaining: int) -> Vector:
        """Return the derivatives by a member with a listed name, after which the remaining names may occur."""
        key = vector, name, tuple([mask & remaining > 0 for mask in self.masks(vector)[0]])
        found = self._read.get(key)
        if found is None:
            found = self._read[key] = self._after(vector, name, remaining)
        return found

    def masks(self, vector: Vector) -> tuple[list[int], list[int]]:
        """Return, for each `Named` in a vector, the names that it is about, and those that it requires."""
        found = self._masks.get(vector)
        if found is None:
            parts = dict.fromkeys(part for formula in vector for part in statements(formula) if type(part) is Named)
            numbers = [part.fields[0] for part in parts]
            masks = [self.requirements[number] for number in numbers], [self.required[number] for number in numbers]
            found = self._masks[vector] = masks
        return found

    def _after(self, vector: Vector, name: str, remaining: int) -> Vector:
        def statement(formula: Formula) -> Formula:
            kind = type(formula)
            if kind is Named:
                number = formula.fields[0]
                rest = formula if self.requirements[number] & remaining else TRUE
                what = self.table.requirements[number].get(name)
                return rest if what is None else conjunction([*map(holds, what.values), rest])
            if kind is Members:
                names, value = formula.fields
                return conjunction([holds(value), formula]) if self.names.means(names, name) else formula
            return _smaller(formula)

        return self.expansion.replaced(vector, statement)

    def read_other(self, vector: Vector, true: frozenset[Formula]) -> Vector:
        """Return the derivatives by a member with an unlisted name, of which the formulas in `true` are true."""

        def statement(formula: Formula) -> Formula:
            if isinstance(formula, Members):
                if self.names.view(formula.names) in true:
                    return conjunction([holds(formula.value), formula])
                return formula
            return _smaller(formula)

        return self.expansion.replaced(vector, statement)

    def skipped(self, vector: Vector, skipped: int, remaining: int) -> Vector:
        """Return what is required once some names have been left out and only the remaining names may occur."""
        about, required = self.masks(vector)
        key = vector, tuple([mask & skipped > 0 for mask in required]), tuple([mask & remaining > 0 for mask in about])
        found = self._skipped.get(key)
        if found is None:
            found = self._skipped[key] = self._left(vector, skipped, remaining)
        return found

    def _left(self, vector: Vector, skipped: int, remaining: int) -> Vector:
        def statement(formula: Formula) -> Formula:
            if type(formula) is not Named:
                return formula
            number = formula.fields[0]
            if self.required[number] & skipped:
                return FALSE
            return formula if self.requirements[number] & remaining else TRUE

        return self.expansion.replaced(vector, statement)

    def others(self, vector: Vector, states: Callable[[Vector], State]) -> list[Move]:
        """Return the moves by members whose names are not listed."""
        return [
            Move(names, [Outcome(value, states(residual)) for value, residual in found])
            for names, found in self.unlisted(vector)
        ]

    def unlisted(self, vector: Vector) -> list[tuple[Formula, Sequence[tuple[Formula, Vector]]]]:
        """Return formulas about unlisted names, each with the values that may follow and the vectors after these."""
        by_outcome: dict[tuple[tuple[Formula, Vector], ...], list[Formula]] = {}
        parts = (part for formula in vector for part in statements(formula))
        formulas = dict.fromkeys(part.names for part in parts if isinstance(part, Members))
        for chosen, true in self.names.classes(formulas):
            found = tuple(self.expansion(self.read_other(vector, true)))
            by_outcome.setdefault(found, []).append(chosen)
        return [
            (conjunction([self.names.unlisted, disjunction(classes)]), found)
            for found, classes in by_outcome.items()
            if found
        ]

    def remembered(self, vector: Vector) -> tuple[int, int]:
        """Return the listed names for which it matters whether they have occurred, as bits: those that must not occur
        twice, and those that are required."""
        once = needed = 0
        for formula, denied in (signed for whole in vector for signed in signed_statements(whole)):
            if isinstance(formula, Named):
                if denied:
                    once |= self.requirements[formula.number]
                else:
                    needed |= self.required[formula.number]
            elif isinstance(formula, Members) and denied:
                once |= sum(bit for name, bit in self.bit.items() if self.names.means(formula.names, name))
            elif isinstance(formula, MemberCount) and (formula.high is not None if denied else formula.low > 1):
                once = self.all
        return once, needed

    def holding(self, vector: Vector, remaining: int) -> list[bool]:
        """Return which formulas hold for an object that ends here."""

        def statement(formula: Formula) -> bool:
            if isinstance(formula, Named):
                return not self.required[formula.number] & remaining
            return formula.low <= 0 if isinstance(formula, MemberCount) else True  # Members

        return [truth(formula, statement) for formula in vector]


class AnyOrderMembers(NamedTuple):
    """The input from which an object in any order is made.

    Attributes:
        vector: the prepared formulas.
        members: the derivatives of these formulas.
        remembered: the names that occur once at most, as bits: at least those of `MemberDerivatives.remembered`.
    """

    vector: Vector
    members: MemberDerivatives
    remembered: int


def _smaller(formula: Formula) -> Formula:
    """Return the derivative of a statement about the size by any member."""
    if isinstance(formula, MemberCount):
        return bounded(MemberCount, formula.low - 1, one_less(formula.high))
    return formula
