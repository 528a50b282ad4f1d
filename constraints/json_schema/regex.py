"""json_schema_to_regex: a JSON Schema as one regular expression.

    json_schema_to_regex(schema)     the expression, whose `str` is its text

The network of rules that `json_schema` makes is turned into expressions rule by rule: the states of a rule are
eliminated (`automata.elimination`), and a call is replaced by the expression of the called rule's texts, one for each
exit. The language of a recursive schema is not regular, nor is that of free JSON (a schema that says nothing). With
limits on how deeply objects and arrays may be nested both are: k_O and k_A of section 5.1 of Koo, Liu & He 2024. The
limits concern recursive rules alone; all else is as deep as the schema says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Literal

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.elimination import to_expr, without_states
from automata.errors import SchemaError
from automata.expr import EMPTY, Expr
from automata.nested import Counted, CountedPaths, Language, NestedNetwork
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.formulas.statements import Kind
from constraints.json_schema.reading.document import Draft, Resolver
from constraints.json_schema.recursion import Task, run
from constraints.json_schema.schema import Unsupported, json_schema
from constraints.json_schema.strings import Spellings


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
        schema: a JSON Schema as `json.loads` gives it: a dict or a bool.
        max_object_depth: the most objects within each other, where a recursive schema does not bound them.
        max_array_depth: the same for arrays.
        draft, whitespace, property_order, spellings, unsupported, resolver: as for `json_schema`.

    Raises:
        SchemaError: the schema is recursive, and no limit bounds it. Also what `json_schema` raises.
        LimitExceeded: the expression is too large.
    """
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
    expressions = Expressions(made.to_network(), made.kinds, limits)
    return expressions.rule(0, (max_object_depth, max_array_depth)).get(0, EMPTY)


# How many more objects and arrays may be opened within each other; None for any number.
_Depths = tuple[int | None, int | None]


class Expressions:
    """The expressions of a network's rules, which are kept by what may still be nested in them."""

    def __init__(self, network: NestedNetwork, kinds: tuple[Kind | None, ...], limits: dict[Kind, int | None]) -> None:
        self.network = network
        self.kinds = kinds
        self.limits = limits
        self.recursive = _recursive(network)
        self.done: dict[tuple[int, _Depths], dict[int, Expr]] = {}
        self.under_way: set[tuple[int, _Depths]] = set()
        self.written: dict[int, Expr] = {}

    def rule(self, number: int, depths: _Depths) -> dict[int, Expr]:
        """Return the texts of a rule, by exit; exits without texts are left out."""
        return run(self._rule(number, depths))

    def _rule(self, number: int, depths: _Depths) -> Task[dict[int, Expr]]:
        key = number, depths
        if key in self.under_way:
            raise SchemaError(
                "a recursive schema is no regular expression without max_object_depth and max_array_depth"
            )
        if key not in self.done:
            self.under_way.add(key)
            self.done[key] = yield from self._eliminated(number, depths)
            self.under_way.discard(key)
        return self.done[key]

    def _eliminated(self, number: int, depths: _Depths) -> Task[dict[int, Expr]]:
        rule = self.network.rules[number]
        ways: dict[int, dict[int, Expr]] = defaultdict(dict)

        def add(source: int, expr: Expr, target: int) -> None:
            if not ex.is_empty(expr):
                known = ways[source].get(target)
                ways[source][target] = expr if known is None else ex.alternation(known, expr)

        for source, language, target in rule.arcs:
            add(source, self.expr(language), target)
        for source, target in rule.epsilon:
            add(source, ex.EPSILON, target)
        for call in rule.calls:
            texts: dict[int, Expr] = yield self.called(call.rule, depths)
            for leaving, expr in texts.items():
                if call.targets[leaving] >= 0:
                    add(call.source, expr, call.targets[leaving])
        ends = dict(rule.ends)
        start = rule.num_states
        ways[start] = {0: ex.EPSILON}
        live = _between(ways, start, set(ends))
        kept = {
            source: {target: expr for target, expr in targets.items() if target in live}
            for source, targets in ways.items()
            if source in live
        }
        return {ends[state]: expr for state, expr in without_states(kept, start).items()} if live else {}

    def called(self, number: int, depths: _Depths) -> Task[dict[int, Expr]]:
        """Return the texts of a rule that is called, with one more bracket open if it is recursive."""
        kind = self.kinds[number]
        if number not in self.recursive or kind not in self.limits:
            return (yield from self._rule(number, depths))
        objects, arrays = depths
        left = objects if kind is Kind.OBJECT else arrays
        if left is None:
            return (yield from self._rule(number, depths))
        if left == 0:
            return {}
        return (yield from self._rule(number, (left - 1, arrays) if kind is Kind.OBJECT else (objects, left - 1)))

    def expr(self, language: Language) -> Expr:
        """Return the expression of a language that an arc reads."""
        if isinstance(language, Expr):
            return language
        found = self.written.get(id(language))
        if found is None:
            found = self.written[id(language)] = _written(language)
        return found


def _written(language: ByteAutomaton | Counted | CountedPaths) -> Expr:
    if not isinstance(language, Counted):
        return to_expr(language if isinstance(language, ByteAutomaton) else language.expanded())
    units = ex.repeat(to_expr(language.unit), language.low, language.high)
    return ex.concat(ex.literal(language.opening), units, ex.literal(language.closing))


def _between(ways: dict[int, dict[int, Expr]], start: int, ends: set[int]) -> set[int]:
    """Return the states on paths from the start to an end; none if there is no path."""
    sources: dict[int, set[int]] = defaultdict(set)
    for source, targets in ways.items():
        for target in targets:
            sources[target].add(source)
    forward = _closure({start}, lambda state: set(ways.get(state, ())))
    found = forward & _closure(ends, lambda state: sources.get(state, set()))
    return found if start in found else set()


def _closure(states: set[int], following: Callable[[int], set[int]]) -> set[int]:
    seen, waiting = set(states), list(states)
    while waiting:
        more = following(waiting.pop()) - seen
        seen |= more
        waiting += more
    return seen


def _recursive(network: NestedNetwork) -> set[int]:
    """Return the rules that can call themselves, directly or through others."""
    called = [{call.rule for call in rule.calls} for rule in network.rules]
    return {
        number
        for number in range(len(network.rules))
        if number in _closure(set(called[number]), lambda other: called[other])
    }
