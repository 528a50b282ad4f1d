"""ArrayAutomaton: the items of an array, one after the other.

The derivatives by an item: `ItemAt(0, S)` requires the item to satisfy S, `ItemAt(i, S)` becomes `ItemAt(i - 1, S)`,
`Contains` counts one less if the item satisfies its formula, and `ItemCount` one less in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from constraints.json_schema.containers.automaton import Move, Outcome, State, Vector, holding
from constraints.json_schema.containers.distinct import Distinct, Distinctness
from constraints.json_schema.containers.shannon import Holds, ShannonExpansion, holds
from constraints.json_schema.formulas.connectives import (
    TRUE,
    Formula,
    Substitution,
    conjunction,
    disjunction,
    negation,
    truth,
)
from constraints.json_schema.formulas.statements import Contains, ItemAt, ItemCount, ItemsFrom, bounded, one_less


class ArrayAutomaton:
    """An array that is read for a vector of formulas about arrays; a state is the vector of what is still required."""

    def __init__(self, vector: Vector, expansion: ShannonExpansion) -> None:
        """Make the automaton.

        Raises:
            UnsupportedSchema: whether items are unique depends on too many values.
        """
        self.expansion = expansion
        resolved = Distinctness(expansion.outlines).resolved
        self.start: State = Substitution(_simplified).all(map(resolved, vector))

    def moves(self, state: State) -> Sequence[Move]:
        """Return the only move: an item."""
        assert isinstance(state, tuple)
        found = self.expansion(Substitution(_derivative).all(state))
        return [Move(None, [Outcome(value, residual) for value, residual in found])] if found else []

    def skips(self, state: State) -> Sequence[State]:
        """Return nothing: no item is skipped."""
        return ()

    def end(self, state: State) -> int:
        """Return the place of the formula that holds for the array that ends here."""
        assert isinstance(state, tuple)
        return holding([truth(formula, _holds_at_end) for formula in state])


def _holds_at_end(statement: Formula) -> bool:
    # ItemAt, ItemsFrom and Distinct require nothing of items that are not there.
    return statement.low <= 0 if isinstance(statement, Contains | ItemCount) else True


def _simplified(statement: Formula) -> Formula:
    """Return TRUE or FALSE for a statement that no array, or every array, falsifies."""
    match statement:
        case Contains():
            return bounded(partial(Contains, statement.item), statement.low, statement.high)
        case ItemCount():
            return bounded(ItemCount, statement.low, statement.high)
        case ItemAt():
            return TRUE if statement.item == TRUE else statement
    return statement


def _derivative(statement: Formula) -> Formula:
    """Return what must hold for the next item (`Holds`) and for those after it."""
    match statement:
        case ItemsFrom(index=0):
            return conjunction([holds(statement.item), statement])
        case ItemsFrom():
            return ItemsFrom(statement.index - 1, statement.item)
        case ItemAt(index=0):
            return holds(statement.item)
        case ItemAt():
            return ItemAt(statement.index - 1, statement.item)
        case Contains():
            return _one_more(statement)
        case Distinct():
            return statement.derivative()
        case ItemCount():
            return bounded(ItemCount, statement.low - 1, one_less(statement.high))
    return statement


def _one_more(statement: Contains) -> Formula:
    """Return the derivative of `Contains`."""
    item = holds(statement.item)
    counted = bounded(partial(Contains, statement.item), statement.low - 1, one_less(statement.high))
    if not isinstance(item, Holds):
        return counted if item == TRUE else statement
    return disjunction([conjunction([item, counted]), conjunction([negation(item), statement])])
