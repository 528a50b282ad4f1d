"""ContainerAutomaton: the states of an array or object as it is read, its moves and its ends.

ContainerAutomaton      any container automaton
AllStates               its states in one table of the native core, with the meaning of the names and values there
ByMoves                 an automaton whose states are found move by move
Plain                   an automaton whose items or members are the same in all states
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from automata.limits import spend
from constraints._native import ContainerStates, PlainStates
from constraints.json_schema.formulas.connectives import Formula, Never

State: TypeAlias = Hashable
Vector: TypeAlias = tuple[Formula, ...]


class Outcome(NamedTuple):
    """The state that the values satisfying a formula lead to."""

    value: Formula
    state: State


class Move(NamedTuple):
    """One more item or member.

    Attributes:
        name: None for an item; the name of a member; or a formula about strings that its name satisfies.
        outcomes: the states, and the values that lead to each; no value satisfies two of the formulas.
    """

    name: str | Formula | None
    outcomes: Sequence[Outcome]


class AllStates(NamedTuple):
    """All states of a container, whose start is state 0.

    Attributes:
        states: the states.
        names: the names, by their numbers in `states`.
        values: the formulas of values, by their numbers in `states`.
    """

    states: ContainerStates
    names: Sequence[str | Formula | None]
    values: Sequence[Formula]


class ContainerAutomaton(Protocol):
    """An array or object, read for a vector of formulas."""

    start: State

    def moves(self, state: State) -> Sequence[Move]:
        """Return what may come next; no two moves share a name."""

    def skips(self, state: State) -> Sequence[State]:
        """Return the states whose moves may be made here as well."""

    def end(self, state: State) -> int:
        """Return the index of the formula that holds if nothing follows; -1 if none does."""


class ByMoves(ContainerAutomaton):
    """An array or object whose states are found move by move."""

    def skips(self, state: State) -> Sequence[State]:
        """Return the states whose moves may be made here as well: none, unless names are left out by skipping them."""
        return ()

    def all_states(self, count: Callable[[int], None]) -> AllStates:
        """Return all states.

        Args:
            count: is called with the number of states as they are found; a state to which a move leads counts twice. It
                may raise an error if there are too many.
        """
        return _Exploration(self, count).run()


class _Exploration:
    """Finds the states of an automaton, and numbers states, names and values."""

    def __init__(self, automaton: ByMoves, count: Callable[[int], None]) -> None:
        self.automaton, self.count = automaton, count
        self.numbers: dict[State, int] = {}
        self.found: list[State] = []
        self.moved_to: set[int] = set()
        self.names: dict[str | Formula | None, int] = {}
        self.values: dict[Formula, int] = {}

    def run(self) -> AllStates:
        states = ContainerStates()
        self.number(self.automaton.start)
        for state in self.found:
            spend(200)
            moves = [
                (self.names.setdefault(name, len(self.names)), ways)
                for name, outcomes in self.automaton.moves(state)
                if (ways := self.ways(outcomes))
            ]
            states.add(
                moves, [self.number(skipped) for skipped in self.automaton.skips(state)], self.automaton.end(state)
            )
        return AllStates(states, list(self.names), list(self.values))

    def ways(self, outcomes: Sequence[Outcome]) -> list[tuple[int, int]]:
        """Return the outcomes whose value is not FALSE, as numbers."""
        found = []
        for value, target in outcomes:
            if type(value) is not Never:
                number = self.number(target)
                if number not in self.moved_to:
                    self.moved_to.add(number)
                    self.count(1)
                found.append((self.values.setdefault(value, len(self.values)), number))
        return found

    def number(self, state: State) -> int:
        number = self.numbers.get(state)
        if number is None:
            number = self.numbers[state] = len(self.found)
            self.found.append(state)
            self.count(1)
        return number


class Plain(ABC):
    """An array or object that is read for one formula, and whose items or members do not depend on the state.

    Attributes:
        members: the items or members by number, each as the name of a `Move` and its value.
        states: what may come next in each state, and where the end may be; state 0 is the start.
    """

    start: State = 0
    members: Sequence[tuple[str | Formula | None, Formula]]

    @property
    @abstractmethod
    def states(self) -> PlainStates:
        """The states."""

    def possible(self) -> list[int]:
        """Return the numbers of the items or members whose value is not FALSE."""
        return [number for number, (_, value) in enumerate(self.members) if type(value) is not Never]

    def moves(self, state: State) -> Sequence[Move]:
        """Return what may come next; no two moves share a name."""
        assert isinstance(state, int)
        return [
            Move(self.members[number][0], (Outcome(self.members[number][1], target),))
            for number, target in self.states.following(state)
        ]

    def skips(self, state: State) -> Sequence[State]:
        """Return the states whose moves may be made here as well."""
        assert isinstance(state, int)
        return self.states.skips(state)

    def end(self, state: State) -> int:
        """Return 0 if the container may end here, and -1 if not."""
        assert isinstance(state, int)
        return 0 if self.states.is_end(state) else -1


def holding(satisfied: Sequence[bool]) -> int:
    """Return the index of the first formula that is satisfied, or -1. Several may be satisfied in a state to which no
    text leads, since not every contradiction is detected."""
    return satisfied.index(True) if True in satisfied else -1
