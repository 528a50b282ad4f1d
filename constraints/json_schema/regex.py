"""json_schema_to_regex: a JSON Schema as one regular expression.

    json_schema_to_regex(schema)     the expression, whose `str` is its text

The visibly pushdown grammar that `json_schema` makes is converted to expressions rule by rule: the states of a rule are
eliminated (`automata.algebra.elimination`), and a call is replaced by the expression for the called rule's texts, one
for each exit. The language of a recursive schema is not regular, and neither is that of free JSON (a schema without
constraints). Both become regular with limits on the nesting of objects and arrays: k_O and k_A in section 5.1 of Koo,
Liu & He 2024. The limits apply only to recursive rules; everything else is as deep as the schema says.
"""

from __future__ import annotations

from operator import index
from typing import Any, Literal

from automata.expressions import EMPTY, Expr
from automata.visibly_pushdown import VisiblyPushdownGrammar
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.formulas.statements import Kind
from constraints.json_schema.reading.document import Draft, Resolver
from constraints.json_schema.schema import Unsupported, json_schema
from constraints.json_schema.strings import Spellings
from constraints.recursion import Task
from constraints.rewriting.expressions import Depths, Expressions, closure


def json_schema_to_regex(
    schema: Any,
    *,
    max_object_depth: int | None = None,
    max_array_depth: int | None = None,
    draft: Draft | Literal["auto"] = "auto",
    whitespace: Habit | Whitespace = "default",
    property_order: PropertyOrder = "schema",
    spellings: Spellings = "plain",
    unsupported: Unsupported = "error",
    resolver: Resolver | None = None,
) -> Expr:
    """Return the JSON texts whose value satisfies a schema, as a regular expression.

    Args:
        schema: a JSON Schema as `json.loads` returns it: a dict or a bool.
        max_object_depth: the maximum nesting of objects in the recursive parts of the schema; None sets no bound.
        max_array_depth: the same for arrays.
        draft, whitespace, property_order, spellings, unsupported, resolver: as for `json_schema`.

    Raises:
        SchemaError: the schema is recursive, and no limit bounds it; also the errors of `json_schema`.
        LimitExceeded: the expression is too large.
        TypeError, ValueError: a depth is not a number of levels.
    """
    for depth in (max_object_depth, max_array_depth):
        if depth is not None and index(depth) < 0:
            raise ValueError(f"a maximum depth is 0 or more, not {depth}")
    made = json_schema(
        schema,
        draft=draft,
        whitespace=whitespace,
        property_order=property_order,
        spellings=spellings,
        unsupported=unsupported,
        resolver=resolver,
    )
    limits = {Kind.OBJECT: max_object_depth, Kind.ARRAY: max_array_depth}
    expressions = _BoundedDepth(made.to_visibly_pushdown(), made.kinds, limits)
    return expressions.rule(0, (max_object_depth, max_array_depth)).get(0, EMPTY)


class _BoundedDepth(Expressions):
    """Expressions of rules in which recursive objects and arrays are nested up to a maximum depth."""

    def __init__(
        self, grammar: VisiblyPushdownGrammar, kinds: tuple[Kind | None, ...], limits: dict[Kind, int | None]
    ) -> None:
        super().__init__(grammar)
        self.kinds = kinds
        self.limits = limits
        self.recursive = _recursive(grammar)

    def called(self, number: int, depths: Depths) -> Task[dict[int, Expr]]:
        """Return the texts of a rule that is called, for each exit. A call of a recursive rule takes one level of the
        depth that is left; with none left, there are no texts."""
        kind = self.kinds[number]
        if number not in self.recursive or kind not in self.limits:
            return (yield from self.task(number, depths))
        objects, arrays = depths
        left = objects if kind is Kind.OBJECT else arrays
        if left is None:
            return (yield from self.task(number, depths))
        if left == 0:
            return {}
        return (yield from self.task(number, (left - 1, arrays) if kind is Kind.OBJECT else (objects, left - 1)))


def _recursive(grammar: VisiblyPushdownGrammar) -> set[int]:
    """Return the rules that can call themselves, directly or through others."""
    called = [{call.rule for call in rule.calls} for rule in grammar.rules]
    return {
        number
        for number in range(len(grammar.rules))
        if number in closure(set(called[number]), lambda other: called[other])
    }
