"""Allowance: what a schema may spend on objects in any order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from constraints.json_schema.containers.in_any_order import InAnyOrder
from constraints.json_schema.containers.shannon import ShannonExpansion

# The most ways to continue from all states of an object whose states are made beforehand.
MOST_WAYS: Final = 10_000
# The most of a schema, with those that were looked at in vain.
ALL_WAYS: Final = 60_000
# The most work on variants of an object, on those that can have rules of their own, and on all objects; what is always
# allowed for one.
MOST_WORK: Final = 280_000
VARIANTS_WORK: Final = 30_000
ALL_WORK: Final = 450_000
FEW_WORK: Final = 3_000


class Allowance:
    """What may still be spent.

    Attributes:
        ways: the ways to continue from the states of all objects whose states are made beforehand.
        work: see `ShannonExpansion`.
    """

    def __init__(self) -> None:
        self.ways, self.work = ALL_WAYS, ALL_WORK

    @contextmanager
    def trial(self, expansion: ShannonExpansion, most: int) -> Iterator[None]:
        """Expand vectors with what is left of the work, or so much at most; it does not count as that of the schema."""
        before = expansion.work
        with expansion.trial(min(max(self.work, FEW_WORK), most)):
            try:
                yield
            finally:
                self.work -= min(self.work, expansion.work - before)

    def is_cheap(self, automaton: InAnyOrder, most: int) -> bool:
        """Return whether an automaton has few ways to continue, and takes little work; then its states are known."""
        with self.trial(automaton.members.expansion, most):
            counted, is_all = automaton.counted(min(MOST_WAYS, self.ways))
        self.ways = max(0, self.ways - counted)
        return is_all
