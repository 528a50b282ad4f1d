"""Why a JSON text may not continue with some bytes, or end: which part of the schema applies at this point, and which
keyword forbids it.

    schema_reasons     a schema, a text and the refused bytes -> Reasons
    schema_places      a schema -> a finder of only the places, for many texts

A keyword forbids something if the schema without this keyword allows it. So the keywords of the schemas that apply to
the value, and to the values around it, are left out one by one, from the inside out, and the schema is read again. This
is exact, takes a compilation for each keyword, and does not require automata to store keywords. The options of the
constraint are tried in the same way. If none alone forbids it, all keywords of one schema are left out together, and
put back one by one as long as the text is allowed. If that does not help either, a member or an item may have no values
at all, and the keywords with such schemas are left out.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from automata.errors import EmptyLanguage, LimitExceeded, PatternError, SchemaError
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.building.schema_grammar import schema_grammar
from constraints.json_schema.explaining.position import JsonPosition, Step, What, position, written_path
from constraints.json_schema.explaining.subschemas import ANY_BLANKS, Applied, SchemaSource, Subschemas, read
from constraints.json_schema.reading import read_schema
from constraints.json_schema.reading.resources.pointers import step
from tokenfst.compile import compile as compile_tokens
from tokenfst.explanation.reasons import PlaceFinder, Reasons, SchemaPlace
from tokenfst.unique_items.language import ArraysAlone, RulesAlone
from tokenfst.vocabulary.all_bytes import ALL_BYTES

# Keywords that may forbid something by themselves. The others only apply schemas, whose own keywords are tried instead.
_FORBIDDING: Final = (
    *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "format"),
    *("minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "additionalItems"),
    *("required", "dependentRequired", "dependencies", "dependentSchemas", "minProperties", "maxProperties"),
    *("propertyNames", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "not", "if", "oneOf"),
)
# Keywords with schemas of members and items, which forbid these where nothing satisfies them.
_OF_PARTS: Final = ("properties", "patternProperties", "prefixItems", "items")
# The most keywords that are left out in turn.
_MAX_KEYWORDS: Final = 64
_BLANK_BYTES: Final = b" \t\n\r"


def schema_reasons(
    source: SchemaSource, layout: Layout, text: bytes, refused: bytes | None, expected: frozenset[int]
) -> Reasons:
    """Return the parts of a schema that apply at the end of a text, and the keywords and options that forbid the text
    to continue with the refused bytes, or to end.

    Args:
        source: the schema.
        layout: how its values are written.
        text, refused, expected: as for `SupportsReasons.reasons`.

    Raises:
        LimitExceeded: the time is up.
    """
    subschemas = Subschemas(source, layout.order, layout.spellings)
    stop = position(text)
    along = subschemas.along(text, stop)
    places = tuple(_places(subschemas, along, stop, text, expected))
    if refused is None:
        return Reasons(places)
    trial = _Trial(source, layout, text, refused)
    own = _pointers(along, _FORBIDDING)
    keywords = trial.keywords(own)
    settings = trial.settings()
    together = () if keywords or settings else trial.together(own)
    if not (keywords or settings or together):
        keywords = trial.keywords(_pointers(along, _OF_PARTS))
    is_syntax = not (keywords or settings or together or trial.is_json())
    return Reasons(places, keywords, together, settings, is_syntax)


def schema_places(source: SchemaSource, layout: Layout) -> PlaceFinder:
    """Return a finder of the places of texts in a schema; it compiles each subschema at most once.

    Args:
        source: the schema.
        layout: how its values are written.
    """
    subschemas = Subschemas(source, layout.order, layout.spellings)

    def places(text: bytes, expected: frozenset[int]) -> tuple[SchemaPlace, ...]:
        stop = position(text)
        return tuple(_places(subschemas, subschemas.along(text, stop), stop, text, expected))

    return places


def _pointers(along: list[list[Applied]], keywords: Container[str]) -> list[list[str]]:
    """Return the pointers of some keywords, by schema, from the inside out."""
    schemas = {target.place: target.schema for targets in reversed(along) for target in targets}
    found = [
        [place + step(keyword) for keyword in schema if keyword in keywords]
        for place, schema in schemas.items()
        if isinstance(schema, dict)
    ]
    return [pointers for pointers in found if pointers]


def _places(
    subschemas: Subschemas, along: list[list[Applied]], stop: JsonPosition, text: bytes, expected: frozenset[int]
) -> Iterator[SchemaPlace]:
    """Yield the schemas that determine the bytes that may follow: those of the value that is being written and, for
    bytes that none of these explains, those of the value around it."""
    path = stop.path
    speaking = [targets for targets in along if targets]  # a value without a schema is left to the one around it
    if stop.what != "value":
        yield from _applying(subschemas, speaking[-1], path, expected, stop.what)
        return
    has_begun = len(stop.begins) > len(path)
    left = expected
    for target in subschemas.saying(along[-1]):
        follows = subschemas.expected(target, text[stop.begins[-1] :] if has_begun else b"")
        own = expected if follows is None else follows & expected
        if own:
            left -= own
            yield SchemaPlace(own, written_path(path), target.place, "value")
    if not path or not along[-1]:
        yield from _applying(subschemas, speaking[-1], path, left, "value")
    else:
        outer = [targets for targets in along[:-1] if targets]
        yield from _applying(subschemas, outer[-1], path[:-1], left, "after" if has_begun else "value")


def _applying(
    subschemas: Subschemas, targets: list[Applied], path: tuple[Step, ...], expected: frozenset[int], what: What
) -> Iterator[SchemaPlace]:
    for target in subschemas.saying(targets) if expected else ():
        yield SchemaPlace(expected, written_path(path), target.place, what)


@dataclass(frozen=True)
class _Trial:
    """A text and the bytes refused after it (b"" if the text may not end), to be tried with changed schemas."""

    source: SchemaSource
    layout: Layout
    text: bytes
    refused: bytes

    def keywords(self, own: list[list[str]]) -> tuple[str, ...]:
        """Return the keywords that each forbid the refused bytes on their own."""
        each = [pointer for pointers in own for pointer in pointers][:_MAX_KEYWORDS]
        return tuple(pointer for pointer in each if self.allows_without([pointer]))

    def together(self, own: list[list[str]]) -> tuple[str, ...]:
        """Return keywords of one schema without which the refused bytes are allowed, none of which can be put back."""
        for pointers in own[:_MAX_KEYWORDS]:
            if len(pointers) > 1 and self.allows_without(pointers):
                left = pointers
                for pointer in pointers:
                    fewer = [each for each in left if each != pointer]
                    left = fewer if self.allows_without(fewer) else left
                return tuple(left)
        return ()

    def settings(self) -> tuple[str, ...]:
        """Return the options that each forbid the refused bytes on their own, as they are written in a call."""
        layout = self.layout
        trials = (
            ("whitespace", layout.whitespace, layout._replace(whitespace=ANY_BLANKS)),
            ("property_order", layout.order, layout._replace(order="any")),
            ("spellings", layout.spellings, layout._replace(spellings="all")),
            ("max_digits", layout.max_digits, layout._replace(max_digits=None)),
            ("integers", layout.integers, layout._replace(integers="any")),
        )
        return tuple(
            f"{name}={own!r}" if isinstance(own, str | int) else name
            for name, own, changed in trials
            if changed != layout and self.allows(changed)
        )

    def is_json(self) -> bool:
        """Return whether some JSON text continues with the refused bytes. Blanks around the whole text are valid JSON,
        although no constraint allows them."""
        if self.refused and not self.refused.strip(_BLANK_BYTES) and (not self.text or _is_whole(self.text)):
            return True
        return self.allows(Layout(read_schema(True), ANY_BLANKS, "any", "all"))

    def allows_without(self, pointers: Iterable[str]) -> bool:
        """Return whether the refused bytes are allowed without the keywords at some pointers."""
        try:
            document = self.source.read(frozenset(pointers))
        except SchemaError:
            return False
        return self.allows(self.layout._replace(document=document))

    def allows(self, layout: Layout) -> bool:
        """Return whether a schema in some layout allows the refused bytes after the text.

        If a schema is too large for members in any order, only objects that are cheap in any order have it.
        """
        try:
            grammar = schema_grammar(layout)
            arrays = grammar.unique_arrays()
            automaton = compile_tokens(RulesAlone(grammar.rules) if arrays is None else ArraysAlone(arrays), ALL_BYTES)
        except (SchemaError, PatternError, EmptyLanguage):
            return False
        except LimitExceeded as error:
            if error.limit == "seconds":
                raise
            return layout.order == "any" and self.allows(layout._replace(order="any-if-cheap"))
        state = read(automaton, self.text + self.refused)
        return state is not None and (bool(self.refused) or automaton.is_final(state))


def _is_whole(text: bytes) -> bool:
    """Return whether a text is JSON as it stands."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
