"""JSON in requests: schemas as constraints without endless whitespace or digits.

A model that is asked for JSON may write blanks or digits without end. So whitespace is bounded, and numbers have at
most `MAX_DIGITS` digits in a row.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final, Literal, TypeAlias

from automata import expressions as ex
from automata.expressions import Expr
from automata.limits import Limits
from automata.pattern import parse
from automata.queries import counterexample
from constraints import Whitespace, json_schema
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.schema import JsonSchema

Blanks: TypeAlias = Literal["default", "compact"] | Whitespace

# The most digits in a row of a JSON number, where its schema sets no bound: all 64-bit integers have fewer.
MAX_DIGITS: Final = 20

_BLANK: Final = ex.char_set(" \t\n\r")


def schema_texts(schema: Any, blanks: Blanks, limits: Limits, order: PropertyOrder = "schema") -> JsonSchema:
    """Return the constraint of a schema.

    Args:
        schema: the schema.
        blanks: the whitespace; see `constraint_of`.
        limits: the time and memory that reading the schema may take.
        order: the order of properties, as in `json_schema`.

    Raises:
        SchemaError, LimitExceeded: see `json_schema`.
    """
    return json_schema(schema, whitespace=blanks, property_order=order, max_digits=MAX_DIGITS, limits=limits)


def blanks_up_to(number: int) -> Whitespace:
    """Return the whitespace of up to a number of blanks of any kind, wherever JSON allows whitespace."""
    return _everywhere(ex.repeat(_BLANK, 0, number))


def blanks_like(pattern: str) -> Whitespace:
    """Return the whitespace that a pattern describes, wherever JSON allows whitespace.

    Raises:
        ValueError: the pattern matches text that is not whitespace in JSON.
        PatternError: the pattern is not valid.
    """
    blanks = parse(pattern)
    other = counterexample(_BLANK.star(), blanks)
    if other is not None:
        raise ValueError(f"the pattern {pattern!r} matches {other!r}, which is not whitespace in JSON")
    return _everywhere(blanks)


def _everywhere(blanks: Expr) -> Whitespace:
    return Whitespace(*[blanks] * len(fields(Whitespace)))
