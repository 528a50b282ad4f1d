"""From an expression to an NFA with costs.

This is Thompson's construction (`automata.compile.nfa`) with a cost for every arc. A weighted part is entered by an
epsilon arc with its cost. Parts without weights are laid out as usual, with two exceptions. Parts that must be compiled
separately are compiled to minimal automata and copied in, at no cost. In the log semiring this is done with every part
without weights, because such a part is a language, in which each text counts once, however many paths it has. The
alternatives without weights of one alternation form one part, and so do adjacent parts without weights of a
concatenation. So parentheses around them make no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import numpy as np

from automata.acceptor_tables import AcceptorTables, ArcCosts, CostArray, Semiring
from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.compile.nfa import FIRST_LABEL, ThompsonConstruction
from automata.expressions import (
    Acceptor,
    Alternation,
    ByteSet,
    CharSet,
    Concatenation,
    Difference,
    Expr,
    Intersection,
    Label,
    Literal,
    Transduction,
    Weighted,
    alternation,
    concat,
    is_weighted,
)
from automata.limits import Work
from automata.weighted.automaton import WeightedByteAutomaton
from automata.weighted.units import NO_COST, from_units

# Each of these has one path for each text.
_UNAMBIGUOUS = (Literal, CharSet, ByteSet, Label)
# Texts of their own, which are compiled before they are laid out.
_COMPILED = (Intersection, Difference, Transduction)


def weighted_nodes(root: Expr) -> set[int]:
    """Return the identities of the nodes of an expression that have weights, or a part with weights."""
    found: set[int] = set()
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack[-1]
        missing = [part for part in node.operands() if id(part) not in seen]
        if missing and id(node) not in seen:
            stack += missing
            continue
        seen.add(id(stack.pop()))
        if is_weighted(node) or any(id(part) in found for part in node.operands()):
            found.add(id(node))
    return found


class WeightedConstruction(ThompsonConstruction):
    """Lays out an expression with weights in one NFA.

    Attributes:
        semiring: the semiring of the costs.
    """

    def __init__(
        self,
        compiled: Callable[[Expr], ByteAutomaton],
        compiled_with_weights: Callable[[Expr], WeightedByteAutomaton],
        semiring: Semiring,
        work: Work,
    ) -> None:
        """Start with nothing laid out.

        Args:
            compiled: compiles a part without weights.
            compiled_with_weights: compiles a part with weights that is a text of its own.
            semiring: the semiring of the costs.
            work: the limits, and the means to stop the construction.
        """
        super().__init__(compiled, work)
        self.compiled_with_weights = compiled_with_weights
        self.semiring: Semiring = semiring
        self.has_weights: set[int] = set()
        # The costs that may not be 0: of arcs and epsilon arcs by number, and of copied rows by the number of the copy.
        self.arc_costs: dict[int, float] = {}
        self.epsilon_costs: dict[int, float] = {}
        self.copied_arc_costs: dict[int, CostArray] = {}
        self.copied_epsilon_costs: dict[int, CostArray] = {}

    def tables(self, expr: Expr) -> AcceptorTables:
        """Lay out an expression and return its NFA.

        Raises: as for `ThompsonConstruction.lay`.
        """
        self.has_weights = weighted_nodes(expr)
        fragment = self.lay(expr)
        arcs, epsilon = fragment.tables()
        copied_arcs, copied_epsilon = map(_sizes, (fragment.copied_arcs, fragment.copied_epsilon))
        arc_costs = _costs(len(fragment.arcs) // 4, self.arc_costs, copied_arcs, self.copied_arc_costs)
        epsilon_costs = _costs(
            len(fragment.epsilon) // 2, self.epsilon_costs, copied_epsilon, self.copied_epsilon_costs
        )
        costs = ArcCosts(self.semiring, arc_costs, epsilon_costs)
        return AcceptorTables(fragment.num_states, arcs, epsilon, tuple(sorted(fragment.labels)), costs)

    def between(self, expr: Expr, start: int, end: int, *, whole: bool = False) -> None:
        """Lay `expr` between two states, or defer its parts."""
        if id(expr) not in self.has_weights:
            if self.semiring == "log" and not isinstance(expr, _UNAMBIGUOUS):
                self.fragment.copy_of(self.compiled(expr), start, end)
            else:
                super().between(expr, start, end, whole=whole)
        elif isinstance(expr, Weighted):
            middle = self.fragment.state()
            self.epsilon_between(start, middle, expr.cost)
            self.put(expr.inner, middle, end)
        elif isinstance(expr, Acceptor):
            self.copy_tables(expr.tables, start, end)
        elif self.semiring == "log" and isinstance(expr, Alternation):
            for part in self.alternatives(expr):
                self.put(part, start, end)
        elif self.semiring == "log" and isinstance(expr, Concatenation):
            *parts, last = self.in_a_row(expr)
            for part in parts:
                middle = self.fragment.state()
                self.put(part, start, middle)
                start = middle
            self.put(last, start, end)
        elif not whole and (isinstance(expr, _COMPILED) or expr in self.shared):
            self.copy_weighted(self.compiled_with_weights(expr), start, end)
        else:
            super().between(expr, start, end, whole=True)

    def alternatives(self, expr: Alternation) -> list[Expr]:
        """Return the parts of an alternation, with all parts without weights as one."""
        plain = [part for part in expr.parts if id(part) not in self.has_weights]
        others = [part for part in expr.parts if id(part) in self.has_weights]
        return [alternation(*plain), *others] if plain else others

    def in_a_row(self, expr: Concatenation) -> list[Expr]:
        """Return the parts of a concatenation, with adjacent parts without weights as one."""
        found: list[Expr] = []
        for has_weights, group in groupby(expr.parts, key=lambda part: id(part) in self.has_weights):
            parts = list(group)
            found += parts if has_weights else [concat(*parts)]
        return found

    def epsilon_between(self, source: int, target: int, cost: float) -> None:
        """Add an epsilon arc of some cost."""
        self.epsilon_costs[len(self.fragment.epsilon) // 2] = cost
        self.fragment.epsilon += (source, target)

    def copy_tables(self, tables: AcceptorTables, start: int, end: int) -> None:
        """Add the arcs of an acceptor, with epsilon arcs from `start` and to `end`."""
        assert tables.costs is not None
        fragment, offset = self.fragment, self.fragment.num_states
        is_label = tables.arcs[:, 1] >= FIRST_LABEL
        arcs = tables.arcs + np.array([offset, 0, 0, offset], np.int32)
        self.copied_arc_costs[len(fragment.copied_arcs)] = tables.costs.arcs[~is_label]
        self.copied_epsilon_costs[len(fragment.copied_epsilon)] = tables.costs.epsilon
        fragment.copy_arcs(tables.num_states, arcs[~is_label], tables.epsilon + np.int32(offset))
        fragment.epsilon += (start, offset, offset + 1, end)
        for (source, symbol, _, target), cost in zip(
            arcs[is_label].tolist(), tables.costs.arcs[is_label].tolist(), strict=True
        ):
            self.arc_costs[len(fragment.arcs) // 4] = cost
            fragment.label(tables.labels[symbol - FIRST_LABEL], source, target)

    def copy_weighted(self, automaton: WeightedByteAutomaton, start: int, end: int) -> None:
        """Add the arcs of a compiled automaton, with epsilon arcs from `start` and to `end`."""
        if not automaton.is_empty:
            self.copy_tables(acceptor_of(automaton), start, end)


def acceptor_of(automaton: WeightedByteAutomaton) -> AcceptorTables:
    """Return an automaton that is not empty as an acceptor, whose states are the start, the end, and then its own."""
    tables = automaton.tables
    source, ends = automaton.arc_sources + np.int32(2), np.flatnonzero(tables.final != NO_COST).astype(np.int32)
    arcs = np.column_stack([source, tables.arcs + np.array([0, 0, 2], np.int32)]).astype(np.int32)
    epsilon = np.column_stack([np.append(0, ends + 2), np.append(2, np.ones_like(ends))]).astype(np.int32)
    epsilon_cost = np.append(from_units(tables.initial), from_units(tables.final[ends]))
    costs = ArcCosts(automaton.semiring, from_units(tables.cost), epsilon_cost)
    return AcceptorTables(automaton.num_states + 2, arcs, epsilon, automaton.labels, costs)


def _sizes(copied: list[IntArray]) -> list[int]:
    return [len(rows) for rows in copied]


def _costs(num_laid: int, laid: dict[int, float], sizes: list[int], copied: dict[int, CostArray]) -> CostArray:
    """Return the costs of the rows that were laid, followed by those of the rows that were copied."""
    parts = [np.zeros(num_laid)]
    parts[0][list(laid)] = list(laid.values())
    parts += [copied.get(number, np.zeros(size)) for number, size in enumerate(sizes)]
    return np.concatenate(parts)
