"""Relaxing a schema: what to leave out so that every value that satisfies the schema still does.

Without a keyword, its schema holds for more values. But under `not` or `if`, the schema around it then holds for fewer,
and so may `oneOf`, of which no two alternatives may hold, and `contains`, which may have a maximum. So with a keyword,
each of these around it is left out, too; a `oneOf` is read as `anyOf` instead. A keyword is also around another one if
a reference in it leads there.

    relaxed(schema, error)     the keywords to leave out, each with the reason
    read_as_any_of(notes)      those of them that are read as `anyOf`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import unquote

from automata.errors import UnsupportedSchema
from constraints.json_schema.reading.document import Note
from constraints.json_schema.reading.resources.pointers import step

_NEGATING: Final = ("not", "if", "oneOf", "contains")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
# Keywords whose values are no schemas; and those in which schemas have names.
_DATA: Final = frozenset(["enum", "const", "default", "example", "examples"])
_NAMED: Final = frozenset(
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"]
)
# These depend on what other keywords say about a value, so with fewer of those they hold for fewer values.
_DEPENDENT: Final = ("unevaluatedProperties", "unevaluatedItems")
_SOURCES: Final = frozenset(["if", "contains", "patternProperties", "properties", "items", "prefixItems"])
_AS_ANY_OF: Final = "it is read as anyOf, since without what is left out two alternatives may hold"


def relaxed(schema: Any, error: UnsupportedSchema) -> list[Note]:
    """Return the keywords to leave out because one cannot be honoured, that one last.

    Raises:
        UnsupportedSchema: the given error, if leaving it out would forbid values that satisfy the schema.
    """
    keyword, place = error.keyword or "", error.pointer
    keywords = list(_keywords(schema))
    around = list(_around(keywords, place))
    dependent = any(name in _DEPENDENT for name, _, _ in keywords)
    left_out = {keyword, *(name for name, _ in around)}
    if not place.endswith(f"/{keyword}") or (dependent and left_out & _SOURCES):
        raise error from None
    reason = f"it contains what cannot be honoured: {error.reason}"
    notes = [Note(at, name, _AS_ANY_OF if name == "oneOf" else reason) for name, at in around]
    if any(name != "oneOf" and place.startswith(at + "/") for name, at in around):
        return notes
    return [*notes, Note(place, keyword, error.reason)]


def read_as_any_of(notes: Iterable[Note]) -> frozenset[str]:
    """Return the places of each `oneOf` that is read as `anyOf`."""
    return frozenset(note.pointer for note in notes if note.reason == _AS_ANY_OF)


def _keywords(schema: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield each keyword in a schema, its place, and its value."""
    waiting: list[tuple[Any, str, bool]] = [(schema, "", False)]
    while waiting:
        value, place, has_names = waiting.pop()
        if isinstance(value, list):
            waiting += [(each, f"{place}/{index}", False) for index, each in enumerate(value)]
        elif isinstance(value, dict):
            for name, inner in value.items():
                at = place + step(name)
                if not has_names:
                    yield name, at, inner
                if has_names or name not in _DATA:
                    waiting.append((inner, at, not has_names and name in _NAMED))


def _around(keywords: list[tuple[str, str, Any]], place: str) -> Iterator[tuple[str, str]]:
    """Yield the keywords that negate what they contain and contain a place, also by references."""
    # In a part with a URI of its own, references begin there and not at the root.
    has_parts = any(name in ("$id", "id") and at.rpartition("/")[0] for name, at, _ in keywords)
    references = [
        (at, value[1:] if value.startswith("#") and not has_parts else None)
        for name, at, value in keywords
        if name in _REFERENCES and isinstance(value, str)
    ]
    for name, at, _ in keywords:
        if name in _NEGATING and _leads(at, place, references):
            yield name, at


def _leads(at: str, place: str, references: list[tuple[str, str | None]]) -> bool:
    """Return whether a place is within a keyword, or within what references in the keyword lead to."""
    waiting, seen = [at], {at}
    while waiting:
        outer = waiting.pop()
        if _is_within(place, outer):
            return True
        for source, target in references:
            if _is_within(source, outer):
                if target is None or (target and not target.startswith("/")):
                    return True  # another document, or an anchor: it may lead anywhere
                if (found := unquote(target)) not in seen:
                    seen.add(found)
                    waiting.append(found)
    return False


def _is_within(place: str, outer: str) -> bool:
    return place == outer or place.startswith(outer + "/")
