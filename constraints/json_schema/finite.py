"""Finite sets of values, read off a formula.

    finite_values(F, ...)    all values that satisfy F, and possibly some that do not; None where they may be too many
    equal_to(value)          the formula that holds of one value alone

Values are hashable and equal where JSON Schema says that they are: 1 and 1.0 are one `Fraction`, arrays are tuples, and
objects are tuples of their members by name.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import TypeAlias

from constraints.json_schema.formula import (
    Always,
    And,
    BooleanIs,
    Formula,
    IsInteger,
    ItemAt,
    ItemsFrom,
    Kind,
    Length,
    Maximum,
    Members,
    Minimum,
    Never,
    Not,
    NumberIn,
    OfKind,
    Or,
    Size,
    StringIn,
    conjunction,
    has_name,
)
from constraints.json_schema.numbers import number_matches
from constraints.json_schema.restriction import Restriction
from constraints.json_schema.strings import string_matches

# A kind and what tells values of the kind apart.
Value: TypeAlias = tuple[Kind, Hashable]
_Values: TypeAlias = set[Value] | None


def equal_to(value: Value) -> Formula:
    """The formula that holds of this value alone."""
    kind, content = value
    parts: list[Formula] = [OfKind(kind)]
    if isinstance(content, bool):
        parts.append(BooleanIs(content))
    elif isinstance(content, Fraction):
        parts.append(NumberIn(frozenset([content])))
    elif isinstance(content, str):
        parts.append(StringIn(frozenset([content])))
    elif isinstance(content, tuple) and kind is Kind.ARRAY:
        parts.append(Length(len(content), len(content)))
        parts += [ItemAt(place, equal_to(item)) for place, item in enumerate(content)]
    elif isinstance(content, tuple):
        parts.append(Size(len(content), len(content)))
        for name, member in content:
            parts += [has_name(name), Members(StringIn(frozenset([name])), equal_to(member))]
    return conjunction(parts)


def finite_values(formula: Formula, restriction: Restriction, most: int) -> set[Value] | None:
    """All values that satisfy a formula, and possibly more; None where there may be more than `most`."""
    return _Finite(restriction, most).values(formula)


class _Finite:
    """Reads sets of up to `most` values off formulas."""

    def __init__(self, restriction: Restriction, most: int) -> None:
        self.restriction = restriction
        self.most = most

    def values(self, formula: Formula) -> _Values:
        to = self.restriction
        found: set[Value] = {(Kind.NULL, None)} if to.null(formula) else set()
        found |= {(Kind.BOOLEAN, value) for value in to.booleans(formula)}
        kinds: list[tuple[Formula, Callable[[Formula], _Values]]] = [
            (to.number(formula), self.numbers),
            (to.string(formula), self.strings),
            (to.array(formula), self.arrays),
            (to.object(formula), self.objects),
        ]
        for restricted, read in kinds:
            if isinstance(restricted, Always):
                return None
            more: _Values = set() if isinstance(restricted, Never) else read(restricted)
            if more is None:
                return None
            found |= more
        return found if len(found) <= self.most else None

    def either(self, formula: Or, read: Callable[[Formula], _Values]) -> _Values:
        """All values of all parts."""
        found: set[Value] = set()
        for part in formula.parts:
            more = read(part)
            if more is None:
                return None
            found |= more
        return found

    def fewest(self, formula: And, read: Callable[[Formula], _Values]) -> _Values:
        """The values of that part which has the fewest."""
        found = [values for part in formula.parts if (values := read(part)) is not None]
        return min(found, key=len, default=None)

    def numbers(self, formula: Formula) -> _Values:
        found = self.listed(formula, self.numbers)
        if found is None and isinstance(formula, And):
            found = self.integers(formula)
        if found is None:
            return None
        return {value for value in found if isinstance(value[1], Fraction) and number_matches(formula, value[1])}

    def integers(self, formula: And) -> _Values:
        """The integers between two bounds."""
        if not any(isinstance(part, IsInteger) for part in formula.parts):
            return None
        lows = [ceil(part.bound) for part in formula.parts if type(part) is Minimum]
        highs = [floor(part.bound) for part in formula.parts if type(part) is Maximum]
        if not lows or not highs or min(highs) - max(lows) > self.most:
            return None
        return {(Kind.NUMBER, Fraction(value)) for value in range(max(lows), min(highs) + 1)}

    def strings(self, formula: Formula) -> _Values:
        found = self.listed(formula, self.strings)
        if found is None:
            return None
        return {value for value in found if isinstance(value[1], str) and string_matches(formula, value[1])}

    def listed(self, formula: Formula, read: Callable[[Formula], _Values]) -> _Values:
        match formula:
            case StringIn():
                return {(Kind.STRING, text) for text in formula.texts}
            case NumberIn():
                return {(Kind.NUMBER, number) for number in formula.values}
            case Or():
                return self.either(formula, read)
            case And():
                return self.fewest(formula, read)
        return None

    def arrays(self, formula: Formula) -> _Values:
        if isinstance(formula, Or):
            return self.either(formula, self.arrays)
        parts = formula.parts if isinstance(formula, And) else (formula,)
        highs = [part.high for part in parts if isinstance(part, Length) and part.high is not None]
        if not highs or min(highs) > self.most:
            return None
        low = max(part.low for part in parts if isinstance(part, Length))
        choices: list[set[Value]] = []
        for place in range(min(highs)):
            found = self.values(item_at(parts, place))
            if found is None:
                return None
            choices.append(found)
        return self.rows(Kind.ARRAY, [choices[:length] for length in range(low, min(highs) + 1)], tuple)

    def objects(self, formula: Formula) -> _Values:
        if isinstance(formula, Or):
            return self.either(formula, self.objects)
        parts = formula.parts if isinstance(formula, And) else (formula,)
        highs = [part.high for part in parts if isinstance(part, Size) and part.high is not None]
        names = sorted({name for part in parts if (name := _required(part)) is not None})
        if not highs or len(names) < min(highs):
            return None
        choices = []
        for name in names:
            found = self.values(conjunction(_of_member(parts, name)))
            if found is None:
                return None
            choices.append(found)
        return self.rows(Kind.OBJECT, [choices], lambda row: tuple(zip(names, row, strict=True)))

    def rows(
        self, kind: Kind, alternatives: list[list[set[Value]]], join: Callable[[tuple[Value, ...]], Hashable]
    ) -> _Values:
        """One value of each choice."""
        found: set[Value] = set()
        for choices in alternatives:
            for row in product(*choices):
                found.add((kind, join(row)))
                if len(found) > self.most:
                    return None
        return found


def item_at(parts: tuple[Formula, ...], place: int) -> Formula:
    """What statements about an array say of the item at a place."""
    return conjunction(part.item for part in parts if isinstance(part, ItemAt) and _covers(part, place))


def _covers(part: ItemAt, place: int) -> bool:
    return part.index <= place if isinstance(part, ItemsFrom) else part.index == place


def _required(part: Formula) -> str | None:
    """The name that a statement requires."""
    if isinstance(part, Not) and isinstance(part.part, Members):
        names = part.part.names
        if isinstance(names, StringIn) and len(names.texts) == 1:
            return next(iter(names.texts))
    return None


def _of_member(parts: tuple[Formula, ...], name: str) -> list[Formula]:
    """What statements say of the value of the member with a name, in part."""
    return [
        part.value
        for part in parts
        if isinstance(part, Members) and isinstance(part.names, StringIn) and name in part.names.texts
    ]
