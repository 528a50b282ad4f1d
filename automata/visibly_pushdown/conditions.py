"""Conditions: when a guarded arc is open, as decision diagrams over the flags of a rule.

A condition is a number: `FALSE`, `TRUE`, or that of a decision, which asks for one flag and leads to one of two
conditions. Decisions are reduced and ordered by flag (Bryant, "Graph-based algorithms for Boolean function
manipulation", IEEE Transactions on Computers, 1986), so that equal conditions have equal numbers: that all of n flags
are set is n decisions, and so is that some are not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

FALSE: Final = 0
TRUE: Final = 1
# Comes after all flags.
_NO_FLAG: Final = 1 << 30


class Decision(NamedTuple):
    """Leads to the condition `high` where a flag is set, and to `low` where it is not."""

    flag: int
    low: int
    high: int


class Conditions:
    """The conditions of a rule.

    Attributes:
        decisions: by number; the first two stand for `FALSE` and `TRUE`.
    """

    def __init__(self) -> None:
        self.decisions = [Decision(_NO_FLAG, FALSE, FALSE), Decision(_NO_FLAG, TRUE, TRUE)]
        self._numbers: dict[Decision, int] = {}
        self._chosen: dict[tuple[int, int, int], int] = {}
        self._known: dict[tuple[int, int, bool], int] = {}

    def holds(self, condition: int, flags: int) -> bool:
        """Return whether a condition holds where some flags are set, as bits."""
        while condition > TRUE:
            flag, low, high = self.decisions[condition]
            condition = high if flags >> flag & 1 else low
        return condition == TRUE

    def all_of(self, flags: int) -> int:
        """Return the condition that all of some flags are set, as bits."""
        found = TRUE
        for flag in _descending(flags):
            found = self._decision(flag, FALSE, found)
        return found

    def not_all_of(self, flags: int) -> int:
        """Return the condition that some flag of some is not set, as bits."""
        found = FALSE
        for flag in _descending(flags):
            found = self._decision(flag, TRUE, found)
        return found

    def negation(self, condition: int) -> int:
        """Return the opposite of a condition."""
        return self.choice(condition, FALSE, TRUE)

    def both(self, one: int, other: int) -> int:
        """Return the condition that holds where two do."""
        return self.choice(one, other, FALSE)

    def any_of(self, conditions: Iterable[int]) -> int:
        """Return the condition that holds where any of some does."""
        found = FALSE
        for condition in conditions:
            found = self.choice(found, TRUE, condition)
        return found

    def choice(self, condition: int, then: int, otherwise: int) -> int:
        """Return the condition that is `then` where a condition holds, and `otherwise` where it does not."""
        if condition == TRUE or then == otherwise:
            return then
        if condition == FALSE:
            return otherwise
        if then == TRUE and otherwise == FALSE:
            return condition
        key = condition, then, otherwise
        found = self._chosen.get(key)
        if found is None:
            flag = min(self.decisions[part].flag for part in key)
            low = self.choice(*[self._part(part, flag, False) for part in key])
            high = self.choice(*[self._part(part, flag, True) for part in key])
            found = self._chosen[key] = self._decision(flag, low, high)
        return found

    def known(self, condition: int, flag: int, is_set: bool) -> int:
        """Return what a condition says of the other flags where it is known of one whether it is set."""
        own, low, high = self.decisions[condition]
        if own >= flag:
            return condition if own != flag else high if is_set else low
        key = condition, flag, is_set
        found = self._known.get(key)
        if found is None:
            low, high = self.known(low, flag, is_set), self.known(high, flag, is_set)
            found = self._known[key] = self._decision(own, low, high)
        return found

    def fewest(self, condition: int) -> int:
        """Return the fewest flags with which a condition holds, as bits; -1 if it never does."""
        found = {FALSE: (_NO_FLAG, -1), TRUE: (0, 0)}
        waiting = [condition]
        while waiting:
            flag, low, high = self.decisions[waiting[-1]]
            more = [part for part in (low, high) if part not in found]
            if waiting[-1] not in found and not more:
                (count, flags), (other, also) = found[low], found[high]
                found[waiting[-1]] = (count, flags) if count <= other + 1 else (other + 1, also | 1 << flag)
            if not more:
                waiting.pop()
            waiting += more
        return found[condition][1]

    def _part(self, condition: int, flag: int, is_set: bool) -> int:
        own, low, high = self.decisions[condition]
        return condition if own != flag else high if is_set else low

    def _decision(self, flag: int, low: int, high: int) -> int:
        if low == high:
            return low
        decision = Decision(flag, low, high)
        found = self._numbers.get(decision)
        if found is None:
            found = self._numbers[decision] = len(self.decisions)
            self.decisions.append(decision)
        return found


def _descending(flags: int) -> list[int]:
    """Return the numbers of the bits that are set, the last one first."""
    found = []
    while flags:
        lowest = flags & -flags
        found.append(lowest.bit_length() - 1)
        flags ^= lowest
    return found[::-1]
