"""Schemas as alternatives: `json_schema(a) | json_schema(b)`, `typed(A) | typed(B)`.

The visibly pushdown grammars of two schemas cannot be alternatives at one place, because both call a rule after the
same bracket. The schemas can: the union of their formulas is built as one grammar, that of `{"anyOf": [a, b]}`.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from html import escape
from typing import Any, TypeVar

import tokenfst
from automata.byte_automaton import ByteAutomaton
from automata.drawing import shown
from automata.errors import TextNotAllowed
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar
from constraints.composing.parsed import Parsed
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.building.schema_grammar import SchemaGrammar, schema_grammar
from constraints.json_schema.explaining.reasons import schema_places, schema_reasons
from constraints.json_schema.explaining.subschemas import SchemaSource
from constraints.json_schema.formulas.connectives import Formula, disjunction, rebuilt
from constraints.json_schema.formulas.statements import Reference
from constraints.json_schema.reading.document import SchemaDocument
from constraints.recursion import Task, run
from tokenfst.explanation.reasons import PlaceFinder, Reasons
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.unique_items.language import UniqueArrays
from tokenfst.vocabulary.all_bytes import ALL_BYTES

# A notebook shows this many characters of a schema.
_MAX_SHOWN = 4_000
# A schema that contains itself is no error here, since only its beginning is shown. Keys that JSON cannot have as names
# are left out.
_ENCODER = json.JSONEncoder(indent=2, ensure_ascii=False, default=str, check_circular=False, skipkeys=True)

T_co = TypeVar("T_co", covariant=True)


class JsonTexts(Parsed[T_co]):
    """The JSON texts of the values that satisfy a schema.

    Attributes:
        layout: the schema, and how its values are written.
    """

    layout: Layout
    _grammar: SchemaGrammar

    def _rules(self) -> SchemaGrammar:
        """Return the grammar of the texts."""
        return self._grammar

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Return the rules that read a text.

        Raises:
            UnsupportedSchema: rules alone are not enough, because items have to be remembered (`unique_arrays`).
        """
        return self._rules().alone()

    def unique_arrays(self) -> UniqueArrays | None:
        """Return the rules with the arrays whose items have to be remembered; None if there are no such arrays."""
        return self._rules().unique_arrays()

    @property
    def source(self) -> SchemaSource | None:
        """The schema, and how it is read; None for alternatives of several schemas."""
        return None

    def reasons(self, text: bytes, refused: bytes | None, expected: frozenset[int]) -> Reasons:
        """Return the place of a text in the schema, and the keywords that forbid the refused bytes; see
        `tokenfst.explanation.reasons.SupportsReasons`."""
        source = self.source
        return Reasons() if source is None else schema_reasons(source, self.layout, text, refused, expected)

    def place_finder(self) -> PlaceFinder | None:
        """Return a finder of the places of texts in the schema; None for alternatives of several schemas."""
        source = self.source
        return None if source is None else schema_places(source, self.layout)

    @cached_property
    def readable(self) -> TokenAutomaton:
        """The automaton of the texts over single bytes. It remembers items, and members in any order."""
        return tokenfst.compile(self, ALL_BYTES)

    @abstractmethod
    def value(self, text: str) -> T_co:
        """Return the value of a JSON text.

        Raises:
            TextNotAllowed: the text is not the JSON of a value of the type.
        """

    def united(self, other: Parsed[Any]) -> Parsed[Any] | None:
        """Return the union with another schema or type; None for any other constraint.

        Raises:
            ValueError: the two are written with different `whitespace`, `property_order`, `spellings`,
                `max_digits` or `integers`.
        """
        if not isinstance(other, JsonTexts):
            return None
        for what, left, right in (
            ("whitespace", self.layout.whitespace, other.layout.whitespace),
            ("property_order", self.layout.order, other.layout.order),
            ("spellings", self.layout.spellings, other.layout.spellings),
            ("max_digits", self.layout.max_digits, other.layout.max_digits),
            ("integers", self.layout.integers, other.layout.integers),
        ):
            if left != right:
                raise ValueError(f"alternatives are read with the same `{what}`, and not with {left!r} and {right!r}")
        renamed = self.documents if isinstance(self, Alternatives) else ()
        return Alternatives([*_members(self), *_members(other)], renamed)


