"""Plain objects: one conjunction of statements about members, as most schemas of objects are.

    plain_members(F)     the statements about each name; None if F says more
    PlainInOrder         listed names come in order

There are no alternatives and nothing is counted, so the requirements on a member do not depend on its position. They
are computed once for each name, and a state is only the position of the next name, not what is still required. So the
native core makes the states (`native/constraints/containers/plain_states.h`). They are the states that the automata of
`objects` find by derivatives. For objects in any order, see `flagged`.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from constraints._native import PlainStates, in_order
from constraints.json_schema.containers.automaton import Plain
from constraints.json_schema.containers.names import Names
from constraints.json_schema.containers.orders import texts_in
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
        names: the names that it mentions, in order.
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
        """What the value of each required member must satisfy."""
        return [value for place, value in enumerate(self.values) if self.required >> place & 1]


def plain_members(formula: Formula, restriction: Restriction) -> PlainMembers | None:
    """Return what a formula about objects says about members; None if it is more than a conjunction of such
    statements, or if a required member cannot be there."""
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
        listed, named, mentioned: names in order: those that may have a value, those that must or must not be there, and
            those that occur in formulas about other names.
        required: those that must be there.
        others: formulas about names, and what the values of members with such names must satisfy.
    """

    def __init__(self, restriction: Restriction) -> None:
        self.restriction = restriction
        self.values: dict[str, list[Formula]] = {}
        self.listed: list[str] = []
        self.named: list[str] = []
        self.required: list[str] = []
        self.mentioned: list[str] = []
        self.others: list[tuple[Formula, Formula]] = []

    def take(self, part: Formula) -> bool:
        """Add a statement about all members with some names, or one that requires a single name. Return False for any
        other statement."""
        is_denied = type(part) is Not
        statement = part.fields[0] if is_denied else part
        if type(statement) is not Members:
            return False
        names, value = statement.fields
        if type(names) is StringIn and (not is_denied or len(names.texts) == 1):
            for name in sorted(names.texts):
                (self.named if is_denied or type(value) is Never else self.listed).append(name)
                if is_denied:
                    self.required.append(name)
                self.values.setdefault(name, []).append(negation(value) if is_denied else value)
            return True
        if not is_denied:
            self.mentioned += [name for texts in texts_in(names) for name in sorted(texts)]
            meant = self.restriction.string(names)
            if type(meant) is not Never and type(value) is not Always:
                self.others.append((meant, value))
        return not is_denied

    def members(self) -> PlainMembers | None:
        """Return what is required of each name; None if a required member cannot be there."""
        if any(FALSE in self.values[name] for name in self.required):
            return None
        order = tuple(dict.fromkeys([*self.listed, *self.named, *self.mentioned]))
        names, place = Names(order), {name: number for number, name in enumerate(order)}
        values = []
        for name in order:
            also = [value for meant, value in self.others if names.means(meant, name)]
            values.append(conjunction([*self.values.get(name, ()), *also]))
        required = tuple(dict.fromkeys([place[name] for name in self.required]))
        return PlainMembers(order, values, sum([1 << number for number in required]), required, self.unlisted(names))

    def unlisted(self, names: Names) -> list[tuple[Formula, Formula]]:
        """Return the classes of unlisted names, and what the values of members with such names must satisfy."""
        by_value: dict[Formula, list[Formula]] = {}
        for chosen, true in names.classes(meant for meant, _ in self.others):
            value = conjunction([value for meant, value in self.others if names.view(meant) in true])
            if type(value) is not Never:
                by_value.setdefault(value, []).append(chosen)
        return [(conjunction([names.unlisted, disjunction(classes)]), value) for value, classes in by_value.items()]


class PlainInOrder(Plain):
    """Listed names in order, and others after them; a state is the place of the next name.

    Attributes:
        statements: what the formula says about each name.
    """

    def __init__(self, statements: PlainMembers) -> None:
        self.statements = statements
        # The numbers of members with listed names come first.
        self.members = [*zip(statements.names, statements.values, strict=True), *statements.others]

    @cached_property
    def states(self) -> PlainStates:
        """The states."""
        listed = [number for number in self.possible() if number < len(self.statements.names)]
        return in_order(len(self.statements.names), len(self.members), listed, sorted(self.statements.order))
