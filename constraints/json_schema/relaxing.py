"""Relaxing a schema: what to leave out so that every value that satisfies the schema still does.

Without a keyword, its schema holds for more values. But under `not` or `if`, the schema around it then holds for fewer,
and so may `oneOf`, of which no two alternatives may hold, and `contains`, which may have a maximum. So with a keyword,
each of these around it is left out, too; a `oneOf` is read as `anyOf` instead. A keyword is also around another one if
a reference in it leads there. The reader records which keywords a schema has, and where references lead.

    also_left_out(dropped, seen)     what has to be left out with the keywords that were
    read_as_any_of(notes)            those of them that are read as `anyOf`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from automata.errors import UnsupportedSchema
from constraints.json_schema.reading.document import Note, ReadPlaces

_NEGATING: Final = frozenset(["not", "if", "oneOf", "contains"])
# These depend on what other keywords say about a value; and those on which nothing depends.
_UNEVALUATED: Final = frozenset(["unevaluatedProperties", "unevaluatedItems"])
_ASSERTIONS: Final = frozenset(
    [
        *("type", "enum", "const", "not", "pattern", "format", "minLength", "maxLength"),
        *("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "required", "dependentRequired"),
        "propertyNames",
    ]
)
# Beside these, the keywords after them hold for the items and members about which these say nothing.
_BEFORE: Final = {
    "properties": ("additionalProperties",),
    "patternProperties": ("additionalProperties",),
    "prefixItems": ("items",),
    "items": ("additionalItems",),
}
_AS_ANY_OF: Final = "it is read as anyOf, since without what is left out two alternatives may hold"


def also_left_out(dropped: Mapping[str, Note], seen: ReadPlaces) -> dict[str, Note]:
    """Return the keywords to leave out because they negate what is left out, by place.

    Args:
        dropped: what is left out, by place.
        seen: what the reader has seen of the schema without that.

    Raises:
        UnsupportedSchema: leaving a keyword out would forbid values that satisfy the schema.
    """
    for note in dropped.values():
        if _is_needed(note, seen):
            raise UnsupportedSchema(note.reason, pointer=note.pointer, keyword=note.keyword)
    found: dict[str, Note] = {}
    for keyword, place in seen.keywords:
        if keyword in _NEGATING and place not in dropped:
            inner = next((note for note in dropped.values() if _leads(place, note.pointer, seen)), None)
            if inner is not None:
                reason = _AS_ANY_OF if keyword == "oneOf" else f"it contains what is left out: {inner.reason}"
                found[place] = Note(place, keyword, reason)
    return found


def read_as_any_of(notes: Iterable[Note]) -> frozenset[str]:
    """Return the places of each `oneOf` that is read as `anyOf`."""
    return frozenset(note.pointer for note in notes if note.reason == _AS_ANY_OF)


def _is_needed(note: Note, seen: ReadPlaces) -> bool:
    """Return whether other keywords would hold for fewer values without one."""
    if note.reason == _AS_ANY_OF or note.keyword in _ASSERTIONS:
        return False
    if any(keyword in _UNEVALUATED for keyword, _ in seen.keywords):
        return True
    schema, _, last = note.pointer.rpartition("/")
    if last != note.keyword:  # one of the patterns in `patternProperties`
        schema = schema.rpartition("/")[0]
    after = {f"{schema}/{name}" for name in _BEFORE.get(note.keyword, ())}
    return any(place in after for _, place in seen.keywords)


def _leads(outer: str, place: str, seen: ReadPlaces) -> bool:
    """Return whether a place is within another one, or within what references there lead to."""
    waiting, known = [outer], {outer}
    while waiting:
        at = waiting.pop()
        if _is_within(place, at):
            return True
        for source, target in seen.references:
            if target not in known and _is_within(source, at):
                known.add(target)
                waiting.append(target)
    return False


def _is_within(place: str, outer: str) -> bool:
    return place == outer or place.startswith(outer if outer.endswith("#") else outer + "/")
