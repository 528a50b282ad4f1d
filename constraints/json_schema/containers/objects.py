"""object_automaton, object_in_any_order: the members of an object, in order.

flagged         FlaggedObject: members in any order, for most objects
all_orders      AllOrders: members in any order, with all states made in advance
in_order        InOrder, InOrders: listed names in the order in which the schema lists them, others after them
plain           objects without variants
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from automata.errors import LimitExceeded
from constraints.json_schema.containers.all_orders import AllOrders
from constraints.json_schema.containers.allowance import Allowance
from constraints.json_schema.containers.automaton import ByMoves, Plain, Vector
from constraints.json_schema.containers.flagged import FlaggedObject, IsEmpty, flagged, flagged_plain
from constraints.json_schema.containers.in_order import InOrder, InOrders
from constraints.json_schema.containers.members import AnyOrderMembers, MemberDerivatives
from constraints.json_schema.containers.orders import names_in, tracks
from constraints.json_schema.containers.plain import PlainInOrder, plain_members
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.restriction import Restriction

PropertyOrder: TypeAlias = Literal["schema", "any", "any-if-cheap"]

# With "any-if-cheap", if an object lists up to this many names, each occurs once at most; if it lists more, only those
# that must be remembered do.
FEW_NAMES: Final = 2
# With "any-if-cheap", all states are made if up to this many names must be remembered. If they take too much, so would
# flags: of 1,113 objects in MaskBench, only three were cheap in one of the two ways alone.
FEW_REMEMBERED: Final = 4


def object_automaton(vector: Vector, restriction: Restriction, expansion: ShannonExpansion) -> ByMoves | Plain:
    """Return the automaton of an object whose listed names come in order, read for a vector of formulas about objects.

    Args:
        vector, restriction, expansion: the formulas, and the restriction and the expansion of the schema.
    """
    plain = plain_members(vector[0], restriction) if len(vector) == 1 else None
    if plain is not None:
        return PlainInOrder(plain)
    found = tracks(vector)
    return InOrder(found[0], restriction, expansion) if len(found) == 1 else InOrders(found, restriction, expansion)


def object_in_any_order(
    vector: Vector,
    restriction: Restriction,
    expansion: ShannonExpansion,
    order: PropertyOrder,
    allowance: Allowance,
    is_empty: IsEmpty | None,
    most: Callable[[], int],
    *,
    only_plain: bool,
) -> FlaggedObject | AllOrders | None:
    """Return the automaton of an object whose listed names come in any order; None if it takes too much, or if no names
    are listed.

    Args:
        vector, restriction, expansion: as for `object_automaton`.
        order: "any", for which nothing takes too much, or "any-if-cheap", with which names that need not be remembered
            may be repeated.
        allowance: how much the automaton may take.
        is_empty: as for `flagged_plain`; None if the object may have no flags.
        most: returns the most work to spend; called only if the vector is more than a plain object, or may have no
            flags.
        only_plain: whether an object with variants takes too much in any case.
    """
    plain = plain_members(vector[0], restriction) if len(vector) == 1 else None
    if (plain is None and only_plain) or (plain is not None and not plain.names):
        return None
    if plain is not None and is_empty is not None:
        return flagged_plain(plain, _remembered(order, len(plain.names), plain.required), is_empty)
    given = _prepared(vector, restriction, expansion, order)
    every = AllOrders(given)
    if is_empty is None or (order == "any-if-cheap" and given.remembered.bit_count() <= FEW_REMEMBERED):
        return every if order == "any" or allowance.is_cheap(every, most()) else None
    found = _flagged(given, is_empty, allowance, most())
    return every if found is None and order == "any" else found


def _flagged(given: AnyOrderMembers, is_empty: IsEmpty, allowance: Allowance, most: int) -> FlaggedObject | None:
    try:
        with allowance.trial(given.members.expansion, most):
            return flagged(given, is_empty)
    except LimitExceeded as error:
        if error.limit:
            raise
        return None


def _prepared(
    vector: Vector, restriction: Restriction, expansion: ShannonExpansion, order: PropertyOrder
) -> AnyOrderMembers:
    names = names_in(vector)
    members = MemberDerivatives(names, restriction, expansion)
    prepared = members.prepared(vector)
    once, needed = members.remembered(prepared)
    return AnyOrderMembers(prepared, members, _remembered(order, len(names), once | needed))


def _remembered(order: PropertyOrder, num_names: int, needed: int) -> int:
    """Return the names that occur once at most, as bits, if some must be remembered."""
    return needed if order == "any-if-cheap" and num_names > FEW_NAMES else (1 << num_names) - 1
