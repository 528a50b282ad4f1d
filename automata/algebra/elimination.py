"""Conversion of an automaton to an expression.

    to_expr(automaton)      an expression for its language
    without_states(arcs)    the same for an automaton whose arcs are labelled with expressions

States are eliminated one by one (Brzozowski & McCluskey 1963). When a state is eliminated, each path through it (into
it, any number of times around its loop, and out of it) becomes an arc labelled with an expression. In the end one arc
from the start to the end is left, and its expression is the result. The length of the result depends on the order: the
state whose elimination adds least comes first (Delgado & Morais, "Approximation to the smallest regular expression for
a given regular language", CIAA 2004).

If the language is text, arcs have sets of characters (`automata.compile.lifting`) instead of bytes, so `[à-ü]` comes
out as `[à-ü]`. Repetitions of a part are counted: `\\d{4}`, `a{1,3}`.

The expression is not the one that the automaton was compiled from, and there is no best one. The shortest expression
for an automaton of n states may have length 2^n, so there is a limit.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heapify, heappop, heappush

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.compile.lifting import Arcs, lifted
from automata.errors import LimitExceeded, wrong_type
from automata.expressions import (
    EMPTY,
    EPSILON,
    Concatenation,
    Expr,
    Literal,
    Repetition,
    alternation,
    concat,
    is_epsilon,
    repeat,
)
from automata.limits import current_work

MAX_LEAVES = 100_000


def to_expr(automaton: ByteAutomaton) -> Expr:
    """Return an expression for the language of an automaton, over characters if all of its texts are UTF-8.

    Raises:
        LimitExceeded: the expression would have more than `MAX_LEAVES` leaves, or the time is up.
        Cancelled: the compilation was cancelled.
        TypeError: the argument is not an automaton over bytes.
    """
    if not isinstance(automaton, ByteAutomaton):
        raise wrong_type("an automaton over bytes", automaton)
    if automaton.is_empty:
        return EMPTY
    # Add two states: a start without incoming arcs, and an end without outgoing arcs.
    start, end = automaton.num_states, automaton.num_states + 1
    arcs = lifted(automaton, current_work())
    for state in np.flatnonzero(automaton.final).tolist():
        arcs[state][end] = EPSILON
    arcs[start] = {automaton.start: EPSILON}
    return without_states(arcs, start)[end]


def without_states(arcs: dict[int, Arcs], start: int) -> Arcs:
    """Eliminate all states but the start and the ends, and return the expression from the start to each end.

    Args:
        arcs: for each state that is not an end, the expression to each target; the call consumes them.
        start: a state with no incoming arc. Ends are the targets with no outgoing arcs, each reachable from the start.

    Raises:
        LimitExceeded: an expression would have more than `MAX_LEAVES` leaves, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    return _Elimination(arcs, start).run()


class _Elimination:
    """An automaton whose arcs are labelled with expressions, and whose states are eliminated one by one."""

    def __init__(self, arcs: dict[int, Arcs], start: int) -> None:
        self.arcs, self.start = arcs, start
        self.sources: dict[int, set[int]] = defaultdict(set)
        for source, targets in self.arcs.items():
            for target in targets:
                self.sources[target].add(source)

    def run(self) -> Arcs:
        """Eliminate all states, the cheapest first; return the arcs from the start that are left."""
        work = current_work()
        cost = {state: self.cost(state) for state in self.arcs if state != self.start}
        # The heap may also hold states that have been eliminated, and outdated costs.
        by_cost = [(known, state) for state, known in cost.items()]
        heapify(by_cost)
        while cost:
            known, state = heappop(by_cost)
            if cost.get(state) != known:
                continue
            work.check()
            del cost[state]
            for neighbour in self.eliminate(state):
                if neighbour in cost:
                    cost[neighbour] = self.cost(neighbour)
                    heappush(by_cost, (cost[neighbour], neighbour))
        return self.arcs[self.start]

    def cost(self, state: int) -> tuple[int, int]:
        """Return the number of leaves that eliminating a state adds; as a second key, later states come first."""
        sources = self.sources[state] - {state}
        out = [way.size for target, way in self.arcs[state].items() if target != state]
        ways = len(sources) * len(out)
        loop = self.arcs[state][state].size if state in self.arcs[state] else 0
        into = sum(self.arcs[source][state].size for source in sources)
        return into * (len(out) - 1) + sum(out) * (len(sources) - 1) + loop * (ways - 1), -state

    def eliminate(self, state: int) -> set[int]:
        """Eliminate a state, and return the states that it had arcs from and to.

        Raises:
            LimitExceeded: an arc's expression is larger than `MAX_LEAVES`.
        """
        out = self.arcs.pop(state)
        loop = out.pop(state, None)
        sources = self.sources.pop(state) - {state}
        for target in out:
            self.sources[target].discard(state)
        for source in sources:
            before = self.arcs[source].pop(state)
            around = before if loop is None else _sequence(before, repeat(loop, 0))
            for target, behind in out.items():
                way, known = _sequence(around, behind), self.arcs[source].get(target)
                self.arcs[source][target] = way = way if known is None else _either(known, way)
                self.sources[target].add(source)
                if way.size > MAX_LEAVES:
                    raise LimitExceeded(f"the expression of the automaton has more than {MAX_LEAVES:,} leaves")
        return sources | set(out)


def _sequence(left: Expr, right: Expr) -> Expr:
    """Return the concatenation of both; if a part ends the first and begins the second, count its repetitions."""
    first = left.parts if isinstance(left, Concatenation) else (left,)
    second = right.parts if isinstance(right, Concatenation) else (right,)
    end, begin = first[-1], second[0]
    if isinstance(end, Literal) and isinstance(begin, Literal):
        return concat(left, right)
    inner, low, high = _times(end)
    other, at_least, at_most = _times(begin)
    if inner != other:
        return concat(left, right)
    bound = None if high is None or at_most is None else high + at_most
    return concat(*first[:-1], repeat(inner, low + at_least, bound), *second[1:])


def _times(expr: Expr) -> tuple[Expr, int, int | None]:
    return (expr.inner, expr.low, expr.high) if isinstance(expr, Repetition) else (expr, 1, 1)


def _either(left: Expr, right: Expr) -> Expr:
    """Return the alternation of both; if one is the empty text, a repetition of the other, from zero times up."""
    if is_epsilon(right):
        left, right = right, left
    if not is_epsilon(left):
        return alternation(left, right)
    inner, low, high = _times(right)
    return repeat(inner, 0, high) if low <= 1 else repeat(right, 0, 1)
