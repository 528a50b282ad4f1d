"""Schemas whose integers are written plainly: 1, and neither 1.0 nor 1e0.

JSON Schema and its readers accept 1.0 as an integer, but in programs an integer is a sequence of digits. Draft 4 had
the same notion of integers, so formulas have a statement for it, `IsInteger(plain=True)`, which replaces all others
here.
"""

from __future__ import annotations

from typing import Any

from constraints.json_schema.formulas.connectives import Formula, rebuilt
from constraints.json_schema.formulas.statements import IsInteger
from constraints.json_schema.reading import read_schema
from constraints.json_schema.reading.document import SchemaDocument
from constraints.recursion import Task, run


def plain_document(schema: Any, skip: frozenset[str] = frozenset()) -> SchemaDocument:
    """Read a schema, with its integers written plainly.

    Args:
        schema: the schema.
        skip: JSON pointers of keywords to leave out.

    Raises:
        SchemaError, LimitExceeded: as for `json_schema`.
    """
    document = read_schema(schema, draft="draft2020-12", skip=skip)
    known: dict[Formula, Formula] = {}
    definitions = {key: run(_plain(formula, known)) for key, formula in document.definitions.items()}
    places = {run(_plain(formula, known)): place for formula, place in document.places.items()}
    return SchemaDocument(run(_plain(document.root, known)), definitions, document.draft, places, document.notes)


def _plain(formula: Formula, known: dict[Formula, Formula]) -> Task[Formula]:
    if formula not in known:
        if isinstance(formula, IsInteger):
            known[formula] = IsInteger(plain=True)
        else:
            known[formula] = yield rebuilt(formula, lambda part: _plain(part, known))
    return known[formula]
