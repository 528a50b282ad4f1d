from collections.abc import (
    Callable,
    Iterable,
    Mapping,
    Sequence,
    Set
)
from typing import Any

import automata._native
import numpy
import numpy.typing
from numpy.typing import NDArray


class Formula:
    """A statement about one JSON value."""

    def __init__(self, *fields: Any) -> None: ...

    @property
    def fields(self) -> tuple[Any, ...]:
        """The fields of the formula, in order."""

    @property
    def nbytes(self) -> int:
        """The approximate memory of the formula, in bytes."""

def set_connectives(always: type[Formula], never: type[Formula], negation: type[Formula], conjunction: type[Formula], disjunction: type[Formula]) -> tuple[Formula, Formula]:
    """
    Set the types of the constants and the connectives, and return TRUE and FALSE. Called once.
    """

def field(place: int) -> Any:
    """Return a descriptor for the field of a formula at a position."""

def negation(part: Formula, /) -> Formula:
    """Return the negation of a formula."""

def conjunction(parts: Iterable[Formula], /) -> Formula:
    """
    Return a conjunction: flattened, without repetitions, and FALSE if it contains a formula and its negation.
    """

def disjunction(parts: Iterable[Formula], /) -> Formula:
    """
    Return a disjunction: flattened, without repetitions, and TRUE if it contains a formula and its negation.
    """

def parts_of(formula: Formula, /) -> tuple[Formula, ...]:
    """
    Return the parts of a conjunction; any other formula is its own only part.
    """

def statements(formula: Formula, /) -> list[Formula]:
    """
    Return the statements of a formula from left to right, TRUE and FALSE included.
    """

def signed_statements(formula: Formula, /) -> list[tuple[Formula, bool]]:
    """
    Return the statements of a formula from left to right, each with whether it stands under an odd number of negations.
    """

def fold(formula: Formula, statement: Callable[[Formula], Any], combine: Callable[[Formula, list[Any]], Any], /) -> Any:
    """
    Return the value of a formula. `statement` returns the value of each statement, and `combine` that of each connective, given the values of its parts.
    """

class Substitution:
    """
    Replaces the statements of formulas. A connective that occurs several times is processed once.
    """

    def __init__(self, statement: dict[Formula, Formula] | Callable[[Formula], Formula], /) -> None:
        """
        Replace each statement by what a function returns for it, or by its value in a dict if it has one.
        """

    def __call__(self, formula: Formula, /) -> Formula:
        """Return a formula with its statements replaced."""

    def all(self, formulas: Iterable[Formula], /) -> tuple[Formula, ...]:
        """Return several formulas with their statements replaced."""

    @property
    def work(self) -> int:
        """The number of parts of the connectives processed so far."""

class ToKind:
    """The restriction of formulas to values of one kind. Results are cached."""

    def __init__(self, kind: Any, about: frozenset[type[Formula]], of_kind: type[Formula], reference: type[Formula], definitions: Mapping[Any, Formula], circular: Callable[[Any], None]) -> None:
        """
        Restrict to `kind`. `about` has the types of statements about values of this kind. `circular` is called with the key of a reference that leads back to itself, and raises.
        """

    def __call__(self, formula: Formula, /) -> Formula:
        """Return the restriction of a formula to values of the kind."""

class PlainStates:
    """
    The states of an array or object whose items or members are the same in all states.
    """

    @property
    def num_states(self) -> int: ...

    def following(self, state: int, /) -> list[tuple[int, int]]:
        """
        Return the numbers of the items or members that may come next, and the state after each.
        """

    def skips(self, state: int, /) -> list[int]:
        """Return the other states whose moves may be made in a state."""

    def is_end(self, state: int, /) -> bool:
        """Return whether the array or object may end in a state."""

def in_order(num_listed: int, num_members: int, possible: Sequence[int], required: Sequence[int]) -> PlainStates:
    """
    Return the states of an object whose names come in the order in which they are listed.
    """

def items_in_order(possible: Sequence[bool], low: int, high: int | None, last: int) -> PlainStates:
    """
    Return the states of an array. `possible` says for each place whether there can be an item.
    """

