"""Places as readable rows: a label, and lines.

place_rows     the places of a text -> rows
aligned        rows as lines, with the labels in a column
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from automata.places import Place
from tokenfst.explanation.reasons import SchemaPlace
from tokenfst.explanation.wording import bytes_in_words, listed, quoted

Row: TypeAlias = tuple[str, Sequence[str]]

# The greatest number of places that are printed, and of rules of one place.
_MAX_PLACES, _MAX_RULES = 6, 6
# The greatest number of characters of a pattern in one line, and of those before the marked part.
_MAX_PATTERN, _MAX_BEFORE = 90, 40


def place_rows(places: Iterable[Place | SchemaPlace], pattern: str | None, read: bytes) -> Iterator[Row]:
    """Yield rows that say where a text stands; parts of one rule share a row.

    Args:
        places: the places of the text in the constraint.
        pattern: the pattern to which the spans of places refer; None if the constraint is not a pattern.
        read: the text.
    """
    rows = list(_rows(places, pattern, read))
    yield from rows[:_MAX_PLACES]
    if len(rows) > _MAX_PLACES:
        yield "and", [f"{len(rows) - _MAX_PLACES} more places"]


def aligned(rows: Sequence[Row]) -> list[str]:
    """Return rows as lines, with the labels in a column."""
    width = max((len(label) for label, _ in rows), default=0)
    return [f"{label if not at else '':<{width}}  {line}" for label, lines in rows for at, line in enumerate(lines)]


def _rows(places: Iterable[Place | SchemaPlace], pattern: str | None, read: bytes) -> Iterator[Row]:
    by_rule: dict[str, list[str]] = {}
    for place in places:
        if isinstance(place, SchemaPlace):
            schema = f"the schema at {place.pointer}" if place.pointer else "the schema"
            yield place.what, [f"{place.path}, by {schema}: {bytes_in_words(place.expected)}"]
        elif place.rules:
            by_rule.setdefault(_chain(place.rules), []).append(_part_of_rule(place, read))
        elif place.span is not None and pattern is not None:
            yield "pattern", _marked(pattern, *place.span, _read_so_far(place))
        else:
            yield "part", [(place.part if place.part.strip() else repr(place.part)) + _read_so_far(place)]
    for rules, parts in by_rule.items():
        yield "rule", [f"{rules}: {listed(list(dict.fromkeys(parts)))}"]


def _part_of_rule(place: Place, read: bytes) -> str:
    if place.word is None:
        return _printable(place.part) + _read_so_far(place)
    begun = quoted(read[-place.begun :]) if place.begun else ""
    word = _printable(place.word)
    return f"{word} (of which {begun} is written)" if begun else word


def _chain(rules: tuple[str, ...]) -> str:
    """Return open rules, the innermost last. Those of a schema within a grammar have no names."""
    schemas = [at for at, rule in enumerate(rules) if rule.startswith("%json ")]
    rules = (*rules[: schemas[0]], "%json") if schemas else rules
    return " > ".join([*(["..."] if len(rules) > _MAX_RULES else []), *rules[-_MAX_RULES:]])


def _read_so_far(place: Place) -> str:
    """Return a note on how much of a part has been read."""
    if place.count:
        return f" (read {place.count} time{'s' if place.count > 1 else ''})"
    return f" ({quoted(place.rest)} is left)" if place.rest else ""


def _printable(text: str) -> str:
    """Return a text with spaces in place of nonprinting characters."""
    return "".join(char if char.isprintable() else " " for char in text)


def _marked(pattern: str, start: int, end: int, read: str) -> list[str]:
    """Return a pattern, and a line below it that marks a part; a long pattern is cut to the part and its context."""
    seen = _printable(pattern)
    first = max(0, start - _MAX_BEFORE) if len(seen) > _MAX_PATTERN else 0
    before, after = ("..." if first else ""), ("..." if len(seen) > first + _MAX_PATTERN else "")
    marks = "^" * min(max(end - start, 1), first + _MAX_PATTERN - start)
    return [before + seen[first : first + _MAX_PATTERN] + after, " " * (len(before) + start - first) + marks + read]
