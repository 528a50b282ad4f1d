"""Orders: the order in which the listed names of an object are written.

    tracks(vector)       one order for all formulas, or several if parts of the schema disagree
    names_in(vector)     only the names

An object's members come in the order in which its schema lists them: those of `properties`, then those that are named
only elsewhere, as in `required`; names that the schema does not list come last. If variants list different names, all
lists are merged into one order that agrees with each of them and, if possible, with that of the names that all of
them list, as in `properties`; those of the parts of a conjunction, as of `allOf`, may be interleaved for it. If there
is none (one variant lists x before y, another y before x), each variant has an order of its own, in which the names
that only others list come after its own. Names that are listed only under `if` or `not` come where the schema first
lists them, as far as the other lists allow it. A name that an `if` with a `then` tests comes where the `if` stands,
even if `properties` stands after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import prod

from constraints.json_schema.containers.automaton import Vector
from constraints.json_schema.formulas.connectives import (
    And,
    Formula,
    Never,
    Not,
    Or,
    conjunction,
    disjunction,
    statements,
)
from constraints.json_schema.formulas.statements import Members, StringIn
from constraints.recursion import Task, run

# If a conjunction has more variants than this, each with a list of its own, their lists are concatenated.
_MAX_VARIANTS = 256

# A list of names, and the part of a formula that it belongs to.
_Variant = tuple[tuple[str, ...], Formula]


class Track:
    """An order of all listed names, and the formulas that are read in it, one for each formula of the vector.

    Attributes:
        names: the names, in order.
        place: the place of each name in the order.
        vector: the formulas.
    """

    def __init__(self, names: tuple[str, ...], vector: Vector) -> None:
        self.names = names
        self.place = {name: place for place, name in enumerate(names)}
        self.vector = vector


def tracks(vector: Vector) -> list[Track]:
    """Return the orders of the names that the formulas list."""
    known: dict[Formula, list[_Variant]] = {}
    variants = [run(_variants(formula, known)) for formula in vector]
    listed = dict.fromkeys(name for found in variants for names, _ in found for name in names)
    others = [name for name in names_in(vector) if name not in listed]
    lists = list(dict.fromkeys(names for found in variants for names, _ in found if names))
    order = lists[0] if len(lists) == 1 else _merged(lists, listed)
    if order is not None and others:
        first = _by_first_list(vector, listed)
        order = _merged([*lists, *((name,) for name in first if name not in listed)], first)
    if order is not None:
        others = [name for name in others if name not in order]
        return [Track((*order, *others), vector)]
    groups: list[list[tuple[str, ...]]] = []
    for names in lists:
        for group in groups:
            if _merged([*group, names], listed) is not None:
                group.append(names)
                break
        else:
            groups.append([names])
    found_tracks = []
    for group in groups:
        own = _merged(group, listed) or ()
        rest = [name for name in (*listed, *others) if name not in own]
        # Variants that list nothing belong to the first group.
        meant = {*group, ()} if group is groups[0] else set(group)
        parts = tuple(disjunction(part for names, part in found if names in meant) for found in variants)
        found_tracks.append(Track((*own, *rest), parts))
    return found_tracks


def _by_first_list(vector: Vector, listed: Iterable[str]) -> dict[str, None]:
    """Return the names of members that some formula constrains, negated or not, in the order in which they are first
    listed; a required name is a negated one that no value may have."""
    members = (part for formula in vector for part in statements(formula) if isinstance(part, Members))
    constrained = (
        part.names.texts for part in members if type(part.names) is StringIn and type(part.value) is not Never
    )
    return dict.fromkeys((*(name for texts in constrained for name in sorted(texts)), *listed))


def names_in(vector: Vector) -> tuple[str, ...]:
    """Return the names that the formulas mention: first those of listed members, then those that occur only in formulas
    about other names, as in `additionalProperties`."""
    return tuple(dict.fromkeys(name for formula in vector for name in _mentioned(formula)))


def _variants(formula: Formula, known: dict[Formula, list[_Variant]]) -> Task[list[_Variant]]:
    """List the parts of a disjunction, each with the names that it lists in `properties` and the like. Each formula is
    visited once."""
    if formula not in known:
        if isinstance(formula, Or):
            known[formula] = yield from _of_any(formula, known)
        elif isinstance(formula, And):
            known[formula] = yield from _of_all(formula, known)
        else:
            known[formula] = [(_listed(formula), formula)]
    return known[formula]


def _of_any(formula: Or, known: dict[Formula, list[_Variant]]) -> Task[list[_Variant]]:
    found = []
    for part in formula.parts:
        found += yield _variants(part, known)
    return found if any(names for names, _ in found) else [((), formula)]


def _listed(formula: Formula) -> tuple[str, ...]:
    """Return the names that a statement lists. A member that no value may have is one that `required` denies."""
    if isinstance(formula, Members) and isinstance(formula.names, StringIn) and type(formula.value) is not Never:
        return tuple(sorted(formula.names.texts))
    return ()


def _of_all(formula: And, known: dict[Formula, list[_Variant]]) -> Task[list[_Variant]]:
    """List the variants of a conjunction: one of each part."""
    choices: list[list[_Variant]] = []
    for part in _tested_first(formula.parts):
        is_compound = isinstance(part, Or | And)
        choices.append((yield _variants(part, known)) if is_compound else [(_listed(part), part)])
    count = prod(map(len, choices))
    names = dict.fromkeys(name for choice in choices for names, _ in choice for name in names)
    if count == 1:
        return [(tuple(names), formula)]
    if count > _MAX_VARIANTS:
        return [(_of_parts(choices, names) or tuple(names), formula)]
    rows = [
        (tuple(dict.fromkeys(name for names, _ in chosen for name in names)), conjunction(part for _, part in chosen))
        for chosen in _product(choices)
    ]
    is_one_choice = sum(len(choice) > 1 for choice in choices) == 1
    if not _anticipates(choices) and (is_one_choice or _merged([row for row, _ in rows], names) is not None):
        return rows
    place = {name: place for place, name in enumerate(_of_parts(choices, names) or ())}
    return [(tuple(sorted(row, key=place.__getitem__)) if place else row, part) for row, part in rows]


def _anticipates(choices: Iterable[list[_Variant]]) -> bool:
    """Return whether alternatives list a name that a part after them, without alternatives, lists as well."""
    early = set[str]()
    for choice in choices:
        if len(choice) > 1:
            early.update(name for names, _ in choice for name in names)
        elif not early.isdisjoint(choice[0][0]):
            return True
    return False


def _of_parts(choices: Sequence[list[_Variant]], names: dict[str, None]) -> tuple[str, ...] | None:
    """Return an order of names that agrees with the lists of all parts of a conjunction, or None. Parts without
    alternatives, such as the members of `properties`, are one list if the others allow it."""
    lists = [listed for choice in choices for listed, _ in choice if listed]
    alone = tuple(dict.fromkeys(name for choice in choices if len(choice) == 1 for name in choice[0][0]))
    order = _merged([alone, *lists], names)
    return order if order is not None else _merged(lists, names)


def _tested_first(parts: Sequence[Formula]) -> Sequence[Formula]:
    """Return the parts of a conjunction; listed names that an earlier part tests, as `if` does, come before that part.

    Otherwise whatever depends on the name would have to be remembered until the name is read.
    """
    alternatives = [part.parts if isinstance(part, Or) else (part,) for part in parts]
    # `then` is an alternative to what `if` denies, and `else` to the same as it stands.
    tests = {each.part for found in alternatives if len(found) > 1 for each in found if isinstance(each, Not)}
    places: dict[str, int] = {}
    for place, found in enumerate(alternatives):
        for each in found:
            test = each.part if isinstance(each, Not) else each
            for name in _tested(test) if test in tests else ():
                places.setdefault(name, place)
    if not places:
        return parts
    rank = {place: (place, 1) for place in range(len(parts))}
    for place, part in enumerate(parts):
        first = min((places.get(name, place) for name in _listed(part)), default=place)
        if first < place:
            rank[place] = (first, 0)
    return [parts[place] for place in sorted(rank, key=rank.__getitem__)]


def _tested(test: Formula) -> Iterator[str]:
    """Yield the names of members whose values a formula constrains."""
    for part in statements(test):
        if isinstance(part, Members) and type(part.value) is not Never:
            yield from _listed(part)


def _product(choices: list[list[_Variant]]) -> Iterator[list[_Variant]]:
    """Yield every selection of one variant of each choice."""
    rows: list[list[_Variant]] = [[]]
    for choice in choices:
        if len(choice) == 1:
            for row in rows:
                row.append(choice[0])
        else:
            rows = [[*row, variant] for row in rows for variant in choice]
    return iter(rows)


def _mentioned(formula: Formula) -> Iterator[str]:
    """Yield all names in a formula, those of listed members first."""
    members = [part.names for part in statements(formula) if isinstance(part, Members)]
    for names in sorted(members, key=lambda names: not isinstance(names, StringIn)):
        for texts in texts_in(names):
            yield from sorted(texts)


def texts_in(formula: Formula) -> Iterator[frozenset[str]]:
    """Yield the lists of names in a formula about names."""
    return (part.texts for part in statements(formula) if isinstance(part, StringIn))


def _merged(lists: Iterable[tuple[str, ...]], listed: dict[str, None]) -> tuple[str, ...] | None:
    """Return an order that agrees with all lists, or None. Of several names that could be next, the first listed is."""
    rank = {name: place for place, name in enumerate(listed)}
    after: dict[str, set[str]] = {}
    for names in lists:
        for name in names:
            after.setdefault(name, set())
        for name, following in pairwise(names):
            after[name].add(following)
    before = dict.fromkeys(after, 0)
    for following_names in after.values():
        for name in following_names:
            before[name] += 1
    ready = [(rank[name], name) for name, count in before.items() if not count]
    heapify(ready)
    order = []
    while ready:
        _, name = heappop(ready)
        order.append(name)
        for following in after[name]:
            before[following] -= 1
            if not before[following]:
                heappush(ready, (rank[following], following))
    return tuple(order) if len(order) == len(after) else None
