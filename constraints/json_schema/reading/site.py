"""Site: a schema that is being read, with its place, its resource and its scope.

SchemaDialect   the keywords that a schema may have, each with its handler
Resource        a schema with a URI of its own, against which its relative references are resolved
Target          the schema to which a reference leads
Scope           the dynamic anchors in force: for each name, the target in the outermost resource that has it
Site            one object of the schema; the argument of a handler
Reading         the interface of the reader (`reading.reader.Reader`) for handlers
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from reprlib import Repr
from typing import Any, Final, Protocol, TypeAlias

from automata.errors import SchemaError, UnsupportedSchema
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.reading.document import Draft
from constraints.json_schema.reading.resources.pointers import step
from constraints.recursion import Task


@dataclass(frozen=True, slots=True, eq=False)
class SchemaDialect:
    """How a schema is read.

    Attributes:
        draft: the draft.
        handlers: the handler of each keyword.
        id_keywords: the keywords that give a schema its URI.
        reference_alone: whether `$ref` hides all keywords beside it (up to draft 7).
        contains_evaluates: whether items that satisfy `contains` are evaluated (from 2020-12 on).
    """

    draft: Draft
    handlers: Mapping[str, Handler]
    id_keywords: tuple[str, ...] = ("$id",)
    reference_alone: bool = False
    contains_evaluates: bool = False


@dataclass(slots=True, eq=False)
class Target:
    """A schema that a reference leads to.

    Attributes:
        schema: the schema.
        place: where it stands.
        resource: the resource that it is in.
        dynamic: the name of the dynamic anchor that led to it ("" for `$recursiveAnchor`), if one did.
    """

    schema: Any
    place: str
    resource: Resource
    dynamic: str | None = None


@dataclass(slots=True, eq=False)
class Resource:
    """A schema with a URI of its own.

    Attributes:
        uri: its absolute URI without fragment; "" if there is none.
        schema, place: the schema, and where it stands.
        dialect: how its keywords are read.
        outer: the document that it lies in; None for a document.
        anchors: the targets of its names, once the document has been scanned.
        scanned: whether the document has been scanned.
    """

    uri: str
    schema: Any
    place: str
    dialect: SchemaDialect
    outer: Resource | None = None
    anchors: dict[str, Target] = field(default_factory=dict)
    scanned: bool = False

    @property
    def document(self) -> Resource:
        """The document that the resource lies in; the resource itself if it is a document."""
        return self.outer or self


class _Repr(Repr):
    def repr_int(self, x: int, level: int) -> str:
        """Return an integer's text, or its size if it has more digits than the 4,300 that Python writes."""
        try:
            repr(x)  # `Repr` itself writes an address from Python 3.14 on
        except ValueError:
            return f"an integer of {x.bit_length():,} bits"
        return super().repr_int(x, level)


_SHOWN: Final = _Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80

Scope: TypeAlias = tuple[tuple[str, Target], ...]


class Site:
    """One object of a schema, while it is read."""

    __slots__ = ("place", "reading", "resource", "schema", "scope")

    def __init__(self, reading: Reading, schema: dict[str, Any], place: str, resource: Resource, scope: Scope) -> None:
        self.reading, self.schema, self.place, self.resource, self.scope = reading, schema, place, resource, scope

    def at(self, keyword: str, name: str | None = None) -> str:
        """Return the place of a keyword, or of a name or an index in its value."""
        return f"{self.place}/{keyword}" if name is None else f"{self.place}/{keyword}{step(name)}"

    def below(self, schema: Any, keyword: str, name: str | None = None) -> Formula | Task[Formula]:
        """Read the schema under a keyword, or under a name or an index in its value."""
        return self.reading.read(schema, self.at(keyword, name), self.resource, self.scope)

    def put(self, formula: Formula, keyword: str, name: str) -> Formula:
        """Record where a statement stands, and return it."""
        return self.reading.put(formula, self.at(keyword, name))

    def error(self, keyword: str, reason: str, *path: str) -> SchemaError:
        """Return the error for the value of a keyword, or for the value at a path in it."""
        return SchemaError(reason, pointer=self.place + "".join(map(step, (keyword, *path))), keyword=keyword)

    def unsupported(self, keyword: str, reason: str) -> UnsupportedSchema:
        """Return the error for a keyword that cannot be expressed exactly."""
        return UnsupportedSchema(reason, pointer=self.at(keyword), keyword=keyword)

    def wrong(self, keyword: str, expected: str, value: Any, *path: str) -> SchemaError:
        """Return the error for a value of the wrong type."""
        return self.error(keyword, f"the value must be {expected}, not {shown(value)}", *path)


def shown(value: Any) -> str:
    """Return a value's text for an error message, cut short where it is long."""
    return _SHOWN.repr(value)


def wrong_name(names: Iterable[object]) -> str | None:
    """Return a message if one of an object's names is not a string; None if all are strings.

    In JSON all names are strings, but a dict that was made in Python may have any hashable value as a key.
    """
    for name in names:
        if name.__class__ is not str and not isinstance(name, str):
            return f"a name must be a string, not {shown(name)}"
    return None


class Reading(Protocol):
    """The reader, as handlers see it.

    Attributes:
        any_of: the places of each `oneOf` that is read as `anyOf`.
    """

    any_of: frozenset[str]

    def read(self, schema: Any, place: str, resource: Resource, scope: Scope) -> Formula | Task[Formula]:
        """Read a schema: at once, or as a task if it contains schemas."""

    def definition(self, target: Target, scope: Scope) -> Task[Formula]:
        """Read the target of a reference."""

    def target(self, site: Site, keyword: str) -> Target:
        """Return the target of the reference that is a keyword's value; `$dynamicRef` and `$recursiveRef` are resolved
        in the scope of the site."""

    def condition(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Task[Formula]:
        """Read a schema below a site, unless it has been read already."""

    def child(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Site | None:
        """Return the site of a schema under a keyword; None for a boolean schema."""

    def target_site(self, target: Target, scope: Scope) -> Site | None:
        """Return the site of a reference's target; None for a boolean schema."""

    def compatible(self, parts: Sequence[Formula]) -> list[list[int]]:
        """Return, for each formula, the indices of the other formulas that may hold for the same value."""

    def put(self, formula: Formula, place: str) -> Formula:
        """Record where a statement stands, unless a place of it is recorded already, and return it."""

    def note(self, site: Site, keyword: str, reason: str) -> None:
        """Record that a keyword constrains nothing."""


# Reads the value of one keyword: at once, or as a task if it contains schemas.
Handler: TypeAlias = Callable[[Site, Any], Formula | Task[Formula]]
