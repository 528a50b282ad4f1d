"""Marks: the punctuation of JSON with the whitespace around it, at some nesting depth."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.expressions import Expr
from automata.queries import shortest
from constraints.json_schema.building.whitespace import Habit, Whitespace, whitespace_at
from constraints.json_schema.containers.lengths import Widths


class Marks:
    """Punctuation with whitespace.

    Attributes:
        opened: what stands after an opening bracket, before the first item or member.
        comma, colon: a comma or a colon.
        close, empty: by closing bracket: the bracket after the last item or member, and that of an empty container.
    """

    def __init__(self, whitespace: Whitespace) -> None:
        self.opened = whitespace.opened
        self.comma = ex.concat(whitespace.before_comma, ",", whitespace.after_comma)
        self.colon = ex.concat(whitespace.before_colon, ":", whitespace.after_colon)
        self.close = {bracket: ex.concat(whitespace.closing, bracket) for bracket in "]}"}
        self.empty = {bracket: ex.concat(whitespace.empty, bracket) for bracket in "]}"}

    @cached_property
    def widths(self) -> Widths:
        """The least lengths of the punctuation."""
        comma, colon = _length(self.comma), _length(self.colon)
        around = _length(self.opened) + max(map(_length, self.close.values()))
        return Widths(comma, colon, 1 + max(around, *map(_length, self.empty.values())))

    def instead_of(self, other: Marks) -> dict[int, Expr]:
        """Return these marks, each by the `id` of the mark in `other` that it replaces."""
        pairs = [(other.opened, self.opened), (other.comma, self.comma)]
        pairs += [(other.close[bracket], self.close[bracket]) for bracket in "]}"]
        return {id(theirs): own for theirs, own in pairs}


def _length(mark: Expr) -> int:
    return len(shortest(compile_expr(mark)) or b"")


@lru_cache(64)
def marks_at(habit: Habit | Whitespace, depth: int) -> Marks:
    """Return the marks within `depth` brackets."""
    return Marks(whitespace_at(habit, depth))


def shows_comma(whitespace: Whitespace) -> bool:
    """Return whether blanks after an item or a member may show that a comma follows, since no bracket may."""
    return not (_beginnings(whitespace.before_comma) - _beginnings(whitespace.closing)).is_empty


def _beginnings(blanks: Expr) -> ByteAutomaton:
    found = compile_expr(blanks)
    return ByteAutomaton.dense(found.start, found.byte_class, found.next, np.ones_like(found.final))
