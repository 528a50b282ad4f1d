"""ArrayLevel: the items of an array, one after the other.

The derivative of a statement by an item: `ItemAt(0, S)` says that the item satisfies S, `ItemAt(i, S)` becomes
`ItemAt(i - 1, S)`, `Contains` counts one less where the item satisfies its formula, `Length` one less in any case.
"""

from __future__ import annotations

from collections.abc import Sequence

from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    And,
    Contains,
    Formula,
    ItemAt,
    ItemsFrom,
    Length,
    Not,
    Or,
    conjunction,
    disjunction,
    negation,
)
from constraints.json_schema.levels.distinct import Distinct, Distinctness
from constraints.json_schema.levels.level import Evaluation, Move, Outcome, State, Vector, holding
from constraints.json_schema.levels.outcomes import Holds, Outcomes, holds


class ArrayLevel:
    """An array that is read for a vector of formulas about arrays; a state is the vector of what is still asked."""

    def __init__(self, vector: Vector, outcomes: Outcomes) -> None:
        """The level before its first item.

        Raises:
            UnsupportedSchema: whether items are unique depends on too many values.
        """
        self.outcomes = outcomes
        resolved = Distinctness(outcomes.outlines).resolved
        self.start: State = tuple(_settled(resolved(formula)) for formula in vector)

    def moves(self, state: State) -> Sequence[Move]:
        """One move: an item."""
        assert isinstance(state, tuple)
        found = self.outcomes(tuple(map(_derivative, state)))
        return [Move(None, [Outcome(value, residual) for value, residual in found])] if found else []

    def skips(self, state: State) -> Sequence[State]:
        """There is nothing to be skipped."""
        return ()

    def end(self, state: State) -> int:
        """Which formula holds of the array that ends here."""
        assert isinstance(state, tuple)
        return holding([_at_end(formula) for formula in state])


class _AtEnd(Evaluation):
    def statement(self, formula: Formula) -> bool:
        match formula:
            case Contains() | Length():
                return formula.low <= 0
        return True  # ItemAt, ItemsFrom, Distinct


_at_end = _AtEnd()


def _settled(formula: Formula) -> Formula:
    """The formula without statements that cannot be true or cannot be false."""
    match formula:
        case And():
            return conjunction(map(_settled, formula.parts))
        case Or():
            return disjunction(map(_settled, formula.parts))
        case Not():
            return negation(_settled(formula.part))
        case Contains():
            return _contains(formula.item, formula.low, formula.high)
        case Length():
            return _length(formula.low, formula.high)
        case ItemAt():
            return TRUE if formula.item == TRUE else formula
    return formula


def _derivative(formula: Formula) -> Formula:
    """What must hold of the next item (`Holds`) and of those behind it."""
    kind = type(formula)
    if kind is And:
        return conjunction([_derivative(part) for part in formula._fields])
    if kind is Or:
        return disjunction([_derivative(part) for part in formula._fields])
    if kind is Not:
        return negation(_derivative(formula._fields[0]))
    match formula:
        case ItemsFrom(index=0):
            return conjunction([holds(formula.item), formula])
        case ItemsFrom():
            return ItemsFrom(formula.index - 1, formula.item)
        case ItemAt(index=0):
            return holds(formula.item)
        case ItemAt():
            return ItemAt(formula.index - 1, formula.item)
        case Contains():
            return _one_more(formula)
        case Distinct():
            return formula.derivative()
        case Length():
            return _length(formula.low - 1, None if formula.high is None else formula.high - 1)
    return formula


def _one_more(formula: Contains) -> Formula:
    """The derivative of `Contains`."""
    item = holds(formula.item)
    counted = _contains(formula.item, formula.low - 1, None if formula.high is None else formula.high - 1)
    if not isinstance(item, Holds):
        return counted if item == TRUE else formula
    return disjunction([conjunction([item, counted]), conjunction([negation(item), formula])])


def _contains(item: Formula, low: int, high: int | None) -> Formula:
    if high is not None and high < max(low, 0):
        return FALSE
    return TRUE if low <= 0 and high is None else Contains(item, max(low, 0), high)


def _length(low: int, high: int | None) -> Formula:
    if high is not None and high < max(low, 0):
        return FALSE
    return TRUE if low <= 0 and high is None else Length(max(low, 0), high)
