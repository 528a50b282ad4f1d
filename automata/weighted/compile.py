"""From an expression with weights to its weighted automaton.

The cost of a text in an operation on languages:

    a + b, a | b, a*    the sum of the costs along a path; the semiring combines several paths
    a & b               the sum of its costs in both
    a - b               its cost in `a`; `b` has no weights
    ~a                  0; `a` has no weights
    image, preimage     the cost of the text that is read or written, plus that of the transducer's arcs

The constructions are the native core's (`native/automata/weighted/`). Determinization with weights need not terminate;
then the limit on states stops it.
"""

from __future__ import annotations

import numpy as np

from automata import _native
from automata._native import WeightedTables
from automata.acceptor_tables import AcceptorTables, Semiring
from automata.arrays import places_in
from automata.compile.blame import excerpt
from automata.compile.compiler import Compiler
from automata.compile.composition import composed, tables_of
from automata.compile.nfa import FIRST_LABEL, AssertionMet
from automata.errors import ExpressionError, LimitExceeded, WeightedLanguage, wrong_type
from automata.expressions import Acceptor, Complement, Difference, Expr, Intersection, Transduction, Weighted
from automata.limits import Work, current_work
from automata.weighted.automaton import WeightedByteAutomaton
from automata.weighted.construction import WeightedConstruction, acceptor_of, weighted_nodes
from automata.weighted.units import to_units


def compile_weighted(expr: Expr, work: Work | None = None) -> WeightedByteAutomaton:
    """Compile an expression to its minimal weighted automaton, with costs as early as they can be known.

    Args:
        expr: the language; without weights every text costs 0.
        work: the limits, and the means to stop the compilation; by default, those of the current compilation.

    Raises:
        LimitExceeded: a limit was exceeded. This also stops a determinization that does not terminate.
        Cancelled: another thread cancelled the compilation.
        WeightedLanguage: the operand of a complement, or the right operand of a difference, has weights.
        ExpressionError: the expression has weights of both semirings, look-around beside weights, a cost that is too
            large, or a cycle that lowers the cost without reading anything, so that no path is the best.
        FstError: a transducer leaves a text without a cost (`automata.compile.composition.composed`).
        TypeError: `expr` is not an expression.
    """
    if not isinstance(expr, Expr):
        raise wrong_type("an expression", expr)
    try:
        return _WeightedCompiler(_semiring(expr), current_work(work)).compile(expr)
    except RecursionError:
        raise LimitExceeded(f"operations on weighted languages are nested too deeply in {excerpt(expr)}") from None


def _semiring(expr: Expr) -> Semiring:
    """Return the semiring of the weights of an expression; "tropical" if it has no weights."""
    found: dict[Semiring, Expr] = {}
    seen, stack = {id(expr)}, [expr]
    while stack:
        node = stack.pop()
        match node:
            case Weighted(_, _, semiring):
                found.setdefault(semiring, node)
            case Acceptor(automaton) | Transduction(_, automaton) if automaton.costs is not None:
                found.setdefault(automaton.costs.semiring, node)
        for part in node.operands():
            if id(part) not in seen:
                seen.add(id(part))
                stack.append(part)
    if len(found) > 1:
        raise ExpressionError(
            f"weights of two semirings cannot be combined: {excerpt(found['tropical'])} has tropical ones, and "
            f"{excerpt(found['log'])} logarithmic ones"
        )
    return next(iter(found), "tropical")


