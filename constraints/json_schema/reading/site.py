"""Site: a schema that is being read, and where it stands; what the readers of keywords are given.

Resource    a schema with a URI of its own, by which its relative references are resolved
Scope       the dynamic anchors that are in force: what each name leads to, which is in the outermost resource
Site        one object of the schema, its place, its resource and its scope
Reading     what a reader of a keyword may ask for: other schemas, definitions, notes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from reprlib import Repr
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from automata.errors import SchemaError
from constraints.json_schema.formula import Formula
from constraints.json_schema.reading.pointers import step

if TYPE_CHECKING:
    from constraints.json_schema.reading.dialects import Dialect


@dataclass(slots=True, eq=False)
class Target:
    """A schema that a reference leads to.

    Attributes:
        schema: the schema.
        place: where it stands.
        resource: the resource that it is in.
        dynamic: the name, if it was found by a dynamic anchor ("" for `$recursiveAnchor`).
    """

    schema: Any
    place: str
    resource: Resource
    dynamic: str | None = None


@dataclass(slots=True, eq=False)
class Resource:
    """A schema with a URI of its own.

    Attributes:
        uri: its absolute URI without fragment; "" where there is none.
        schema, place: the schema, and where it stands.
        dialect: how its keywords are read.
        document: the resource of the document that it lies in; itself for a document.
        anchors: what its names lead to, once the document has been scanned.
        scanned: whether the document has been.
    """

    uri: str
    schema: Any
    place: str
    dialect: Dialect
    document: Resource = field(init=False)
    anchors: dict[str, Target] = field(default_factory=dict)
    scanned: bool = False

    def __post_init__(self) -> None:
        self.document = self


_SHOWN: Final = Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80

Scope: TypeAlias = tuple[tuple[str, Target], ...]


class Site:
    """One object of a schema, while it is read."""

    __slots__ = ("place", "resource", "schema", "scope")

    def __init__(self, schema: dict[str, Any], place: str, resource: Resource, scope: Scope) -> None:
        self.schema, self.place, self.resource, self.scope = schema, place, resource, scope

    def error(self, keyword: str, reason: str, *path: str) -> SchemaError:
        """The error for the value of a keyword here, or for what lies under a path in it."""
        return SchemaError(reason, pointer=self.place + "".join(map(step, (keyword, *path))), keyword=keyword)

    def wrong(self, keyword: str, expected: str, value: Any, *path: str) -> SchemaError:
        """The error for a value that is not what it must be."""
        return self.error(keyword, f"the value must be {expected}, not {shown(value)}", *path)


def shown(value: Any) -> str:
    """A value in an error: only its beginning if it is large."""
    return _SHOWN.repr(value)


class Reading(Protocol):
    """What the readers of keywords ask for."""

    def below(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Formula:
        """What a schema says that stands under a keyword, or under a name or an index in it."""

    def definition(self, target: Target, scope: Scope) -> Formula:
        """What the target of a reference says."""

    def target(self, site: Site, keyword: str) -> Target:
        """What the reference that is the keyword's value leads to, dynamically where it is that."""

    def condition(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Formula:
        """As `below`, for a schema that may be asked for again."""

    def child(self, site: Site, schema: Any, keyword: str, name: str | None = None) -> Site | None:
        """The site of a schema under a keyword; None for a boolean schema."""

    def target_site(self, target: Target, scope: Scope) -> Site | None:
        """The site of what a reference leads to; None for a boolean schema."""

    def compatible(self, parts: Sequence[Formula]) -> list[list[int]]:
        """For each of some formulas the others, by index, that may hold together with it."""

    def put(self, formula: Formula, place: str) -> Formula:
        """Remembers where a statement stands; the first place counts."""

    def note(self, site: Site, keyword: str, reason: str) -> None:
        """Says that a keyword constrains nothing."""


Handler: TypeAlias = Callable[[Reading, Site, Any], Formula]
