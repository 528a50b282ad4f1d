"""Objects with variants whose members come in any order, with all states made in advance.

    AllOrders             the automaton
    VectorDerivatives     the derivatives of vectors by members, as numbers, which the native core asks for

The native core makes the states (`native/constraints/containers/any_order.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeVar

from automata.errors import LimitExceeded
from constraints._native import MAX_LISTED, states_in_any_order
from constraints.json_schema.containers.automaton import (
    AllStates,
    ByMoves,
    Move,
    Outcome,
    State,
    Vector,
    holding,
)
from constraints.json_schema.containers.members import AnyOrderMembers, MemberDerivatives
from constraints.json_schema.formulas.connectives import Formula, Never

# The most names and ways to continue with property_order="any", and the most vectors.
MAX_NAMES = 10
_MAX_VECTORS, _MAX_WAYS = 30_000, 1_000_000
# The most names that a message shows.
_MAX_SHOWN = 3

_T = TypeVar("_T")


class AllOrders(ByMoves):
    """Listed names in any order. A state is the vector of what is still required, and the names that may still occur.

    The names that are remembered occur once at most. The others may be repeated: whichever of two members with the same
    name a parser keeps, the object satisfies the schema. Unless all names are remembered, a name may also be repeated
    once the vector no longer depends on whether it has occurred, for example because the variant of the object is
    known: what is still required is then the same for each member with this name.
    """

    start: State = 0

    def __init__(self, given: AnyOrderMembers) -> None:
        """Make the automaton."""
        members = self.members = given.members
        self.num_names = len(members.bit)
        forgets = given.remembered != members.all
        self.derivatives = VectorDerivatives(members, None if forgets else given.remembered)
        self._first = self.derivatives.number(given.vector)
        once, _ = members.remembered(given.vector)
        # Names that may be repeated once it no longer matters whether they have occurred.
        self._returning = members.all & ~once if forgets else 0
        self._made: AllStates | None = None

    def counted(self, most: int) -> tuple[int, bool]:
        """Count the ways to continue from all states. Return the number, and whether the count is complete: it stops if
        there are, or are going to be, more than `most`, or if it takes too much work."""
        if self.num_names > MAX_LISTED:
            return 0, False
        try:
            states, is_all = states_in_any_order(self.derivatives, self._first, self.num_names, self._returning, most)
        except LimitExceeded as error:
            if error.limit:
                raise
            return 0, False
        if is_all:
            self._made = AllStates(states, self.derivatives.names, self.derivatives.values)
        return states.num_outcomes, is_all

    def all_states(self, count: Callable[[int], None]) -> AllStates:
        """Return all states; see `ByMoves.all_states`.

        Raises:
            LimitExceeded: there are too many.
        """
        if self._made is None and self.num_names > MAX_NAMES:
            first = ", ".join(map(repr, islice(self.members.bit, _MAX_SHOWN)))
            raise LimitExceeded(
                f"an object with {self.num_names} listed names ({first}, ...) that are counted, or of which variants "
                f"contradict each other, has too many orders for property_order='any', which takes {MAX_NAMES} of "
                "these at most; 'any-if-cheap' takes what is cheap"
            )
        if self._made is None and not self.counted(_MAX_WAYS)[1]:
            most = f"{_MAX_VECTORS:,} states, or {_MAX_WAYS:,} ways to continue"
            raise LimitExceeded(f"an object in any order has more than {most}")
        assert self._made is not None
        count(2 * self._made.states.num_states)
        return self._made

    def moves(self, state: State) -> Sequence[Move]:
        """Return the names that may still occur, and then other names."""
        states, names, values = self.all_states(_uncounted)
        assert isinstance(state, int)
        return [
            Move(names[name], [Outcome(values[value], target) for value, target in outcomes])
            for name, outcomes in states.moves(state)
        ]

    def end(self, state: State) -> int:
        """Return the index of the formula that holds for an object that ends here; -1 if none does."""
        assert isinstance(state, int)
        return self.all_states(_uncounted).states.exit(state)


def _uncounted(_: int) -> None:
    """Do not count states."""


class VectorDerivatives:
    """The derivatives of vectors, with numbers in place of vectors, names and values.

    Attributes:
        names: the listed names, and formulas about others.
        values: the formulas of values.
    """

    def __init__(self, members: MemberDerivatives, matter: int | None) -> None:
        """Make the derivatives.

        Args:
            members: the derivatives of the object's formulas.
            matter: the names for which it matters whether they have occurred, as bits; None if each vector has its own.
        """
        self.members = members
        self.expansion = members.expansion
        self.matter = matter
        self.names: list[str | Formula | None] = list(members.bit)
        self.values: list[Formula] = []
        self.vectors: list[Vector] = []
        self._numbers: dict[Vector, int] = {}
        self._number_of_names: dict[Formula, int] = {}
        self._number_of_value: dict[Formula, int] = {}

    def number(self, vector: Vector) -> int:
        """Return the number of a vector.

        Raises:
            LimitExceeded: there are too many.
        """
        if len(self.vectors) > _MAX_VECTORS:
            raise LimitExceeded(f"more than {_MAX_VECTORS:,} vectors")
        return _number(self._numbers, self.vectors, vector)

    def described(self, number: int) -> tuple[list[int], list[int], int, list[tuple[int, list[tuple[int, int]]]]]:
        """Describe a vector. Return, with names as bits: for each `Named` in it, the names that it is about; for each,
        the names that it requires; the names for which it matters whether they have occurred. Last, return the numbers
        of the formulas about unlisted names, each with the ways to continue after such a name."""
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
        """Return the values that a member with a listed name may have, each with the vector after it, as numbers."""
        listed = self.names[name]
        assert isinstance(listed, str)
        return self._ways(self.expansion(self.members.read(self.vectors[number], listed, remaining)))

    def exit(self, number: int, remaining: int) -> int:
        """Return the index of the formula that holds for an object that ends here; -1 if none does."""
        return holding(self.members.holding(self.vectors[number], remaining))

    def _ways(self, found: Sequence[tuple[Formula, Vector]]) -> list[tuple[int, int]]:
        return [
            (_number(self._number_of_value, self.values, value), self.number(residual))
            for value, residual in found
            if type(value) is not Never
        ]


def _number(numbers: dict[_T, int], listed: list[Any], each: _T) -> int:
    """Return the number of an element of a list; a new one is added."""
    found = numbers.get(each)
    if found is None:
        found = numbers[each] = len(listed)
        listed.append(each)
    return found
