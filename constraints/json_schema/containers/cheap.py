"""Cheap: as many orders of an object's members as take few states.

    InTurns      an object's automaton whose orders can be chosen: no more than some names are ahead of their turn
    Allowance    what a schema may still spend on orders; makes the automaton with the most orders that are cheap

Any order takes a state for each set of the names that are remembered. A name is *ahead of its turn* if it has come and
one that stands before it in the order has not. There are few sets in which at most k names are ahead: with k = 0 the
prefixes of the order, with k = 1 about half the square of the number of names. So k says how much of a permutation is
taken, from names in order, between which all that are not remembered may come, to any order. There may be two orders,
that in which the schema lists names and that in which it requires them; a set will do if it is near to either. How many
sets there are is known beforehand, so that orders that could not be cheap are seldom looked at.

Rejected: a set of bits beside the automaton, as `tokenfst.unique_items` has values (exact for all orders, but such rows
are followed on the host); a rule for each set made when a text first reaches it (the native automata are complete
before the first mask); each order in an automaton of its own (their union is determinized to pairs of states).
"""

from __future__ import annotations

from math import comb
from typing import Final, Protocol, Self, TypeVar

from constraints.json_schema.containers.automaton import ContainerAutomaton

# The most ways to go on from all states of an object that has no variants, and of one that has; any order is worth
# more than the orders near to some.
MOVES: Final = 400
VARIANT_MOVES: Final = 2_000
WORTH_OF_ANY: Final = 5
# As many are always taken.
FEW: Final = 100
FEW_WORK: Final = 2_000
# The most of a schema, with those that were looked at in vain.
ALL_MOVES: Final = 60_000
ALL_WORK: Final = 80_000
# How many names may be ahead of their turn.
_AHEAD: Final = (0, 1, 2, 3)


def num_sets(names: int, ahead: int | None) -> int:
    """Return how many sets of some names may have come, if no more than some are ahead of their turn in one order."""
    if ahead is None:
        return 1 << names
    return 1 + sum(comb(after, more) for after in range(names) for more in range(ahead + 1))


class InTurns(ContainerAutomaton, Protocol):
    """An object whose names come in orders that can be chosen; any order at first.

    Attributes:
        num_orders: how many orders names may be near to.
        remembered: the names of which it is remembered whether they have come, as bits.
        always: how many members may come next whatever has come.
    """

    num_orders: int
    remembered: int
    always: int

    def near(self, ahead: int | None) -> Self:
        """Return the automaton of the orders in which no more than some names are ahead of their turn."""

    def counted(self, most: int) -> tuple[int, bool]:
        """Return how many ways to go on there are from all states, and whether these are all: no more are looked at
        than `most`, nor where that takes too much work."""


_A = TypeVar("_A", bound=InTurns)


class Allowance:
    """What may still be spent on the orders of a schema's objects.

    Attributes:
        left: the ways to go on from the states of all of them.
        counted: those of the automaton that was looked at last.
        work: see `ShannonExpansion`.
    """

    def __init__(self) -> None:
        self.left = ALL_MOVES
        self.counted = 0
        self.work = ALL_WORK

    def best(self, every: _A, most: int) -> _A | None:
        """Return the automaton with the most orders that is cheap, as far as any is.

        Args:
            every: the automaton of any order.
            most: the most ways to go on from all states of one near to some orders.
        """
        if self.is_cheap(every, FEW):
            return every
        names = every.remembered.bit_count()
        best: _A | None = None
        # The ways to go on after each set of names: as many as after those of fewer orders, or more.
        ways: float = every.always
        for ahead in _AHEAD:
            sets = num_sets(names, ahead) * every.num_orders
            found = every.near(ahead)
            if sets * ways > most * every.num_orders or not self.is_cheap(found, most):
                break
            best, ways = found, self.counted / sets
        # After each set there is at least one.
        is_hopeful = num_sets(names, None) * max(ways, 1) <= most * WORTH_OF_ANY
        return (self.whole(every, most) if is_hopeful else None) or best

    def whole(self, every: _A, most: int) -> _A | None:
        """Return the automaton of any order if it is cheap; see `best`."""
        return every if self.is_cheap(every, most * WORTH_OF_ANY) else None

    def is_cheap(self, automaton: InTurns, most: int) -> bool:
        """Return whether an automaton has few ways to go on; its moves are known afterwards."""
        most = most if most <= FEW else min(most, self.left)
        self.counted, is_all = automaton.counted(most)
        self.left = max(0, self.left - self.counted)
        return is_all
