"""Formulas: a JSON Schema as a boolean combination of simple statements about one JSON value.

    Formula
    ├── Always, Never              TRUE, FALSE
    ├── Not, And, Or               combinations; `negation`, `conjunction` and `disjunction` make them, simplified
    ├── Reference                  what a definition says: the only way to recursion
    ├── OfKind                     the value is of a kind
    └── statements about values of one kind, each true of values of any other kind, as JSON Schema's keywords are
        booleans   BooleanIs
        numbers    NumberIn, Minimum, Maximum, MultipleOf, IsInteger
        strings    StringIn, Pattern, Format, TextLength
        arrays     ItemAt, ItemsFrom, Contains, Length, UniqueItems
        objects    Members, Size

Statements about names of members are formulas about strings. So `properties`, `patternProperties`,
`additionalProperties`, `propertyNames` and `required` are all `Members`: "every member whose name is so has a value
that is so", with a name that is required being `Not(Members(name, FALSE))`. Negation, conjunction and disjunction of
schemas are those of formulas; nothing else is needed for `allOf`, `anyOf`, `oneOf`, `not`, `if`, `dependentSchemas`.

Formulas are immutable and compare by structure, with hashes that are computed once. The order of parts is kept: it is
the order of the schema's properties.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from automata.limits import spend


class Kind(Enum):
    """The six kinds of JSON values."""

    NULL = "null"
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"


class Formula:
    """A statement about one JSON value. `_fields` are what makes it up, in order."""

    __slots__ = ("_fields", "_hash")
    _fields: tuple[Any, ...]
    _hash: int

    def __init__(self, *fields: Any) -> None:
        object.__setattr__(self, "_fields", fields)
        object.__setattr__(self, "_hash", hash((type(self).__name__, fields)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        assert isinstance(other, Formula)
        return self._hash == other._hash and self._fields == other._fields

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._fields))})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._fields


class Always(Formula):
    """True of every value; use `TRUE`."""

    __slots__ = ()


class Never(Formula):
    """True of no value; use `FALSE`."""

    __slots__ = ()


TRUE: Final = Always()
FALSE: Final = Never()


class Not(Formula):
    """The part is not true. Use `negation`."""

    __slots__ = ()

    @property
    def part(self) -> Formula:
        part: Formula = self._fields[0]
        return part


class And(Formula):
    """All parts are true; at least two. Use `conjunction`."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Formula, ...]:
        return self._fields


class Or(Formula):
    """Some part is true; at least two. Use `disjunction`."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Formula, ...]:
        return self._fields


class Reference(Formula):
    """What the definition with this key says (`Document.definitions`)."""

    __slots__ = ()

    def __init__(self, key: Hashable) -> None:
        super().__init__(key)

    @property
    def key(self) -> Hashable:
        key: Hashable = self._fields[0]
        return key


class OfKind(Formula):
    """The value is of this kind."""

    __slots__ = ()

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)

    @property
    def kind(self) -> Kind:
        kind: Kind = self._fields[0]
        return kind


class BooleanIs(Formula):
    """The boolean is this one."""

    __slots__ = ()

    def __init__(self, value: bool) -> None:
        super().__init__(value)

    @property
    def value(self) -> bool:
        value: bool = self._fields[0]
        return value


class NumberIn(Formula):
    """The number is one of these."""

    __slots__ = ()

    def __init__(self, values: frozenset[Fraction]) -> None:
        super().__init__(values)

    @property
    def values(self) -> frozenset[Fraction]:
        values: frozenset[Fraction] = self._fields[0]
        return values


class Minimum(Formula):
    """The number is at least `bound`, or greater than it where that is exclusive."""

    __slots__ = ()

    def __init__(self, bound: Fraction, exclusive: bool = False) -> None:
        super().__init__(bound, exclusive)

    @property
    def bound(self) -> Fraction:
        bound: Fraction = self._fields[0]
        return bound

    @property
    def exclusive(self) -> bool:
        exclusive: bool = self._fields[1]
        return exclusive


class Maximum(Minimum):
    """The number is at most `bound`, or less than it where that is exclusive."""

    __slots__ = ()


class MultipleOf(Formula):
    """The number is an integer times `step`, which is positive."""

    __slots__ = ()

    def __init__(self, step: Fraction) -> None:
        super().__init__(step)

    @property
    def step(self) -> Fraction:
        step: Fraction = self._fields[0]
        return step


class IsInteger(Formula):
    """The number is an integer; where `plain`, it must be written without fraction and exponent too (draft 4)."""

    __slots__ = ()

    def __init__(self, plain: bool = False) -> None:
        super().__init__(plain)

    @property
    def plain(self) -> bool:
        plain: bool = self._fields[0]
        return plain


class StringIn(Formula):
    """The string is one of these."""

    __slots__ = ()

    def __init__(self, texts: frozenset[str]) -> None:
        super().__init__(texts)

    @property
    def texts(self) -> frozenset[str]:
        texts: frozenset[str] = self._fields[0]
        return texts


class Pattern(Formula):
    """The ECMA-262 regular expression matches somewhere in the string."""

    __slots__ = ()

    def __init__(self, source: str) -> None:
        super().__init__(source)

    @property
    def source(self) -> str:
        source: str = self._fields[0]
        return source


class Format(Formula):
    """The string has a format that `constraints.json_schema.strings.formats` knows."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(name)

    @property
    def name(self) -> str:
        name: str = self._fields[0]
        return name


