"""What arrays and objects have in common as they are read: states, moves and ends."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from constraints.json_schema.formula import Always, And, Formula, Never, Not, Or, conjunction, disjunction, negation

State: TypeAlias = Hashable
Vector: TypeAlias = tuple[Formula, ...]


class Outcome(NamedTuple):
    """The values that satisfy a formula lead to a state."""

    value: Formula
    state: State


class Move(NamedTuple):
    """One more item or member.

    Attributes:
        name: None for an item; the name of a member; or a formula about strings that says which names are meant.
        outcomes: where which values lead; no value satisfies two of the formulas.
    """

    name: str | Formula | None
    outcomes: Sequence[Outcome]


class Level(Protocol):
    """An array or object that is read for a vector of formulas."""

    start: State

    def moves(self, state: State) -> Sequence[Move]:
        """What may come next; no two moves have a name in common."""

    def skips(self, state: State) -> Sequence[State]:
        """States whose moves may be made here as well."""

    def end(self, state: State) -> int:
        """Which formula of the vector holds if nothing more comes; -1 if none does."""


def holding(satisfied: Sequence[bool]) -> int:
    """The place of the true one, or -1. There may be two where no text leads, since what contradicts itself is not
    always seen to."""
    return satisfied.index(True) if True in satisfied else -1


class Evaluation(ABC):
    """Whether a formula holds at the end, from what its statements say there."""

    @abstractmethod
    def statement(self, formula: Formula) -> bool:
        """Whether a statement that is no combination holds."""

    def __call__(self, formula: Formula) -> bool:
        """Whether the formula holds."""
        match formula:
            case And():
                return all(map(self, formula.parts))
            case Or():
                return any(map(self, formula.parts))
            case Not():
                return not self(formula.part)
            case Always():
                return True
            case Never():
                return False
        return self.statement(formula)


class Change:
    """Formulas with their statements changed, each combination once, however often it occurs in a vector."""

    __slots__ = ("done", "statement")

    def __init__(self, statement: Callable[[Formula], Formula]) -> None:
        self.statement = statement
        self.done: dict[Formula, Formula] = {}

    def all(self, vector: Vector) -> Vector:
        """The changed vector."""
        return tuple([self(formula) for formula in vector])

    def __call__(self, formula: Formula) -> Formula:
        kind = type(formula)
        if kind is not And and kind is not Or and kind is not Not:
            return self.statement(formula)
        found = self.done.get(formula)
        if found is None:
            before = formula._fields
            parts = [self(part) for part in before]
            # Most combinations have none of the statements that change, and stay the same object.
            is_same = all(map(operator.is_, parts, before))
            found = self.done[formula] = formula if is_same else _combined(kind, parts)
        return found


def _combined(kind: type[Formula], parts: list[Formula]) -> Formula:
    if kind is Not:
        return negation(parts[0])
    return conjunction(parts) if kind is And else disjunction(parts)
