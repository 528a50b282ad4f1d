"""schema_grammar: the visibly pushdown grammar of a schema that has been read."""

from __future__ import annotations

from automata.errors import LimitExceeded, UnsatisfiableSchema
from automata.visibly_pushdown import VisiblyPushdownGrammar
from constraints.json_schema.building.builder import SchemaGrammarBuilder
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.explaining.conflicts import conflict
from constraints.json_schema.explaining.limits import too_large
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Kind
from constraints.json_schema.reading.document import SchemaDocument
from constraints.json_schema.strings import Spellings
from constraints.rewriting.liveness import has_text


def schema_grammar(
    document: SchemaDocument,
    whitespace: Habit | Whitespace,
    order: PropertyOrder,
    spellings: Spellings,
    max_digits: int | None = None,
) -> tuple[VisiblyPushdownGrammar, tuple[Kind | None, ...]]:
    """Build the visibly pushdown grammar of a schema.

    Returns:
        The grammar, and the kind of what each rule reads between two brackets or quotes; None for the whole text.

    Raises:
        UnsatisfiableSchema: the schema has no text; the message names the conflict.
        UnsupportedSchema: a statement cannot be expressed exactly, or one keyword makes the grammar too large.
        LimitExceeded: all of the schema together is too large.
        SchemaError: a reference leads back to itself.
    """
    restriction = Restriction(document.definitions)
    builder = SchemaGrammarBuilder(restriction, whitespace, order, spellings, max_digits)
    try:
        grammar = builder.grammar(document.root)
    except LimitExceeded as error:
        if order == "any-if-cheap" or error.limit == "seconds":
            raise
        value = builder.value_at_hand if order == "schema" else None
        raise too_large(error, document, builder.plans.number_at_hand, value) from None

    def is_empty(formula: Formula) -> bool:
        builder = SchemaGrammarBuilder(restriction, whitespace, order, spellings, max_digits)
        return not has_text(builder.grammar(formula))

    if not builder.has_value(document.root) and not has_text(grammar):
        reason, pointer = conflict(document, is_empty)
        raise UnsatisfiableSchema(reason, pointer=pointer)
    return grammar, (None, *(kind for kind, _ in builder.keys))
