"""ContainerAutomaton: the states of an array or object as it is read, its moves and its ends.

ContainerAutomaton      any of them
Plain                   one whose items or members are the same in all states
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from constraints._native import PlainStates
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


class ContainerAutomaton(Protocol):
    """An array or object, read for a vector of formulas."""

    start: State

    def moves(self, state: State) -> Sequence[Move]:
        """Return what may come next; no two moves share a name."""

    def skips(self, state: State) -> Sequence[State]:
        """Return the states whose moves may be made here as well."""

    def end(self, state: State) -> int:
        """Return the place of the formula that holds if nothing more comes; -1 if none does."""


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
        """Return the numbers of the items or members that can be there."""
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
        """Return 0 if nothing more need come, and -1 if something must."""
        assert isinstance(state, int)
        return 0 if self.states.is_end(state) else -1


def holding(satisfied: Sequence[bool]) -> int:
    """Return the place of the first true one, or -1. There may be several in a state that no text leads to, since not
    every contradiction is detected."""
    return satisfied.index(True) if True in satisfied else -1
