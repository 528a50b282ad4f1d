"""Disjointness: when two formulas certainly hold for no value together, so that `oneOf` need not say so.

`oneOf` is "this one and none of the others". Most schemas that use it mean a tagged union, where the others cannot hold
anyway; the plain disjunction is then the same, and far smaller to compile. What is looked at is the outline of a
formula, which is what it says at first sight, and more values may fit an outline than its formula:

    kinds               the kinds of values it may hold for
    texts, numbers      the only strings and numbers it may hold for, or None
    needed              the names that an object must have
    values              what the value of a name must be
    names               the only names an object may have, or None

Two outlines exclude each other if they do so for each kind that they share; for objects, if a name that one needs is
one that the other must not have, or its values exclude each other, as those of a tag do.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeVar

from constraints.json_schema.formula import (
    FALSE,
    And,
    BooleanIs,
    Formula,
    Kind,
    Members,
    Never,
    Not,
    NumberIn,
    OfKind,
    Or,
    Reference,
    StringIn,
)

_T = TypeVar("_T")
_ALL_KINDS: Final = frozenset(Kind)
_STRINGS: Final = frozenset((Kind.STRING,))
_DEPTH: Final = 4  # how deep values of members, and references, are looked into


@dataclass(slots=True, eq=False)
class _Outline:
    kinds: frozenset[Kind] = _ALL_KINDS
    texts: frozenset[str] | None = None
    numbers: frozenset[Fraction] | None = None
    booleans: frozenset[bool] | None = None
    needed: set[str] = field(default_factory=set)
    values: dict[str, list[Formula]] = field(default_factory=dict)
    names: frozenset[str] | None = None


class Outlines:
    """Outlines of formulas, kept; `definitions` is what references say so far."""

    def __init__(self, definitions: Mapping[Hashable, Formula]) -> None:
        self._definitions = definitions
        self._known: dict[tuple[Formula, int], _Outline] = {}

    def compatible(self, parts: Sequence[Formula]) -> list[list[int]]:
        """For each part the others, by index, that may hold for a value that it holds for."""
        outlines = [self._outline(part, _DEPTH) for part in parts]
        texts = [outline.texts for outline in outlines if outline.texts is not None and outline.kinds == _STRINGS]
        if len(texts) == len(parts) and sum(map(len, texts)) == len(frozenset().union(*texts)):
            return [[] for _ in parts]  # many strings, each a schema with a description: no need to compare pairs
        found: list[list[int]] = [[] for _ in parts]
        for i, part in enumerate(parts):
            for j in range(i):
                if not self.exclude(part, parts[j]):
                    found[i].append(j)
                    found[j].append(i)
        return found

    def exclude(self, one: Formula, other: Formula, depth: int = _DEPTH) -> bool:
        """Whether no value can satisfy both; if False, some may."""
        a, b = self._outline(one, depth), self._outline(other, depth)
        return all(self._exclude(kind, a, b, depth) for kind in a.kinds & b.kinds)

    def _exclude(self, kind: Kind, a: _Outline, b: _Outline, depth: int) -> bool:
        if kind is Kind.STRING:
            return a.texts is not None and b.texts is not None and a.texts.isdisjoint(b.texts)
        if kind is Kind.NUMBER:
            return a.numbers is not None and b.numbers is not None and a.numbers.isdisjoint(b.numbers)
        if kind is Kind.BOOLEAN:
            return a.booleans is not None and b.booleans is not None and a.booleans.isdisjoint(b.booleans)
        if kind is not Kind.OBJECT:
            return False
        return any(self._cannot_have(name, a, b, depth) for name in a.needed | b.needed)

    def _cannot_have(self, name: str, a: _Outline, b: _Outline, depth: int) -> bool:
        for outline in (a, b):
            if outline.names is not None and name not in outline.names:
                return True
        if depth == 0:
            return False
        pairs = ((one, other) for one in a.values.get(name, ()) for other in b.values.get(name, ()))
        return any(self.exclude(one, other, depth - 1) for one, other in pairs)

    def _outline(self, formula: Formula, depth: int) -> _Outline:
        known = self._known.get((formula, depth))
        if known is None:
            known = self._known[formula, depth] = self._drawn(formula, depth)
        return known

    def _drawn(self, formula: Formula, depth: int) -> _Outline:
        if isinstance(formula, And):
            outline = _Outline()
            for part in formula.parts:
                _meet(outline, self._outline(part, depth))
            return outline
        if isinstance(formula, Or):
            return _join([self._outline(part, depth) for part in formula.parts])
        if isinstance(formula, Reference):
            target = self._definitions.get(formula.key) if depth else None
            return self._outline(target, depth - 1) if target is not None else _Outline()
        if isinstance(formula, Not):
            return _drawn_not(formula.part)
        return _drawn_statement(formula)


def _drawn_statement(formula: Formula) -> _Outline:
    if isinstance(formula, Never):
        return _Outline(frozenset())
    if isinstance(formula, OfKind):
        return _Outline(frozenset((formula.kind,)))
    if isinstance(formula, StringIn):
        return _Outline(texts=formula.texts)
    if isinstance(formula, NumberIn):
        return _Outline(numbers=formula.values)
    if isinstance(formula, BooleanIs):
        return _Outline(booleans=frozenset((formula.value,)))
    if isinstance(formula, Members):
        if isinstance(formula.names, StringIn):
            return _Outline(values={name: [formula.value] for name in formula.names.texts})
        if isinstance(formula.names, Not) and isinstance(formula.names.part, StringIn) and formula.value == FALSE:
            return _Outline(names=formula.names.part.texts)
    return _Outline()


def _drawn_not(part: Formula) -> _Outline:
    if isinstance(part, OfKind):
        return _Outline(_ALL_KINDS - {part.kind})
    if isinstance(part, Members) and isinstance(part.names, StringIn) and part.value == FALSE:
        return _Outline(
            frozenset((Kind.OBJECT,)), needed=set(part.names.texts) if len(part.names.texts) == 1 else set()
        )
    return _Outline()


def _meet(into: _Outline, other: _Outline) -> None:
    """What is so if both are; `into` is changed."""
    into.kinds &= other.kinds
    into.texts = _both(into.texts, other.texts)
    into.numbers = _both(into.numbers, other.numbers)
    into.booleans = _both(into.booleans, other.booleans)
    into.names = _both(into.names, other.names)
    into.needed |= other.needed
    for name, values in other.values.items():
        into.values[name] = into.values.get(name, []) + values


def _both(one: frozenset[_T] | None, other: frozenset[_T] | None) -> frozenset[_T] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _join(outlines: list[_Outline]) -> _Outline:
    """What is so if one of them is; of objects only what a single one of them says."""
    joined = _Outline(frozenset().union(*(outline.kinds for outline in outlines)))
    joined.texts = _either([outline.texts for outline in outlines if Kind.STRING in outline.kinds])
    joined.numbers = _either([outline.numbers for outline in outlines if Kind.NUMBER in outline.kinds])
    objects = [outline for outline in outlines if Kind.OBJECT in outline.kinds]
    if len(objects) == 1:
        joined.needed, joined.values, joined.names = objects[0].needed, objects[0].values, objects[0].names
    return joined


def _either(sets: list[frozenset[_T] | None]) -> frozenset[_T] | None:
    return None if None in sets else frozenset(element for one in sets for element in one or ())
