"""object_automaton: the members of an object, one after the other.

flagged         FlaggedObject: members in any order, of most objects
in_any_order    InAnyOrder: members in any order, where all states are made beforehand
in_order        InOrder, InOrders: listed names in the order in which the schema lists them, others after them
plain           objects without variants
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from automata.errors import LimitExceeded
from constraints.json_schema.containers.allowance import Allowance
from constraints.json_schema.containers.automaton import ByMoves, Plain, Vector
from constraints.json_schema.containers.flagged import FlaggedObject, IsEmpty, flagged, flagged_plain
from constraints.json_schema.containers.in_any_order import InAnyOrder
from constraints.json_schema.containers.in_order import InOrder, InOrders
from constraints.json_schema.containers.members import AnyOrderMembers, MemberDerivatives
from constraints.json_schema.containers.orders import tracks
from constraints.json_schema.containers.plain import PlainInOrder, plain_members
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.restriction import Restriction

PropertyOrder: TypeAlias = Literal["schema", "any", "any-if-cheap"]

# With "any-if-cheap", up to this many names each comes once at most; of more names, only those that must be remembered.
FEW_NAMES: Final = 2


def object_automaton(
    vector: Vector,
    restriction: Restriction,
    expansion: ShannonExpansion,
    order: PropertyOrder = "schema",
    allowance: Allowance | None = None,
) -> ByMoves | Plain:
    """Return the automaton of an object that is read for a vector of formulas about objects, with all of its states.

    Args:
        vector, restriction, expansion: the formulas, and those of the schema.
        order: see `json_schema`.
        allowance: what "any-if-cheap" may take; a new one where there is none.

    Raises:
        LimitExceeded: too many names in any order.
    """
    plain = plain_members(vector[0], restriction) if len(vector) == 1 else None
    if plain is not None and not plain.names:
        return PlainInOrder(plain)
    if order != "schema":
        in_any_order = InAnyOrder(_prepared(vector, restriction, expansion, order))
        if order == "any" or (allowance or Allowance()).is_cheap(in_any_order):
            return in_any_order
    if plain is not None:
        return PlainInOrder(plain)
    found = tracks(vector)
    return InOrder(found[0], restriction, expansion) if len(found) == 1 else InOrders(found, restriction, expansion)


def object_with_flags(
    vector: Vector,
    restriction: Restriction,
    expansion: ShannonExpansion,
    order: PropertyOrder,
    allowance: Allowance,
    is_empty: IsEmpty,
) -> FlaggedObject | None:
    """Return the same object in any order with flags, None if there is none, or it lists no names.

    Args:
        vector, restriction, expansion: as for `object_automaton`.
        order: whether names that need not be remembered may be repeated: "any-if-cheap".
        allowance: how much work may be done on variants.
        is_empty: as for `flagged_plain`.
    """
    plain = plain_members(vector[0], restriction) if len(vector) == 1 else None
    if plain is not None and not plain.names:
        return None
    if plain is not None:
        return flagged_plain(plain, _remembered(order, len(plain.names), plain.required), is_empty)
    try:
        with allowance.trial(expansion):
            return flagged(_prepared(vector, restriction, expansion, order), is_empty)
    except LimitExceeded as error:
        if error.limit:
            raise
        return None


def _prepared(
    vector: Vector, restriction: Restriction, expansion: ShannonExpansion, order: PropertyOrder
) -> AnyOrderMembers:
    names = tracks(vector)[0].names
    members = MemberDerivatives(names, restriction, expansion)
    prepared = members.prepared(vector)
    once, needed = members.remembered(prepared)
    return AnyOrderMembers(prepared, members, _remembered(order, len(names), once | needed))


def _remembered(order: PropertyOrder, num_names: int, needed: int) -> int:
    """Return the names that come once at most, as bits, if some must be remembered."""
    return needed if order == "any-if-cheap" and num_names > FEW_NAMES else (1 << num_names) - 1
