"""object_automaton: the members of an object, one after the other.

in_order        InOrder, InOrders: listed names in the order in which the schema lists them, others after them
in_any_order    InAnyOrder: members in any order, as far as that is cheap
plain           the same of objects without variants
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from constraints._native import MOST_LISTED
from constraints.json_schema.containers.automaton import ByMoves, Plain, Vector
from constraints.json_schema.containers.cheap import (
    FEW_WORK,
    MOVES,
    VARIANT_MOVES,
    Allowance,
)
from constraints.json_schema.containers.in_any_order import InAnyOrder
from constraints.json_schema.containers.in_order import InOrder, InOrders
from constraints.json_schema.containers.orders import ANY, CHEAP, AnyOrder, Track, tracks
from constraints.json_schema.containers.plain import PlainInAnyOrder, PlainInOrder, PlainInTwoOrders, plain_members
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.restriction import Restriction

PropertyOrder: TypeAlias = Literal["schema", "any", "any-if-cheap"]


def object_automaton(
    vector: Vector,
    restriction: Restriction,
    expansion: ShannonExpansion,
    order: PropertyOrder = "schema",
    allowance: Allowance | None = None,
) -> ByMoves | Plain:
    """Return the automaton of an object that is read for a vector of formulas about objects.

    Args:
        vector, restriction, expansion: the formulas, and those of the schema.
        order: see `json_schema`.
        allowance: what "any-if-cheap" may take; a new one where there is none.

    Raises:
        LimitExceeded: too many names in any order.
    """
    plain = plain_members(vector[0], restriction) if len(vector) == 1 else None
    found = tracks(vector) if plain is None else []

    def in_any_order(bounds: AnyOrder) -> PlainInAnyOrder | InAnyOrder:
        if plain is not None:
            return PlainInAnyOrder(plain, bounds)
        return InAnyOrder(Track(found[0].names, vector), restriction, expansion, bounds)

    if order == "any":
        return in_any_order(ANY)
    # In any order, the first state alone has a move for each name.
    most, most_names = (VARIANT_MOVES, MOST_LISTED) if plain is None else (MOVES, MOVES)
    if order == "any-if-cheap" and len(found[0].names if plain is None else plain.names) <= most_names:
        cheap = _cheap(in_any_order(CHEAP), len(found), most, expansion, allowance or Allowance())
        if cheap is not None:
            return cheap
    if plain is not None:
        return PlainInOrder(plain) if order == "schema" else PlainInTwoOrders(plain)
    return InOrder(found[0], restriction, expansion) if len(found) == 1 else InOrders(found, restriction, expansion)


def _cheap(
    every: PlainInAnyOrder | InAnyOrder, orders: int, most: int, expansion: ShannonExpansion, allowance: Allowance
) -> PlainInAnyOrder | InAnyOrder | None:
    """Return the automaton of as many orders as are cheap, of all that an object may be in, if any are."""
    before = expansion.work
    with expansion.trial(max(allowance.work, FEW_WORK)):
        # Names that are near to the order of one part of the schema need not be near to that of another.
        found = allowance.best(every, most) if orders <= 1 else allowance.whole(every, most)
        allowance.work -= expansion.work - before
    return found
