"""Whitespace: where a JSON text may have blanks, and which.

    "compact"       none, as JSON.stringify writes (also "javascript")
    "python"        one space behind commas and colons, as json.dumps writes
    "default"       both, and indented texts of either, by up to four spaces or one tab for each bracket
    "flexible"      up to `MOST` blanks of any kind wherever JSON allows them
    Whitespace(...) any choice of one's own

All are bounded, so that no model fills a page with blanks. Nothing stands before the text or behind it. How far a line
may be indented depends on how many brackets are open, which is fewer states than a bound for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from automata import expr as ex
from automata.expr import EPSILON, Expr

Habit: TypeAlias = Literal["default", "compact", "python", "javascript", "flexible"]

# Indented lines go on being indented up to this depth; deeper ones may be as far in as those.
MAX_DEPTH = 8
# Of an indented line, for each bracket that is open: spaces, or tabs.
SPACES, TABS = 4, 1
# Of "flexible", at each place.
MOST = 8


@dataclass(frozen=True, slots=True)
class Whitespace:
    """What may stand between the marks of a JSON text; each holds the empty string or not, as it says.

    Attributes:
        opened: behind `{` and `[`, before the first member or item.
        closing: before `}` and `]`, behind the last member or item.
        empty: between the two brackets where there is nothing else.
        before_comma, after_comma, before_colon, after_colon: around commas and colons.
    """

    opened: Expr = EPSILON
    closing: Expr = EPSILON
    empty: Expr = EPSILON
    before_comma: Expr = EPSILON
    after_comma: Expr = EPSILON
    before_colon: Expr = EPSILON
    after_colon: Expr = EPSILON


_BLANKS: Final = ex.repeat(ex.char_set(" \t\n\r"), 0, MOST)

COMPACT: Final = Whitespace()
PYTHON: Final = Whitespace(after_comma=ex.literal(" "), after_colon=ex.literal(" "))
FLEXIBLE: Final = Whitespace(_BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS)

_HABITS: Final = {"compact": COMPACT, "javascript": COMPACT, "python": PYTHON, "flexible": FLEXIBLE}


def whitespace_at(habit: Habit | Whitespace, depth: int) -> Whitespace:
    """The whitespace of a habit, or what was given, directly within `depth` brackets.

    Raises:
        ValueError: no habit has this name.
    """
    if isinstance(habit, Whitespace):
        return habit
    if habit == "default":
        return _indented(min(depth, MAX_DEPTH))
    if habit not in _HABITS:
        names = ", ".join(map(repr, ("default", *_HABITS)))
        raise ValueError(f"whitespace is one of {names} or a Whitespace, not {habit!r}")
    return _HABITS[habit]


@cache
def _indented(depth: int) -> Whitespace:
    """Nothing, a space behind commas and colons, or indented lines."""
    inside, outside = (ex.repeat(_line(level), 0, 1) for level in (depth, depth - 1))
    return Whitespace(
        opened=inside,
        closing=outside,
        after_comma=ex.repeat(ex.alternation(" ", _line(depth)), 0, 1),
        after_colon=ex.repeat(" ", 0, 1),
    )


def _line(depth: int) -> Expr:
    """A line break and what a line within some brackets begins with."""
    if depth <= 0:
        return ex.literal("\n")
    return "\n" + (ex.repeat(" ", 0, SPACES * depth) | ex.repeat("\t", 1, TABS * depth))
