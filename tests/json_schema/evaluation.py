"""An evaluator of formulas over JSON values, written from their docstrings alone: the oracle of reading."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import regress

from constraints.json_schema.formulas.connectives import Always, And, Formula, Never, Not, Or
from constraints.json_schema.formulas.statements import (
    BooleanIs,
    Contains,
    Format,
    IsInteger,
    ItemAt,
    ItemCount,
    ItemsFrom,
    Kind,
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
from constraints.json_schema.reading.document import SchemaDocument

FormatCheck = Callable[[str, str], bool]


def holds(document: SchemaDocument, value: Any, formats: FormatCheck = lambda name, text: True) -> bool:
    """Whether a value satisfies a document; `formats(name, text)` says which strings have a format."""
    return _holds(document, document.root, value, formats, frozenset())


def _holds(document: SchemaDocument, formula: Formula, value: Any, formats: FormatCheck, seen: frozenset[Any]) -> bool:
    """`seen` are the references that were followed without a step into the value."""

    def same(part: Formula) -> bool:
        return _holds(document, part, value, formats, seen)

    def inner(part: Formula, item: Any) -> bool:
        return _holds(document, part, item, formats, frozenset())

    match formula:
        case Always():
            return True
        case Never():
            return False
        case Not():
            return not same(formula.part)
        case And():
            return all(map(same, formula.parts))
        case Or():
            return any(map(same, formula.parts))
        case Reference():
            assert formula.key not in seen, f"the reference {formula.key!r} leads to itself"
            return _holds(document, document.definitions[formula.key], value, formats, seen | {formula.key})
        case OfKind():
            return kind_of(value) is formula.kind
    kind = kind_of(value)
    if kind is Kind.BOOLEAN:
        return not isinstance(formula, BooleanIs) or formula.value is value
    if kind is Kind.NUMBER:
        return _number_holds(formula, number(value), isinstance(value, int))
    if kind is Kind.STRING:
        return _string_holds(formula, value, formats)
    if kind is Kind.ARRAY:
        return _array_holds(formula, value, inner)
    return _object_holds(formula, value, inner) if kind is Kind.OBJECT else True


def kind_of(value: Any) -> Kind:
    if value is None:
        return Kind.NULL
    for types, kind in ((bool, Kind.BOOLEAN), ((int, float), Kind.NUMBER), (str, Kind.STRING), (list, Kind.ARRAY)):
        if isinstance(value, types):
            return kind
    assert isinstance(value, dict)
    return Kind.OBJECT


def number(value: Any) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _number_holds(formula: Formula, value: Fraction, plain: bool) -> bool:
    match formula:
        case NumberIn():
            return value in formula.values
        case Maximum():
            return value < formula.bound or (value == formula.bound and not formula.exclusive)
        case Minimum():
            return value > formula.bound or (value == formula.bound and not formula.exclusive)
        case MultipleOf():
            return (value / formula.step).denominator == 1
        case IsInteger():
            return value.denominator == 1 and (plain or not formula.plain)
    return True


def _string_holds(formula: Formula, value: str, formats: FormatCheck) -> bool:
    match formula:
        case StringIn():
            return value in formula.texts
        case Pattern():
            return _regex(formula.source).find(value) is not None
        case Format():
            return formats(formula.name, value)
        case TextLength():
            return _counts(formula.low, len(value), formula.high)
    return True


@lru_cache(maxsize=1024)
def _regex(source: str) -> regress.Regex:
    """By code points; escapes that only an expression by code units may have, as `\\:`, are tried as that."""
    try:
        return regress.Regex(source, "u")
    except regress.RegressError:
        return regress.Regex(source)


def _array_holds(formula: Formula, value: list[Any], inner: Callable[[Formula, Any], bool]) -> bool:
    match formula:
        case ItemsFrom():
            return all(inner(formula.item, item) for item in value[formula.index :])
        case ItemAt():
            return formula.index >= len(value) or inner(formula.item, value[formula.index])
        case Contains():
            return _counts(formula.low, sum(inner(formula.item, item) for item in value), formula.high)
        case ItemCount():
            return _counts(formula.low, len(value), formula.high)
        case UniqueItems():
            return len({_frozen(item) for item in value}) == len(value)
    return True


def _object_holds(formula: Formula, value: dict[str, Any], inner: Callable[[Formula, Any], bool]) -> bool:
    match formula:
        case Members():
            return all(inner(formula.value, member) for name, member in value.items() if inner(formula.names, name))
        case MemberCount():
            return _counts(formula.low, len(value), formula.high)
    return True


def _counts(low: int, n: int, high: int | None) -> bool:
    return low <= n and (high is None or n <= high)


def _frozen(value: Any) -> object:
    """Equal for equal JSON values, and for no others."""
    kind = kind_of(value)
    if kind is Kind.NUMBER:
        return kind, number(value)
    if kind is Kind.ARRAY:
        return kind, tuple(map(_frozen, value))
    if kind is Kind.OBJECT:
        return kind, frozenset((name, _frozen(member)) for name, member in value.items())
    return kind, value
