"""Outlines: a quick upper bound on the values of a formula, which shows which formulas exclude each other.

    Outline                  the possible kinds of values, and the possible numbers and strings if they are listed
    Outlines(F)              the outline of a formula
    Outlines.exclude(F, G)   whether no value satisfies both formulas, as far as outlines show

An outline may allow more than its formula, never less; so a formula with an empty outline has no values. It covers
features by which schemas distinguish variants: kinds, constants and enumerations. `Outlines.exclude` also compares the
members of objects, one of which is often a constant that serves as a tag.

`oneOf` is "this one and none of the others". Most schemas that use it mean a tagged union, in which the others cannot
hold anyway; then the plain disjunction is equivalent, and compiles to a far smaller automaton (`Outlines.compatible`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, TypeAlias

from automata.errors import LimitExceeded, PatternError
from constraints.json_schema.formulas.connectives import Formula, Never, Not, conjunction, parts_of
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Members, NumberIn, Pattern, StringIn, required_name
from constraints.json_schema.numbers import number_matches
from constraints.json_schema.strings import string_is_empty, string_matches

# The most pairs of formulas whose patterns for strings are compared.
_MAX_COMPARED: Final = 4_000
# With at most this many strings left, each is compared.
_FEW_STRINGS: Final = 16
# The most pairs of formulas that may hold for the same value (`Outlines.compatible`).
MAX_OVERLAPS: Final = 50_000
# The most objects within each other whose members are compared, and the most members, which takes a second.
_DEPTH: Final = 4
_MAX_MEMBERS: Final = 250_000


@dataclass(frozen=True, slots=True)
class Several:
    """Some values of a kind: these, or all but these."""

    values: frozenset[Hashable]
    excluded: bool

    def meet(self, other: Several) -> Several:
        """Return the values in both."""
        if self.excluded and other.excluded:
            return Several(self.values | other.values, True)
        if self.excluded:
            return Several(other.values - self.values, False)
        return Several(self.values - other.values if other.excluded else self.values & other.values, False)


_NOTHING, _ANYTHING = Several(frozenset(), False), Several(frozenset(), True)

# The values and kinds other than numbers and strings, as bits.
_NULL, _TRUE, _FALSE, _ARRAY, _OBJECT = 1, 2, 4, 8, 16


@dataclass(frozen=True, slots=True)
class Outline:
    """The values that may satisfy a formula.

    Attributes:
        others: null, true, false, any array and any object, as bits.
        numbers, strings: the numbers and the strings.
    """

    others: int
    numbers: Several
    strings: Several

    @property
    def is_empty(self) -> bool:
        """Whether there are no values."""
        return not self.others and self.numbers == _NOTHING and self.strings == _NOTHING

    @property
    def listed(self) -> frozenset[Hashable] | None:
        """The values, if all are listed."""
        if self.others & (_ARRAY | _OBJECT) or self.numbers.excluded or self.strings.excluded:
            return None
        words = [(word,) for word in (_NULL, _TRUE, _FALSE) if self.others & word]
        return self.strings.values.union(self.numbers.values, words)

    def meet(self, other: Outline) -> Outline:
        """Return the values in both."""
        return Outline(self.others & other.others, self.numbers.meet(other.numbers), self.strings.meet(other.strings))


_ALL: Final = Outline(_NULL | _TRUE | _FALSE | _ARRAY | _OBJECT, _ANYTHING, _ANYTHING)
_OBJECTS: Final = Outline(_OBJECT, _NOTHING, _NOTHING)


@dataclass(slots=True, eq=False)
class _Tags:
    """What a conjunction says about an object's members.

    Attributes:
        required: the names of required members.
        values: by name, what the value of the member must satisfy.
        allowed: the only names that members may have; None if they may have any.
    """

    required: set[str] = field(default_factory=set)
    values: dict[str, list[Formula]] = field(default_factory=dict)
    allowed: frozenset[str] | None = None


Matches: TypeAlias = Callable[[Formula, Any], bool]


class Outlines:
    """Finds the outlines of formulas, and keeps them."""

    def __init__(self, restriction: Restriction) -> None:
        self.restriction = restriction
        self._outlines: dict[Formula, Outline] = {}
        self._tags: dict[Formula, _Tags] = {}
        self._excluded: dict[tuple[Formula, Formula], bool] = {}
        self._num_members = 0

    def __call__(self, formula: Formula) -> Outline:
        """Return the outline of a formula; all values while it refers to a definition that is still being read."""
        found = self._outlines.get(formula)
        if found is None:
            try:
                found = self._outlines[formula] = self._outline(formula)
            except KeyError:
                return _ALL
        return found

    def _outline(self, formula: Formula) -> Outline:
        to = self.restriction
        others = _NULL * to.null(formula)
        others |= sum(_TRUE if value else _FALSE for value in to.booleans(formula))
        others |= _ARRAY * (type(to.array(formula)) is not Never) | _OBJECT * (type(to.object(formula)) is not Never)
        return Outline(
            others,
            _several(to.number(formula), NumberIn, number_matches),
            _several(to.string(formula), StringIn, string_matches),
        )

    def exclude(self, one: Formula, other: Formula, depth: int = _DEPTH) -> bool:
        """Return whether no value can satisfy both formulas; if False, some value may."""
        found = self(one).meet(self(other))
        if found.others not in (0, _OBJECT) or found.numbers != _NOTHING:
            return False
        if found.strings != _NOTHING and not self._strings_exclude(one, other, found.strings):
            return False
        if not found.others:
            return True
        tags = self._tags_of(one), self._tags_of(other)
        names = tags[0].required | tags[1].required
        self._num_members += len(names)
        return self._num_members <= _MAX_MEMBERS and any(self._cannot_have(name, *tags, depth) for name in names)

    def _strings_exclude(self, one: Formula, other: Formula, strings: Several) -> bool:
        """Return whether none of some strings satisfies both formulas; False after too many pairs of formulas."""
        known = self._excluded.get((one, other))
        if known is None:
            known = len(self._excluded) < _MAX_COMPARED and self._no_string(one, other, strings)
            self._excluded[one, other] = known
        return known

    def _no_string(self, one: Formula, other: Formula, strings: Several) -> bool:
        try:
            formulas = [self.restriction.string(formula) for formula in (one, other)]
            if strings.excluded:
                patterns = [_patterns(formula) for formula in formulas]
                return all(patterns) and string_is_empty(conjunction([*patterns[0], *patterns[1]]))
            values: frozenset[Any] = strings.values
            return len(values) <= _FEW_STRINGS and not any(string_matches(conjunction(formulas), v) for v in values)
        except (KeyError, PatternError):
            return False
        except LimitExceeded as error:
            if error.limit == "seconds":
                raise
            return False

    def compatible(self, parts: Sequence[Formula]) -> list[list[int]]:
        """List, for each formula, the indices of the others that may hold for the same value; stop after more than
        `MAX_OVERLAPS` pairs."""
        if _are_apart([self(part) for part in parts]) or self._have_tags(parts):
            return [[] for _ in parts]  # no need to compare pairs, of which there may be many
        found: list[list[int]] = [[] for _ in parts]
        overlaps = 0
        for i, part in enumerate(parts):
            others = [j for j in range(i) if not self.exclude(part, parts[j])]
            found[i] = others
            for j in others:
                found[j].append(i)
            overlaps += len(others)
            if overlaps > MAX_OVERLAPS:
                break
        return found

    def _have_tags(self, parts: Sequence[Formula]) -> bool:
        """Return whether all formulas are about objects, and require a member with listed values, none of which another
        formula allows."""
        if not all(self(part) == _OBJECTS for part in parts):
            return False
        tags = [self._tags_of(part) for part in parts]
        names = frozenset[str].intersection(*(frozenset(each.required) for each in tags)) if tags else ()
        return any(_are_apart([self._all(each.values.get(name, ())) for each in tags]) for name in names)

    def _all(self, formulas: Sequence[Formula]) -> Outline:
        """Return the outline of a conjunction."""
        return reduce(Outline.meet, map(self, formulas), _ALL)

    def _cannot_have(self, name: str, one: _Tags, other: _Tags, depth: int) -> bool:
        """Return whether no object with a member of this name satisfies both formulas, as far as their tags show."""
        for tags in (one, other):
            if tags.allowed is not None and name not in tags.allowed:
                return True
        if depth == 0:
            return False
        pairs = ((a, b) for a in one.values.get(name, ()) for b in other.values.get(name, ()))
        return any(self.exclude(a, b, depth - 1) for a, b in pairs)

    def _tags_of(self, formula: Formula) -> _Tags:
        found = self._tags.get(formula)
        if found is None:
            try:
                found = self._tags[formula] = _tags(self.restriction.object(formula))
            except KeyError:
                return _Tags()
        return found


def _patterns(formula: Formula) -> list[Formula]:
    """Return the patterns that a formula about strings asks for."""
    return [part for part in parts_of(formula) if isinstance(part, Pattern)]


def _are_apart(outlines: Sequence[Outline]) -> bool:
    """Return whether all values are listed, and none of them is in two outlines."""
    values = [each.listed for each in outlines]
    known = [found for found in values if found is not None]
    return len(known) == len(values) and sum(map(len, known)) == len(frozenset().union(*known))


def _tags(formula: Formula) -> _Tags:
    """Read the tags off a formula about objects."""
    found = _Tags()
    for part in parts_of(formula):
        if (name := required_name(part)) is not None:
            found.required.add(name)
        elif isinstance(part, Members):
            names = part.names
            if isinstance(names, StringIn):
                for name in names.texts:
                    found.values.setdefault(name, []).append(part.value)
            elif isinstance(part.value, Never) and isinstance(names, Not) and isinstance(names.part, StringIn):
                listed = names.part.texts
                found.allowed = listed if found.allowed is None else found.allowed & listed
    return found


def _several(formula: Formula, listing: type[NumberIn] | type[StringIn], matches: Matches) -> Several:
    """Return the numbers or strings that a formula about them may allow."""
    if type(formula) is Never:
        return _NOTHING
    listed = _listed(formula, listing)
    if listed is not None:
        return Several(frozenset(value for value in listed if matches(formula, value)), False)
    if isinstance(formula, Not) and (excluded := _listed(formula.part, listing)) is not None:
        return Several(frozenset(value for value in excluded if matches(formula.part, value)), True)
    return _ANYTHING


def _listed(formula: Formula, listing: type[NumberIn] | type[StringIn]) -> frozenset[Hashable] | None:
    """Return the smallest list of values in a conjunction about numbers or strings; None if there is no list."""
    lists: list[frozenset[Hashable]] = [part.fields[0] for part in parts_of(formula) if isinstance(part, listing)]
    return min(lists, key=len, default=None)
