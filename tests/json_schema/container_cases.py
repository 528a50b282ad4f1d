"""The grammars of schemas that have values."""

from __future__ import annotations

from typing import Any

from automata.errors import UnsatisfiableSchema
from automata.visibly_pushdown import VisiblyPushdownGrammar
from constraints import json_schema


def schema_grammar(schema: Any, **options: Any) -> VisiblyPushdownGrammar | None:
    try:
        return json_schema(schema, whitespace="compact", **options).to_visibly_pushdown()
    except UnsatisfiableSchema:
        return None
