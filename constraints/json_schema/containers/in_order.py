"""Objects whose listed names come in order; unlisted names come after all listed ones.

InOrder       all formulas list their names in one order: a state is what is still required, and a position in the order
InOrders      parts of the schema list names in different orders: a state has a position in each order
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from constraints.json_schema.containers.automaton import ByMoves, Move, Outcome, State, Vector, holding
from constraints.json_schema.containers.members import MemberDerivatives
from constraints.json_schema.containers.orders import Track
from constraints.json_schema.containers.shannon import ShannonExpansion, is_dead
from constraints.json_schema.formulas.connectives import FALSE
from constraints.json_schema.formulas.restriction import Restriction


class InOrder(ByMoves):
    """Listed names in one order. A state is the vector of what is still required, and the place of the next name."""

    def __init__(self, track: Track, restriction: Restriction, expansion: ShannonExpansion) -> None:
        self.track = track
        self.members = MemberDerivatives(track.names, restriction, expansion)
        self.expansion = expansion
        self.start: State = (self.members.prepared(track.vector), 0)

    def remaining(self, place: int) -> int:
        """Return the names from a place on."""
        return self.members.all >> place << place

    def moves(self, state: State) -> Sequence[Move]:
        """Return the next name, or, after all of them, other names."""
        vector, place = _at(state)
        names = self.track.names
        if place == len(names):
            return self.members.others(vector, lambda residual: (residual, place))
        name, remaining = names[place], self.remaining(place + 1)
        found = self.expansion(self.members.read(vector, name, remaining))
        return [Move(name, [Outcome(value, (residual, place + 1)) for value, residual in found])] if found else []

    def skips(self, state: State) -> Sequence[State]:
        """Return the state after the next name, if that may be left out."""
        vector, place = _at(state)
        if place == len(self.track.names):
            return ()
        remaining = self.remaining(place + 1)
        left = self.members.skipped(vector, 1 << place, remaining)
        return () if is_dead(left) else ((left, place + 1),)

    def end(self, state: State) -> int:
        """Return the index of the formula that holds for an object that ends here; -1 if none does."""
        vector, place = _at(state)
        return holding(self.members.holding(vector, self.remaining(place)))


class InOrders(ByMoves):
    """Names in several orders, each with formulas of its own. A state is a place in each order, and the vectors of what
    is still required in each, one after the other.

    Nearly every name may occur in nearly every state. So the derivative of one order by a name is found once for all
    states with the same vector and place in this order, and a move is made once for the same derivatives of all orders.
    """

    def __init__(self, found: Sequence[Track], restriction: Restriction, expansion: ShannonExpansion) -> None:
        self.tracks = found
        self.width = len(found[0].vector)
        self.members = MemberDerivatives(found[0].names, restriction, expansion)
        self.expansion = expansion
        # By order and place: the names from there on.
        self.from_place = [self._masks(track) for track in found]
        vector = tuple(formula for track in found for formula in self.members.prepared(track.vector))
        self.start: State = (vector, (0,) * len(found))
        self._dead: Vector = (FALSE,) * self.width
        # By name: its place in each order, and its moves by the derivatives of all orders.
        self._targets = {name: [track.place[name] for track in found] for name in self.members.bit}
        self._moves: dict[str, dict[Vector, Move | None]] = {name: {} for name in self.members.bit}
        # By order, and the vector and the place in it: the derivatives by each name.
        self._rows: dict[tuple[int, Vector, int], list[Vector]] = {}

    def _masks(self, track: Track) -> list[int]:
        masks = [0]
        for name in reversed(track.names):
            masks.append(masks[-1] | self.members.bit[name])
        return masks[::-1]

    def moves(self, state: State) -> Sequence[Move]:
        """Return the names that are still ahead in some order, and then other names."""
        vector, places = _at(state)
        own = [self._own(vector, number) for number in range(len(places))]
        rows = [self._row(number, own[number], place) for number, place in enumerate(places)]
        found = (
            self._move(name, tuple(chain(*read)))
            for name, read in zip(self._targets, zip(*rows, strict=True), strict=True)
        )
        moves = [move for move in found if move is not None]
        ends = [len(track.names) for track in self.tracks]
        passed = tuple(
            formula
            for number, place in enumerate(places)
            for formula in self._passed(number, own[number], place, ends[number])
        )
        others = self.members.others(passed, lambda residual: self._state(residual, ends))
        return [*moves, *others]

    def _row(self, number: int, own: Vector, place: int) -> list[Vector]:
        """Return the derivatives of the formulas of an order by each of the names."""
        key = number, own, place
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = [self._read(number, own, place, name) for name in self._targets]
        return found

    def _read(self, number: int, own: Vector, place: int, name: str) -> Vector:
        target = self._targets[name][number]
        if target < place:
            return self._dead
        passed = self._passed(number, own, place, target)
        return self.members.read(passed, name, self.from_place[number][target + 1])

    def _passed(self, number: int, own: Vector, place: int, target: int) -> Vector:
        """Return what is required in an order once the names from a place up to a target are left out."""
        masks = self.from_place[number]
        return self.members.skipped(own, masks[place] & ~masks[target], masks[target])

    def _move(self, name: str, read: Vector) -> Move | None:
        """Return the move by a name, from the derivatives of all orders; None if no value leads on."""
        known = self._moves[name]
        if read not in known:
            after = [target + 1 for target in self._targets[name]]
            found = self.expansion(read)
            outcomes = [Outcome(value, self._state(residual, after)) for value, residual in found]
            known[read] = Move(name, outcomes) if outcomes else None
        return known[read]

    def _own(self, vector: Vector, number: int) -> Vector:
        """Return the part of a vector that belongs to an order."""
        return vector[number * self.width : (number + 1) * self.width]

    def _state(self, vector: Vector, places: Sequence[int]) -> State:
        """Return the state. An order in which nothing can be satisfied any more is put at its end, so that such states
        are equal."""
        kept = []
        for number, (track, place) in enumerate(zip(self.tracks, places, strict=True)):
            dead = is_dead(self._own(vector, number))
            kept.append(len(track.names) if dead else place)
        return vector, tuple(kept)

    def end(self, state: State) -> int:
        """Return the index of the formula that holds, in some order, for an object that ends here; -1 if none does."""
        vector, places = _at(state)
        satisfied = [False] * self.width
        for number, place in enumerate(places):
            own = self._own(vector, number)
            for at, holds_here in enumerate(self.members.holding(own, self.from_place[number][place])):
                satisfied[at] |= holds_here
        return holding(satisfied)


def _at(state: State) -> tuple[Vector, Any]:
    """Return the vector of a state, and the place in its order or, if there are several, in each of them."""
    assert isinstance(state, tuple)
    vector, place = state
    return vector, place
