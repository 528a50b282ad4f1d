"""Restriction: a formula, restricted to values of one kind.

    Restriction       for each kind of value, the formula that remains if the value is known to be of this kind
      .null(F)        whether null satisfies it
      .booleans(F)    which booleans satisfy it
      .number(F), .string(F), .array(F), .object(F)      a formula about such values alone
    only_kind(F)      the kind of all values that satisfy F, where F names it

A statement about values of another kind is true, so it is removed; a reference is replaced by its definition. A
reference that leads back to itself without going into a part of the value has no meaning, which JSON Schema forbids
(2020-12 Core, section 9.4.1).

Results are cached: a definition that is used in a hundred places is processed once for each kind.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from automata.errors import SchemaError
from constraints._native import ToKind
from constraints.json_schema.formulas.connectives import (
    Always,
    Formula,
    parts_of,
    truth,
)
from constraints.json_schema.formulas.statements import (
    BooleanIs,
    Contains,
    Format,
    IsInteger,
    ItemAt,
    ItemCount,
    ItemsFrom,
    Kind,
    Matches,
    Maximum,
    MemberCount,
    Members,
    Minimum,
    MultipleOf,
    NumberIn,
    OfKind,
    Pattern,
    Reference,
    StringIn,
    TextLength,
    UniqueItems,
)

STATEMENTS: Final[dict[Kind, frozenset[type[Formula]]]] = {
    Kind.NULL: frozenset(),
    Kind.BOOLEAN: frozenset({BooleanIs}),
    Kind.NUMBER: frozenset({NumberIn, Minimum, Maximum, MultipleOf, IsInteger}),
    Kind.STRING: frozenset({StringIn, Pattern, Matches, Format, TextLength}),
    Kind.ARRAY: frozenset({ItemAt, ItemsFrom, Contains, ItemCount, UniqueItems}),
    Kind.OBJECT: frozenset({Members, MemberCount}),
}


class Restriction:
    """The restrictions to all kinds, given the definitions to which references lead. Each raises `SchemaError` if a
    reference leads back to itself, and `KeyError` if it has no definition."""

    def __init__(self, definitions: Mapping[Hashable, Formula]) -> None:
        self.number = _to_kind(Kind.NUMBER, definitions)
        self.string = _to_kind(Kind.STRING, definitions)
        self.array = _to_kind(Kind.ARRAY, definitions)
        self.object = _to_kind(Kind.OBJECT, definitions)
        self._null = _to_kind(Kind.NULL, definitions)
        self._boolean = _to_kind(Kind.BOOLEAN, definitions)

    def null(self, formula: Formula) -> bool:
        """Return whether null satisfies a formula."""
        return isinstance(self._null(formula), Always)

    def booleans(self, formula: Formula) -> tuple[bool, ...]:
        """Return the booleans that satisfy a formula, true before false."""
        restricted = self._boolean(formula)
        if type(restricted) is Always:
            return (True, False)
        holds = (truth(restricted, lambda part: part.fields[0]), truth(restricted, lambda part: not part.fields[0]))
        return tuple([value for value, is_so in zip((True, False), holds, strict=True) if is_so])


def _to_kind(kind: Kind, definitions: Mapping[Hashable, Formula]) -> ToKind:
    """Return the restriction to one kind. It stops at the first part of a conjunction that no value of the kind
    satisfies."""
    return ToKind(kind, STATEMENTS[kind], OfKind, Reference, definitions, _refuse_circle)


def _refuse_circle(key: Hashable) -> None:
    raise SchemaError("a reference leads back to itself without any value between", pointer=_place(key))


def _place(key: Hashable) -> str:
    """Return the place of the definition with a key. The key is the place itself, or a tuple: the place and scopes, or
    the number of a schema and another key."""
    while isinstance(key, tuple):
        key = key[isinstance(key[0], int)]
    return str(key)


def only_kind(formula: Formula) -> Kind | None:
    """Return the kind of all values that satisfy a formula; None if the formula names no kind."""
    for part in parts_of(formula):
        if type(part) is OfKind:
            return part.kind
    return None
