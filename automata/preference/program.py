"""An expression laid out as an ordered NFA, and the moves that are tried at one position of a text.

    Read      a character of some classes
    Fork      several moves, in the order in which they are tried
    Check     an assertion
    Again     a loop at the end of an iteration, or before its first one: another iteration, or what follows the loop
    End       the end of a match
    Program   the NFA
    Threads   what is tried at one position: the characters that may be read, in order, and whether a match ends

Bounded loops are written out. As in Python's `re`, an optional iteration that reads nothing is the last one. Only
iterations that began at the current position (`began`) matter for this, so they are stored only while moves that read
nothing are followed.
"""

from __future__ import annotations

from typing import NamedTuple

from automata.assertions.skeleton import Guard, Skeleton
from automata.errors import ExpressionError
from automata.expressions import (
    Alternation,
    CharSet,
    Concatenation,
    Expr,
    Literal,
    Lookahead,
    Lookbehind,
    Repetition,
)
from automata.preference.nodes import Choice, Loop


class Read(NamedTuple):
    classes: tuple[int, ...]
    following: int


class Fork(NamedTuple):
    branches: tuple[int, ...]


class Check(NamedTuple):
    guard: Guard
    following: int


class Again(NamedTuple):
    """The loop's number, its body (None if there are no more iterations), the move after the loop, and whether that
    move is tried first."""

    loop: int
    body: int | None
    following: int
    lazy: bool


class End(NamedTuple):
    pass


class Threads(NamedTuple):
    """Reading moves in the order of preference, and whether a match ends after them. Moves after the end are left out,
    because they are less preferred."""

    reading: list[Read]
    ends: bool


_Move = Read | Fork | Check | Again | End
_NONE: frozenset[int] = frozenset()


class Program:
    """The moves of an expression, by number.

    Attributes:
        moves: the moves.
        start: where a match begins.
    """

    def __init__(self, expr: Expr, skeleton: Skeleton) -> None:
        """Lay an expression out; its assertions become those of the skeleton.

        Raises:
            ExpressionError: a part has no order.
            LimitExceeded: there are too many moves.
            RecursionError: the expression is nested too deeply.
        """
        self.skeleton = skeleton
        self.moves: list[_Move] = []
        self.num_loops = 0
        self.start = self.laid(expr, self.add(End()))

    def add(self, move: _Move) -> int:
        self.skeleton.budget.check(len(self.moves))
        self.moves.append(move)
        return len(self.moves) - 1

    def laid(self, expr: Expr, following: int) -> int:
        """Lay an expression before a move; return its first move."""
        match expr:
            case Concatenation(parts):
                for part in reversed(parts):
                    following = self.laid(part, following)
                return following
            case Choice(parts) | Alternation(parts):
                return self.add(Fork(tuple([self.laid(part, following) for part in parts])))
            case Loop(inner, low, high, lazy):
                return self.loop(inner, low, high, lazy, following)
            case Repetition(inner, low, high):
                return self.loop(inner, low, high, False, following)
            case Literal(value):
                for code in reversed([*map(ord, value.decode())]):
                    following = self.add(Read(self.skeleton.alphabet.classes(((code, code),)), following))
                return following
            case CharSet(ranges):
                return self.add(Read(self.skeleton.alphabet.classes(ranges), following))
            case Lookahead(inner, negated) | Lookbehind(inner, negated):
                number = self.skeleton.assertion(inner, isinstance(expr, Lookbehind))
                return self.add(Check(Guard(number, negated), following))
            case _:
                raise ExpressionError("an operation on languages has no order in which it is tried")

    def loop(self, inner: Expr, low: int, high: int | None, lazy: bool, following: int) -> int:
        number = self.num_loops
        self.num_loops += 1
        first = self.add(Again(number, None, following, lazy))
        if high is None:
            self.moves[first] = Again(number, self.laid(inner, first), following, lazy)
        for _ in range(0 if high is None else high - low):
            first = self.add(Again(number, self.laid(inner, first), following, lazy))
        for _ in range(low):
            first = self.laid(inner, first)
        return first

    def threads(self, entered: tuple[int, ...], known: dict[int, bool]) -> Threads | int:
        """Return what is tried when moves are entered; or the number of an unknown assertion on which that depends.

        Args:
            entered: the moves, preferred ones first.
            known: whether assertions hold at this place, by number.
        """
        reading: dict[int, Read] = {}
        seen: set[tuple[int, frozenset[int]]] = set()
        stack = [(number, _NONE) for number in reversed(entered)]
        while stack:
            place = number, began = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            match self.moves[number]:
                case Read() as move:
                    reading.setdefault(number, move)
                case Fork(branches):
                    stack += [(branch, began) for branch in reversed(branches)]
                case Check(guard, following):
                    if guard.assertion not in known:
                        return guard.assertion
                    if known[guard.assertion] != guard.negated:
                        stack.append((following, began))
                case Again() as move:
                    stack += _tried(move, began)
                case End():
                    return Threads([*reading.values()], True)
        return Threads([*reading.values()], False)


def _tried(move: Again, began: frozenset[int]) -> list[tuple[int, frozenset[int]]]:
    """Return the moves with which a loop continues; the one that is tried first is last, as on a stack."""
    left = move.following, began - {move.loop}
    if move.body is None or move.loop in began:
        return [left]
    entered = move.body, began | {move.loop}
    return [entered, left] if move.lazy else [left, entered]
