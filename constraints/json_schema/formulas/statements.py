"""Statements: what one keyword says about values of one kind. Each is true for every value of any other kind.

    any kind    OfKind; Reference, which holds if a definition does, and is the only source of recursion
    booleans    BooleanIs
    numbers     NumberIn, Minimum, Maximum, MultipleOf, IsInteger
    strings     StringIn, Pattern, Matches, Format, TextLength
    arrays      ItemAt, ItemsFrom, Contains, ItemCount, UniqueItems
    objects     Members, MemberCount

As in JSON Schema, `{"minLength": 2}` is true for 7. Formulas about strings describe the names of members, so
`properties`, `patternProperties`, `additionalProperties`, `propertyNames` and `required` are all `Members`. A required
name is `Not(Members(name, FALSE))`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import Enum
from fractions import Fraction

from automata.cache import kept
from automata.expressions import Expr
from constraints.json_schema.formulas.connectives import FALSE, TRUE, Formula, Not, conjunction, field


class Kind(Enum):
    """The six kinds of JSON values."""

    NULL = "null"
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"

    # Each member is one object, so its identity will do; `Enum` hashes the name, by a slower function in Python.
    __hash__ = object.__hash__


class Reference(Formula):
    """The definition with this key (`SchemaDocument.definitions`) holds."""

    __slots__ = ()
    key: Hashable = field(0)

    def __init__(self, key: Hashable) -> None:
        super().__init__(key)


class OfKind(Formula):
    """The value is of this kind."""

    __slots__ = ()
    kind: Kind = field(0)

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)


class BooleanIs(Formula):
    """The boolean is this one."""

    __slots__ = ()
    value: bool = field(0)

    def __init__(self, value: bool) -> None:
        super().__init__(value)


class NumberIn(Formula):
    """The number is one of these."""

    __slots__ = ()
    values: frozenset[Fraction] = field(0)

    def __init__(self, values: frozenset[Fraction]) -> None:
        super().__init__(values)


class Minimum(Formula):
    """The number is at least `bound`, or greater than it where that is exclusive."""

    __slots__ = ()
    bound: Fraction = field(0)
    exclusive: bool = field(1)

    def __init__(self, bound: Fraction, exclusive: bool = False) -> None:
        super().__init__(bound, exclusive)


class Maximum(Minimum):
    """The number is at most `bound`, or less than it where that is exclusive."""

    __slots__ = ()


class MultipleOf(Formula):
    """The number is an integer times `step`, which is positive."""

    __slots__ = ()
    step: Fraction = field(0)

    def __init__(self, step: Fraction) -> None:
        super().__init__(step)


class IsInteger(Formula):
    """The number is an integer; where `plain`, it must be written without fraction and exponent too (draft 4)."""

    __slots__ = ()
    plain: bool = field(0)

    def __init__(self, plain: bool = False) -> None:
        super().__init__(plain)


class StringIn(Formula):
    """The string is one of these."""

    __slots__ = ()
    texts: frozenset[str] = field(0)

    def __init__(self, texts: frozenset[str]) -> None:
        super().__init__(texts)


class Pattern(Formula):
    """The ECMA-262 regular expression matches somewhere in the string."""

    __slots__ = ()
    source: str = field(0)

    def __init__(self, source: str) -> None:
        super().__init__(source)


class Matches(Formula):
    """The whole string is a text of an expression."""

    __slots__ = ()
    expr: Expr = field(0)

    def __init__(self, expr: Expr) -> None:
        super().__init__(expr)


class Format(Formula):
    """The string has a format that `constraints.json_schema.strings.formats` knows."""

    __slots__ = ()
    name: str = field(0)

    def __init__(self, name: str) -> None:
        super().__init__(name)


class _Bounded(Formula):
    """A number n with `low <= n`, and `n <= high` where `high` is not None."""

    __slots__ = ()
    low: int = field(0)
    high: int | None = field(1)

    def __init__(self, low: int, high: int | None) -> None:
        super().__init__(low, high)


class TextLength(_Bounded):
    """The number of code points of the string lies within bounds."""

    __slots__ = ()


class ItemAt(Formula):
    """The item at `index` satisfies `item`, if the array is that long."""

    __slots__ = ()
    index: int = field(0)
    item: Formula = field(1)

    def __init__(self, index: int, item: Formula) -> None:
        super().__init__(index, item)

    def is_about(self, place: int) -> bool:
        """Return whether this statement is about the item at a place."""
        return self.index == place


class ItemsFrom(ItemAt):
    """All items from `index` on satisfy `item`."""

    __slots__ = ()

    def is_about(self, place: int) -> bool:
        """Return whether this statement is about the item at a place."""
        return self.index <= place


class Contains(Formula):
    """The number of items that satisfy `item` lies within bounds."""

    __slots__ = ()
    item: Formula = field(0)
    low: int = field(1)
    high: int | None = field(2)

    def __init__(self, item: Formula, low: int, high: int | None) -> None:
        super().__init__(item, low, high)


class ItemCount(_Bounded):
    """The number of items of the array lies within bounds."""

    __slots__ = ()


class UniqueItems(Formula):
    """No two items of the array are equal. `pointer` is where the schema says so."""

    __slots__ = ()
    pointer: str = field(0)

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)


class Members(Formula):
    """Every member whose name satisfies `names`, a formula about strings, has a value that satisfies `value`."""

    __slots__ = ()
    names: Formula = field(0)
    value: Formula = field(1)

    def __init__(self, names: Formula, value: Formula) -> None:
        super().__init__(names, value)


class MemberCount(_Bounded):
    """The number of members of the object lies within bounds."""

    __slots__ = ()


def bounded(statement: Callable[[int, int | None], Formula], low: int, high: int | None) -> Formula:
    """Return the statement that a number of items, members or the like lies within bounds; TRUE or FALSE if every
    number does, or none."""
    if high is not None and high < max(low, 0):
        return FALSE
    return TRUE if low <= 0 and high is None else statement(max(low, 0), high)


def one_less(bound: int | None) -> int | None:
    """Return the upper bound on what may follow one more item or member; None for no bound."""
    return None if bound is None else bound - 1


def has_name(*names: str) -> Formula:
    """Return the formula of the objects that have a member of each of these names."""
    return conjunction(map(_has, names))


@kept(4096)
def _has(name: str) -> Formula:
    return Not(Members(StringIn(frozenset([name])), FALSE))


def required_name(formula: Formula) -> str | None:
    """Return the name that a formula requires: NAME of `has_name(NAME)`, also where its value must satisfy more."""
    if type(formula) is Not and type(formula.part) is Members:
        names = formula.part.names
        if type(names) is StringIn and len(names.texts) == 1:
            return next(iter(names.texts))
    return None
