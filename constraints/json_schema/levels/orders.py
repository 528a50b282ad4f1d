"""Orders: in which order the listed names of an object come.

    tracks(vector)           one order for all, or several where parts of the schema disagree, with what each is for
    AnyOrder                 what any order may take

An object's members come in the order in which its schema lists them: as in `properties`, and then those that are named
elsewhere only, as in `required`; names that the schema does not list come last. Where variants list different names,
all lists are merged to one order that is in line with each. Where that cannot be (one variant lists x before y, and
another y before x) each variant has an order of its own, in which the names that only others list come behind its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Final, NamedTuple

from automata.errors import LimitExceeded
from constraints.json_schema.formula import (
    And,
    Formula,
    Members,
    Not,
    Or,
    StringIn,
    conjunction,
    disjunction,
)
from constraints.json_schema.levels.level import Vector

# Beyond so many variants of one formula, with their own lists each, all lists are put in a row.
_MAX_VARIANTS = 256

# A list of names, and the part of a formula that it belongs to.
_Variant = tuple[tuple[str, ...], Formula]


class AnyOrder(NamedTuple):
    """What any order may take.

    Attributes:
        once: of so many names each comes once at most; of more, those that must be remembered. None: of all.
        moves: how many there are at most from all states, of which there is one for each set of remembered names.
    """

    once: int | None
    moves: int

    def remembered(self, count: int, needed: int) -> int:
        """Which of `count` names are remembered, as bits, if at least the `needed` ones must be.

        Raises:
            LimitExceeded: there are too many sets of them.
        """
        found = (1 << count) - 1 if self.once is None or count <= self.once else needed
        if count << found.bit_count() > self.moves:
            reason = f"an object with {count} listed names has too many orders for property_order='any', which"
            raise LimitExceeded(f"{reason} takes {MAX_NAMES} at most; 'any-if-cheap' takes what is cheap")
        return found


# What any order takes at all: ten names of small objects are 17,000 states, which 128,000 tokens make 0.4 GB in half a
# second; eleven are twice the states, and four times that.
MAX_NAMES: Final = 10
ANY: Final = AnyOrder(None, MAX_NAMES << MAX_NAMES)
# What is cheap. Of more names those may come again that need not be remembered.
CHEAP: Final = AnyOrder(2, 400)


class Track:
    """An order of all listed names, and the formulas that are read in it, one for each of the vector.

    Attributes:
        names: in order.
        place: of each name in the order.
        vector: the formulas.
    """

    def __init__(self, names: tuple[str, ...], vector: Vector) -> None:
        self.names = names
        self.place = {name: place for place, name in enumerate(names)}
        self.vector = vector


def tracks(vector: Vector) -> list[Track]:
    """The orders of the names that the formulas list."""
    variants = [_variants(formula) for formula in vector]
    listed = dict.fromkeys(name for found in variants for names, _ in found for name in names)
    others = dict.fromkeys(name for formula in vector for name in _mentioned(formula) if name not in listed)
    lists = list(dict.fromkeys(names for found in variants for names, _ in found if names))
    order = lists[0] if len(lists) == 1 else _merged(lists, listed)
    if order is not None:
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
        # Variants that list nothing are in the first group.
        meant = {*group, ()} if group is groups[0] else set(group)
        parts = tuple(disjunction(part for names, part in found if names in meant) for found in variants)
        found_tracks.append(Track((*own, *rest), parts))
    return found_tracks


def _variants(formula: Formula) -> list[_Variant]:
    """The parts of a disjunction, each with the names that it lists in `properties` and the like."""
    if isinstance(formula, Members) and isinstance(formula.names, StringIn):
        return [(tuple(sorted(formula.names.texts)), formula)]
    if isinstance(formula, Or):
        found = [variant for part in formula.parts for variant in _variants(part)]
        return found if any(names for names, _ in found) else [((), formula)]
    if isinstance(formula, And):
        return _of_all(formula)
    return [((), formula)]


def _of_all(formula: And) -> list[_Variant]:
    """The variants of a conjunction: one of each part."""
    own: dict[str, None] = {}
    choices: list[list[_Variant]] = []
    for part in formula.parts:
        if isinstance(part, Members) and isinstance(part.names, StringIn):
            choices.append([(tuple(sorted(part.names.texts)), part)])
            own.update(dict.fromkeys(choices[-1][0][0]))
        elif isinstance(part, Or | And):
            choices.append(_variants(part))
        else:
            choices.append([((), part)])
    count = 1
    for choice in choices:
        count *= len(choice)
    if count == 1:
        return [(tuple(dict.fromkeys(name for choice in choices for name in choice[0][0])), formula)]
    if count > _MAX_VARIANTS:
        names = (name for choice in choices for names, _ in choice for name in names)
        return [(tuple(dict.fromkeys(names)), formula)]
    return [
        (tuple(dict.fromkeys(name for names, _ in chosen for name in names)), conjunction(part for _, part in chosen))
        for chosen in _product(choices)
    ]


def _product(choices: list[list[_Variant]]) -> Iterator[list[_Variant]]:
    """One of each, without a frame for each of the many that leave no choice."""
    rows: list[list[_Variant]] = [[]]
    for choice in choices:
        if len(choice) == 1:
            for row in rows:
                row.append(choice[0])
        else:
            rows = [[*row, variant] for row in rows for variant in choice]
    return iter(rows)


def _mentioned(formula: Formula) -> Iterator[str]:
    """All names that stand in the formula: those that are required first, then those that are left out."""
    for part in _statements(formula):
        if isinstance(part.names, StringIn):
            yield from sorted(part.names.texts)
    for part in _statements(formula):
        if not isinstance(part.names, StringIn):
            for text in texts_in(part.names):
                yield from sorted(text)


def _statements(formula: Formula) -> Iterator[Members]:
    if isinstance(formula, Members):
        yield formula
    elif isinstance(formula, And | Or | Not):
        for part in formula._fields:
            yield from _statements(part)


def texts_in(formula: Formula) -> Iterator[frozenset[str]]:
    """The lists of names in a formula about names."""
    if isinstance(formula, StringIn):
        yield formula.texts
    elif isinstance(formula, And | Or | Not):
        for part in formula._fields:
            yield from texts_in(part)


def _merged(lists: Iterable[tuple[str, ...]], listed: dict[str, None]) -> tuple[str, ...] | None:
    """An order that is in line with all lists; among those that could be next, the one listed first comes first."""
    rank = {name: place for place, name in enumerate(listed)}
    behind: dict[str, set[str]] = {}
    for names in lists:
        for name in names:
            behind.setdefault(name, set())
        for name, following in pairwise(names):
            behind[name].add(following)
    before = dict.fromkeys(behind, 0)
    for following_names in behind.values():
        for name in following_names:
            before[name] += 1
    ready = [(rank[name], name) for name, count in before.items() if not count]
    heapify(ready)
    order = []
    while ready:
        _, name = heappop(ready)
        order.append(name)
        for following in behind[name]:
            before[following] -= 1
            if not before[following]:
                heappush(ready, (rank[following], following))
    return tuple(order) if len(order) == len(behind) else None
