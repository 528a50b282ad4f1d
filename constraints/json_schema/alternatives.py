"""Schemas side by side: `json_schema(a) | json_schema(b)`, `typed(A) | typed(B)`.

The visibly pushdown grammars of two schemas cannot be alternatives at one place, because both call a rule after the
same bracket. The schemas can: their formulas are united and built as one grammar, that of `{"anyOf": [a, b]}`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from automata.byte_automaton import ByteAutomaton
from automata.errors import TextNotAllowed
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar
from constraints.composing.parsed import Parsed
from constraints.json_schema.building.schema_grammar import schema_grammar
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.formulas.connectives import Formula, disjunction, rebuilt
from constraints.json_schema.formulas.statements import Reference
from constraints.json_schema.reading.document import SchemaDocument
from constraints.json_schema.strings import Spellings
from constraints.recursion import Task, run

T_co = TypeVar("T_co", covariant=True)


class Layout(NamedTuple):
    """What the grammar of a schema is made of.

    Attributes:
        document: the schema, as it was read.
        whitespace, order, spellings, max_digits: as for `json_schema`.
    """

    document: SchemaDocument
    whitespace: Habit | Whitespace
    order: PropertyOrder
    spellings: Spellings
    max_digits: int | None = None


class JsonTexts(Parsed[T_co]):
    """The JSON texts of the values that satisfy a schema.

    Attributes:
        layout: the schema, and how its values are written.
    """

    layout: Layout

    @abstractmethod
    def value(self, text: str) -> T_co:
        """Return the value of a JSON text.

        Raises:
            TextNotAllowed: the text is the JSON of no value of the type.
        """

    def united(self, other: Parsed[Any]) -> Parsed[Any] | None:
        """Return the union with another schema or type; None for any other constraint.

        Raises:
            ValueError: the two are written with different `whitespace`, `property_order`, `spellings` or
                `max_digits`.
        """
        if not isinstance(other, JsonTexts):
            return None
        for what, left, right in (
            ("whitespace", self.layout.whitespace, other.layout.whitespace),
            ("property_order", self.layout.order, other.layout.order),
            ("spellings", self.layout.spellings, other.layout.spellings),
            ("max_digits", self.layout.max_digits, other.layout.max_digits),
        ):
            if left != right:
                raise ValueError(f"alternatives have one {what}, and not {left!r} and {right!r}")
        return Alternatives([*_members(self), *_members(other)])


class Alternatives(JsonTexts[Any]):
    """The JSON texts of the values that satisfy one of several schemas; made by `|`. Immutable.

    Attributes:
        members: the constraints; `parse` tries them in order.
    """

    def __init__(self, members: Sequence[JsonTexts[Any]]) -> None:
        self.members = tuple(members)
        self.layout = members[0].layout._replace(document=_union([member.layout.document for member in members]))

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.members))

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Return the rules that read a text of one of the schemas."""
        return self._grammar

    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts.

        Raises:
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
        """
        return compile_visibly_pushdown(self._grammar, work=work)

    def value(self, text: str) -> Any:
        """Return the value of the first member that has one for the text."""
        return _first_value(self.members, text)

    def parse(self, text: str) -> Any:
        """Return the value of a text: that of the first member that allows it.

        Where each schema alone has another order of properties than all together, a text may be allowed by none of
        them alone; then it is the value of the first member that reads it.

        Raises:
            TextNotAllowed: the constraint does not allow the text; or functions of the types refuse it.
        """
        if not self.allows(text):
            raise TextNotAllowed("the constraint does not allow the text", text)
        allowing = [member for member in self.members if member.allows(text)]
        return _first_value(allowing or self.members, text)

    @cached_property
    def _grammar(self) -> VisiblyPushdownGrammar:
        return schema_grammar(*self.layout)[0]


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


def _union(documents: Sequence[SchemaDocument]) -> SchemaDocument:
    """Return the document of the values that one of some documents allows."""
    parts = [_Renamed(number).document(document) for number, document in enumerate(documents)]
    return SchemaDocument(
        disjunction(part.root for part in parts),
        {key: formula for part in parts for key, formula in part.definitions.items()},
        documents[0].draft,
        {formula: place for part in parts for formula, place in part.places.items()},
        tuple(note for part in parts for note in part.notes),
    )


class _Renamed:
    """Documents with a number before the keys of their definitions."""

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
