"""Restriction: what a formula says of values of one kind.

    Restriction       for each kind of value, what is left of a formula if the value is known to be of it
      .null(F)        whether null satisfies it
      .booleans(F)    which booleans satisfy it
      .number(F), .string(F), .array(F), .object(F)      a formula about such values alone
    only_kind(F)      the kind of all values that satisfy F, where F names it

A statement about values of another kind is true of the value, so it goes; a reference is replaced by its definition. A
reference that leads back to itself before any value within the value is looked at says nothing at all, which JSON
Schema forbids (2020-12 Core, section 9.4.1).

Results are kept: a definition that is used in a hundred places is looked at once for each kind.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from automata.errors import SchemaError
from constraints.json_schema.formulas.connectives import (
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
from constraints.recursion import Task, run

STATEMENTS: Final[dict[Kind, frozenset[type[Formula]]]] = {
    Kind.NULL: frozenset(),
    Kind.BOOLEAN: frozenset({BooleanIs}),
    Kind.NUMBER: frozenset({NumberIn, Minimum, Maximum, MultipleOf, IsInteger}),
    Kind.STRING: frozenset({StringIn, Pattern, Matches, Format, TextLength}),
    Kind.ARRAY: frozenset({ItemAt, ItemsFrom, Contains, ItemCount, UniqueItems}),
    Kind.OBJECT: frozenset({Members, MemberCount}),
}

_COMPOUND: Final = frozenset({And, Or, Not, Reference})


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
        """Return whether null satisfies a formula."""
        return isinstance(self._null(formula), Always)

    def booleans(self, formula: Formula) -> tuple[bool, ...]:
        """Return the booleans that satisfy a formula, true before false."""
        restricted = self._boolean(formula)
        if type(restricted) is Always:
            return (True, False)
        holds = (truth(restricted, lambda part: part.fields[0]), truth(restricted, lambda part: not part.fields[0]))
        return tuple([value for value, is_so in zip((True, False), holds, strict=True) if is_so])


class _ToKind:
    """The restriction to one kind."""

    def __init__(self, kind: Kind, definitions: Mapping[Hashable, Formula]) -> None:
        self.kind = kind
        self.statements = STATEMENTS[kind]
        self.definitions = definitions
        self.done: dict[Formula, Formula] = {}
        self.under_way: set[Hashable] = set()

    def __call__(self, formula: Formula) -> Formula:
        """Return what a formula says of values of the kind.

        Raises:
            SchemaError: a reference leads back to itself.
            KeyError: a reference has no definition.
        """
        found = self._known(formula)
        return run(self._restricted(formula)) if found is None else found

    def _known(self, formula: Formula) -> Formula | None:
        """Return the restriction where it is known without recursion."""
        kind = type(formula)
        if kind in self.statements:
            return formula
        if kind in _COMPOUND:
            return self.done.get(formula)
        if kind is OfKind:
            return TRUE if formula.fields[0] is self.kind else FALSE
        return FALSE if kind is Never else TRUE

    def _restricted(self, formula: Formula) -> Task[Formula]:
        kind = type(formula)
        if kind is And:
            result = yield from self._all(formula)
        elif kind is Reference:
            result = yield from self._defined(formula.fields[0])
        else:
            parts = []
            for part in formula.fields:
                found = self._known(part)
                parts.append((yield self._restricted(part)) if found is None else found)
            result = negation(parts[0]) if kind is Not else disjunction(parts)
        self.done[formula] = result
        return result

    def _all(self, formula: Formula) -> Task[Formula]:
        """Restrict a conjunction; stop at the first part that no value of the kind satisfies."""
        kept = []
        for part in formula.fields:
            found = self._known(part)
            restricted = (yield self._restricted(part)) if found is None else found
            if restricted is FALSE:
                return FALSE
            if restricted is not TRUE:
                kept.append(restricted)
        return formula if tuple(kept) == formula.fields else conjunction(kept)

    def _defined(self, key: Hashable) -> Task[Formula]:
        """Restrict the definition with a key."""
        if key in self.under_way:
            raise SchemaError("a reference leads back to itself without any value between", pointer=_place(key))
        self.under_way.add(key)
        try:
            definition = self.definitions[key]
            found = self._known(definition)
            return (yield self._restricted(definition)) if found is None else found
        finally:
            self.under_way.discard(key)


def _place(key: Hashable) -> str:
    """Return where the definition with a key is: the first text in it, beside scopes and numbers of alternatives."""
    while isinstance(key, tuple):
        key = key[isinstance(key[0], int)]
    return str(key)


def only_kind(formula: Formula) -> Kind | None:
    """Return the kind of all values that satisfy a formula, where the formula names it."""
    for part in parts_of(formula):
        if type(part) is OfKind:
            return part.kind
    return None
