"""Objects whose members come in any order, or in the orders near to that of the schema (`cheap`).

    InAnyOrder            the automaton
    VectorDerivatives     what members do to vectors, by number, as the core asks for it

The core makes the states (`native/constraints/containers/any_order.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, TypeVar

from automata.errors import LimitExceeded
from constraints._native import KnownDerivatives, states_in_any_order
from constraints.json_schema.containers.automaton import (
    AllStates,
    ByMoves,
    Move,
    Outcome,
    State,
    Vector,
    holding,
)
from constraints.json_schema.containers.members import MemberDerivatives, is_dead
from constraints.json_schema.containers.orders import AnyOrder, Track
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.connectives import (
    And,
    Formula,
    Never,
    Or,
    parts_of,
    signed_statements,
)
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Members, StringIn

# The most ways to go on where any order was asked for; ten names without variants have fewer than that.
_MOST_WAYS = 1_000_000

_T = TypeVar("_T")


class InAnyOrder(ByMoves):
    """Listed names in any order; a state is the vector of what is required and the names that may still come.

    Each name comes once at most. Where any order is allowed only if it is cheap, and there are more than a few names,
    that is true of the names alone of which it must be known whether they have come: those that are required, or of
    which something is denied. The others are not remembered and may come again; whichever of two members with one name
    a parser keeps, it satisfies the schema. Once it is known which variant an object is, what others require is
    forgotten: all that is left says the same of each member with a name.

    Where not all orders are cheap, a name that would leave too many ahead of their turn passes over the names whose
    turn it is, which then count as names that have come. So texts in the order of the schema are always read.

    Attributes:
        remembered: the names of which it is remembered whether they have come, as bits.
    """

    start: State = 0
    # What else may come depends on what is required.
    always = 0

    def __init__(self, track: Track, restriction: Restriction, expansion: ShannonExpansion, bounds: AnyOrder) -> None:
        """Make the automaton of any order.

        Raises:
            LimitExceeded: there are too many names.
        """
        self.members = MemberDerivatives(track.names, restriction, expansion)
        vector = self.members.prepared(track.vector)
        once, needed = self.members.remembered(vector)
        self.remembered = bounds.remembered(len(track.names), once | needed)
        forgets = bounds.once is not None and len(track.names) > bounds.once
        self.derivatives = VectorDerivatives(self.members, expansion, None if forgets else self.remembered)
        self._first = self.derivatives.number(vector)
        # Names that may come again when it no longer matters that they have come.
        self._returning = self.members.all & ~once if forgets else 0
        self._known = KnownDerivatives()
        self._ahead: int | None = None
        self._orders = self._both_orders(track)
        self.num_orders = len(self._orders)
        self._made: AllStates | None = None

    def near(self, ahead: int | None) -> InAnyOrder:
        """Return the automaton of the orders in which no more than some names are ahead of their turn."""
        found = copy(self)
        found._ahead, found._made = ahead, None
        return found

    def counted(self, most: int) -> tuple[int, bool]:
        """Return how many ways to go on there are from all states, and whether they are all; see `InTurns`."""
        try:
            states, is_all = states_in_any_order(
                self._known,
                self.derivatives,
                self._first,
                len(self.members.bit),
                self._returning,
                self._ahead,
                self._orders,
                most,
            )
        except LimitExceeded as error:
            if error.limit:
                raise
            return 0, False
        if is_all:
            self._made = AllStates(states, self.derivatives.names, self.derivatives.values)
        return states.num_outcomes, is_all

    def all_states(self, count: Callable[[int], None]) -> AllStates:
        """Return all states; see `ByMoves`."""
        if self._made is None and not self.counted(_MOST_WAYS)[1]:
            raise LimitExceeded(f"an object in any order has more than {_MOST_WAYS:,} ways to go on")
        assert self._made is not None
        count(2 * self._made.states.num_states)
        return self._made

    def _both_orders(self, track: Track) -> list[list[int]]:
        """Return the names that are remembered, in the order of the schema and in that in which they are required."""
        place = {name: number for number, name in enumerate(self.members.bit)}
        listed = [name for name, bit in self.members.bit.items() if bit & self.remembered]
        # What all variants require comes before what some do.
        parts = [part for formula in track.vector for part in parts_of(formula)]
        required = [
            name
            for whole in sorted(parts, key=lambda part: isinstance(part, And | Or))
            for part, denied in signed_statements(whole)
            if denied and isinstance(part, Members) and isinstance(part.names, StringIn)
            for name in part.names.texts
            if len(part.names.texts) == 1 and self.members.bit[name] & self.remembered
        ]
        orders = dict.fromkeys((tuple(listed), tuple(dict.fromkeys([*required, *listed]))))
        return [[place[name] for name in order] for order in orders]

    def moves(self, state: State) -> Sequence[Move]:
        """Return any name that may still come, and other names."""
        states, names, values = self.all_states(_uncounted)
        assert isinstance(state, int)
        return [
            Move(names[name], [Outcome(values[value], target) for value, target in outcomes])
            for name, outcomes in states.moves(state)
        ]

    def skips(self, state: State) -> Sequence[State]:
        """Return nothing: what has not come may still come."""
        return ()

    def end(self, state: State) -> int:
        """Return the place of the formula that holds for the object that ends here."""
        assert isinstance(state, int)
        return self.all_states(_uncounted).states.exit(state)


def _uncounted(_: int) -> None:
    """Do not count states."""


class VectorDerivatives:
    """The derivatives of vectors, with vectors, names and values as numbers.

    Attributes:
        names: the listed names, and formulas about others.
        values: the formulas of values.
    """

    def __init__(self, members: MemberDerivatives, expansion: ShannonExpansion, matter: int | None) -> None:
        """Make the derivatives.

        Args:
            members, expansion: those of the object.
            matter: the names of which it matters whether they have come, as bits; None for those of which the vector
                says so.
        """
        self.members = members
        self.expansion = expansion
        self.matter = matter
        self.names: list[str | Formula | None] = list(members.bit)
        self.values: list[Formula] = []
        self.vectors: list[Vector] = []
        self._numbers: dict[Vector, int] = {}
        self._number_of_names: dict[Formula, int] = {}
        self._number_of_value: dict[Formula, int] = {}

    def number(self, vector: Vector) -> int:
        """Return the number of a vector."""
        return _number(self._numbers, self.vectors, vector)

    def described(self, number: int) -> tuple[list[int], list[int], int, list[tuple[int, list[tuple[int, int]]]]]:
        """Return the names that the parts of a vector say something of, those that they require, those of which it
        matters whether they have come, and the numbers of other names with the ways to go on after each."""
        vector = self.vectors[number]
        matter = self.matter
        if matter is None:
            once, needed = self.members.remembered(vector)
            matter = once | needed
        others = [
            (_number(self._number_of_names, self.names, names), self._ways(found))
            for names, found in self.members.unlisted(vector)
        ]
        return *self.members.masks(vector), matter, others

    def ways(self, number: int, name: int, remaining: int) -> list[tuple[int, int]]:
        """Return the values that a member with a listed name may have, and what is required after each."""
        listed = self.names[name]
        assert isinstance(listed, str)
        return self._ways(self.expansion(self.members.read(self.vectors[number], listed, remaining)))

    def skipped(self, number: int, skipped: int, remaining: int) -> int:
        """Return what is required once some names have been left out; -1 if nothing satisfies that."""
        vector = self.members.skipped(self.vectors[number], skipped, remaining)
        return -1 if is_dead(vector) else self.number(vector)

    def exit(self, number: int, remaining: int) -> int:
        """Return the place of the formula that holds for an object that ends here; -1 if there is none."""
        return holding(self.members.holding(self.vectors[number], remaining))

    def _ways(self, found: Sequence[tuple[Formula, Vector]]) -> list[tuple[int, int]]:
        return [
            (_number(self._number_of_value, self.values, value), self.number(residual))
            for value, residual in found
            if type(value) is not Never
        ]


def _number(numbers: dict[_T, int], listed: list[Any], each: _T) -> int:
    """Return the number of something in a list; it is added if it is new."""
    found = numbers.get(each)
    if found is None:
        found = numbers[each] = len(listed)
        listed.append(each)
    return found