def plain_rule(states: PlainStates, member: Callable[[int], tuple[tuple[Any, ...], list[Any], list[tuple[Any, int]]]], call: type, opened: Any, empty: Any, comma: Any, close: Any) -> tuple[int, int, list[tuple[int, Any, int]], list[tuple[int, int]], list[Any], list[tuple[int, int]]]:
    """
    Return the rule that reads a plain array or object: how many of its states stand for a state of the container, the number of all its states, the arcs, the epsilon arcs, the calls and the ends.
    """

class ContainerStates:
    """
    The states of an array or object as it is read. Names and values are given by number.
    """

    def __init__(self) -> None:
        """Make an empty table."""

    @property
    def num_states(self) -> int: ...

    @property
    def num_outcomes(self) -> int: ...

    def add(self, moves: Sequence[tuple[int, Sequence[tuple[int, int]]]], skips: Sequence[int], exit: int) -> None:
        """
        Add the next state: its moves, each with the number of a name and the outcomes; the other states whose moves may be made there; and the exit in which the array or object may end there, or -1.
        """

    def moves(self, state: int, /) -> list[tuple[int, list[tuple[int, int]]]]:
        """
        Return the moves of a state, each with the number of a name and the outcomes.
        """

    def skips(self, state: int, /) -> list[int]:
        """Return the other states whose moves may be made in a state."""

    def exit(self, state: int, /) -> int:
        """Return the exit of a state, or -1 if there is none."""

MAX_LISTED: int = 2048

def states_in_any_order(source: Any, start: int, num_names: int, returning: int, most: int) -> tuple[ContainerStates, bool]:
    """
    Return the states of an object with variants whose names come in any order, and whether these are all of its states and have at most `most` outcomes.
    """

def container_rule(states: ContainerStates, names: Callable[[int], tuple[Any, ...]], value: Callable[[list[int]], tuple[list[tuple[Any, int]], list[tuple[Any, int, tuple[int, ...]]]]], unreadable: Set[int], call: type, opened: Any, empty: Any, comma: Any, close: Any) -> tuple[int, list[tuple[int, Any, int]], list[tuple[int, int]], list[Any], list[tuple[int, int]]]:
    """
    Return the rule that reads an array or object: the number of its states, the arcs, the epsilon arcs, the calls and the ends.
    """

def spelled(content: automata._native.ByteTables, usual: bool, budget: automata._native.Budget) -> automata._native.ByteTables:
    """
    Return the spellings, in quotes, of the strings that an automaton over UTF-8 accepts.
    """

def listed_spellings(codes: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int32], every: automata._native.ByteTables, besides: bool, budget: automata._native.Budget) -> automata._native.ByteTables:
    """
    Return the spellings of the strings of an ascending list or, with `besides`, of all other strings.
    """

def between_characters(language: automata._native.ByteTables, every: automata._native.ByteTables, budget: automata._native.Budget) -> NDArray[numpy.bool_]:
    """
    Return whether each state of an automaton over spellings is between two characters.
    """

class KleeneFormula:
    """
    A formula in Kleene's logic, as a list of steps. Each method that adds a step returns its number.
    """

    def __init__(self) -> None: ...

    def constant(self, value: bool) -> int:
        """Add a constant."""

    def place(self, cut: int, places: int) -> int:
        """
        Add the statement that the place at a cut is in a set of places, given as bits.
        """

    def integer(self) -> int:
        """Add the statement that the number is an integer."""

    def plain(self) -> int:
        """
        Add the statement that the number is written without fraction and exponent.
        """

    def multiple(self, step: int) -> int:
        """Add the statement that the number is a multiple of a step."""

    def negation(self, part: int) -> int:
        """Add the negation of an earlier step."""

    def every(self, parts: Sequence[int]) -> int:
        """Add the conjunction of earlier steps."""

    def some(self, parts: Sequence[int]) -> int:
        """Add the disjunction of earlier steps."""

    def __call__(self, known: tuple[tuple[int, ...], bool | None, bool | None, tuple[bool | None, ...]]) -> bool | None:
        """
        Return the truth of the last step, or None if it is unknown. `known` has the possible places at each cut, as bits; whether the number is an integer; whether it is plain; and whether it is a multiple of each step.
        """
