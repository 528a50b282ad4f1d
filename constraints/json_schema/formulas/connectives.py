"""Formulas: statements about one JSON value, and their boolean combinations.

    Formula
    ├── Always, Never       TRUE and FALSE
    ├── Not, And, Or        made, and simplified, by `negation`, `conjunction` and `disjunction`
    └── statements          `formulas.statements`

A JSON Schema is a formula: `allOf`, `anyOf`, `oneOf`, `not`, `if` and `dependentSchemas` are conjunctions, disjunctions
and negations of what their schemas are. Formulas are immutable and compare by structure; their hashes are computed
once. The order of parts is kept, since it is the order of the schema's properties. Formulas that have been found to be
equal share their fields, so that comparing them again takes no time.

Formulas are directed acyclic graphs of any depth: equal parts are shared, as by both alternatives of a `oneOf`. So the
functions on them keep a work stack and look at each combination once:

    statements(F)       the statements in a formula
    truth(F, f)         the formula's truth, from the truth of its statements
    Substitution(f)     the formula with every statement replaced
    fold                a value of any type, from those of the statements
    rebuilt             the formula with each of its parts replaced
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

from automata.limits import spend
from constraints.recursion import Task

_T = TypeVar("_T")


class Formula:
    """A statement about one JSON value.

    Attributes:
        fields: what it is made of, in order.
        nests: whether there may be formulas of any depth among the fields.
    """

    __slots__ = ("_hash", "fields")
    fields: tuple[Any, ...]
    nests: ClassVar[bool] = False
    _hash: int

    def __init__(self, *fields: Any) -> None:
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "_hash", hash((type(self).__name__, fields)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        assert isinstance(other, Formula)
        if self._hash != other._hash:
            return False
        if self.fields is other.fields:
            return True
        return _equal(self, other) if self.nests else self.fields == other.fields

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.fields))})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.fields


def _equal(one: Formula, other: Formula) -> bool:
    """Return whether two formulas of one type have equal fields; each pair of formulas in them is compared once.

    Those of equal formulas are shared from then on, so that comparing them again takes no time."""
    waiting, seen = [(one, other)], {(id(one), id(other)): (one, other)}
    while waiting:
        one, other = waiting.pop()
        if len(one.fields) != len(other.fields):
            return False
        for mine, theirs in zip(one.fields, other.fields, strict=True):
            if mine is theirs:
                continue
            if not isinstance(mine, Formula):
                if mine != theirs:
                    return False
            elif type(mine) is not type(theirs) or mine._hash != theirs._hash:
                return False
            elif mine.fields is not theirs.fields and (id(mine), id(theirs)) not in seen:
                seen[id(mine), id(theirs)] = mine, theirs
                waiting.append((mine, theirs))
    for one, other in seen.values():
        object.__setattr__(other, "fields", one.fields)
    return True


def field(index: int) -> Any:
    """Return the property that is one of a formula's fields."""
    return property(lambda formula: formula.fields[index])


class Always(Formula):
    """True of every value; use `TRUE`."""

    __slots__ = ()


class Never(Formula):
    """True of no value; use `FALSE`."""

    __slots__ = ()


TRUE: Final = Always()
FALSE: Final = Never()


class Not(Formula):
    """The part is not true; use `negation`."""

    __slots__ = ()
    nests = True
    part: Formula = field(0)


class And(Formula):
    """All parts are true, of which there are at least two; use `conjunction`."""

    __slots__ = ()
    nests = True

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The parts."""
        return self.fields


class Or(Formula):
    """Some part is true, of which there are at least two; use `disjunction`."""

    __slots__ = ()
    nests = True

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The parts."""
        return self.fields


_CONNECTIVES: Final = frozenset((And, Or, Not))


def negation(part: Formula) -> Formula:
    """Return the formula that holds where `part` does not."""
    kind = type(part)
    if kind is Not:
        inner: Formula = part.fields[0]
        return inner
    if kind is Always:
        return FALSE
    return TRUE if kind is Never else Not(part)


def conjunction(parts: Iterable[Formula]) -> Formula:
    """Return a conjunction: flattened, without repetitions, and FALSE if it has a part and its negation."""
    return _joined(parts, And, Always, FALSE)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """Return a disjunction: flattened, without repetitions, and TRUE if it has a part and its negation."""
    return _joined(parts, Or, Never, TRUE)


def _joined(
    parts: Iterable[Formula], kind: type[And] | type[Or], neutral: type[Formula], absorbing: Formula
) -> Formula:
    found = [part for part in parts if type(part) is not neutral]
    if len(found) == 1:
        return found[0]
    kept: dict[Formula, None] = {}
    negated: set[Formula] = set()
    absorbs = type(absorbing)
    count = 4
    for part in found:
        inners = part.fields if type(part) is kind else (part,)
        count += len(inners)
        for inner in inners:
            own = type(inner)
            if own is absorbs or (negated and inner in negated):
                return absorbing
            if own is Not:
                if inner.fields[0] in kept:
                    return absorbing
                negated.add(inner.fields[0])
            kept[inner] = None
    spend(4 * count)
    if len(kept) == 1:
        return kept.popitem()[0]
    if kept:
        return kind(*kept)
    return TRUE if kind is And else FALSE


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """Return the parts of a conjunction, or the formula itself as the only part."""
    return formula.fields if type(formula) is And else (formula,)


