"""Restriction: what a formula says of values of one kind alone.

    Restriction       for each kind of value, what is left of a formula if the value is known to be of it
      .null(F)        whether null satisfies it
      .booleans(F)    which booleans satisfy it
      .number(F), .string(F), .array(F), .object(F)      a formula about such values alone
    only_kind(F)      the kind of all values, where F names it; nothing is left of F for others

A statement about values of another kind is true of the value at hand, so it goes; references are what they stand for.
A reference that leads back to itself before any value within the value is looked at says nothing at all, which JSON
Schema forbids (2020-12 Core, section 9.4.1).

Everything is remembered: a definition that is used in a hundred places is looked at once for each kind.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from automata.errors import SchemaError
from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    Always,
    And,
    BooleanIs,
    Contains,
    Format,
    Formula,
    IsInteger,
    ItemAt,
    ItemsFrom,
    Kind,
    Length,
    Maximum,
    Members,
    Minimum,
    MultipleOf,
    Never,
    Not,
    NumberIn,
    OfKind,
    Or,
    Pattern,
    Reference,
    Size,
    StringIn,
    TextLength,
    UniqueItems,
    conjunction,
    disjunction,
    negation,
)

STATEMENTS: Final[dict[Kind, frozenset[type[Formula]]]] = {
    Kind.NULL: frozenset(),
    Kind.BOOLEAN: frozenset({BooleanIs}),
    Kind.NUMBER: frozenset({NumberIn, Minimum, Maximum, MultipleOf, IsInteger}),
    Kind.STRING: frozenset({StringIn, Pattern, Format, TextLength}),
    Kind.ARRAY: frozenset({ItemAt, ItemsFrom, Contains, Length, UniqueItems}),
    Kind.OBJECT: frozenset({Members, Size}),
}


class Restriction:
    """Restrictions to all kinds, with the definitions that references lead to."""

    def __init__(self, definitions: Mapping[Hashable, Formula]) -> None:
        self.number = _ToKind(Kind.NUMBER, definitions)
        self.string = _ToKind(Kind.STRING, definitions)
        self.array = _ToKind(Kind.ARRAY, definitions)
        self.object = _ToKind(Kind.OBJECT, definitions)
        self._null = _ToKind(Kind.NULL, definitions)
        self._boolean = _ToKind(Kind.BOOLEAN, definitions)

    def null(self, formula: Formula) -> bool:
        """Whether null satisfies the formula."""
        return isinstance(self._null(formula), Always)

    def booleans(self, formula: Formula) -> tuple[bool, ...]:
        """The booleans that satisfy the formula: true before false."""
        restricted = self._boolean(formula)
        if isinstance(restricted, Always):
            return (True, False)
        return tuple(value for value in (True, False) if _holds(restricted, value))


class _ToKind:
    """The restriction to one kind."""

    def __init__(self, kind: Kind, definitions: Mapping[Hashable, Formula]) -> None:
        self.kind = kind
        self.statements = STATEMENTS[kind]
        self.definitions = definitions
        self.done: dict[Formula, Formula] = {}
        self.current_work: set[Hashable] = set()

    def __call__(self, formula: Formula) -> Formula:
        """What the formula says of values of the kind.

        Raises:
            SchemaError: a reference leads back to itself.
        """
        found = self.done.get(formula)
        if found is None:
            found = self.done[formula] = self._restricted(formula)
        return found

    def _restricted(self, formula: Formula) -> Formula:
        kind = type(formula)
        if kind is And:
            return self._all(formula)
        if kind is OfKind:
            return TRUE if formula._fields[0] is self.kind else FALSE
        if kind in self.statements:
            return formula
        if kind is Or:
            return disjunction([self(part) for part in formula._fields])
        if kind is Not:
            return negation(self(formula._fields[0]))
        if kind is Reference:
            return self._meant(formula._fields[0])
        return FALSE if kind is Never else TRUE

    def _all(self, formula: Formula) -> Formula:
        """The conjunction, left as soon as one part is not true of the kind at all."""
        kept = []
        for part in formula._fields:
            restricted = self(part)
            if restricted is FALSE:
                return FALSE
            if restricted is not TRUE:
                kept.append(restricted)
        return formula if tuple(kept) == formula._fields else conjunction(kept)

    def _meant(self, key: Hashable) -> Formula:
        """What a reference stands for."""
        if key in self.current_work:
            raise SchemaError("a reference leads back to itself without any value between", pointer=str(key))
        self.current_work.add(key)
        try:
            return self(self.definitions[key])
        finally:
            self.current_work.discard(key)


def only_kind(formula: Formula) -> Kind | None:
    """The kind that all values are of, where the formula says so at once."""
    for part in formula._fields if type(formula) is And else (formula,):
        if type(part) is OfKind:
            return part.kind
    return None


def _holds(formula: Formula, value: bool) -> bool:
    """Whether a boolean satisfies a formula about booleans."""
    match formula:
        case BooleanIs():
            return formula.value is value
        case Not():
            return not _holds(formula.part, value)
        case And():
            return all(_holds(part, value) for part in formula.parts)
        case Or():
            return any(_holds(part, value) for part in formula.parts)
    return isinstance(formula, Always)