class Alternatives(JsonTexts[Any]):
    """The JSON texts of the values that satisfy one of several schemas; made by `|`. Immutable.

    Attributes:
        members: the constraints; `parse` tries them in order.
        documents: the schemas of the members, with definitions renamed apart.
    """

    def __init__(self, members: Sequence[JsonTexts[Any]], renamed: Sequence[SchemaDocument] = ()) -> None:
        """Initialize the constraint.

        Args:
            members: the constraints.
            renamed: the renamed schemas of the first members, if known: in `a | b | c | ...`, each is renamed once.
        """
        self.members = tuple(members)
        self.notes = tuple(note for member in members for note in member.notes)
        more = enumerate(members[len(renamed) :], len(renamed))
        self.documents = (*renamed, *(_Renamed(number).document(member.layout.document) for number, member in more))
        self.layout = members[0].layout._replace(document=_union(self.documents))

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.members))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the members."""
        members = "".join(member._repr_html_() for member in self.members)
        return (
            shown("JSON of one of several schemas:", f"{len(self.members)}, and parse() tries them in order") + members
        )

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts.

        Raises:
            UnsupportedSchema: items have to be remembered.
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
        """
        return compile_visibly_pushdown(self._rules().alone(), work=work)

    def value(self, text: str) -> Any:
        """Return the value from the first member that can read the text."""
        return _first_value(self.members, text)

    def parse(self, text: str) -> Any:
        """Return the value of a text, from the first member that allows it.

        The order of properties may differ between a schema alone and the union of all, so that no member by itself
        allows the text; then the value is from the first member that can read it.

        Raises:
            TextNotAllowed: the constraint does not allow the text, or a function of a type refuses it.
        """
        if not self.allows(text):
            raise TextNotAllowed("the constraint does not allow the text", text)
        allowing = [member for member in self.members if member.allows(text)]
        return _first_value(allowing or self.members, text)

    def _rules(self) -> SchemaGrammar:
        return self._united_rules

    @cached_property
    def _united_rules(self) -> SchemaGrammar:
        return schema_grammar(self.layout)


def shown_schema(schema: Any) -> str:
    """Return a schema as HTML for a notebook; only the beginning if it is long."""
    text = ""
    for part in _ENCODER.iterencode(schema):
        text += part
        if len(text) > _MAX_SHOWN:
            text = f"{text[:_MAX_SHOWN]}…"
            break
    return f"<pre>{escape(text)}</pre>"


def _first_value(members: Sequence[JsonTexts[Any]], text: str) -> Any:
    refused = TextNotAllowed("the constraint does not allow the text", text)
    for member in members:
        try:
            return member.value(text)
        except TextNotAllowed as error:
            refused = error
    raise refused


def _members(constraint: JsonTexts[Any]) -> tuple[JsonTexts[Any], ...]:
    return constraint.members if isinstance(constraint, Alternatives) else (constraint,)


def _union(parts: Sequence[SchemaDocument]) -> SchemaDocument:
    """Return the document of the values that at least one of several documents with different definitions allows."""
    return SchemaDocument(
        disjunction(part.root for part in parts),
        {key: formula for part in parts for key, formula in part.definitions.items()},
        parts[0].draft,
        {formula: place for part in parts for formula, place in part.places.items()},
        tuple(note for part in parts for note in part.notes),
    )


class _Renamed:
    """A renaming of the definitions of documents: each key becomes a pair of a number and the key."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.known: dict[Formula, Formula] = {}

    def document(self, document: SchemaDocument) -> SchemaDocument:
        pointer = f"/anyOf/{self.number}"
        return SchemaDocument(
            self.formula(document.root),
            {(self.number, key): self.formula(formula) for key, formula in document.definitions.items()},
            document.draft,
            {self.formula(formula): pointer + place for formula, place in document.places.items()},
            document.notes,
        )

    def formula(self, formula: Formula) -> Formula:
        return run(self._formula(formula))

    def _formula(self, formula: Formula) -> Task[Formula]:
        if formula not in self.known:
            if isinstance(formula, Reference):
                self.known[formula] = Reference((self.number, formula.key))
            else:
                self.known[formula] = yield rebuilt(formula, self._formula)
        return self.known[formula]
