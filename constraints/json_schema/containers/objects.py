"""object_automaton: the members of an object, one after the other.

    InOrder       all formulas list their names in one order: a state is what is still required and a place in the order
    InOrders      parts of the schema list names in different orders: a state has a place in each order
    InAnyOrder    listed names come in any order: a state has the set of those that may still come

What is still required is a vector of formulas over `Named`, `Members` and `MemberCount`; a set of listed names is an
integer with a bit for each. Names that are not listed come after all that are, or anywhere if any order is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Literal, TypeAlias

from automata.errors import LimitExceeded
from constraints.json_schema.containers.automaton import (
    ContainerAutomaton,
    Move,
    Outcome,
    State,
    Vector,
    holding,
)
from constraints.json_schema.containers.named import Named, Table
from constraints.json_schema.containers.names import Names
from constraints.json_schema.containers.orders import ANY, CHEAP, AnyOrder, Track, tracks
from constraints.json_schema.containers.plain import PlainInAnyOrder, PlainInOrder, PlainInTwoOrders, plain_members
from constraints.json_schema.containers.shannon import ShannonExpansion, holds
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    And,
    Formula,
    Never,
    Or,
    Substitution,
    conjunction,
    disjunction,
    fold,
    signed_statements,
    statements,
    truth,
)
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import MemberCount, Members, bounded, one_less

PropertyOrder: TypeAlias = Literal["schema", "any", "any-if-cheap"]

# The most variants of an object for which any order is cheap, as each multiplies its states.
CHEAP_VARIANTS = 4


def object_automaton(
    vector: Vector, restriction: Restriction, expansion: ShannonExpansion, order: PropertyOrder = "schema"
) -> ContainerAutomaton:
    """Return the automaton of an object that is read for a vector of formulas about objects.

    Raises:
        LimitExceeded: too many names in any order.
    """
    bounds = CHEAP if order == "any-if-cheap" else ANY
    plain = plain_members(vector[0], restriction) if len(vector) == 1 else None
    found = tracks(vector) if plain is None else []
    if order == "any" or (order == "any-if-cheap" and sum(map(_num_variants, vector)) <= CHEAP_VARIANTS):
        try:
            if plain is not None:
                return PlainInAnyOrder(plain, bounds)
            return InAnyOrder(Track(found[0].names, vector), restriction, expansion, bounds)
        except LimitExceeded:
            if order == "any":
                raise
    if plain is not None:
        return PlainInOrder(plain) if order == "schema" else PlainInTwoOrders(plain)
    return InOrder(found[0], restriction, expansion) if len(found) == 1 else InOrders(found, restriction, expansion)


def _num_variants(formula: Formula) -> int:
    """Return the number of variants of an object that a formula describes, at most."""
    return fold(formula, lambda _: 1, _combined_variants, {})


def _combined_variants(formula: Formula, counts: list[int]) -> int:
    kind = type(formula)
    return sum(counts) if kind is Or else prod(counts) if kind is And else 1


class _Members:
    """The derivatives of formulas about objects.

    Attributes:
        bit: the bit of each listed name.
        all: the bits of all listed names.
        requirements, required: by number of `Named`, the names that it says something of, and those that it requires.
    """

    def __init__(self, names: Sequence[str], restriction: Restriction, expansion: ShannonExpansion) -> None:
        self.expansion = expansion
        self.table = Table(restriction)
        self.names = Names(names)
        self.bit = {name: 1 << place for place, name in enumerate(names)}
        self.all = (1 << len(names)) - 1
        self.requirements: list[int] = []
        self.required: list[int] = []

    def prepared(self, vector: Vector) -> Vector:
        """Return the formulas with `Named` in them."""
        made = tuple(map(self.table.prepared, vector))
        for found in self.table.requirements[len(self.requirements) :]:
            self.requirements.append(sum(self.bit[name] for name in found))
            self.required.append(sum(self.bit[name] for name, what in found.items() if what.required))
        return made

    def read(self, vector: Vector, name: str, remaining: int) -> Vector:
        """Return the derivatives by a member with a listed name, after which the remaining names may come."""

        def statement(formula: Formula) -> Formula:
            kind = type(formula)
            if kind is Named:
                number = formula.fields[0]
                rest = formula if self.requirements[number] & remaining else TRUE
                what = self.table.requirements[number].get(name)
                return rest if what is None else conjunction([*map(holds, what.values), rest])
            if kind is Members:
                names, value = formula.fields
                return conjunction([holds(value), formula]) if self.names.means(names, name) else formula
            return _smaller(formula)

        return Substitution(statement).all(vector)

    def read_other(self, vector: Vector, true: frozenset[Formula]) -> Vector:
        """Return the derivatives by a member with another name, of which these formulas about names are true."""

        def statement(formula: Formula) -> Formula:
            if isinstance(formula, Members):
                if self.names.view(formula.names) in true:
                    return conjunction([holds(formula.value), formula])
                return formula
            return _smaller(formula)

        return Substitution(statement).all(vector)

    def skipped(self, vector: Vector, skipped: int, remaining: int) -> Vector:
        """Return what the formulas say once some names have been left out."""

        def statement(formula: Formula) -> Formula:
            if type(formula) is not Named:
                return formula
            number = formula.fields[0]
            if self.required[number] & skipped:
                return FALSE
            return formula if self.requirements[number] & remaining else TRUE

        return Substitution(statement).all(vector)

    def others(self, vector: Vector, states: Callable[[Vector], State]) -> list[Move]:
        """Return the moves by members whose names are not listed."""
        by_outcome: dict[tuple[tuple[Formula, Vector], ...], list[Formula]] = {}
        parts = (part for formula in vector for part in statements(formula))
        formulas = dict.fromkeys(part.names for part in parts if isinstance(part, Members))
        for chosen, true in self.names.classes(formulas):
            found = tuple(self.expansion(self.read_other(vector, true)))
            by_outcome.setdefault(found, []).append(chosen)
        return [
            Move(
                conjunction([self.names.unlisted, disjunction(classes)]),
                [Outcome(value, states(residual)) for value, residual in found],
            )
            for found, classes in by_outcome.items()
            if found
        ]

    def remembered(self, vector: Vector) -> int:
        """Return the listed names of which it matters whether they have come, or come again."""
        found = 0
        for formula, denied in (signed for whole in vector for signed in signed_statements(whole)):
            if isinstance(formula, Named):
                found |= self.requirements[formula.number] if denied else self.required[formula.number]
            elif isinstance(formula, Members) and denied:
                found |= sum(bit for name, bit in self.bit.items() if self.names.means(formula.names, name))
        return found

    def holding(self, vector: Vector, remaining: int) -> list[bool]:
        """Return which formulas hold for the object that ends here."""

        def statement(formula: Formula) -> bool:
            if isinstance(formula, Named):
                return not self.required[formula.number] & remaining
            return formula.low <= 0 if isinstance(formula, MemberCount) else True  # Members

        return [truth(formula, statement) for formula in vector]


def _smaller(formula: Formula) -> Formula:
    """Return the derivative of a statement about the size by any member."""
    if isinstance(formula, MemberCount):
        return bounded(MemberCount, formula.low - 1, one_less(formula.high))
    return formula


def _dead(vector: Vector) -> bool:
    return all(type(formula) is Never for formula in vector)


class InOrder:
    """Listed names in one order; a state is the vector of what is required and the place of the next name."""

    def __init__(self, track: Track, restriction: Restriction, expansion: ShannonExpansion) -> None:
        self.track = track
        self.members = _Members(track.names, restriction, expansion)
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
        return () if _dead(left) else ((left, place + 1),)

    def end(self, state: State) -> int:
        """Return the place of the formula that holds for the object that ends here."""
        vector, place = _at(state)
        return holding(self.members.holding(vector, self.remaining(place)))


def _at(state: State) -> tuple[Vector, int]:
    assert isinstance(state, tuple)
    vector, place = state
    return vector, place


class InAnyOrder:
    """Listed names in any order; a state is the vector of what is required and the names that may still come.

    Each name comes once at most. Where any order is allowed only if it is cheap, and there are more than a few names,
    that is true of the names alone of which it must be known whether they have come: those that are required, or of
    which something is denied. The others are not remembered and may come again; whichever of two members with one name
    a parser keeps, it satisfies the schema."""

    def __init__(
        self,
        track: Track,
        restriction: Restriction,
        expansion: ShannonExpansion,
        bounds: AnyOrder,
    ) -> None:
        """Make the automaton.

        Raises:
            LimitExceeded: there are too many sets of names that must be remembered.
        """
        self.members = _Members(track.names, restriction, expansion)
        self.expansion = expansion
        vector = self.members.prepared(track.vector)
        self.remembered = bounds.remembered(len(track.names), self.members.remembered(vector))
        self.start: State = (vector, self.members.all)

    def moves(self, state: State) -> Sequence[Move]:
        """Return any name that may still come, and other names."""
        vector, remaining = _at(state)
        moves = []
        for name, bit in self.members.bit.items():
            if not remaining & bit:
                continue
            left = remaining & ~(bit & self.remembered)
            found = self.expansion(self.members.read(vector, name, left))
            if found:
                moves.append(Move(name, [Outcome(value, (residual, left)) for value, residual in found]))
        return [*moves, *self.members.others(vector, lambda residual: (residual, remaining))]

    def skips(self, state: State) -> Sequence[State]:
        """Return nothing: what has not come may still come."""
        return ()

    def end(self, state: State) -> int:
        """Return the place of the formula that holds for the object that ends here."""
        vector, remaining = _at(state)
        return holding(self.members.holding(vector, remaining))


class InOrders:
    """Names in several orders, each with formulas of its own; a state is a place in each order, and the vectors of what
    is required in each, one after the other."""

    def __init__(self, found: Sequence[Track], restriction: Restriction, expansion: ShannonExpansion) -> None:
        self.tracks = found
        self.width = len(found[0].vector)
        self.members = _Members(found[0].names, restriction, expansion)
        self.expansion = expansion
        # By order and place: the names from there on.
        self.from_place = [self._masks(track) for track in found]
        vector = tuple(formula for track in found for formula in self.members.prepared(track.vector))
        self.start: State = (vector, (0,) * len(found))

    def _masks(self, track: Track) -> list[int]:
        masks = [0]
        for name in reversed(track.names):
            masks.append(masks[-1] | self.members.bit[name])
        return masks[::-1]

    def moves(self, state: State) -> Sequence[Move]:
        """Return any name that is ahead in some order, and other names."""
        vector, places = _in_orders(state)
        moves = []
        for name in self.members.bit:
            targets = [track.place[name] for track in self.tracks]
            if all(target < place for target, place in zip(targets, places, strict=True)):
                continue
            passed = self._passed(vector, places, targets)
            after = [target + 1 for target in targets]
            read: Vector = ()
            for number, place in enumerate(after):
                read += self.members.read(self._own(passed, number), name, self.from_place[number][place])
            found = self.expansion(read)
            if found:
                moves.append(Move(name, [Outcome(value, self._state(residual, after)) for value, residual in found]))
        ends = [len(track.names) for track in self.tracks]
        others = self.members.others(self._passed(vector, places, ends), lambda residual: self._state(residual, ends))
        return [*moves, *others]

    def _passed(self, vector: Vector, places: Sequence[int], targets: Sequence[int]) -> Vector:
        """Return what is required once each order is at its target; nothing can be read where it is past that."""
        left: Vector = ()
        for number, (place, target) in enumerate(zip(places, targets, strict=True)):
            masks, own = self.from_place[number], self._own(vector, number)
            if target < place:
                left += (FALSE,) * self.width
            else:
                left += self.members.skipped(own, masks[place] & ~masks[target], masks[target])
        return left

    def _own(self, vector: Vector, number: int) -> Vector:
        """Return the part of a vector that belongs to an order."""
        return vector[number * self.width : (number + 1) * self.width]

    def _state(self, vector: Vector, places: Sequence[int]) -> State:
        """Return the state; an order in which nothing can be read any more is at its end."""
        kept = []
        for number, (track, place) in enumerate(zip(self.tracks, places, strict=True)):
            dead = _dead(self._own(vector, number))
            kept.append(len(track.names) if dead else place)
        return vector, tuple(kept)

    def skips(self, state: State) -> Sequence[State]:
        """Return nothing: each move skips the names before it."""
        return ()

    def end(self, state: State) -> int:
        """Return the place of the formula that holds, in some order, for the object that ends here."""
        vector, places = _in_orders(state)
        satisfied = [False] * self.width
        for number, place in enumerate(places):
            own = self._own(vector, number)
            for at, holds_here in enumerate(self.members.holding(own, self.from_place[number][place])):
                satisfied[at] |= holds_here
        return holding(satisfied)


def _in_orders(state: State) -> tuple[Vector, tuple[int, ...]]:
    assert isinstance(state, tuple)
    vector, places = state
    return vector, places
