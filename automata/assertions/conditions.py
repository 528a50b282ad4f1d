"""Conditions on the rest of a text: which obligations must be met, in disjunctive form.

An obligation is a number: 2k says that the rest of the text can be read from state k, 2k + 1 that it cannot. A
condition is a set of alternatives, each a set of obligations that must all be met, as the bits of an integer:

    TRUE = {0}      nothing has to be met
    FALSE = {}      there is no alternative

Alternatives that contradict themselves, or include another alternative, are left out. Equal conditions may be written
in different ways, which costs states (minimization merges them) and never correctness; what matters is that there are
finitely many.

Rejected: decision diagrams (canonical, but nearly all conditions here are TRUE or one obligation).
"""

from __future__ import annotations

from automata.arrays import bits_of
from automata.errors import LimitExceeded
from automata.limits import Work

Condition = frozenset[int]

TRUE: Condition = frozenset({0})
FALSE: Condition = frozenset()
MAX_ALTERNATIVES = 4096
# What it takes to compare two alternatives, in steps of the budget.
_COMPARING_STEPS = 10


def can(state: int) -> Condition:
    """Return the condition that the rest of the text can be read from a state."""
    return frozenset({1 << 2 * state})


def cannot(state: int) -> Condition:
    """Return the condition that the rest of the text cannot be read from a state."""
    return frozenset({2 << 2 * state})


def holds_at_end(condition: Condition) -> bool:
    """Return whether the condition holds where the text ends: nothing can be read there."""
    return any(not any(bit % 2 == 0 for bit in bits_of(alternative)) for alternative in condition)


def _contradicts(alternative: int) -> bool:
    """Return whether both 2k and 2k + 1 are among the obligations."""
    neighbours = alternative & alternative >> 1
    return any(bit % 2 == 0 for bit in bits_of(neighbours)) if neighbours else False


class Conditions:
    """Operations on conditions; the compilation is stopped in between."""

    def __init__(self, work: Work) -> None:
        self.work = work

    def either(self, left: Condition, right: Condition) -> Condition:
        """Return the condition that one of two holds."""
        if left == right or not right:
            return left
        return right if not left else self._reduced(left | right)

    def both(self, left: Condition, right: Condition) -> Condition:
        """Return the condition that both of two hold."""
        if left == TRUE or not right:
            return right
        if right == TRUE or not left:
            return left
        together: set[int] = set()
        for alternative in self.work.watched(left):
            together.update([alternative | other for other in right])
            _check_number(together)
        return self._reduced(together)

    def negation(self, condition: Condition) -> Condition:
        """Return the condition that one does not hold."""
        result = TRUE
        for alternative in condition:
            result = self.both(result, frozenset(1 << (bit ^ 1) for bit in bits_of(alternative)))
        return result

    def _reduced(self, alternatives: set[int] | frozenset[int]) -> Condition:
        _check_number(alternatives)
        kept: list[int] = []
        for alternative in sorted(alternatives, key=int.bit_count):
            self.work.budget.spend(_COMPARING_STEPS * (1 + len(kept)))
            if not _contradicts(alternative) and not any(known & alternative == known for known in kept):
                kept.append(alternative)
        return TRUE if kept == [0] else frozenset(kept)


def _check_number(alternatives: set[int] | frozenset[int]) -> None:
    if len(alternatives) > MAX_ALTERNATIVES:
        raise LimitExceeded(f"the assertions leave more than {MAX_ALTERNATIVES:,} alternatives open at one place")
