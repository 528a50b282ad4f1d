"""ObjectLevel: the members of an object, one after the other.

    InOrder       all formulas list their names in one order: a state is what is still asked and a place in the order
    InOrders      parts of the schema list names in different orders: a place in each order
    InAnyOrder    listed names may come in any order: which of them are still to come

What is still asked is a vector of formulas over `Named`, `Members` and `Size`; what is still to come is a set of
listed names, as bits. Names that are not listed come behind all that are, or anywhere if any order is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Literal, TypeAlias

from automata.errors import LimitExceeded
from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    And,
    Formula,
    Members,
    Never,
    Not,
    Or,
    Size,
    conjunction,
    disjunction,
)
from constraints.json_schema.levels.level import Change, Evaluation, Level, Move, Outcome, State, Vector, holding
from constraints.json_schema.levels.named import Named, Table, sized
from constraints.json_schema.levels.names import Names
from constraints.json_schema.levels.orders import ANY, CHEAP, AnyOrder, Track, tracks
from constraints.json_schema.levels.outcomes import Outcomes, holds
from constraints.json_schema.levels.plain import PlainInAnyOrder, PlainInOrder, PlainInTwoOrders, plain_members
from constraints.json_schema.restriction import Restriction

PropertyOrder: TypeAlias = Literal["schema", "any", "any-if-cheap"]

# Where any order is cheap, an object has at most so many variants, each of which would multiply its states.
CHEAP_VARIANTS = 4


def object_level(
    vector: Vector, restriction: Restriction, outcomes: Outcomes, order: PropertyOrder = "schema"
) -> Level:
    """An object that is read for a vector of formulas about objects.

    Raises:
        LimitExceeded: too many names, in any order.
    """
    bounds = CHEAP if order == "any-if-cheap" else ANY
    plain = plain_members(vector[0], restriction) if len(vector) == 1 else None
    found = tracks(vector) if plain is None else []
    if order == "any" or (order == "any-if-cheap" and sum(map(_variants, vector)) <= CHEAP_VARIANTS):
        try:
            if plain is not None:
                return PlainInAnyOrder(plain, bounds)
            return InAnyOrder(Track(found[0].names, vector), restriction, outcomes, bounds)
        except LimitExceeded:
            if order == "any":
                raise
    if plain is not None:
        return PlainInOrder(plain) if order == "schema" else PlainInTwoOrders(plain)
    return InOrder(found[0], restriction, outcomes) if len(found) == 1 else InOrders(found, restriction, outcomes)


def _variants(formula: Formula) -> int:
    """How many variants of an object a formula speaks of, at most."""
    if isinstance(formula, Or):
        return sum(map(_variants, formula.parts))
    if isinstance(formula, And):
        return prod(map(_variants, formula.parts))
    return 1


class _Members:
    """The derivatives of formulas about objects; `bit` gives each listed name's bit."""

    def __init__(self, names: Sequence[str], restriction: Restriction, outcomes: Outcomes) -> None:
        self.outcomes = outcomes
        self.table = Table(restriction)
        self.names = Names(names)
        self.bit = {name: 1 << place for place, name in enumerate(names)}
        self.all = (1 << len(names)) - 1
        # By number of `Named`: which names it asks for something, and which ones it requires.
        self.asked: list[int] = []
        self.required: list[int] = []

    def prepared(self, vector: Vector) -> Vector:
        """The formulas with `Named` in them."""
        made = tuple(map(self.table.prepared, vector))
        for asked in self.table.asked[len(self.asked) :]:
            self.asked.append(sum(self.bit[name] for name in asked))
            self.required.append(sum(self.bit[name] for name, what in asked.items() if what.required))
        return made

    def read(self, vector: Vector, name: str, remaining: int) -> Vector:
        """The derivatives by a member with a listed name, behind which the remaining names may come."""

        def statement(formula: Formula) -> Formula:
            kind = type(formula)
            if kind is Named:
                number = formula._fields[0]
                rest = formula if self.asked[number] & remaining else TRUE
                what = self.table.asked[number].get(name)
                return rest if what is None else conjunction([*map(holds, what.values), rest])
            if kind is Members:
                names, value = formula._fields
                return conjunction([holds(value), formula]) if self.names.means(names, name) else formula
            return _smaller(formula)

        return Change(statement).all(vector)

    def read_other(self, vector: Vector, true: frozenset[Formula]) -> Vector:
        """The derivatives by a member with another name, of which these formulas about names are true."""

        def statement(formula: Formula) -> Formula:
            if isinstance(formula, Members):
                if self.names.view(formula.names) in true:
                    return conjunction([holds(formula.value), formula])
                return formula
            return _smaller(formula)

        return Change(statement).all(vector)

    def skipped(self, vector: Vector, skipped: int, remaining: int) -> Vector:
        """What the formulas say once some names have been left out."""

        def statement(formula: Formula) -> Formula:
            if type(formula) is not Named:
                return formula
            number = formula._fields[0]
            if self.required[number] & skipped:
                return FALSE
            return formula if self.asked[number] & remaining else TRUE

        return Change(statement).all(vector)

    def others(self, vector: Vector, states: Callable[[Vector], State]) -> list[Move]:
        """The moves by members whose names are not listed."""
        by_outcome: dict[tuple[tuple[Formula, Vector], ...], list[Formula]] = {}
        formulas = dict.fromkeys(names for formula in vector for names in _names(formula))
        for chosen, true in self.names.classes(formulas):
            found = tuple(self.outcomes(self.read_other(vector, true)))
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
        """The listed names of which it matters whether they have come, or come again."""
        found = 0
        for formula, denied in (statement for whole in vector for statement in _statements(whole, False)):
            if isinstance(formula, Named):
                found |= self.asked[formula.number] if denied else self.required[formula.number]
            elif isinstance(formula, Members) and denied:
                found |= sum(bit for name, bit in self.bit.items() if self.names.means(formula.names, name))
        return found

    def holding(self, vector: Vector, remaining: int) -> list[bool]:
        """Which formulas hold of the object that ends here."""
        at_end = _AtEnd(self.required, remaining)
        return [at_end(formula) for formula in vector]


