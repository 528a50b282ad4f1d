"""Finite: the values that satisfy a formula, if they are few.

    finite_values(F, ...)    all values that satisfy F, and possibly some that do not; None if they may be too many
    equal_to(value)          the formula that holds only for one value
    constant_of(F)           that value again

Values are hashable, and equal if JSON Schema says so: 1 and 1.0 are the same `Fraction`, arrays are tuples, and objects
are tuples of their members by name.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import TypeAlias

from constraints.json_schema.formulas.connectives import (
    FALSE,
    Always,
    And,
    Formula,
    Never,
    Or,
    conjunction,
    negation,
    parts_of,
)
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import (
    BooleanIs,
    IsInteger,
    ItemAt,
    ItemCount,
    Kind,
    Maximum,
    MemberCount,
    Members,
    Minimum,
    NumberIn,
    OfKind,
    StringIn,
    has_name,
    required_name,
)
from constraints.json_schema.numbers import number_matches
from constraints.json_schema.strings import string_matches

# A kind, and what tells the values of this kind apart.
Value: TypeAlias = tuple[Kind, Hashable]
_Values: TypeAlias = set[Value] | None
_Read: TypeAlias = Callable[[Formula], _Values]

# The most arrays, objects and combinations within each other from which values are read.
MAX_DEPTH = 24


def equal_to(value: Value) -> Formula:
    """Return the formula that holds for one value alone."""
    kind, content = value
    parts: list[Formula] = [OfKind(kind)]
    if isinstance(content, bool):
        parts.append(BooleanIs(content))
    elif isinstance(content, Fraction):
        parts.append(NumberIn(frozenset([content])))
    elif isinstance(content, str):
        parts.append(StringIn(frozenset([content])))
    elif isinstance(content, tuple) and kind is Kind.ARRAY:
        parts.append(ItemCount(len(content), len(content)))
        parts += [ItemAt(place, equal_to(item)) for place, item in enumerate(content)]
    elif isinstance(content, tuple):
        parts.append(MemberCount(len(content), len(content)))
        for name, member in content:
            parts += [has_name(name), Members(StringIn(frozenset([name])), equal_to(member))]
    return conjunction(parts)


def constant_of(formula: Formula, depth: int = MAX_DEPTH) -> Value | None:
    """Return the only value of a formula that `equal_to`, `const` or `enum` makes of one; None for others.

    Args:
        formula: the formula.
        depth: how deeply arrays and objects may be nested in the value.
    """
    parts = parts_of(formula)
    kinds = [part.kind for part in parts if isinstance(part, OfKind)]
    contents = [part for part in parts if not isinstance(part, OfKind)]
    if len(kinds) != 1 or depth < 0:
        return None
    if kinds[0] is Kind.ARRAY:
        return _constant_array(contents, depth - 1)
    if kinds[0] is Kind.OBJECT:
        return _constant_object(contents, depth - 1)
    match kinds[0], contents:
        case Kind.NULL, []:
            return Kind.NULL, None
        case Kind.BOOLEAN, [BooleanIs() as content]:
            return Kind.BOOLEAN, content.value
        case Kind.NUMBER, [NumberIn() as content] if len(content.values) == 1:
            return Kind.NUMBER, next(iter(content.values))
        case Kind.STRING, [StringIn() as content] if len(content.texts) == 1:
            return Kind.STRING, next(iter(content.texts))
    return None


def _constant_array(parts: list[Formula], depth: int) -> Value | None:
    items = {part.index: constant_of(part.item, depth) for part in parts if isinstance(part, ItemAt)}
    counts = [part for part in parts if isinstance(part, ItemCount)]
    is_whole = len(counts) == 1 and len(items) + 1 == len(parts) and counts[0].low == counts[0].high == len(items)
    if not is_whole or None in items.values() or set(items) != set(range(len(items))):
        return None
    return Kind.ARRAY, tuple(items[index] for index in range(len(items)))


def _constant_object(parts: list[Formula], depth: int) -> Value | None:
    required = {name for part in parts if (name := required_name(part)) is not None}
    members: dict[str, Value | None] = {}
    is_closed = False
    for part in parts:
        if isinstance(part, MemberCount):
            is_closed = part.low == part.high == len(required)
        elif isinstance(part, Members) and isinstance(part.names, StringIn) and len(part.names.texts) == 1:
            members[next(iter(part.names.texts))] = constant_of(part.value, depth)
        elif isinstance(part, Members) and part.value == FALSE:
            is_closed = part.names == negation(StringIn(frozenset(required)))
        elif required_name(part) is None:
            return None
    is_whole = is_closed and len(parts) == 2 * len(required) + 1  # each member and its name once, and no others
    if not is_whole or None in members.values() or members.keys() != required:
        return None
    return Kind.OBJECT, tuple(sorted(members.items()))


def finite_values(formula: Formula, restriction: Restriction, most: int) -> set[Value] | None:
    """Return all values that satisfy a formula, and possibly more; None if there may be more than `most`."""
    return _Finite(restriction, most).values(formula)


class _Finite:
    """Finds sets of up to `most` values that include all values of a formula; None where there may be more."""

    def __init__(self, restriction: Restriction, most: int) -> None:
        self.restriction = restriction
        self.most = most
        self.depth = 0

    def values(self, formula: Formula) -> _Values:
        to = self.restriction
        found: set[Value] = {(Kind.NULL, None)} if to.null(formula) else set()
        found |= {(Kind.BOOLEAN, value) for value in to.booleans(formula)}
        kinds: list[tuple[Formula, _Read]] = [
            (to.number(formula), self.numbers),
            (to.string(formula), self.strings),
            (to.array(formula), self.arrays),
            (to.object(formula), self.objects),
        ]
        for restricted, read in kinds:
            if isinstance(restricted, Always):
                return None
            more: _Values = set() if isinstance(restricted, Never) else self.inside(restricted, read)
            if more is None:
                return None
            found |= more
        return found if len(found) <= self.most else None

    def inside(self, formula: Formula, read: _Read) -> _Values:
        """Return the values of a part of a formula; None if it is nested too deeply."""
        if self.depth == MAX_DEPTH:
            return None
        self.depth += 1
        try:
            return read(formula)
        finally:
            self.depth -= 1

    def either(self, formula: Or, read: _Read) -> _Values:
        """Return the values of all parts."""
        found: set[Value] = set()
        for part in formula.parts:
            more = self.inside(part, read)
            if more is None:
                return None
            found |= more
        return found

    def fewest(self, formula: And, read: _Read) -> _Values:
        """Return the values of the part that has the fewest."""
        found = [values for part in formula.parts if (values := self.inside(part, read)) is not None]
        return min(found, key=len, default=None)

    def numbers(self, formula: Formula) -> _Values:
        found = self.listed(formula, self.numbers)
        if found is None and isinstance(formula, And):
            found = self.integers(formula)
        if found is None:
            return None
        return {value for value in found if isinstance(value[1], Fraction) and number_matches(formula, value[1])}

    def integers(self, formula: And) -> _Values:
        """Return the integers between the bounds; None if a bound is missing, if they are too many, or if the formula
        does not ask for integers."""
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

    def listed(self, formula: Formula, read: _Read) -> _Values:
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
        found = None if isinstance(formula, Or) else self.arrays_of_items(parts_of(formula))
        return self.listed(formula, self.arrays) if found is None else found

    def arrays_of_items(self, parts: tuple[Formula, ...]) -> _Values:
        """Return the arrays that satisfy some statements, if the items of a bounded number have finite sets."""
        highs = [part.high for part in parts if isinstance(part, ItemCount) and part.high is not None]
        if not highs or min(highs) > self.most:
            return None
        low = max(part.low for part in parts if isinstance(part, ItemCount))
        choices: list[set[Value]] = []
        for place in range(min(highs)):
            found = self.values(item_at(parts, place))
            if found is None:
                return None
            choices.append(found)
        return self.rows(Kind.ARRAY, [choices[:length] for length in range(low, min(highs) + 1)], tuple)

    def objects(self, formula: Formula) -> _Values:
        found = None if isinstance(formula, Or) else self.objects_of_members(parts_of(formula))
        return self.listed(formula, self.objects) if found is None else found

    def objects_of_members(self, parts: tuple[Formula, ...]) -> _Values:
        """Return the objects that satisfy some statements, if all members are required and have finite sets."""
        highs = [part.high for part in parts if isinstance(part, MemberCount) and part.high is not None]
        names = sorted({name for part in parts if (name := required_name(part)) is not None})
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
        """Return the arrays or objects with one value from each choice, for each alternative list of choices."""
        found: set[Value] = set()
        for choices in alternatives:
            for row in product(*choices):
                found.add((kind, join(row)))
                if len(found) > self.most:
                    return None
        return found


def item_at(parts: tuple[Formula, ...], place: int) -> Formula:
    """Return what statements about an array say about the item at a place."""
    return conjunction(part.item for part in parts if isinstance(part, ItemAt) and part.is_about(place))


def _of_member(parts: tuple[Formula, ...], name: str) -> list[Formula]:
    """Return what statements about an object require of the value of the member with a name."""
    return [
        part.value
        for part in parts
        if isinstance(part, Members) and isinstance(part.names, StringIn) and name in part.names.texts
    ]
