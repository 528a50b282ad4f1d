"""Rules of a visibly pushdown grammar as expressions.

The states of a rule are eliminated (`automata.algebra.elimination`). A call is replaced by the expression of the called
rule's texts, one for each exit; a subclass defines this replacement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TypeAlias

from automata import expressions as ex
from automata.algebra.elimination import to_expr, without_states
from automata.byte_automaton import ByteAutomaton
from automata.errors import SchemaError
from automata.expressions import Expr
from automata.limits import current_work
from automata.visibly_pushdown import ArcLanguage, CountedPaths, CountedUnits
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar
from automata.visibly_pushdown.unfolding import unfolded
from constraints.recursion import Task, run

# The numbers of further objects and arrays that may be nested; None means no bound.
Depths: TypeAlias = tuple[int | None, int | None]


class Expressions:
    """The expressions of a visibly pushdown grammar's rules, by how deeply other rules may be nested in them."""

    def __init__(self, grammar: VisiblyPushdownGrammar) -> None:
        """Initialize without any expression.

        Raises:
            LimitExceeded: a rule has too many states once its flags are unfolded into them.
        """
        self.grammar = unfolded(grammar, current_work())
        self.done: dict[tuple[int, Depths], dict[int, Expr]] = {}
        self.under_way: set[tuple[int, Depths]] = set()
        self.written: dict[int, Expr] = {}

    def rule(self, number: int, depths: Depths) -> dict[int, Expr]:
        """Return the texts of a rule for each exit that has one.

        Raises:
            SchemaError: the rule is recursive, and its depth has no bound.
        """
        return run(self.task(number, depths))

    def task(self, number: int, depths: Depths) -> Task[dict[int, Expr]]:
        """Return the texts of a rule as `rule` does, as a task."""
        key = number, depths
        if key in self.under_way:
            raise SchemaError(
                "a recursive schema is not a regular expression without max_object_depth and max_array_depth"
            )
        if key not in self.done:
            self.under_way.add(key)
            self.done[key] = yield from self._eliminated(number, depths)
            self.under_way.discard(key)
        return self.done[key]

    def called(self, number: int, depths: Depths) -> Task[dict[int, Expr]]:
        """Return the expression that replaces a call of a rule, for each exit; here, the texts of the rule."""
        return (yield from self.task(number, depths))

    def expr(self, language: ArcLanguage) -> Expr:
        """Return the expression of the language of an arc."""
        if isinstance(language, Expr):
            return language
        found = self.written.get(id(language))
        if found is None:
            found = self.written[id(language)] = _written(language)
        return found

    def _eliminated(self, number: int, depths: Depths) -> Task[dict[int, Expr]]:
        rule = self.grammar.rules[number]
        ways: dict[int, dict[int, Expr]] = yield self._arcs(number, depths)
        ends = dict(rule.ends)
        start = rule.num_states
        ways[start] = {0: ex.EPSILON}
        live = _between(ways, start, set(ends))
        kept = {
            source: {target: expr for target, expr in targets.items() if target in live}
            for source, targets in ways.items()
            if source in live
        }
        found: dict[int, Expr] = {}
        for state, expr in without_states(kept, start).items() if live else ():
            way = ends[state]
            found[way] = ex.alternation(found[way], expr) if way in found else expr
        return found

    def _arcs(self, number: int, depths: Depths) -> Task[dict[int, dict[int, Expr]]]:
        """Return the expressions between the states of a rule, by source and target."""
        rule = self.grammar.rules[number]
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
        return ways


def closure(states: set[int], following: Callable[[int], set[int]]) -> set[int]:
    """Return the given states and all states that can be reached from them."""
    seen, waiting = set(states), list(states)
    while waiting:
        more = following(waiting.pop()) - seen
        seen |= more
        waiting += more
    return seen


def _written(language: ByteAutomaton | CountedUnits | CountedPaths) -> Expr:
    if not isinstance(language, CountedUnits):
        return to_expr(language if isinstance(language, ByteAutomaton) else language.expanded())
    units = ex.repeat(to_expr(language.unit), language.low, language.high)
    return ex.concat(ex.literal(language.opening), units, ex.literal(language.closing))


def _between(ways: dict[int, dict[int, Expr]], start: int, ends: set[int]) -> set[int]:
    """Return the states on paths from the start to an end; none if there is no path."""
    sources: dict[int, set[int]] = defaultdict(set)
    for source, targets in ways.items():
        for target in targets:
            sources[target].add(source)
    forward = closure({start}, lambda state: set(ways.get(state, ())))
    found = forward & closure(ends, lambda state: sources.get(state, set()))
    return found if start in found else set()
