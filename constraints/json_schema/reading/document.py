"""Document: what reading a schema gives."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from constraints.json_schema.formulas.connectives import Formula

Draft = Literal["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"]
# From an absolute URI, without a fragment, to the schema that lies there; raises LookupError where it knows none.
Resolver = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Note:
    """Something in a schema that constrains nothing.

    Attributes:
        pointer: where it stands, as a JSON pointer of the schema.
        keyword: which keyword.
        reason: why it constrains nothing: a format that nobody defines, a keyword that was left out on request.
    """

    pointer: str
    keyword: str
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """A schema that has been read; references are resolved.

    Attributes:
        root: what the schema says of the whole value.
        definitions: what each reference says, by its key. Only what is needed: a definition that is not recursive and
            small may stand in place of its reference.
        draft: the draft that the schema was read by.
        places: where statements stand in the schema, as JSON pointers, for errors.
        notes: what constrains nothing.
    """

    root: Formula
    definitions: Mapping[Hashable, Formula]
    draft: Draft
    places: Mapping[Formula, str]
    notes: tuple[Note, ...]
