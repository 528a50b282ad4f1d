"""Plain objects: one conjunction of statements about members, as most schemas of objects are.

    plain_members(F)     what is said of each name; None where F says more
    PlainObject          automata whose states are numbers alone:
    PlainInAnyOrder      listed names come in any order,
    PlainInOrder         in one,
    PlainInTwoOrders     or in one of two

There are no alternatives and nothing is counted, so what is required of a member is the same wherever it comes. It is
worked out once for each name, and a state need not hold what is still required: in any order it is the set of the names
to come, as bits; in one order it is the place of the next. States and moves are those that the automata of `objects`
find by derivatives, and come in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from constraints.json_schema.containers.automaton import Plain, State
from constraints.json_schema.containers.cheap import ALL, Turns, ordered
from constraints.json_schema.containers.names import Names
from constraints.json_schema.containers.orders import AnyOrder, texts_in
from constraints.json_schema.formulas.connectives import (
    FALSE,
    Always,
    And,
    Formula,
    Never,
    Not,
    conjunction,
    disjunction,
    negation,
)
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Members, StringIn


class PlainMembers(NamedTuple):
    """What a conjunction of statements about members says.

    Attributes:
        names: those that it lists, in order.
        values: what the value of each must satisfy; FALSE where the member cannot be there.
        required: the names that must be there, as bits.
        order: the places of those names, in the order in which they are required.
        others: formulas about names that are not listed, and what their values must satisfy.
    """

    names: tuple[str, ...]
    values: list[Formula]
    required: int
    order: tuple[int, ...]
    others: list[tuple[Formula, Formula]]

    @property
    def needed(self) -> list[Formula]:
        """What the values of the names that must be there must satisfy."""
        return [value for place, value in enumerate(self.values) if self.required >> place & 1]


def plain_members(formula: Formula, restriction: Restriction) -> PlainMembers | None:
    """Return what a formula about objects says of members, if it is a conjunction and says no more."""
    kind = type(formula)
    statements = _Statements(restriction)
    for part in formula.fields if kind is And else () if kind is Always else (formula,):
        if not statements.take(part):
            return None
    return statements.members()


class _Statements:
    """The statements of a conjunction, sorted by what they are about.

    Attributes:
        values: what the value of each listed name must satisfy, if it is there.
        listed, required, mentioned: names in order: those with a value, those that must be there, and those that others
            are told apart from.
        others: formulas about names, and what the values of these must satisfy.
    """

    def __init__(self, restriction: Restriction) -> None:
        self.restriction = restriction
        self.values: dict[str, list[Formula]] = {}
        self.listed: list[str] = []
        self.required: list[str] = []
        self.mentioned: list[str] = []
        self.others: list[tuple[Formula, Formula]] = []

    def take(self, part: Formula) -> bool:
        """Add a statement about all members with some names, or about the one with one; return False for any other."""
        is_denied = type(part) is Not
        statement = part.fields[0] if is_denied else part
        if type(statement) is not Members:
            return False
        names, value = statement.fields
        if type(names) is StringIn and (not is_denied or len(names.texts) == 1):
            for name in sorted(names.texts):
                (self.required if is_denied else self.listed).append(name)
                self.values.setdefault(name, []).append(negation(value) if is_denied else value)
            return True
        if not is_denied:
            self.mentioned += [name for texts in texts_in(names) for name in sorted(texts)]
            meant = self.restriction.string(names)
            if type(meant) is not Never and type(value) is not Always:
                self.others.append((meant, value))
        return not is_denied

    def members(self) -> PlainMembers | None:
        """Return what is required of each name; None where a member that must be there cannot."""
        if any(FALSE in self.values[name] for name in self.required):
            return None
        order = tuple(dict.fromkeys([*self.listed, *self.required, *self.mentioned]))
        names, place = Names(order), {name: number for number, name in enumerate(order)}
        values = []
        for name in order:
            also = [value for meant, value in self.others if names.means(meant, name)]
            values.append(conjunction([*self.values.get(name, ()), *also]))
        required = tuple(dict.fromkeys([place[name] for name in self.required]))
        return PlainMembers(order, values, sum([1 << number for number in required]), required, self.unlisted(names))

    def unlisted(self, names: Names) -> list[tuple[Formula, Formula]]:
        """Return the classes of names that are not listed, and what their values must satisfy."""
        by_value: dict[Formula, list[Formula]] = {}
        for chosen, true in names.classes(meant for meant, _ in self.others):
            value = conjunction([value for meant, value in self.others if names.view(meant) in true])
            if type(value) is not Never:
                by_value.setdefault(value, []).append(chosen)
        return [(conjunction([names.unlisted, disjunction(classes)]), value) for value, classes in by_value.items()]


class PlainObject(Plain):
    """What the automata have in common; the numbers of members with listed names come first.

    Attributes:
        said: what is said of each name.
        possible: the numbers of members with listed names that can be there.
        others: those of members with other names.
    """

    def __init__(self, said: PlainMembers) -> None:
        self.said = said
        self.members = [*zip(said.names, said.values, strict=True), *said.others]
        self.num_listed = len(said.names)
        self.possible = [number for number, value in enumerate(said.values) if type(value) is not Never]
        self.others = range(self.num_listed, len(self.members))


class PlainInAnyOrder(PlainObject):
    """Listed names in any order, or in orders near to that of the schema or of `required`; a state is which of them may
    still come, as bits. `objects.InAnyOrder` says more."""

    def __init__(self, said: PlainMembers, bounds: AnyOrder) -> None:
        """Make the automaton of any order.

        Raises:
            LimitExceeded: there are too many names.
        """
        super().__init__(said)
        self.remembered = bounds.remembered(len(said.names), said.required)
        self.bits = [(number, 1 << number, ~(1 << number & self.remembered)) for number in self.possible]
        self.always = len(self.others) + sum([left == -1 for _, _, left in self.bits])
        self.start: State = (1 << len(said.names)) - 1
        self.turns = ALL

    def near(self, turns: Turns) -> PlainInAnyOrder:
        """Return the automaton of the orders that some turns allow."""
        found = copy(self)
        orders = dict.fromkeys((tuple(sorted(self.said.order)), self.said.order))
        found.turns = turns._replace(orders=tuple(ordered([1 << at for at in each]) for each in orders))
        return found

    def following(self, state: State) -> Sequence[tuple[int, State]]:
        """Return any name that may still come, and other names."""
        assert isinstance(state, int)
        found: list[tuple[int, State]] = [
            (number, state & left)
            for number, bit, left in self.bits
            if state & bit and (state & left == state or self._allowed(state & left))
        ]
        return found + [(number, state) for number in self.others]

    def _allowed(self, state: int) -> bool:
        return self.turns.allow(self.remembered & ~state, self.remembered & state)

    def skips(self, state: State) -> Sequence[State]:
        """Return nothing: what has not come may still come."""
        return ()

    def end(self, state: State) -> int:
        """Return 0 if all required names have come, and -1 if not."""
        assert isinstance(state, int)
        return -1 if state & self.said.required else 0


class PlainInOrder(PlainObject):
    """Listed names in one order; a state is the place of the next name."""

    start: State = 0

    def following(self, state: State) -> Sequence[tuple[int, State]]:
        """Return the next name, or, after all of them, other names."""
        assert isinstance(state, int)
        if state == self.num_listed:
            return [(number, state) for number in self.others]
        return [] if type(self.said.values[state]) is Never else [(state, state + 1)]

    def skips(self, state: State) -> Sequence[State]:
        """Return the state after the next name, if that may be left out."""
        assert isinstance(state, int)
        return () if state == self.num_listed or self.said.required >> state & 1 else (state + 1,)

    def end(self, state: State) -> int:
        """Return 0 if no name to come is required, and -1 if one is."""
        assert isinstance(state, int)
        return -1 if self.said.required >> state else 0


class PlainInTwoOrders(PlainInOrder):
    """Listed names in one order, or in a second one: the required names in the order of `required`, and after them all
    other names in any order, which may then be repeated. Generated schemas often list names alphabetically, and require
    them in the order in which people write them. States after those of the first order are the places in the second."""

    def __init__(self, said: PlainMembers) -> None:
        super().__init__(said)
        self.second = self.num_listed + 1
        self.needed = said.order
        self.rest = [number for number in self.possible if not said.required >> number & 1]

    def following(self, state: State) -> Sequence[tuple[int, State]]:
        """Return the next name, or, after all required ones, any other."""
        assert isinstance(state, int)
        place = state - self.second
        if place < 0:
            return super().following(state)
        if place == len(self.needed):
            return [(number, state) for number in (*self.rest, *self.others)]
        needed = self.needed[place]
        return [(needed, state + 1)] if type(self.said.values[needed]) is not Never else []

    def skips(self, state: State) -> Sequence[State]:
        """Return the state after the next name, if that may be left out; from the start, the second order too."""
        assert isinstance(state, int)
        if state >= self.second:
            return ()
        return (*super().skips(state), self.second) if state == 0 else super().skips(state)

    def end(self, state: State) -> int:
        """Return 0 if no name to come is required, and -1 if one is."""
        assert isinstance(state, int)
        return super().end(state) if state < self.second else min(0, state - self.second - len(self.needed))
