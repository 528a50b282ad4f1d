"""`unevaluatedProperties` and `unevaluatedItems`, exactly: a conjunction over what may have been evaluated.

For each set P of conditional pieces there is a clause: whatever no piece outside of P and no unconditional piece covers
satisfies the keyword's schema, or one of the conditions of P holds. If a member is covered by the pieces Q, then Q's
clause is what it needs: it satisfies the schema, or some piece that covers it counts. The clauses of larger sets follow
from these, so no clause says too much, and the pieces need not be made disjoint.

Listed names are grouped by their conditions first; only conditional patterns (and schemas of `contains`) double the
number of clauses. Rejected: a disjunction over the conditions that hold; its size is exponential in the number of
conditions, of which `anyOf` has one for each part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import Any, Final, TypeAlias

from automata.errors import UnsupportedSchema
from constraints.json_schema.formulas.connectives import TRUE, Formula, conjunction, disjunction, negation
from constraints.json_schema.formulas.statements import ItemAt, ItemsFrom, Members, StringIn
from constraints.json_schema.reading.keywords.evaluated import (
    ALL_ITEMS,
    Evaluated,
    Piece,
    evaluated_items,
    evaluated_names,
)
from constraints.json_schema.reading.site import Site
from constraints.recursion import Task

MAX_CLAUSES: Final = 1024

# The conditions of the pieces that would cover a name, an index or a formula: it is covered if one of them holds.
_Cover: TypeAlias = dict[Formula, None]
# A part of the names or of the indices: a function that returns the statement about its members or items, given the
# pieces that must not cover them, and the conditions of the pieces that cover the whole part.
_Part: TypeAlias = tuple[Callable[[list[Formula]], Formula], tuple[Formula, ...]]


def unevaluated_properties(site: Site, value: Any) -> Task[Formula]:
    rest = yield site.below(value, "unevaluatedProperties")
    pieces: Evaluated = yield evaluated_names(site)
    names: dict[str, _Cover] = {}
    for condition, piece in pieces:
        for name in sorted(piece.texts) if isinstance(piece, StringIn) else ():
            names.setdefault(name, {})[condition] = None
    groups: dict[tuple[Formula, ...], list[str]] = {}
    for name, cover in names.items():
        if TRUE not in cover:
            groups.setdefault(tuple(cover), []).append(name)

    def members(keys: Formula) -> Callable[[list[Formula]], Formula]:
        return lambda outside: Members(conjunction((keys, *map(negation, outside))), rest)

    parts = [(members(StringIn(frozenset(group))), cover) for cover, group in groups.items()]
    parts.append((members(negation(StringIn(frozenset(names))) if names else TRUE), ()))
    others = [(condition, piece) for condition, piece in pieces if not isinstance(piece, StringIn)]
    return _clauses(site, "unevaluatedProperties", others, TRUE, parts)


def unevaluated_items(site: Site, value: Any) -> Task[Formula]:
    rest = yield site.below(value, "unevaluatedItems")
    pieces: Evaluated = yield evaluated_items(site)

    def items(start: int, end: int | None) -> Callable[[list[Formula]], Formula]:
        if end is None:
            return lambda outside: ItemsFrom(start, disjunction((rest, *outside)))
        return lambda outside: conjunction(ItemAt(i, disjunction((rest, *outside))) for i in range(start, end))

    parts = [(items(start, end), cover) for start, end, cover in _regions(pieces)]
    others = [(condition, piece) for condition, piece in pieces if piece == ALL_ITEMS or isinstance(piece, Formula)]
    return _clauses(site, "unevaluatedItems", others, ALL_ITEMS, parts)


def _clauses(site: Site, keyword: str, pieces: Evaluated, everything: Piece, parts: list[_Part]) -> Formula:
    """Return the conjunction of the clauses: one for each part of the names or indices, and each set of conditional
    pieces that are formulas."""
    everywhere = [condition for condition, piece in pieces if piece == everything]
    if TRUE in everywhere:
        return TRUE
    covers: dict[Formula, _Cover] = {}
    for condition, piece in pieces:
        if isinstance(piece, Formula) and piece != everything:
            covers.setdefault(piece, {})[condition] = None
    doubtful = [piece for piece, cover in covers.items() if TRUE not in cover]
    if len(parts) << len(doubtful) > MAX_CLAUSES:
        reason = f"what it is about depends on more than {MAX_CLAUSES} cases"
        raise UnsupportedSchema(reason, pointer=site.at(keyword), keyword=keyword)
    clauses = []
    for covered in chain.from_iterable(combinations(doubtful, size) for size in range(len(doubtful) + 1)):
        outside = [piece for piece in covers if piece not in covered]
        counts = [condition for piece in covered for condition in covers[piece]]
        clauses += [disjunction((part(outside), *everywhere, *counts, *cover)) for part, cover in parts]
    return conjunction(clauses)


def _regions(pieces: Evaluated) -> Iterator[tuple[int, int | None, tuple[Formula, ...]]]:
    """Yield ranges of indices that the same pieces cover: start, end (None: no end), and the pieces' conditions."""
    counts = [(condition, piece) for condition, piece in pieces if isinstance(piece, int) and piece != ALL_ITEMS]
    start = max((piece for condition, piece in counts if condition == TRUE), default=0)
    for end in sorted({piece for _, piece in counts if piece > start}):
        yield start, end, tuple({condition: None for condition, piece in counts if piece >= end})
        start = end
    yield start, None, ()
