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
        """What it is made of, in order."""

    @property
    def nbytes(self) -> int:
        """The memory of the formula in bytes, about."""

def set_connectives(always: type[Formula], never: type[Formula], negation: type[Formula], conjunction: type[Formula], disjunction: type[Formula]) -> tuple[Formula, Formula]:
    """
    Say which types the connectives have; called once. Return TRUE and FALSE.
    """

def field(place: int) -> Any:
    """Return the attribute that is one of a formula's fields."""

def negation(part: Formula, /) -> Formula:
    """Return the formula that holds where `part` does not."""

def conjunction(parts: Iterable[Formula], /) -> Formula:
    """
    Return a conjunction: flattened, without repetitions, and FALSE if it has a part and its negation.
    """

def disjunction(parts: Iterable[Formula], /) -> Formula:
    """
    Return a disjunction: flattened, without repetitions, and TRUE if it has a part and its negation.
    """

def parts_of(formula: Formula, /) -> tuple[Formula, ...]:
    """
    Return the parts of a conjunction, or the formula itself as the only part.
    """

def statements(formula: Formula, /) -> list[Formula]:
    """
    Return the statements of a formula from left to right, TRUE and FALSE included.
    """

def signed_statements(formula: Formula, /) -> list[tuple[Formula, bool]]:
    """
    Return the statements of a formula from left to right, each with whether it stands under a negation.
    """

def fold(formula: Formula, statement: Callable[[Formula], Any], combine: Callable[[Formula, list[Any]], Any], /) -> Any:
    """
    Return the value of a formula: `statement` gives that of each statement, and `combine` that of each connective from those of its parts.
    """

class Substitution:
    """
    Replaces the statements of formulas; a combination that occurs often is looked at once.
    """

    def __init__(self, statement: dict[Formula, Formula] | Callable[[Formula], Formula], /) -> None:
        """
        Make the substitution that replaces each statement by what a function returns for it, or a dict has.
        """

    def __call__(self, formula: Formula, /) -> Formula:
        """Return a formula with its statements replaced."""

    def all(self, formulas: Iterable[Formula], /) -> tuple[Formula, ...]:
        """Return several formulas with their statements replaced."""

    @property
    def work(self) -> int:
        """How many parts of connectives have been looked at."""

class ToKind:
    """What formulas say of values of one kind; results are kept."""

    def __init__(self, kind: Any, about: frozenset[type[Formula]], of_kind: type[Formula], reference: type[Formula], definitions: Mapping[Any, Formula], circular: Callable[[Any], None]) -> None:
        """
        Restrict to a kind, which statements of the types `about` are about. `circular` is called with the key of a reference that leads back to itself, and raises.
        """

    def __call__(self, formula: Formula, /) -> Formula:
        """Return what a formula says of values of the kind."""

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
        """Return the states whose moves may be made in a state as well."""

    def is_end(self, state: int, /) -> bool:
        """Return whether the array or object may end."""

def in_order(num_listed: int, num_members: int, possible: Sequence[int], required: Sequence[int]) -> PlainStates:
    """
    Return the states of an object whose names come in the order in which they are listed.
    """

def items_in_order(possible: Sequence[bool], low: int, high: int | None, last: int) -> PlainStates:
    """
    Return the states of an array, of which it is said by place whether there can be an item.
    """

def plain_rule(states: PlainStates, member: Callable[[int], tuple[tuple[Any, ...], list[Any], list[tuple[Any, int]]]], call: type, opened: Any, empty: Any, comma: Any, close: Any) -> tuple[int, int, list[tuple[int, Any, int]], list[tuple[int, int]], list[Any], list[tuple[int, int]]]:
    """
    Return the rule that reads a plain array or object: the number of states that stand for one of its own, that of all states, the arcs, the epsilon arcs, the calls and the ends.
    """

class ContainerStates:
    """
    The states of an array or object as it is read, whose names and values are numbers.
    """

    def __init__(self) -> None:
        """Make an empty table."""

    @property
    def num_states(self) -> int: ...

    @property
    def num_outcomes(self) -> int: ...

    def add(self, moves: Sequence[tuple[int, Sequence[tuple[int, int]]]], skips: Sequence[int], exit: int) -> None:
        """
        Add the next state: its moves, each as the number of a name and the outcomes, the states whose moves may be made as well, and the exit in which the array or object ends there, -1 if it must continue.
        """

    def moves(self, state: int, /) -> list[tuple[int, list[tuple[int, int]]]]:
        """
        Return the moves of a state, each as the number of a name and the outcomes.
        """

    def skips(self, state: int, /) -> list[int]:
        """Return the states whose moves may be made in a state as well."""

    def exit(self, state: int, /) -> int:
        """Return the exit of a state, -1 if there is none."""

MOST_LISTED: int = 2048

def states_in_any_order(source: Any, start: int, num_names: int, returning: int, most: int) -> tuple[ContainerStates, bool]:
    """
    Return the states of an object with variants whose names come in any order; and whether they are all, and have no more outcomes than `most`.
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
    Return the spellings of strings in ascending order, or of all other strings.
    """

def between_characters(language: automata._native.ByteTables, every: automata._native.ByteTables, budget: automata._native.Budget) -> NDArray[numpy.bool_]:
    """
    Return whether each state of an automaton over spellings is between two characters.
    """

class KleeneFormula:
    """
    A formula in Kleene's logic, as steps; each method that adds one returns its number.
    """

    def __init__(self) -> None: ...

    def constant(self, value: bool) -> int:
        """Add a constant."""

    def place(self, cut: int, places: int) -> int:
        """Add whether the place at a cut is one of some, as bits."""

    def integer(self) -> int:
        """Add whether the number is an integer."""

    def plain(self) -> int:
        """Add whether it is written without fraction and exponent."""

    def multiple(self, step: int) -> int:
        """Add whether it is a multiple of a step."""

    def negation(self, part: int) -> int:
        """Add the negation of a step."""

    def every(self, parts: Sequence[int]) -> int:
        """Add the conjunction of some steps."""

    def some(self, parts: Sequence[int]) -> int:
        """Add the disjunction of some steps."""

    def __call__(self, known: tuple[tuple[int, ...], bool | None, bool | None, tuple[bool | None, ...]]) -> bool | None:
        """
        Return the truth of the last step, None if it is not known. `known` has the places at the cuts, whether the number is an integer and plain, and whether it is a multiple of each step.
        """
