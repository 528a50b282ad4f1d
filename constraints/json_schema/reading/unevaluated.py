"""`unevaluatedProperties` and `unevaluatedItems`, exactly: a conjunction over what may have been evaluated.

For each set P of conditional pieces: what no piece outside of P covers, and no unconditional one, is as the keyword
says, or one of the conditions of P holds. If a member is covered by the pieces Q, then Q's clause is what it needs: it
is as the keyword says, or some piece that covers it counts. The clauses of larger sets follow from these, so that no
clause says too much, and classes need not be made disjoint.

Names that are listed fall apart by their conditions first; only conditional patterns (and schemas of `contains`) double
the number of clauses. Rejected: a disjunction over which conditions hold; its size is exponential in the
conditions, of which `anyOf` has one for each part.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final, TypeAlias

from automata.errors import UnsupportedSchema
from constraints.json_schema.formula import (
    TRUE,
    Formula,
    ItemAt,
    ItemsFrom,
    Members,
    StringIn,
    conjunction,
    disjunction,
    negation,
)
from constraints.json_schema.reading.evaluated import ALL_ITEMS, Evaluated, evaluated_items, evaluated_names
from constraints.json_schema.reading.site import Reading, Site

MAX_CLAUSES: Final = 1024

# What covers something: the conditions of the pieces that do, of which one must hold.
_Cover: TypeAlias = dict[Formula, None]


def unevaluated_properties(reading: Reading, site: Site, value: Any) -> Formula:
    rest = reading.below(site, value, "unevaluatedProperties")
    pieces = evaluated_names(reading, site)
    everywhere = {condition: None for condition, piece in pieces if piece == TRUE}
    if TRUE in everywhere:
        return TRUE
    names: dict[str, _Cover] = {}
    other: dict[Formula, _Cover] = {}
    for condition, piece in pieces:
        if isinstance(piece, StringIn):
            for name in sorted(piece.texts):
                names.setdefault(name, {})[condition] = None
        elif isinstance(piece, Formula) and piece != TRUE:
            other.setdefault(piece, {})[condition] = None
    always = [piece for piece, cover in other.items() if TRUE in cover]
    doubtful = {piece: cover for piece, cover in other.items() if TRUE not in cover}
    groups = _grouped(names)
    _check(site, "unevaluatedProperties", (len(groups) + 1) << len(doubtful))
    classes = [(StringIn(frozenset(group)), cover) for cover, group in groups.items()]
    classes.append((negation(StringIn(frozenset(names))) if names else TRUE, ()))
    clauses = []
    for covered, covers in _subsets(doubtful):
        outside = [negation(piece) for piece in (*always, *(p for p in doubtful if p not in covered))]
        for keys, conditions in classes:
            counted = Members(conjunction((keys, *outside)), rest)
            clauses.append(disjunction((counted, *everywhere, *covers, *conditions)))
    return conjunction(clauses)


def unevaluated_items(reading: Reading, site: Site, value: Any) -> Formula:
    rest = reading.below(site, value, "unevaluatedItems")
    pieces = evaluated_items(reading, site)
    everywhere = {condition: None for condition, piece in pieces if piece == ALL_ITEMS}
    if TRUE in everywhere:
        return TRUE
    contained: dict[Formula, _Cover] = {}
    for condition, piece in pieces:
        if isinstance(piece, Formula):
            contained.setdefault(piece, {})[condition] = None
    always = [piece for piece, cover in contained.items() if TRUE in cover]
    doubtful = {piece: cover for piece, cover in contained.items() if TRUE not in cover}
    regions = list(_regions(pieces))
    _check(site, "unevaluatedItems", len(regions) << len(doubtful))
    clauses = []
    for covered, covers in _subsets(doubtful):
        outside = [*always, *(piece for piece in doubtful if piece not in covered)]
        item = disjunction((rest, *outside))
        for start, end, conditions in regions:
            first = (
                [ItemAt(index, item) for index in range(start, end)] if end is not None else [ItemsFrom(start, item)]
            )
            clauses.append(disjunction((conjunction(first), *everywhere, *covers, *conditions)))
    return conjunction(clauses)


def _grouped(names: dict[str, _Cover]) -> dict[tuple[Formula, ...], list[str]]:
    """The names that are not evaluated in any case, by the conditions under which they are."""
    groups: dict[tuple[Formula, ...], list[str]] = {}
    for name, cover in names.items():
        if TRUE not in cover:
            groups.setdefault(tuple(cover), []).append(name)
    return groups


def _regions(pieces: Evaluated) -> Iterator[tuple[int, int | None, tuple[Formula, ...]]]:
    """Ranges of indices that the same first items cover: start, end (None: no end), and their conditions."""
    counts = [(condition, piece) for condition, piece in pieces if isinstance(piece, int) and piece != ALL_ITEMS]
    start = max((piece for condition, piece in counts if condition == TRUE), default=0)
    for end in sorted({piece for _, piece in counts if piece > start}):
        yield start, end, tuple({condition: None for condition, piece in counts if piece >= end})
        start = end
    yield start, None, ()


def _subsets(doubtful: dict[Formula, _Cover]) -> Iterator[tuple[frozenset[Formula], list[Formula]]]:
    """Each set of conditional pieces, with the conditions of which one lets a piece of it count."""
    for size in range(len(doubtful) + 1):
        for chosen in combinations(doubtful, size):
            yield frozenset(chosen), [condition for piece in chosen for condition in doubtful[piece]]


def _check(site: Site, keyword: str, clauses: int) -> None:
    if clauses > MAX_CLAUSES:
        reason = f"what it is about depends on more than {MAX_CLAUSES} cases"
        raise UnsupportedSchema(reason, pointer=f"{site.place}/{keyword}", keyword=keyword)