def statements(formula: Formula) -> Iterator[Formula]:
    """Yield the statements of a formula from left to right, TRUE and FALSE included."""
    waiting = [formula]
    # By identity; they are kept, since equal formulas may come to share their parts meanwhile.
    seen: dict[int, Formula] = {}
    while waiting:
        part = waiting.pop()
        if type(part) not in _CONNECTIVES:
            yield part
        elif id(part) not in seen:
            seen[id(part)] = part
            waiting.extend(part.fields[::-1])


def signed_statements(formula: Formula) -> Iterator[tuple[Formula, bool]]:
    """Yield the statements of a formula from left to right, each with whether it stands under a negation."""
    waiting, seen = [(formula, False)], set()
    while waiting:
        signed = waiting.pop()
        part, denied = signed
        if type(part) not in _CONNECTIVES:
            yield signed
        elif signed not in seen:
            seen.add(signed)
            waiting.extend([(inner, denied != (type(part) is Not)) for inner in part.fields[::-1]])


def truth(formula: Formula, statement: Callable[[Formula], bool]) -> bool:
    """Return the truth of a formula.

    Args:
        formula: the formula.
        statement: gives the truth of each statement that is neither TRUE nor FALSE.
    """
    kind = type(formula)
    if kind is And and _CONNECTIVES.isdisjoint(map(type, formula.fields)):
        return all(map(statement, formula.fields))
    if kind in _CONNECTIVES:
        return fold(formula, lambda part: truth(part, statement), _truth, {})
    return kind is Always or (kind is not Never and statement(formula))


def _truth(formula: Formula, values: list[bool]) -> bool:
    kind = type(formula)
    if kind is Not:
        return not values[0]
    return all(values) if kind is And else any(values)


# The values of connectives, by identity; the connectives are kept so that no other object takes their place.
Values: TypeAlias = dict[int, tuple[Formula, _T]]


class Substitution:
    """Replaces the statements of formulas; a combination that occurs often is looked at once."""

    __slots__ = ("_done", "_statement")

    def __init__(self, statement: Callable[[Formula], Formula]) -> None:
        """Make the substitution that replaces each statement by what `statement` returns for it."""
        self._statement = statement
        self._done: Values[Formula] = {}

    def __call__(self, formula: Formula) -> Formula:
        """Return a formula with its statements replaced."""
        return fold(formula, self._statement, _replaced, self._done)

    @property
    def work(self) -> int:
        """How many parts of connectives have been looked at."""
        return sum([len(formula.fields) for formula, _ in self._done.values()])

    def all(self, formulas: Iterable[Formula]) -> tuple[Formula, ...]:
        """Return several formulas with their statements replaced."""
        return tuple([self(formula) for formula in formulas])


def _replaced(formula: Formula, parts: list[Formula]) -> Formula:
    # Most combinations have none of the statements that change, and stay the same object.
    if all(map(operator.is_, parts, formula.fields)):
        return formula
    kind = type(formula)
    if kind is Not:
        return negation(parts[0])
    return conjunction(parts) if kind is And else disjunction(parts)


def fold(
    formula: Formula,
    statement: Callable[[Formula], _T],
    combine: Callable[[Formula, list[_T]], _T],
    done: Values[_T],
) -> _T:
    """Return the value of a formula, from those of its parts.

    Args:
        formula: the formula.
        statement: gives the value of each statement.
        combine: gives the value of each connective from those of its parts.
        done: the values of connectives that are known; new ones are added.
    """
    if type(formula) not in _CONNECTIVES:
        return statement(formula)
    known = done.get(id(formula))
    if known is not None:
        return known[1]
    # The connectives that are under way: the values of their parts so far, and the parts to come.
    around: list[tuple[Formula, list[_T], Iterator[Formula]]] = []
    values: list[_T] = []
    rest = iter(formula.fields)
    while True:
        for part in rest:
            if type(part) not in _CONNECTIVES:
                values.append(statement(part))
            elif (known := done.get(id(part))) is not None:
                values.append(known[1])
            else:
                around.append((formula, values, rest))
                formula, values, rest = part, [], iter(part.fields)
                break
        else:
            value = combine(formula, values)
            done[id(formula)] = formula, value
            if not around:
                return value
            formula, values, rest = around.pop()
            values.append(value)


def rebuilt(formula: Formula, part: Callable[[Formula], Task[Formula]]) -> Task[Formula]:
    """Make a formula of the same type anew, with each formula among its fields replaced."""
    fields = list(formula.fields)
    for place, field in enumerate(fields):
        if isinstance(field, Formula):
            fields[place] = yield part(field)
    return type(formula)(*fields)
