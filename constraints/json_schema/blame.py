"""Blame: which keyword makes a schema too large.

    too_large(error, document, number, value)    the largest step or bound of the number, the largest count, or that
                                                 keyword with most variants which speaks of the value
    largest_count(document)                      the keyword with the largest count

Where no keyword can be named, as for too many names in any order, the limit is what is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    Reference,
    Size,
    TextLength,
)

# Counts below this are not what makes a schema too large.
_LARGE = 1_000


def too_large(
    error: LimitExceeded, document: Document, number: Formula | None, value: Formula | None
) -> LimitExceeded | UnsupportedSchema:
    """The error that names the keyword, or the error itself where there is none to name.

    Args:
        error: the limit that was passed.
        document: the schema.
        number: what is said of the number that was too large, if one was.
        value: what is said of the array or object that was too large, if its variants may be the reason.
    """
    pointer = _heaviest(document, _sizes(number)) if number is not None else _count(document, Length, Size, Contains)
    if pointer is None and value is not None:
        pointer = _heaviest(document, {part: len(part.parts) for part in _variants(document, value, set())})
    return error if pointer is None else UnsupportedSchema(str(error), pointer=pointer, keyword=_keyword(pointer))


def largest_count(document: Document) -> tuple[str, str] | None:
    """Where the keyword with the largest count stands, and the keyword; None where there are only small ones."""
    pointer = _count(document, Length, Size, Contains, TextLength)
    return None if pointer is None else (pointer, _keyword(pointer))


def _keyword(pointer: str) -> str:
    return pointer.rpartition("/")[2]


def _heaviest(document: Document, weights: dict[Formula, int]) -> str | None:
    """Where the heaviest statement stands, of those that stand somewhere."""
    named = [(weight, place) for part, weight in weights.items() if (place := document.places.get(part))]
    return max(named)[1] if named else None


def _count(document: Document, *kinds: type[Length | Size | Contains | TextLength]) -> str | None:
    """Where the largest count stands, if it is large."""
    found: dict[Formula, int] = {}
    for part in document.places:
        if isinstance(part, kinds):
            count = max(part.low, part.high or 0)
            if count >= _LARGE:
                found[part] = count
    return _heaviest(document, found)


def _variants(document: Document, formula: Formula, seen: set[Formula]) -> Iterator[Or]:
    """The disjunctions that a value must satisfy; a `required` beside no type is none, though written as one."""
    if formula in seen:
        return
    seen.add(formula)
    if isinstance(formula, Reference):
        yield from _variants(document, document.definitions[formula.key], seen)
    elif isinstance(formula, And):
        for part in formula.parts:
            yield from _variants(document, part, seen)
    elif isinstance(formula, Or) and _keyword(document.places.get(formula, "")) != "required":
        yield formula


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
