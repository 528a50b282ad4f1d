"""network_of: from a schema that has been read to its network, or to the error that says why there is none."""

from __future__ import annotations

from automata.errors import LimitExceeded, UnsatisfiableSchema
from automata.visibly_pushdown import VisiblyPushdownGrammar
from constraints.json_schema.blame import too_large
from constraints.json_schema.conflicts import conflict
from constraints.json_schema.document import Document
from constraints.json_schema.formula import Formula, Kind
from constraints.json_schema.laying import Laying
from constraints.json_schema.levels.objects import PropertyOrder
from constraints.json_schema.restriction import Restriction
from constraints.json_schema.whitespace import Habit, Whitespace
from constraints.rewriting.liveness import has_text


def network_of(
    document: Document, whitespace: Habit | Whitespace, order: PropertyOrder
) -> tuple[VisiblyPushdownGrammar, tuple[Kind | None, ...]]:
    """The network of a schema that has been read, and of each rule what it reads between two brackets or quotes; None
    for the whole text.

    Raises:
        UnsatisfiableSchema: it has no text; the message names the conflict.
        UnsupportedSchema: a statement cannot be held exactly, or one keyword makes the network too large.
        LimitExceeded: all of it together is too large.
        SchemaError: a reference leads back to itself.
    """
    restriction = Restriction(document.definitions)
    laying = Laying(restriction, whitespace, order)
    try:
        network = laying.network(document.root)
    except LimitExceeded as error:
        if order == "any-if-cheap" or error.limit == "seconds":
            raise
        value = laying.value_at_hand if order == "schema" else None
        raise too_large(error, document, laying.number_at_hand, value) from None

    def is_empty(formula: Formula) -> bool:
        return not has_text(Laying(restriction, whitespace, order).network(formula))

    if not laying.has_value(document.root) and not has_text(network):
        reason, pointer = conflict(document, is_empty)
        raise UnsatisfiableSchema(reason, pointer=pointer)
    return network, (None, *(kind for kind, _ in laying.keys))