class _AtEnd(Evaluation):
    def __init__(self, required: Sequence[int], remaining: int) -> None:
        self.required = required
        self.remaining = remaining

    def statement(self, formula: Formula) -> bool:
        match formula:
            case Named():
                return not self.required[formula.number] & self.remaining
            case Size():
                return formula.low <= 0
        return True  # Members


def _names(formula: Formula) -> Iterable[Formula]:
    """The formulas about names in a formula."""
    if isinstance(formula, Members):
        yield formula.names
    elif isinstance(formula, And | Or | Not):
        for part in formula._fields:
            yield from _names(part)


def _statements(formula: Formula, denied: bool) -> Iterator[tuple[Formula, bool]]:
    """The statements in a formula, and whether they are denied."""
    if isinstance(formula, And | Or | Not):
        for part in formula._fields:
            yield from _statements(part, denied != isinstance(formula, Not))
    else:
        yield formula, denied


def _smaller(formula: Formula) -> Formula:
    """The derivative of a statement about the size by any member."""
    if isinstance(formula, Size):
        return sized(formula.low - 1, None if formula.high is None else formula.high - 1)
    return formula


def _dead(vector: Vector) -> bool:
    return all(type(formula) is Never for formula in vector)


class InOrder:
    """Listed names in one order; a state is the vector of what is asked and the place of the next name."""

    def __init__(self, track: Track, restriction: Restriction, outcomes: Outcomes) -> None:
        self.track = track
        self.members = _Members(track.names, restriction, outcomes)
        self.outcomes = outcomes
        self.start: State = (self.members.prepared(track.vector), 0)

    def remaining(self, place: int) -> int:
        """The names from a place on."""
        return self.members.all >> place << place

    def moves(self, state: State) -> Sequence[Move]:
        """The next name, or, behind all of them, other names."""
        vector, place = _at(state)
        names = self.track.names
        if place == len(names):
            return self.members.others(vector, lambda residual: (residual, place))
        name, remaining = names[place], self.remaining(place + 1)
        found = self.outcomes(self.members.read(vector, name, remaining))
        return [Move(name, [Outcome(value, (residual, place + 1)) for value, residual in found])] if found else []

    def skips(self, state: State) -> Sequence[State]:
        """The state behind the next name, if that may be left out."""
        vector, place = _at(state)
        if place == len(self.track.names):
            return ()
        remaining = self.remaining(place + 1)
        left = self.members.skipped(vector, 1 << place, remaining)
        return () if _dead(left) else ((left, place + 1),)

    def end(self, state: State) -> int:
        """Which formula holds of the object that ends here."""
        vector, place = _at(state)
        return holding(self.members.holding(vector, self.remaining(place)))


def _at(state: State) -> tuple[Vector, int]:
    assert isinstance(state, tuple)
    vector, place = state
    return vector, place


