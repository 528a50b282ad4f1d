"""Reading: from a JSON Schema of any draft to a `SchemaDocument` with its formulas.

resources/        the documents of a schema, and the targets of references
site, dialects    a schema as it is read, and the handlers of each draft's keywords
keywords/         the handlers: each returns the formula of one keyword
reader            reads a schema and the targets of its references, and joins the formulas
document          the result
"""

from __future__ import annotations

from typing import Any, Literal

from automata.errors import SchemaError
from constraints.json_schema.reading.dialects import DIALECTS, wrapper_of
from constraints.json_schema.reading.document import Draft, ReadPlaces, Resolver, SchemaDocument
from constraints.json_schema.reading.reader import DynamicReference, Reader
from constraints.json_schema.reading.resources.library import Library

__all__ = ["read_schema"]


def read_schema(
    schema: Any,
    *,
    draft: Draft | Literal["auto"] = "auto",
    resolver: Resolver | None = None,
    skip: frozenset[str] = frozenset(),
    any_of: frozenset[str] = frozenset(),
    seen: ReadPlaces | None = None,
) -> SchemaDocument:
    """Read a JSON Schema.

    Args:
        schema: the schema, as `json.loads` returns it, nested to any depth.
        draft: its draft; "auto" takes the one that `$schema` names. A schema without `$schema` is read as 2020-12
            together with what older drafts wrote differently; so is one with an unknown `$schema`, with a note.
        resolver: returns the schema at an absolute URI. The drafts' metaschemas need none.
        skip: JSON pointers of keywords to leave out; each is noted.
        any_of: JSON pointers of each `oneOf` to read as `anyOf`.
        seen: is filled with what the reader sees, if it is given.

    Raises:
        SchemaError: a keyword has an invalid value, a reference has no target, or the object is no schema but has one
            in a member.
        UnsupportedSchema: `unevaluatedProperties` or `unevaluatedItems` depends on too many cases, a number has too
            many digits, `pattern` is an expression with labels, or a metaschema requires an unknown vocabulary.
    """
    if wrapping := wrapper_of(schema):
        raise SchemaError(f"this is no schema but has one in its member {wrapping!r}: pass that", pointer="")
    library = Library(schema, None if draft == "auto" else DIALECTS[draft], resolver)
    reader = Reader(library, skip, any_of, seen, dynamic=False)
    try:
        root = reader.root()
    except DynamicReference:
        reader = Reader(library, skip, any_of, seen, dynamic=True)
        root = reader.root()
    notes = (*library.notes, *reader.notes)
    return SchemaDocument(root, reader.definitions, library.root.dialect.draft, reader.places, notes)
