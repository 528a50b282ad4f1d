"""Limits: which keyword makes a schema too large.

    too_large(error, document, text, value)    names the largest step or bound if a number is too large, the longest
                                               pattern if a string is, and otherwise the largest count; if no count is
                                               large, the keyword whose variants make an array or object too large; if
                                               none has variants, the place of that array or object
    largest_count(document)                    the keyword with the largest count

Too many names in any order are the fault of the order: that error stays a `LimitExceeded`, with the object's place.
Where nothing can be named, an error stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from automata.errors import LimitExceeded, UnsupportedSchema
from constraints.json_schema.formulas.connectives import And, Formula, Or, parts_of, statements
from constraints.json_schema.formulas.statements import (
    Contains,
    ItemCount,
    MemberCount,
    Minimum,
    MultipleOf,
    Pattern,
    Reference,
    TextLength,
)
from constraints.json_schema.reading.document import SchemaDocument

# Counts below this do not make a schema too large.
_LARGE = 1_000


def too_large(
    error: LimitExceeded,
    document: SchemaDocument,
    text: Formula | None,
    value: Formula | None,
    *,
    is_in_any_order: bool = False,
) -> LimitExceeded | UnsupportedSchema:
    """Return an error that names the keyword, or the error itself if there is no keyword to name.

    Running out of time is not the fault of the schema: that error stays a `LimitExceeded`, and the message only adds
    which keyword was being built.

    Args:
        error: the limit that was passed.
        document: the schema.
        text: the formula of the number or string that was too large, if one was.
        value: the formula of the array or object that was too large, if one was.
        is_in_any_order: whether members come in any order, so that this order may be the reason, and not variants.
    """
    pointer = (
        _heaviest(document, _sizes(text)) if text is not None else _count(document, ItemCount, MemberCount, Contains)
    )
    if pointer is None and value is not None and not is_in_any_order:
        variants: dict[Formula, int] = {part: len(part.parts) for part in _variants(document, value)}
        pointer = _heaviest(document, variants or _about_its_parts(document, value))
    if pointer is None:
        place = None if value is None or error.limit == "seconds" else _common_place(document, value)
        if place is not None and is_in_any_order:
            return LimitExceeded(f"{error} (at {place or 'the root'})", limit=error.limit)
        return error if place is None else UnsupportedSchema(str(error), pointer=place)
    if error.limit == "seconds":
        return LimitExceeded(f"{error}; it was at {pointer}, keyword {_keyword(pointer)!r}", limit=error.limit)
    return UnsupportedSchema(str(error), pointer=pointer, keyword=_keyword(pointer))


def largest_count(document: SchemaDocument) -> tuple[str, str] | None:
    """Return the place of the keyword with the largest count, and the keyword; None if all counts are small."""
    pointer = _count(document, ItemCount, MemberCount, Contains, TextLength)
    return None if pointer is None else (pointer, _keyword(pointer))


def _keyword(pointer: str) -> str:
    return pointer.rpartition("/")[2]


def _heaviest(document: SchemaDocument, weights: dict[Formula, int]) -> str | None:
    """Return the place of the heaviest statement, of those that have a place."""
    named = [(weight, place) for part, weight in weights.items() if (place := document.places.get(part))]
    return max(named)[1] if named else None


def _count(document: SchemaDocument, *kinds: type[ItemCount | MemberCount | Contains | TextLength]) -> str | None:
    """Return the place of the largest count, if it is large."""
    found: dict[Formula, int] = {}
    for part in document.places:
        if isinstance(part, kinds):
            count = max(part.low, part.high or 0)
            if count >= _LARGE:
                found[part] = count
    return _heaviest(document, found)


def _variants(document: SchemaDocument, formula: Formula) -> Iterator[Or]:
    """Yield the disjunctions that a value must satisfy, except those of `required`: without `type: object`, its formula
    is "no object, or it has these members"."""
    waiting, seen = [formula], set()
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        if isinstance(part, Reference):
            waiting.append(document.definitions[part.key])
        elif isinstance(part, And):
            waiting.extend(part.parts[::-1])
        elif isinstance(part, Or) and _keyword(document.places.get(part, "")) != "required":
            yield part


def _about_its_parts(document: SchemaDocument, value: Formula) -> dict[Formula, int]:
    """Return the disjunctions in the schema that contain statements which a value must satisfy, each with the number of
    these statements.

    If several variants of an object may hold, a member must satisfy what all of them say about it.
    """
    asked = set(parts_of(value))
    counts = {part: len(asked.intersection(_within(part))) for part in document.places if isinstance(part, Or)}
    return {part: count for part, count in counts.items() if count}


def _within(formula: Formula) -> set[Formula]:
    """Return all formulas in a formula."""
    waiting, seen = [formula], {formula}
    while waiting:
        inner = {field for field in waiting.pop().fields if isinstance(field, Formula)} - seen
        seen |= inner
        waiting += inner
    return seen


def _common_place(document: SchemaDocument, value: Formula) -> str | None:
    """Return the innermost place that contains all statements about a value; None if they have no places."""
    found = [place.split("/")[:-1] for part in parts_of(value) if (place := document.places.get(part))]
    if not found:
        return None
    return "/".join(steps[0] for steps in takewhile(lambda steps: len({*steps}) == 1, zip(*found, strict=False)))


def _sizes(text: Formula) -> dict[Formula, int]:
    """Return the bits of the steps and bounds in a formula about numbers, and of the patterns in one about strings."""
    found: dict[Formula, int] = {}
    for part in statements(text):
        if isinstance(part, Pattern):
            found[part] = 8 * len(part.source)
        if isinstance(part, MultipleOf | Minimum):
            value = part.step if isinstance(part, MultipleOf) else part.bound
            found[part] = value.numerator.bit_length() + value.denominator.bit_length()
    return found
