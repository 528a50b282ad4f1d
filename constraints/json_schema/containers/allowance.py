"""Allowance: how much work a schema may spend on objects in any order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from automata.errors import LimitExceeded
from constraints.json_schema.containers.all_orders import AllOrders
from constraints.json_schema.containers.shannon import TOO_MUCH_WORK, ShannonExpansion

# The most ways to continue from all states of an object whose states are made beforehand.
MAX_WAYS: Final = 10_000
# The most such ways of all objects of a schema, including those counted for objects that turned out to have too many.
ALL_WAYS: Final = 60_000
# The most work on the variants of one object, on those that can have rules of their own, and on all objects; and the
# work that one object may always take.
MAX_WORK: Final = 280_000
VARIANTS_WORK: Final = 30_000
ALL_WORK: Final = 450_000
FEW_WORK: Final = 3_000
# In a second attempt: the most work on the variants of one object that can have rules of their own, and on all objects.
EARLY_WORK: Final = 1_000
ALL_EARLY_WORK: Final = 100_000
# The work on combinations of variants after which there is a second attempt.
COMBINED_WORK: Final = 100_000


class CombinationsError(Exception):
    """Variants of objects that were told apart left too many combinations to the objects within them."""


class Allowance:
    """What has been spent, and what may still be.

    Attributes:
        ways: how many ways to continue are still allowed for objects whose states are made beforehand.
        work: the work that has been done (see `ShannonExpansion`).
        variants_work: the most work on the variants of one object that can have rules of their own instead.
        is_second: whether this is a second attempt, in which variants have rules of their own early.
    """

    def __init__(self, *, is_second: bool) -> None:
        """Start with nothing spent."""
        self.ways, self.work = ALL_WAYS, 0
        self.is_second = is_second
        self.variants_work = EARLY_WORK if is_second else VARIANTS_WORK
        self._all_work = ALL_EARLY_WORK if is_second else ALL_WORK
        self._combined_work = 0  # on objects that are read for several formulas
        self._could_be_early = False  # whether a second attempt would give any variants rules of their own

    def record(self, work: int, num_formulas: int, has_few_variants: bool, is_found: bool) -> None:
        """Record the work on an object.

        Args:
            work: how much it was.
            num_formulas: for how many formulas it was read: more than one where variants around it were told apart.
            has_few_variants: whether its variants can have rules of their own.
            is_found: whether it may have any order.

        Raises:
            CombinationsError: it may not have any order, combinations took much of the work, and variants that lead to
                them can have rules of their own.
            LimitExceeded: it may not have any order in a second attempt either.
        """
        if num_formulas > 1:
            self._combined_work += work
        elif is_found and has_few_variants and work > EARLY_WORK:
            self._could_be_early = True
        if not is_found and self.is_second:
            raise LimitExceeded(TOO_MUCH_WORK)
        if not is_found and self._could_be_early and self._combined_work > COMBINED_WORK:
            raise CombinationsError

    @contextmanager
    def trial(self, expansion: ShannonExpansion, most: int) -> Iterator[None]:
        """Let vectors be expanded with the work that is left, at least `FEW_WORK` and at most `most`. This work counts
        here, and not in the expansion."""
        before = expansion.work
        with expansion.trial(min(max(self._all_work - self.work, FEW_WORK), most)):
            try:
                yield
            finally:
                self.work += expansion.work - before

    def is_cheap(self, automaton: AllOrders, most: int) -> bool:
        """Return whether an automaton has few ways to continue and takes little work; if so, it then has its states."""
        with self.trial(automaton.members.expansion, most):
            counted, is_all = automaton.counted(min(MAX_WAYS, self.ways))
        self.ways = max(0, self.ways - counted)
        return is_all
