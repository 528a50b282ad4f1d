"""The items of an array, in order.

    array_automaton     the automaton of an array: the first of the following that is sufficient
    PlainArray          items by position, and their number; a state is the number of items so far
    DifferentItems      the same, if all items must differ and have few values; a state is the set of values so far
    ArrayAutomaton      all other arrays

The derivatives by an item: `ItemAt(0, S)` requires the item to satisfy S, `ItemAt(i, S)` becomes `ItemAt(i - 1, S)`,
`Contains` counts one less if the item satisfies its formula, and `ItemCount` one less in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from math import inf
from typing import NamedTuple

from constraints._native import PlainStates, items_in_order
from constraints.json_schema.containers.automaton import ByMoves, Move, Outcome, Plain, State, Vector, holding
from constraints.json_schema.containers.distinct import Distinct, Distinctness, remembered
from constraints.json_schema.containers.shannon import ShannonExpansion, holds
from constraints.json_schema.formulas.connectives import (
    TRUE,
    Always,
    Formula,
    Never,
    Substitution,
    conjunction,
    disjunction,
    negation,
    parts_of,
    truth,
)
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.statements import Contains, ItemAt, ItemCount, ItemsFrom, bounded, one_less

# The most places with items of their own in a plain array, and the most statements about all of these items.
_MAX_PLAIN = 100_000
# The most items that must be there and are looked at one by one.
_MAX_NEEDED = 100


def array_automaton(vector: Vector, expansion: ShannonExpansion) -> PlainArray | DifferentItems | ArrayAutomaton:
    """Return the automaton of an array that is read for a vector of formulas about arrays.

    Raises:
        UnsupportedSchema: see `ArrayAutomaton`.
    """
    plain = PlainArray.of(vector[0]) if len(vector) == 1 else None
    if plain is not None:
        return plain
    every = ArrayAutomaton(vector, expansion)
    different = DifferentItems.of(every.vector[0], expansion.outlines) if len(vector) == 1 else None
    return different or every


class ArrayStatements(NamedTuple):
    """A conjunction of statements about arrays: those about items, the bounds of the number of items, and the rest."""

    items: list[ItemAt]
    low: int
    high: int | None
    rest: list[Formula]

    @property
    def num_places(self) -> int:
        """The number of places after which the same holds for every item."""
        return max((part.index + (type(part) is ItemAt) for part in self.items), default=0)

    def at(self, place: int) -> Formula:
        """Return what the item at a place satisfies."""
        return conjunction([part.item for part in self.items if part.is_about(place)])

    def by_place(self, most: int) -> list[Formula] | None:
        """Return what the item at each place must satisfy, and last what every later item must; None if that takes more
        than `most` places or statements."""
        places = self.num_places
        following = sum(places - part.index for part in self.items if type(part) is ItemsFrom)
        if max(places, len(self.items) + following) > most:
            return None
        found: list[list[Formula]] = [[] for _ in range(places + 1)]
        for part in self.items:
            for place in range(part.index, places + 1) if type(part) is ItemsFrom else (part.index,):
                found[place].append(part.item)
        return [conjunction(each) for each in found]


def _statements_of(formula: Formula) -> ArrayStatements:
    items, rest = list[ItemAt](), list[Formula]()
    low, high = 0, inf
    for part in parts_of(formula):
        if isinstance(part, ItemCount):
            low, high = max(low, part.low), min(high, inf if part.high is None else part.high)
        elif isinstance(part, ItemAt):
            items += [part] if part.item != TRUE else []
        elif type(part) is not Always:
            rest.append(part)
    return ArrayStatements(items, low, None if high == inf else int(high), rest)


class PlainArray(Plain):
    """An array restricted only in what the items at some places satisfy, and in how many items there are.

    Attributes:
        low, high: the bounds of the number of items; `high` is None if there is none.
        last: the last state. An item leads back to it, unless the array has as many items as it may.
    """

    def __init__(self, values: Sequence[Formula], low: int, high: int | None) -> None:
        """Make the automaton.

        Args:
            values: what the item at each place must satisfy, and last what every later item must.
            low, high: the bounds of the number of items.
        """
        self.members = [(None, value) for value in values]
        self.low, self.high = low, high
        self.last = max(low, len(values) - 1) if high is None else high

    @staticmethod
    def of(formula: Formula) -> PlainArray | None:
        """Return the automaton of a formula about arrays; None if the formula says more, or no array satisfies it."""
        statements = _statements_of(formula)
        values = None if statements.rest else statements.by_place(_MAX_PLAIN)
        if values is None:
            return None
        # The array ends before a place where an item would have to satisfy FALSE.
        impossible = next((place for place, value in enumerate(values) if type(value) is Never), inf)
        low, high = statements.low, min(inf if statements.high is None else statements.high, impossible)
        return PlainArray(values, low, None if high == inf else int(high)) if low <= high else None

    @property
    def needed(self) -> list[Formula]:
        """What the items that must be there must satisfy."""
        return [value for _, value in self.members[: self.low]]

    @property
    def num_states(self) -> int:
        """The number of states that may be reached."""
        return self.last + 1

    @cached_property
    def states(self) -> PlainStates:
        """The states, made when they are asked for, since a long array has many."""
        possible = [type(value) is not Never for _, value in self.members]
        return items_in_order(possible, self.low, self.high, self.last)


class DifferentItems(ByMoves):
    """An array of different items from a few values. A state is the set of the values so far, as bits; its size is the
    number of items."""

    start: State = 0

    def __init__(self, statements: ArrayStatements, values: Sequence[Formula], outlines: Outlines) -> None:
        """Make the automaton.

        Args:
            statements: the other statements about the items, and the bounds of their number.
            values: formulas that hold for one value each.
            outlines: the outlines of the schema's formulas.
        """
        self.statements = statements
        self.values = values
        self.outlines = outlines
        self._at: dict[int, list[tuple[int, Formula]]] = {}

    @staticmethod
    def of(formula: Formula, outlines: Outlines) -> DifferentItems | None:
        """Return the automaton of a formula about arrays; None if it says anything else."""
        statements = _statements_of(formula)
        if len(statements.rest) != 1:
            return None
        (part,) = statements.rest
        if not isinstance(part, Distinct) or part.used:
            return None
        return DifferentItems(statements, part.values, outlines)

    def moves(self, state: State) -> Sequence[Move]:
        """Return the only move: an item with a value that has not occurred."""
        assert isinstance(state, int)
        place = state.bit_count()
        if place == self.statements.high:
            return []
        found = [Outcome(value, state | bit) for bit, value in self._possible(place) if not state & bit]
        return [Move(None, found)] if found else []

    def _possible(self, place: int) -> list[tuple[int, Formula]]:
        """Return the values that the item at a place may have, each with its bit."""
        place = min(place, self.statements.num_places)
        found = self._at.get(place)
        if found is None:
            item = self.statements.at(place)
            values = [(1 << number, conjunction([item, value])) for number, value in enumerate(self.values)]
            found = self._at[place] = [each for each in values if not self.outlines(each[1]).is_empty]
        return found

    def end(self, state: State) -> int:
        """Return 0 if there are enough items, and -1 if not."""
        assert isinstance(state, int)
        return 0 if state.bit_count() >= self.statements.low else -1


class ArrayAutomaton(ByMoves):
    """An array that is read for a vector of formulas about arrays; a state is the vector of what is still required.

    Attributes:
        vector: the formulas at the start.
        unique: the statement that all items differ, if that takes a memory of them, which this automaton does not have;
            else None.
    """

    def __init__(self, vector: Vector, expansion: ShannonExpansion) -> None:
        """Make the automaton.

        Raises:
            UnsupportedSchema: see `remembered`.
        """
        self.expansion = expansion
        vector, self.unique = remembered(vector, Distinctness(expansion.outlines))
        self.vector: Vector = Substitution(_simplified).all(vector)
        self.start: State = self.vector

    @property
    def needed(self) -> list[Formula] | None:
        """What the items that must be there must satisfy, if the array may end after any number of further ones; None
        if that is not plain."""
        statements = _statements_of(self.vector[0])
        is_plain = len(self.vector) == 1 and not statements.rest and statements.low <= _MAX_NEEDED
        return [statements.at(place) for place in range(statements.low)] if is_plain else None

    def moves(self, state: State) -> Sequence[Move]:
        """Return the only move: an item."""
        assert isinstance(state, tuple)
        found = self.expansion(Substitution(_derivative).all(state))
        return [Move(None, [Outcome(value, residual) for value, residual in found])] if found else []

    def end(self, state: State) -> int:
        """Return the index of the formula that holds for the array that ends here."""
        assert isinstance(state, tuple)
        return holding([truth(formula, _holds_at_end) for formula in state])


def _holds_at_end(statement: Formula) -> bool:
    # ItemAt, ItemsFrom and Distinct require nothing of items that are not there.
    return statement.low <= 0 if isinstance(statement, Contains | ItemCount) else True


def _simplified(statement: Formula) -> Formula:
    """Return TRUE or FALSE in place of a statement that is plainly true or false of every array."""
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
    if isinstance(item, Always | Never):
        return counted if isinstance(item, Always) else statement
    return disjunction([conjunction([item, counted]), conjunction([negation(item), statement])])
