"""Whitespace: which blanks a JSON text may have, and where.

    "compact"       none, as JSON.stringify writes (also "javascript")
    "python"        one space after commas and colons, as json.dumps writes
    "default"       both, also with lines indented by up to four spaces or one tab for each open bracket
    "flexible"      up to `MOST` blanks of any kind wherever JSON allows them
    Whitespace(...) the caller's own choice

All named choices are bounded, so that no model fills a page with blanks. There is no whitespace before or after the
text. The bound on the indentation of a line depends on the number of open brackets; this takes fewer states than one
bound for all lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from automata import expressions as ex
from automata.expressions import EPSILON, Expr

Habit: TypeAlias = Literal["default", "compact", "python", "javascript", "flexible"]

# Indentation grows up to this depth; deeper lines are indented as far as lines at this depth.
MAX_DEPTH = 8
# The most spaces, or tabs, of an indented line for each open bracket.
SPACES, TABS = 4, 1
# The most blanks of "flexible" at each place.
MOST = 8


@dataclass(frozen=True, slots=True)
class Whitespace:
    """The whitespace that is allowed around the punctuation of a JSON text, as expressions.

    Attributes:
        opened: after `{` and `[`, before the first member or item.
        closing: before `}` and `]`, after the last member or item.
        empty: between the two brackets of an empty array or object.
        before_comma, after_comma, before_colon, after_colon: around commas and colons.
    """

    opened: Expr = EPSILON
    closing: Expr = EPSILON
    empty: Expr = EPSILON
    before_comma: Expr = EPSILON
    after_comma: Expr = EPSILON
    before_colon: Expr = EPSILON
    after_colon: Expr = EPSILON


_SPACE: Final = ex.repeat(" ", 0, 1)
_BLANKS: Final = ex.repeat(ex.char_set(" \t\n\r"), 0, MOST)

COMPACT: Final = Whitespace()
PYTHON: Final = Whitespace(after_comma=ex.literal(" "), after_colon=ex.literal(" "))
FLEXIBLE: Final = Whitespace(_BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS)

_HABITS: Final = {"compact": COMPACT, "javascript": COMPACT, "python": PYTHON, "flexible": FLEXIBLE}


def whitespace_at(habit: Habit | Whitespace, depth: int) -> Whitespace:
    """Return the whitespace of a habit directly within `depth` brackets; a `Whitespace` is returned unchanged.

    Raises:
        ValueError: no habit has this name.
    """
    if isinstance(habit, Whitespace):
        return habit
    if habit == "default":
        return _indented(min(depth, MAX_DEPTH))
    if not isinstance(habit, str) or habit not in _HABITS:
        names = ", ".join(map(repr, ("default", *_HABITS)))
        raise ValueError(f"whitespace is one of {names} or a Whitespace, not {habit!r}")
    return _HABITS[habit]


@cache
def _indented(depth: int) -> Whitespace:
    """Return the whitespace of "default": none, a space after commas and colons, or indented lines."""
    return Whitespace(
        opened=_broken(depth),
        closing=_broken(depth - 1),
        after_comma=ex.repeat(ex.alternation(" ", _line(depth)), 0, 1),
        after_colon=_SPACE,
    )


@cache
def _broken(depth: int) -> Expr:
    """Return the expression of nothing, or of a line break and the indentation of a line.

    It is one object for each depth, because layouts recognize what they have laid out by identity."""
    return ex.repeat(_line(depth), 0, 1)


def _line(depth: int) -> Expr:
    """Return a line break and the indentation of a line within some brackets."""
    if depth <= 0:
        return ex.literal("\n")
    return "\n" + (ex.repeat(" ", 0, SPACES * depth) | ex.repeat("\t", 1, TABS * depth))