class _Bounded(Formula):
    """`low <= n`, and `n <= high` where there is a `high`."""

    __slots__ = ()

    def __init__(self, low: int, high: int | None) -> None:
        super().__init__(low, high)

    @property
    def low(self) -> int:
        low: int = self._fields[0]
        return low

    @property
    def high(self) -> int | None:
        high: int | None = self._fields[1]
        return high


class TextLength(_Bounded):
    """How many code points the string has."""

    __slots__ = ()


class ItemAt(Formula):
    """The item at `index`, if the array is that long, is so."""

    __slots__ = ()

    def __init__(self, index: int, item: Formula) -> None:
        super().__init__(index, item)

    @property
    def index(self) -> int:
        index: int = self._fields[0]
        return index

    @property
    def item(self) -> Formula:
        item: Formula = self._fields[1]
        return item


class ItemsFrom(ItemAt):
    """All items from `index` on are so."""

    __slots__ = ()


class Contains(Formula):
    """The number of items that are so is at least `low`, and at most `high` where there is one."""

    __slots__ = ()

    def __init__(self, item: Formula, low: int, high: int | None) -> None:
        super().__init__(item, low, high)

    @property
    def item(self) -> Formula:
        item: Formula = self._fields[0]
        return item

    @property
    def low(self) -> int:
        low: int = self._fields[1]
        return low

    @property
    def high(self) -> int | None:
        high: int | None = self._fields[2]
        return high


class Length(_Bounded):
    """How many items the array has."""

    __slots__ = ()


class UniqueItems(Formula):
    """No two items of the array are equal. `pointer` says where the schema asks for it."""

    __slots__ = ()

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)

    @property
    def pointer(self) -> str:
        pointer: str = self._fields[0]
        return pointer


class Members(Formula):
    """Every member of the object whose name is so has a value that is so; `names` is about strings."""

    __slots__ = ()

    def __init__(self, names: Formula, value: Formula) -> None:
        super().__init__(names, value)

    @property
    def names(self) -> Formula:
        names: Formula = self._fields[0]
        return names

    @property
    def value(self) -> Formula:
        value: Formula = self._fields[1]
        return value


class Size(_Bounded):
    """How many members the object has."""

    __slots__ = ()


def negation(part: Formula) -> Formula:
    """The statement that `part` is not true."""
    kind = type(part)
    if kind is Not:
        inner: Formula = part._fields[0]
        return inner
    if kind is Always:
        return FALSE
    return TRUE if kind is Never else Not(part)


def conjunction(parts: Iterable[Formula]) -> Formula:
    """All parts; flattened, without repetitions, and FALSE where a part and its negation stand together."""
    return _joined(parts, And, Always, FALSE)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """Some part; flattened, without repetitions, and TRUE where a part and its negation stand together."""
    return _joined(parts, Or, Never, TRUE)


def _joined(
    parts: Iterable[Formula], kind: type[And] | type[Or], neutral: type[Formula], absorbing: Formula
) -> Formula:
    kept: dict[Formula, None] = {}
    negated: set[Formula] = set()
    absorbs = type(absorbing)
    count = 4
    for part in parts:
        own = type(part)
        if own is neutral:
            continue
        inners = part._fields if own is kind else (part,)
        count += len(inners)
        for inner in inners:
            own = type(inner)
            if own is absorbs or (negated and inner in negated):
                return absorbing
            if own is Not:
                if inner._fields[0] in kept:
                    return absorbing
                negated.add(inner._fields[0])
            kept[inner] = None
    spend(4 * count)
    if len(kept) == 1:
        return kept.popitem()[0]
    if kept:
        return kind(*kept)
    return TRUE if kind is And else FALSE


def has_name(*names: str) -> Formula:
    """The object has a member of each of these names."""
    return conjunction(map(_has, names))


@lru_cache(maxsize=4096)
def _has(name: str) -> Formula:
    return Not(Members(StringIn(frozenset([name])), FALSE))
