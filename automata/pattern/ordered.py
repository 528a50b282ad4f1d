"""Patterns with the order in which a backtracking engine tries alternatives and repetitions, in Python's dialect.

    ordered(pattern)    the expression, with `Choice` and `Loop` (`automata.preference.nodes`)

There is no order inside look-around and groups with operations. It only matters whether they match, not where the match
ends.
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Expr
from automata.pattern.group_reader import Group
from automata.pattern.parser import Parser
from automata.preference.nodes import Choice, Loop, unordered


def ordered(pattern: str) -> Expr:
    """Return a pattern as an expression whose alternatives and repetitions have an order.

    Raises:
        PatternError: the pattern cannot be read, or is not regular.
    """
    return _OrderedParser(pattern).parse()


class _OrderedParser(Parser):
    """A parser that keeps the order of alternatives and repetitions."""

    def repeated(self, item: Expr, low: int, high: int | None, lazy: bool) -> Expr:
        return ex.EPSILON if high == 0 else Loop(item, low, high, lazy)

    def close_group(self, group: Group) -> Expr:
        if group.build is None:
            group.close_alternative()
            return Choice(tuple(group.alternatives)) if len(group.alternatives) > 1 else group.alternatives[0]
        group.items = [*map(unordered, group.items)]
        group.read = [[*map(unordered, items)] for items in group.read]
        return super().close_group(group)
