"""json_schema_to_regex: a JSON Schema as one regular expression.

    json_schema_to_regex(schema)     the expression, whose `str` is its text

The network of rules that `json_schema` makes is turned into expressions rule by rule: the states between two brackets
are eliminated (`automata.algebra.elimination`), and where a rule is called, the expression of its texts stands instead,
one for each way in which it can end. A recursive schema is no regular language; neither is free JSON (a schema that
says nothing). With limits on how deeply objects and arrays may be nested both are: these are the k_O and k_A of section
5.1 of Koo, Liu & He 2024. The limits are for what is recursive alone: what else the schema nests is as deep as it says.
"""

from __future__ import annotations

from typing import Any, Literal

from automata.expressions import EMPTY, Expr
from automata.visibly_pushdown import VisiblyPushdownGrammar
from constraints.json_schema.document import Draft, Resolver
from constraints.json_schema.formula import Kind
from constraints.json_schema.levels.objects import PropertyOrder
from constraints.json_schema.schema import json_schema
from constraints.json_schema.whitespace import Habit, Whitespace
from constraints.rewriting.expressions import Depths, Expressions, closure


def json_schema_to_regex(
    schema: Any,
    *,
    max_object_depth: int | None = None,
    max_array_depth: int | None = None,
    draft: Draft | Literal["auto"] = "auto",
    whitespace: Habit | Whitespace = "default",
    property_order: PropertyOrder = "schema",
    unsupported: Literal["error", "relax"] = "error",
    resolver: Resolver | None = None,
) -> Expr:
    """The JSON texts whose value satisfies a schema, as a regular expression.

    Args:
        schema: a JSON Schema as `json.loads` gives it: a dict or a bool.
        max_object_depth: of objects that can be nested without end, how many may lie within each other at most.
        max_array_depth: the same for arrays.
        draft, whitespace, property_order, unsupported, resolver: as for `json_schema`.

    Raises:
        SchemaError: the schema is recursive, and no limit bounds it; and what `json_schema` raises.
        LimitExceeded: the expression is too large.
    """
    made = json_schema(
        schema,
        draft=draft,
        whitespace=whitespace,
        property_order=property_order,
        unsupported=unsupported,
        resolver=resolver,
    )
    limits = {Kind.OBJECT: max_object_depth, Kind.ARRAY: max_array_depth}
    expressions = _BoundedDepth(made.to_network(), made.kinds, limits)
    return expressions.rule(0, (max_object_depth, max_array_depth)).get(0, EMPTY)


class _BoundedDepth(Expressions):
    """Expressions of rules in which recursive objects and arrays are nested only so deep."""

    def __init__(
        self, network: VisiblyPushdownGrammar, kinds: tuple[Kind | None, ...], limits: dict[Kind, int | None]
    ) -> None:
        super().__init__(network)
        self.kinds = kinds
        self.limits = limits
        self.recursive = _recursive(network)

    def called(self, number: int, depths: Depths) -> dict[int, Expr]:
        """Return the texts of a rule that is called, with one more bracket open if it is recursive."""
        kind = self.kinds[number]
        if number not in self.recursive or kind not in self.limits:
            return self.rule(number, depths)
        objects, arrays = depths
        left = objects if kind is Kind.OBJECT else arrays
        if left is None:
            return self.rule(number, depths)
        if left == 0:
            return {}
        return self.rule(number, (left - 1, arrays) if kind is Kind.OBJECT else (objects, left - 1))


def _recursive(network: VisiblyPushdownGrammar) -> set[int]:
    """The rules that can call themselves, by way of others or not."""
    called = [{call.rule for call in rule.calls} for rule in network.rules]
    return {
        number
        for number in range(len(network.rules))
        if number in closure(set(called[number]), lambda other: called[other])
    }