class InAnyOrder:
    """Listed names in any order; a state is the vector of what is asked and the names that may still come.

    Each name comes once at most. Only where any order is taken if it is cheap, and there are more than a few names,
    those alone do of which it must be known whether they have come: that are required, or of which something is
    denied. The others are not remembered, and may come again; whichever of two members with one name a reader takes, it
    is as the schema says."""

    def __init__(
        self,
        track: Track,
        restriction: Restriction,
        outcomes: Outcomes,
        bounds: AnyOrder,
    ) -> None:
        """The level before its first member.

        Raises:
            LimitExceeded: there are too many sets of names that must be remembered.
        """
        self.members = _Members(track.names, restriction, outcomes)
        self.outcomes = outcomes
        vector = self.members.prepared(track.vector)
        self.remembered = bounds.remembered(len(track.names), self.members.remembered(vector))
        self.start: State = (vector, self.members.all)

    def moves(self, state: State) -> Sequence[Move]:
        """Any name that may still come, and other names."""
        vector, remaining = _at(state)
        moves = []
        for name, bit in self.members.bit.items():
            if not remaining & bit:
                continue
            left = remaining & ~(bit & self.remembered)
            found = self.outcomes(self.members.read(vector, name, left))
            if found:
                moves.append(Move(name, [Outcome(value, (residual, left)) for value, residual in found]))
        return [*moves, *self.members.others(vector, lambda residual: (residual, remaining))]

    def skips(self, state: State) -> Sequence[State]:
        """Nothing is skipped: what has not come may still come."""
        return ()

    def end(self, state: State) -> int:
        """Which formula holds of the object that ends here."""
        vector, remaining = _at(state)
        return holding(self.members.holding(vector, remaining))


class InOrders:
    """Names in several orders, each with formulas of its own; a state is a place in each order, and for each order the
    vector of what is asked, one behind the other."""

    def __init__(self, found: Sequence[Track], restriction: Restriction, outcomes: Outcomes) -> None:
        self.tracks = found
        self.width = len(found[0].vector)
        self.members = _Members(found[0].names, restriction, outcomes)
        self.outcomes = outcomes
        # For each order, by place: the names from there on.
        self.from_place = [self._masks(track) for track in found]
        vector = tuple(formula for track in found for formula in self.members.prepared(track.vector))
        self.start: State = (vector, (0,) * len(found))

    def _masks(self, track: Track) -> list[int]:
        masks = [0]
        for name in reversed(track.names):
            masks.append(masks[-1] | self.members.bit[name])
        return masks[::-1]

    def moves(self, state: State) -> Sequence[Move]:
        """Any name that is ahead in some order, and other names."""
        vector, places = _in_orders(state)
        moves = []
        for name in self.members.bit:
            targets = [track.place[name] for track in self.tracks]
            if all(target < place for target, place in zip(targets, places, strict=True)):
                continue
            passed = self._passed(vector, places, targets)
            behind = [target + 1 for target in targets]
            read: Vector = ()
            for number, place in enumerate(behind):
                read += self.members.read(self._own(passed, number), name, self.from_place[number][place])
            found = self.outcomes(read)
            if found:
                moves.append(Move(name, [Outcome(value, self._state(residual, behind)) for value, residual in found]))
        ends = [len(track.names) for track in self.tracks]
        others = self.members.others(self._passed(vector, places, ends), lambda residual: self._state(residual, ends))
        return [*moves, *others]

    def _passed(self, vector: Vector, places: Sequence[int], targets: Sequence[int]) -> Vector:
        """What is asked once each order is at its target; nothing can be read where that lies behind."""
        left: Vector = ()
        for number, (place, target) in enumerate(zip(places, targets, strict=True)):
            masks, own = self.from_place[number], self._own(vector, number)
            if target < place:
                left += (FALSE,) * self.width
            else:
                left += self.members.skipped(own, masks[place] & ~masks[target], masks[target])
        return left

    def _own(self, vector: Vector, number: int) -> Vector:
        """The part of a vector that belongs to an order."""
        return vector[number * self.width : (number + 1) * self.width]

    def _state(self, vector: Vector, places: Sequence[int]) -> State:
        """The state; an order in which nothing can be read any more is at its end."""
        kept = []
        for number, (track, place) in enumerate(zip(self.tracks, places, strict=True)):
            dead = _dead(self._own(vector, number))
            kept.append(len(track.names) if dead else place)
        return vector, tuple(kept)

    def skips(self, state: State) -> Sequence[State]:
        """Nothing is skipped: each move skips what lies before it."""
        return ()

    def end(self, state: State) -> int:
        """Which formula holds of the object that ends here, in some order."""
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
