"""Objects whose members come in any order, or in the orders near to that of the schema (`cheap`)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TypeAlias

from automata.errors import LimitExceeded
from constraints.json_schema.containers.automaton import Move, Outcome, State, Vector, holding
from constraints.json_schema.containers.cheap import ALL, Order, Turns, ordered
from constraints.json_schema.containers.members import MemberDerivatives, is_dead
from constraints.json_schema.containers.orders import AnyOrder, Track
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.connectives import (
    And,
    Formula,
    Or,
    parts_of,
    signed_statements,
)
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Members, StringIn

# A value of a member, what is required after it, and the names of which it then matters whether they have come.
_Way: TypeAlias = tuple[Formula, Vector, int]


class InAnyOrder:
    """Listed names in any order; a state is the vector of what is required and the names that may still come.

    Each name comes once at most. Where any order is allowed only if it is cheap, and there are more than a few names,
    that is true of the names alone of which it must be known whether they have come: those that are required, or of
    which something is denied. The others are not remembered and may come again; whichever of two members with one name
    a parser keeps, it satisfies the schema. Once it is known which variant an object is, what others require is
    forgotten: all that is left says the same of each member with a name.

    Where not all orders are cheap, a name that would leave too many ahead of their turn passes over the names whose
    turn it is, which then count as names that have come. So texts in the order of the schema are always read.

    Attributes:
        turns: which orders.
        remembered: the names of which it is remembered whether they have come, as bits.
    """

    # What else may come depends on what is required.
    always = 0

    def __init__(self, track: Track, restriction: Restriction, expansion: ShannonExpansion, bounds: AnyOrder) -> None:
        """Make the automaton of any order.

        Raises:
            LimitExceeded: there are too many names.
        """
        self.members = MemberDerivatives(track.names, restriction, expansion)
        self.expansion = expansion
        self.turns = ALL
        vector = self.members.prepared(track.vector)
        once, needed = self.members.remembered(vector)
        self.remembered = bounds.remembered(len(track.names), once | needed)
        self._forgets = bounds.once is not None and len(track.names) > bounds.once
        # Names that may come again when it no longer matters that they have come.
        self._returning = self.members.all & ~once if self._forgets else 0
        self.start: State = (vector, self.members.all)
        self._orders = self._both_orders(track)
        self.num_orders = len(self._orders)
        self._moves: dict[State, Sequence[Move]] = {}
        # What states with one vector have in common, whatever the turns.
        self._matter: dict[Vector, int] = {}
        self._known: dict[Vector, tuple[list[int], dict[tuple[str, tuple[bool, ...]], list[_Way]]]] = {}
        self._others: dict[Vector, list[tuple[Formula, Sequence[tuple[Formula, Vector]]]]] = {}

    def near(self, ahead: int | None) -> InAnyOrder:
        """Return the automaton of the orders in which no more than some names are ahead of their turn."""
        found = copy(self)
        found.turns, found._moves = Turns(ahead, self._orders), {}
        return found

    def counted(self, most: int) -> tuple[int, bool]:
        """Return how many ways to go on there are from all states, and whether they are all; see `InTurns`."""
        count = 0
        seen: set[State] = {self.start}
        waiting = [self.start]
        try:
            while waiting and count <= most:
                for _, outcomes in self.moves(waiting.pop()):
                    count += len(outcomes)
                    for _, target in outcomes:
                        if target not in seen:
                            seen.add(target)
                            waiting.append(target)
        except LimitExceeded as error:
            if error.limit:
                raise
            return count, False
        return count, not waiting and count <= most

    def _both_orders(self, track: Track) -> tuple[Order, ...]:
        """Return the names that are remembered, in the order of the schema and in that in which they are required."""
        listed = [bit for bit in self.members.bit.values() if bit & self.remembered]
        # What all variants require comes before what some do.
        parts = [part for formula in track.vector for part in parts_of(formula)]
        required = [
            self.members.bit[name]
            for whole in sorted(parts, key=lambda part: isinstance(part, And | Or))
            for part, denied in signed_statements(whole)
            if denied and isinstance(part, Members) and isinstance(part.names, StringIn)
            for name in part.names.texts
            if len(part.names.texts) == 1
        ]
        first = dict.fromkeys(bit for bit in required if bit & self.remembered)
        return tuple(dict.fromkeys((ordered(listed), ordered(list(dict.fromkeys([*first, *listed]))))))

    def moves(self, state: State) -> Sequence[Move]:
        """Return any name that may still come, and other names."""
        found = self._moves.get(state)
        if found is None:
            found = self._moves[state] = self._moves_of(*_at(state))
        return found

    def _moves_of(self, vector: Vector, waiting: int) -> Sequence[Move]:
        moves, matter = [], self._mattering(vector)
        for name, bit in self.members.bit.items():
            if waiting & bit:
                left = waiting & ~(bit & matter)
                ways = [
                    Outcome(value, target)
                    for value, residual, still in self._ways(vector, name, left | self._returning)
                    if (target := self._kept(residual, left, still))
                ]
                if ways:
                    moves.append(Move(name, ways))
        for names, others in self._other(vector):
            ways = [
                Outcome(value, target)
                for value, residual in others
                if (target := self._kept(residual, waiting, self._mattering(residual)))
            ]
            moves.append(Move(names, ways))
        return moves

    def _ways(self, vector: Vector, name: str, remaining: int) -> list[_Way]:
        """Return the values that a member with a listed name may have, and what is required after each."""
        known = self._known.get(vector)
        if known is None:
            known = self._known[vector] = self.members.masks(vector)[0], {}
        masks, found = known
        key = name, tuple([mask & remaining > 0 for mask in masks])
        ways = found.get(key)
        if ways is None:
            after = self.expansion(self.members.read(vector, name, remaining))
            ways = found[key] = [(value, residual, self._mattering(residual)) for value, residual in after]
        return ways

    def _other(self, vector: Vector) -> list[tuple[Formula, Sequence[tuple[Formula, Vector]]]]:
        """Return other names, with the values that may come and what is required after them."""
        found = self._others.get(vector)
        if found is None:
            found = self._others[vector] = self.members.unlisted(vector)
        return found

    def _kept(self, vector: Vector, left: int, matter: int) -> State | None:
        """Return the state, without what no longer matters; None if a name is too far ahead of one that must come."""
        while True:
            left |= self._returning & ~matter
            if self.turns.allow(matter & ~left, matter & left):
                return vector, left
            passed = self.turns.first(matter & left)
            left &= ~passed
            vector = self.members.skipped(vector, passed, left | self._returning)
            if is_dead(vector):
                return None
            matter = self._mattering(vector)

    def _mattering(self, vector: Vector) -> int:
        """Return the names of which it matters whether they have come, for what is left of the formulas."""
        found = self._matter.get(vector)
        if found is None:
            once, needed = self.members.remembered(vector)
            found = self._matter[vector] = (once | needed) if self._forgets else self.remembered
        return found

    def skips(self, state: State) -> Sequence[State]:
        """Return nothing: what has not come may still come."""
        return ()

    def end(self, state: State) -> int:
        """Return the place of the formula that holds for the object that ends here."""
        vector, remaining = _at(state)
        return holding(self.members.holding(vector, remaining))


def _at(state: State) -> tuple[Vector, int]:
    assert isinstance(state, tuple)
    vector, place = state
    return vector, place
