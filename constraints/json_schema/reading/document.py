"""SchemaDocument: the result of reading a schema."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from constraints.json_schema.formulas.connectives import Formula

Draft = Literal["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"]
# Returns the schema at an absolute URI without a fragment; raises LookupError where it knows none.
Resolver = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Note:
    """A part of a schema that constrains nothing.

    Attributes:
        pointer: its place in the schema, as a JSON pointer.
        keyword: the keyword.
        reason: why it constrains nothing: no draft defines the format, for instance, or why the keyword is left out.
    """

    pointer: str
    keyword: str
    reason: str


@dataclass(slots=True)
class ReadPlaces:
    """What a reader has seen of a schema and of the documents to which it refers.

    Attributes:
        keywords: the keywords of all schemas that were read, each with its place.
        references: the place of each reference, and that of its target.
    """

    keywords: list[tuple[str, str]] = field(default_factory=list)
    references: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SchemaDocument:
    """A schema that has been read, with its references resolved.

    Attributes:
        root: the formula of the whole value.
        definitions: the formula of each reference, by its key; a small formula that is not recursive may replace its
            references.
        draft: the draft by which the schema was read.
        places: the places of statements in the schema, as JSON pointers, for errors.
        notes: the parts that constrain nothing.
    """

    root: Formula
    definitions: Mapping[Hashable, Formula]
    draft: Draft
    places: Mapping[Formula, str]
    notes: tuple[Note, ...]
