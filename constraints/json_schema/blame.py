"""Blame: which keyword makes a schema too large.

    too_large(error, document, number)    the keyword with the largest count, or the largest step or bound of a number

Where no single keyword can be named, as for many variants with orders of their own, the limit is what is reported.
"""

from __future__ import annotations

from automata.errors import LimitExceeded, UnsupportedSchema
from constraints.json_schema.document import Document
from constraints.json_schema.formula import (
    And,
    Contains,
    Formula,
    Length,
    Minimum,
    MultipleOf,
    Not,
    Or,
    Size,
)

# Counts below this are not what makes a schema too large.
_LARGE = 1_000


def too_large(error: LimitExceeded, document: Document, number: Formula | None) -> LimitExceeded | UnsupportedSchema:
    """The error that names the keyword, or the error itself where there is none to name.

    Args:
        error: the limit that was passed.
        document: the schema.
        number: what is said of the number that was too large, if one was.
    """
    weights = _counts(document) if number is None else _sizes(number)
    named = [(weight, place) for part, weight in weights.items() if (place := document.places.get(part))]
    if not named:
        return error
    _, pointer = max(named)
    return UnsupportedSchema(str(error), pointer=pointer, keyword=pointer.rpartition("/")[2])


def _counts(document: Document) -> dict[Formula, int]:
    """The large counts of items and members."""
    found: dict[Formula, int] = {}
    for part in document.places:
        if isinstance(part, Length | Size | Contains):
            count = max(part.low, part.high or 0)
            if count >= _LARGE:
                found[part] = count
    return found


def _sizes(number: Formula) -> dict[Formula, int]:
    """The bits of the steps and bounds in a formula about numbers."""
    if isinstance(number, And | Or):
        return {part: size for inner in number.parts for part, size in _sizes(inner).items()}
    if isinstance(number, Not):
        return _sizes(number.part)
    if isinstance(number, MultipleOf | Minimum):
        value = number.step if isinstance(number, MultipleOf) else number.bound
        return {number: value.numerator.bit_length() + value.denominator.bit_length()}
    return {}