class _WeightedCompiler:
    """One compilation; `plain` compiles parts without weights."""

    def __init__(self, semiring: Semiring, work: Work) -> None:
        self.semiring: Semiring = semiring
        self.work = work
        self.plain = Compiler(work)

    def compile(self, expr: Expr) -> WeightedByteAutomaton:
        """Compile a part that is a text of its own."""
        weighted = weighted_nodes(expr)
        if isinstance(expr, Intersection | Difference) and id(expr) in weighted:
            is_difference = isinstance(expr, Difference)
            if is_difference and id(expr.right) in weighted:
                raise WeightedLanguage(f"what is subtracted has no weights, and {excerpt(expr.right)} has some")
            return self.product(self.compile(expr.left), self.compile(expr.right), is_difference=is_difference)
        if isinstance(expr, Transduction) and id(expr) in weighted:
            return self.image(expr, inner_is_weighted=id(expr.inner) in weighted)
        if isinstance(expr, Complement) and id(expr) in weighted:
            raise WeightedLanguage(f"a complement has no weights, and {excerpt(expr.inner)} has some")
        layout = WeightedConstruction(self.plain.part, self.compile, self.semiring, self.work)
        try:
            tables = layout.tables(expr)
        except AssertionMet:
            raise ExpressionError(
                f"look-around and weights cannot stand in one text, as in {excerpt(expr)}; put the look-around into a "
                "text of its own: `weighted & parse(...)`"
            ) from None
        return determinized(tables, excerpt(expr), self.work)

    def image(self, expr: Transduction, *, inner_is_weighted: bool) -> WeightedByteAutomaton:
        """Compile a transduction: a text costs as much as the text that is read, and the transducer's arcs."""
        if inner_is_weighted:
            inner = self.compile(expr.inner)
            if inner.is_empty:
                return inner
            read = acceptor_of(inner)
        else:
            read = tables_of(self.plain.compile(expr.inner))
        return determinized(composed(read, expr.transducer, self.work), excerpt(expr), self.work)

    def product(
        self, left: WeightedByteAutomaton, right: WeightedByteAutomaton, *, is_difference: bool
    ) -> WeightedByteAutomaton:
        """Return the intersection or the difference of two automata."""
        if left.is_empty or right.is_empty:
            return left if is_difference or left.is_empty else right
        labels = tuple(sorted({*left.labels, *right.labels}))
        sides = left.tables, places_in(left.labels, labels), right.tables, places_in(right.labels, labels)
        max_states = self.work.max_states(left.num_states + right.num_states)
        is_log = self.semiring == "log"
        try:
            made = _native.weighted_product(*sides, is_difference, is_log, max_states, self.work.budget)
        except LimitExceeded as error:
            raise error.of("a product of weighted automata") from None
        return _with_labels(made, labels, self.semiring)


def determinized(tables: AcceptorTables, what: str, work: Work) -> WeightedByteAutomaton:
    """Return the minimal automaton of an NFA with costs.

    Args:
        tables: the NFA.
        what: the name of the expression in errors.
        work: the limits, and the means to stop the construction.

    Raises:
        LimitExceeded, Cancelled, ExpressionError: as for `compile_weighted`.
    """
    costs = tables.costs
    assert costs is not None
    nfa = tables.num_states, tables.arcs, to_units(costs.arcs), tables.epsilon, to_units(costs.epsilon)
    max_states = max(work.limits.states, 2 * tables.num_states)
    try:
        made = _native.weighted(*nfa, len(tables.labels), costs.semiring == "log", max_states, work.budget)
    except LimitExceeded as error:
        raise error.of(f"a deterministic automaton of {what} with its weights") from None
    except ValueError as error:
        raise ExpressionError(f"{error}, in {what}") from None
    return _with_labels(made, tables.labels, costs.semiring)


def _with_labels(tables: WeightedTables, labels: tuple[str, ...], semiring: Semiring) -> WeightedByteAutomaton:
    """Return the automaton of tables, without the labels that no arc has."""
    symbols = tables.arcs[:, 0]
    used = np.unique(symbols[symbols >= FIRST_LABEL]) - FIRST_LABEL
    if len(used) == len(labels):
        return WeightedByteAutomaton(tables, labels, semiring)
    number = np.arange(FIRST_LABEL + len(labels), dtype=np.int32)
    number[FIRST_LABEL + used] = FIRST_LABEL + np.arange(len(used))
    arcs = tables.arcs.copy()
    arcs[:, :2] = number[arcs[:, :2]]
    arrays = tables.initial, tables.offsets, arcs, tables.cost, tables.final, len(used)
    return WeightedByteAutomaton(WeightedTables.of(*arrays), tuple(labels[at] for at in used), semiring)
