"""Named: what a formula says of listed names, put together by name.

    Named(number)     a conjunction of statements about listed names, each about one alone; what it says is in `Table`
    Table             what each `Named` says of each name: the value it must have, and whether it is required
    prepared(F)       F with `Named` in place of such statements

An object with 500 properties is described by a thousand statements, of which each member concerns two. A formula in
which one `Named` stands for all of them is small, and the derivative by a member looks up what it needs. A name is
written once at most, so what was asked of a member that has been read is settled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from constraints.json_schema.formula import (
    FALSE,
    TRUE,
    Always,
    And,
    Formula,
    Members,
    Not,
    Or,
    Size,
    StringIn,
    conjunction,
    negation,
)
from constraints.json_schema.restriction import Restriction


class Named(Formula):
    """What `Table` says under this number."""

    __slots__ = ()

    def __init__(self, number: int) -> None:
        super().__init__(number)

    @property
    def number(self) -> int:
        number: int = self._fields[0]
        return number


class Asked(NamedTuple):
    """What is asked of the member with a name: all that its value must satisfy, if it is there, and whether it must be.

    The parts are kept as they stand in the schema, since it is of these that outcomes are made."""

    values: tuple[Formula, ...]
    required: bool


_Single = tuple[str, Formula, bool]


class Table:
    """What each `Named` says.

    Attributes:
        asked: by number, and then by name.
    """

    def __init__(self, restriction: Restriction) -> None:
        self.restriction = restriction
        self.asked: list[dict[str, Asked]] = []
        self.numbers: dict[frozenset[tuple[str, Asked]], Named] = {}

    def prepared(self, formula: Formula) -> Formula:
        """The formula with `Named`, with names as formulas about strings alone, and without what is always true."""
        if isinstance(formula, And):
            return self._joined(formula)
        if isinstance(formula, Or):
            return negation(self._joined(And(*map(negation, formula.parts))))
        if isinstance(formula, Not):
            return negation(self.prepared(formula.part))
        if isinstance(formula, Members):
            if isinstance(formula.names, StringIn):
                return self._named(_singles(formula))
            names = self.restriction.string(formula.names)
            return TRUE if names == FALSE or formula.value == TRUE else Members(names, formula.value)
        return sized(formula.low, formula.high) if isinstance(formula, Size) else formula

    def _joined(self, formula: And) -> Formula:
        """A conjunction: all its statements about single names as one."""
        singles: list[_Single] = []
        rest = []
        for part in formula.parts:
            found = _singles(part)
            if found:
                singles += found
            else:
                rest.append(self.prepared(part))
        return conjunction([self._named(singles), *rest]) if singles else conjunction(rest)

    def _named(self, singles: Iterable[_Single]) -> Formula:
        """The one statement for several about single names."""
        values: dict[str, dict[Formula, None]] = {}
        required = set()
        for name, value, is_required in singles:
            own = values.setdefault(name, {})
            if type(value) is not Always:
                own[value] = None
            if is_required:
                required.add(name)
        asked = {name: Asked(tuple(own), name in required) for name, own in values.items() if own or name in required}
        if not asked:
            return TRUE
        if any(FALSE in asked[name].values for name in required):
            return FALSE
        key = frozenset(asked.items())
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = Named(len(self.asked))
            self.asked.append(asked)
        return found


def _singles(formula: Formula) -> list[_Single]:
    """What a statement says of listed names, one by one, if it says nothing else."""
    if isinstance(formula, Members):
        if isinstance(formula.names, StringIn):
            return [(name, formula.value, False) for name in formula.names.texts]
    elif isinstance(formula, Not):
        part = formula.part
        if isinstance(part, Members) and isinstance(part.names, StringIn) and len(part.names.texts) == 1:
            return [(name, negation(part.value), True) for name in part.names.texts]
    return []


def sized(low: int, high: int | None) -> Formula:
    """`Size`, or whether it is true, where that is known."""
    if high is not None and high < max(low, 0):
        return FALSE
    return TRUE if low <= 0 and high is None else Size(max(low, 0), high)
