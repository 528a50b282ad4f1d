"""Reading: a JSON Schema of any draft becomes a `Document` of formulas.

dialects        which keywords there are, by draft and vocabulary
library         resources, names and references; `scanning`, `pointers`, `metaschemas`, `vocabularies`
reader          goes through a schema and joins what its keywords say
keywords        `any_kind`, `numbers`, `texts`, `arrays`, `objects`, `applicators`, `references`; `values`, `counts`
unevaluated     `unevaluatedProperties` and `unevaluatedItems`, from what is `evaluated`
"""

from __future__ import annotations

from typing import Any, Literal

from automata.errors import SchemaError
from constraints.json_schema.document import Document, Draft, Resolver
from constraints.json_schema.reading.dialects import DIALECTS
from constraints.json_schema.reading.library import Library
from constraints.json_schema.reading.reader import DynamicReference, Reader

__all__ = ["read_schema"]


def read_schema(
    schema: Any,
    *,
    draft: Draft | Literal["auto"] = "auto",
    resolver: Resolver | None = None,
    skip: frozenset[str] = frozenset(),
) -> Document:
    """Reads a JSON Schema.

    Args:
        schema: the schema, as `json.loads` gives it.
        draft: its draft; "auto" goes by `$schema`. Without one a schema is of 2020-12, with what older drafts wrote
            otherwise and what means nothing else there; so is one with a `$schema` that nobody knows, with a note.
        resolver: from an absolute URI to the schema that lies there. Metaschemas of the drafts need none.
        skip: JSON pointers of keywords to leave out; each is noted.

    Raises:
        SchemaError: a keyword has a value that it must not have, or a reference leads nowhere.
        UnsupportedSchema: `unevaluatedProperties` or `unevaluatedItems` depends on too many cases.
    """
    library = Library(schema, None if draft == "auto" else DIALECTS[draft], resolver)
    reader = Reader(library, skip, dynamic=False)
    try:
        try:
            root = reader.root()
        except DynamicReference:
            reader = Reader(library, skip, dynamic=True)
            root = reader.root()
    except RecursionError:
        raise SchemaError("the schema is nested too deeply") from None
    notes = (*library.notes, *reader.notes)
    return Document(root, reader.definitions, library.root.dialect.draft, reader.places, notes)
