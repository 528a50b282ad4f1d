"""What arrays and objects have in common as they are read: states, moves and ends."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from constraints.json_schema.formula import Always, And, Formula, Never, Not, Or

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

    def skip(self, state: State) -> State | None:
        """A state whose moves may be made here as well, or None."""

    def end(self, state: State) -> int:
        """Which formula of the vector holds if nothing more comes; -1 if none does."""


def truth(formula: Formula) -> bool | None:
    """Whether the formula is written as true or as false; None if it is neither."""
    if isinstance(formula, Always):
        return True
    return False if isinstance(formula, Never) else None


def holding(satisfied: Sequence[bool]) -> int:
    """The place of the true one, or -1. There may be two where no text leads, since what contradicts itself is not
    always seen to."""
    return satisfied.index(True) if True in satisfied else -1


class Evaluation:
    """Whether a formula holds at the end, from what its statements say there."""

    def statement(self, formula: Formula) -> bool:
        """Whether a statement that is no combination holds."""
        raise NotImplementedError

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
