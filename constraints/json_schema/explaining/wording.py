"""Wording: formulas in the words of JSON Schema, for messages of errors.

worded(F)             a formula in words: `minimum 5`, `required property 'a'`
only_required(F)      the name that a formula requires, if it says nothing else
"""

from __future__ import annotations

from fractions import Fraction

from automata.compile.blame import excerpt
from constraints.json_schema.formulas.connectives import And, Formula, Never, Not, Or
from constraints.json_schema.formulas.statements import (
    BooleanIs,
    Contains,
    Format,
    IsInteger,
    ItemAt,
    ItemCount,
    ItemsFrom,
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
    has_name,
    required_name,
)
from constraints.json_schema.reading.site import shown
from constraints.json_schema.strings.formats import INEXACT_FORMATS

# Statements whose values show their kind, so that `type` need not be named beside them.
_OF_VALUES = (NumberIn, StringIn, BooleanIs)
# The greatest depth of nested connectives that is put into words.
_MAX_DEPTH = 3


def only_required(part: Formula) -> str | None:
    """Return the name that a formula requires, if it says nothing else; otherwise None."""
    name = required_name(part)
    return name if name is not None and part == has_name(name) else None


def worded(formula: Formula, depth: int = _MAX_DEPTH) -> str:
    """Return a formula in the words of JSON Schema."""
    name = only_required(formula)
    if name is not None:
        return f"required property {name!r}"
    match formula:
        case Not():
            return f"not ({worded(formula.part, depth - 1) if depth else '...'})"
        case And():
            return _all_of(formula, depth)
        case Or():
            return f"one of {len(formula.parts)} alternatives"
        case Never():
            return "false"
        case OfKind():
            return f"type {formula.kind.value}"
        case Reference():
            return f"a reference to {formula.key or 'the root'}"
    return _scalar(formula)


def _all_of(formula: And, depth: int) -> str:
    if set(map(type, formula.parts)) == {OfKind, IsInteger}:
        return "type integer"
    if any(type(part) in _OF_VALUES for part in formula.parts):
        return " and ".join(worded(part, depth) for part in formula.parts if type(part) is not OfKind)
    kept = formula.parts[: 4 if depth else 0]
    return " and ".join([worded(part, depth - 1) for part in kept] + ["more"] * (len(formula.parts) > len(kept)))


def _scalar(formula: Formula) -> str:
    """Return a statement about booleans, numbers or strings in words."""
    match formula:
        case Maximum():
            return f"{'exclusiveMaximum' if formula.exclusive else 'maximum'} {_number(formula.bound)}"
        case Minimum():
            return f"{'exclusiveMinimum' if formula.exclusive else 'minimum'} {_number(formula.bound)}"
        case MultipleOf():
            return f"multipleOf {_number(formula.step)}"
        case IsInteger():
            return "type integer"
        case NumberIn() | StringIn() | BooleanIs():
            return f"one of {_values(formula)}"
        case Pattern():
            return f"pattern {shown(formula.source)}"
        case Matches():
            return f"pattern {excerpt(formula.expr)}"
        case Format():
            partly = " (which leaves out some valid texts)" if formula.name in INEXACT_FORMATS else ""
            return f"format {formula.name!r}{partly}"
        case TextLength():
            return _bounded(formula, "characters")
    return _container(formula)


def _container(formula: Formula) -> str:
    """Return a statement about arrays or objects in words."""
    match formula:
        case ItemCount():
            return _bounded(formula, "items")
        case MemberCount():
            return _bounded(formula, "properties")
        case Contains():
            return "contains"
        case UniqueItems():
            return "uniqueItems"
        case ItemsFrom():
            return "items"
        case ItemAt():
            return f"item {formula.index}"
        case Members():
            return _members(formula)
    return "true"


def _members(formula: Members) -> str:
    if isinstance(formula.names, StringIn):
        names = ", ".join(map(repr, sorted(formula.names.texts)[:4]))
        return f"no property {names}" if isinstance(formula.value, Never) else f"property {names}"
    return "no other properties" if isinstance(formula.value, Never) else "other properties"


def _values(formula: NumberIn | StringIn | BooleanIs) -> str:
    if isinstance(formula, BooleanIs):
        return str(formula.value).lower()
    if isinstance(formula, StringIn):
        found = sorted(map(repr, formula.texts))
    else:
        found = [_number(value) for value in sorted(formula.values)]
    return ", ".join(found[:4]) + (", ..." if len(found) > 4 else "")


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else str(float(value))


def _bounded(formula: TextLength | ItemCount | MemberCount, what: str) -> str:
    if formula.high is None:
        return f"at least {formula.low} {what}"
    return f"{formula.low} to {formula.high} {what}" if formula.low else f"at most {formula.high} {what}"
